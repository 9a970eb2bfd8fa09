import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import base from './playwright.config.ts';

// Read again by the processes that run the tests, which inherit the folder.
if (process.env.JUPYTER_ROOT === undefined) {
  const root = mkdtempSync(join(tmpdir(), 'weighbridge-'));
  process.env.JUPYTER_ROOT = root;
  process.on('exit', () => rmSync(root, { recursive: true }));
}
const address = `http://127.0.0.1:${process.env.PORT_LOCAL}`;
const options = {
  'ServerApp.root_dir': process.env.JUPYTER_ROOT,
  'ServerApp.port': process.env.PORT_LOCAL,
  'ServerApp.port_retries': '0',
  'IdentityProvider.token': 'weighbridge',
  'LabApp.expose_app_in_browser': 'True',
  'LabApp.check_for_updates_class': 'jupyterlab.NeverCheckForUpdate',
};

/** The widget in a real JupyterLab, which `JUPYTER` names: `scripts/python.sh notebook`. */
export default defineConfig({
  ...base,
  testDir: 'jupyter',
  workers: 1,
  timeout: 180_000,
  use: { ...base.use, baseURL: address },
  webServer: {
    command: `"${process.env.JUPYTER}" lab --no-browser --allow-root ${Object.entries(options)
      .map(([key, value]) => `"--${key}=${value}"`)
      .join(' ')}`,
    url: `${address}/api`,
    // Settings and widgets of the user's own Jupyter stay out.
    env: { JUPYTER_CONFIG_DIR: process.env.JUPYTER_ROOT, JUPYTERLAB_SETTINGS_DIR: process.env.JUPYTER_ROOT, JUPYTERLAB_WORKSPACES_DIR: process.env.JUPYTER_ROOT },
    timeout: 120_000,
    reuseExistingServer: false,
  },
});
