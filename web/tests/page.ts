/** Shared by all tests: a page that reports every policy violation and every request. */

import { readFileSync } from 'node:fs';
import { test as base, expect, type Page } from '@playwright/test';
import { removeFolders } from './files.ts';

export { expect };

/** The addresses of the two builds, on the ports chosen in the configuration. */
export const LOCAL = `http://127.0.0.1:${process.env.PORT_LOCAL}/`;
export const BY_URL = `http://127.0.0.1:${process.env.PORT_URL}/`;

/** Enforces a time budget, only under `make bench-web`: other machines may be busy. */
export function within(milliseconds: number, budget: number): void {
  if (process.env.BENCH !== undefined) {
    expect(milliseconds).toBeLessThan(budget);
  }
}

/** Folder of the README's pictures, which are only made on request. */
export const PICTURES = process.env.SCREENSHOTS ?? 'test-results/screenshots';

/** Folder of the generated test files. */
export const TRIALS = process.env.TRIALS ?? '../target/web-trials';

export interface SampleEntry {
  id: string;
  file: string;
  format: string;
  title: string;
  sound: boolean;
}

export const samples: SampleEntry[] = JSON.parse(readFileSync('dist/local/samples/index.json', 'utf8'));

export const sampleFile = (file: string) => `dist/local/samples/${file}`;

/** Fails a test if the policy is violated, the page throws, or a request leaves the origin. */
export const test = base.extend<{ tidy: void; guarded: void; elsewhere: string[] }>({
  /** Leaves no files after a test. */
  tidy: [async ({}, use) => use().then(removeFolders), { auto: true }],
  /** Other servers that a test may contact. */
  elsewhere: [['https://files.test/'], { option: true }],
  guarded: [
    async ({ page, context, elsewhere }, use, info) => {
      const faults: string[] = [];
      const origin = 'http://127.0.0.1:';
      context.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(origin) && !url.startsWith('blob:') && !elsewhere.some((server) => url.startsWith(server))) {
          faults.push(`request to ${url}`);
        }
      });
      // Chromium reports a dialog only some time after the first listener was added.
      page.on('filechooser', () => {});
      page.on('pageerror', (error) => faults.push(`error: ${error.message}\n${error.stack}`));
      page.on('console', (message) => {
        if (message.type() === 'error' && /Content Security Policy|Uncaught/.test(message.text())) {
          faults.push(message.text());
        }
      });
      await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) => console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`));
      });
      await use();
      if (info.tags.includes('@tries')) {
        // The test itself tried to connect elsewhere, and the browser blocked it.
        expect(faults.length).toBeGreaterThan(0);
        expect(faults.filter((fault) => !/connect/i.test(fault))).toEqual([]);
      } else {
        expect(faults).toEqual([]);
      }
    },
    { auto: true },
  ],
});

/** Opens a sample and waits for the verdict. */
export async function openSample(page: Page, id: string): Promise<void> {
  // Otherwise only the fragment would change, which does not reload the page.
  await page.goto('about:blank');
  await page.goto(`./#sample=${id}`);
  await settled(page);
}

/** Opens files from the disk through the picker. */
export async function openFiles(page: Page, paths: string | string[]): Promise<void> {
  await page.goto('./');
  await page.locator('input[type=file]').setInputFiles(paths);
  await settled(page);
}

/** Drops files from disk as the system does. */
export async function drop(page: Page, ...paths: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data });
  }
}

/** Waits until all given files are open and the one in front is checked. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator('#files[aria-busy=true]')).toHaveCount(0);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', /valid|invalid|remarks|unsupported/);
  await expect(page.locator('.verdict-checked .icon-busy')).toHaveCount(0);
}

export async function openTensor(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name: /^(Tensors|Columns)/ }).click();
  await page.getByRole('searchbox').fill(name);
  await expect(page.locator('.tensor-table')).toHaveAttribute('aria-busy', 'false');
  await page.locator('.tensor-table .v-list [role=row]:not([hidden])').getByText(name, { exact: true }).click();
  await expect(page.locator('.panel-name')).toHaveText(name);
}

export async function panelTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tablist', { name: 'Tensor views' }).getByRole('tab', { name, exact: true }).click();
}

/** Moves the pointer to `place` until `answer` holds: what is drawn there may be replaced or move. */
export async function pointed(page: Page, place: () => Promise<{ x: number; y: number }>, answer: () => Promise<void>): Promise<void> {
  await expect(async () => {
    const { x, y } = await place();
    // A pointer that does not move is not noticed.
    await page.mouse.move(x - 1, y);
    await page.mouse.move(x, y);
    await answer();
  }).toPass({ timeout: 30_000 });
}
