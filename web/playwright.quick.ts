import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { defineConfig } from '@playwright/test';

/** Returns a free port. */
function free(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

// Chosen once: the test processes read this file again and inherit the ports.
process.env.PORT_LOCAL ??= String(await free());
process.env.PORT_URL ??= String(await free());

const address = (port: string) => `http://127.0.0.1:${port}/`;
const local = address(process.env.PORT_LOCAL);
const url = address(process.env.PORT_URL);

/** Serves a build on a port; fails if the port has been taken since. */
const serve = (options: string, port: string) =>
  `npx vite preview ${options} --host 127.0.0.1 --port ${port} --strictPort`;

// The system's Chromium if present, otherwise Playwright's.
const system = process.env.CHROMIUM ?? '/usr/bin/chromium';

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  workers: 2,
  retries: 0,
  timeout: 40_000,
  expect: { timeout: 8_000 },
  reporter: [['list']],
  use: {
    baseURL: local,
    viewport: { width: 1280, height: 800 },
    serviceWorkers: 'block',
    launchOptions: {
      executablePath: existsSync(system) ? system : undefined,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  webServer: [
    { command: serve('--outDir dist/local', process.env.PORT_LOCAL), url: local, reuseExistingServer: false },
    { command: serve('--mode url --outDir dist/url', process.env.PORT_URL), url, reuseExistingServer: false },
  ],
});
