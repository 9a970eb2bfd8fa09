import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

// The system's Chromium if there is one, else the one that Playwright brings.
const system = process.env.CHROMIUM ?? '/usr/bin/chromium';

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  workers: 1,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    baseURL: 'http://127.0.0.1:4173/',
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
    {
      command: 'npx vite preview --host 127.0.0.1 --port 4173 --strictPort --outDir dist/local',
      url: 'http://127.0.0.1:4173/',
      reuseExistingServer: false,
    },
    {
      command: 'npx vite preview --mode url --host 127.0.0.1 --port 4174 --strictPort --outDir dist/url',
      url: 'http://127.0.0.1:4174/',
      reuseExistingServer: false,
    },
  ],
});
