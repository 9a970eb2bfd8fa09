/** A model as safetensors: the file of the command, and what is said before one that lacks something. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { gguf, safetensors, written } from './files.ts';
import { expect, openFiles, sampleFile, test } from './page.ts';

const COMMAND = join(process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, '../../target'), 'debug/weighbridge');

/** What the command writes. `scripts/web.sh` builds it. */
function command(path: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'weighbridge-'));
  try {
    const out = join(folder, 'out.safetensors');
    execFileSync(COMMAND, ['convert', path, out]);
    return readFileSync(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function ask(page: Page): Promise<void> {
  await page.locator('summary', { hasText: 'Export' }).click();
  await page.getByRole('button', { name: 'Model as safetensors' }).press('Enter');
}

async function downloaded(page: Page, press: () => Promise<unknown>): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  expect(download.suggestedFilename()).toMatch(/\.safetensors$/);
  return readFileSync(await download.path());
}

const names = async (page: Page) => {
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await expect(page.locator('.tensor-table')).toHaveAttribute('aria-busy', 'false');
  return (await page.locator('.tensor-table .v-list [role=row]:not([hidden]) [role=cell]:first-child, .tensor-table .v-list [role=row]:not([hidden]) [role=gridcell]:first-child').allInnerTexts()).sort();
};

const small = { b: { dtype: 'F32', shape: [2], data: Float32Array.of(1, 2) }, a: { dtype: 'I8', shape: [3], data: Int8Array.of(1, 2, 3) } };

test.describe('without a picker', () => {
  test.beforeEach(async ({ page }) => {
    await page.addInitScript(() => delete (window as { showSaveFilePicker?: unknown }).showSaveFilePicker);
  });

  for (const sample of ['digits.pt', 'classifier.npz', 'model.safetensors']) {
    test(`${sample} is saved as by the command, and opens as a valid file`, async ({ page }) => {
      const path = sample.startsWith('model') ? written({ [sample]: safetensors(small) })[0] : sampleFile(sample);
      await openFiles(page, path);
      const before = await names(page);
      expect(before.length).toBeGreaterThan(1);
      const bytes = await downloaded(page, () => ask(page));
      await expect(page.locator('.task-note')).toContainText(`${before.length} tensors saved`);
      expect(bytes.equals(command(path))).toBe(true);
      await openFiles(page, written({ 'again.safetensors': bytes }));
      await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
      expect(await names(page)).toEqual(before);
    });
  }

  test('tensors that are left out are named before anything is saved', async ({ page }) => {
    const block = Buffer.concat([Buffer.of(0, 0x3c), Buffer.alloc(32, 1)]);
    const tensors = { quantised: { type: 8, shape: [1, 32], data: block }, plain: { type: 0, shape: [8], data: Buffer.alloc(32) } };
    await openFiles(page, written({ 'model.gguf': gguf({ 'general.architecture': 'llama' }, tensors) }));
    await ask(page);
    await expect(page.getByRole('alert')).toContainText('Left out: quantised (');
    const bytes = await downloaded(page, () => page.getByRole('button', { name: 'Save without them' }).click());
    await openFiles(page, written({ 'again.safetensors': bytes }));
    expect(await names(page)).toEqual(['plain']);
  });

  test('an invalid file needs a second click that says so', async ({ page }) => {
    await openFiles(page, sampleFile('classifier-broken.npz'));
    await ask(page);
    await expect(page.getByRole('alert')).toContainText('This file is invalid');
    await downloaded(page, () => page.getByRole('button', { name: 'Save the invalid file' }).click());
  });
});

test('the file is written to disk where the browser can', async ({ page }) => {
  await page.addInitScript(() => {
    // The real picker needs a person.
    Object.assign(window, {
      showSaveFilePicker: async ({ suggestedName }: { suggestedName: string }) => (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true }),
    });
  });
  const [path] = written({ 'model.safetensors': safetensors(small) });
  await openFiles(page, path);
  await ask(page);
  await expect(page.locator('.task-note')).toHaveText('2 tensors saved');
  const bytes = await page.evaluate(async () => {
    const handle = await (await navigator.storage.getDirectory()).getFileHandle('model.safetensors');
    return [...new Uint8Array(await (await handle.getFile()).arrayBuffer())];
  });
  const expected = command(path);
  expect(bytes.length).toBeGreaterThan(16);
  expect(expected === undefined || Buffer.from(bytes).equals(expected)).toBe(true);
});
