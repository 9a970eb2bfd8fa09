/** Files that change while open. */

import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { safetensors, written } from './files.ts';
import { holdDownload } from './late.ts';
import { expect, openFiles, openTensor, panelTab, settled, test } from './page.ts';

/** The end of the file is read when it is opened, so `x` comes before the last tensor. */
const model = (value: number) =>
  safetensors({ w: { dtype: 'F32', data: new Float32Array(1 << 20).fill(value) }, x: { dtype: 'F32', data: Float32Array.of(value) }, z: { dtype: 'F32', data: new Float32Array(1 << 16).fill(value) } });

test('a file that changes on disk is not called valid any more, and can be opened again', async ({ page }) => {
  const [path] = written({ 'model.safetensors': model(1) });
  await openFiles(page, path);
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
  await openTensor(page, 'w');
  await panelTab(page, 'Values');
  appendFileSync(path, 'more');
  await openTensor(page, 'x');
  await expect(page.locator('.verdict-head')).toHaveText('Changed on disk');
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'outdated');
  await expect(page.locator('.verdict-counts')).toHaveText(/^model\.safetensors has been changed, moved or deleted since it was opened\./);
  await expect(page.locator('.verdict')).not.toContainText(/Valid|Structure checked/);
  await expect(page.getByRole('alert')).not.toContainText(/network error|NotReadable/i);
  // A dialog without handles was used, so the file has to be chosen again.
  writeFileSync(path, model(2));
  const chooser = page.waitForEvent('filechooser');
  await page.evaluate(() => void delete (window as { showOpenFilePicker?: unknown }).showOpenFilePicker);
  await page.getByRole('button', { name: 'Reload' }).click();
  await (await chooser).setFiles(path);
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
  await expect(page.locator('.file-tab')).toHaveCount(1);
  // The same tensor in the same view, with the new contents.
  await expect(page.locator('.panel-name')).toHaveText('x');
  await expect(page.locator('.panel-values .v-list .value').first()).toHaveText('2');
});

test('a change is noticed when the page is looked at again', { tag: '@deep' }, async ({ page }) => {
  const [path] = written({ 'model.safetensors': model(1) });
  await openFiles(page, path);
  rmSync(path);
  await page.evaluate(() => void dispatchEvent(new Event('focus')));
  await expect(page.locator('.verdict-head')).toHaveText('Changed on disk');
  await expect(page.locator('.file-tab')).toHaveAttribute('data-state', 'outdated');
});

/** Opens a file by its handle. `window.write` changes it to the second model. */
async function openByHandle(page: Page): Promise<void> {
  const bytes = [1, 2].map((value) => model(value).toString('base64'));
  await page.goto('./');
  // The page's private file system provides handles without a dialog.
  await page.evaluate(async ([first, second]) => {
    const root = await navigator.storage.getDirectory();
    const handle = await root.getFileHandle('model.safetensors', { create: true });
    const write = async (base64 = second) => {
      const out = await handle.createWritable();
      await out.write(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
      await out.close();
      dispatchEvent(new Event('focus'));
    };
    await write(first);
    Object.assign(window, { showOpenFilePicker: async () => [handle], write: () => write() });
  }, bytes);
  await page.getByRole('button', { name: 'Open files…' }).click();
  await settled(page);
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
}

const write = (page: Page) => page.evaluate(() => (window as unknown as { write(): Promise<void> }).write());

test('with a handle, a changed file opens again at once', { tag: '@deep' }, async ({ page }) => {
  await openByHandle(page);
  await write(page);
  await openTensor(page, 'x');
  await panelTab(page, 'Values');
  await expect(page.locator('.verdict-head')).toHaveText('Changed on disk');
  await page.getByRole('button', { name: 'Reload' }).click();
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
  await expect(page.locator('.panel-name')).toHaveText('x');
  await expect(page.locator('.panel-values .v-list .value').first()).toHaveText('2');
  await expect(page.locator('.file-tab')).toHaveCount(1);
});

test('a file that is reloaded keeps its place, and others theirs', async ({ page }) => {
  await openByHandle(page);
  await openTensor(page, 'x');
  await page.locator('input[type=file]').setInputFiles(written({ 'other.safetensors': model(3) }));
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.locator('.file-name').first().click();
  await write(page);
  const press = (...names: string[]) => page.evaluate((names) => names.map((name) => document.querySelector<HTMLElement>(name)!).forEach((button) => button.click()), names);
  // Before the change is noticed, Scan is in the same place.
  const reload = '.verdict[data-state=outdated] .verdict-checked .primary';
  await expect(page.locator(reload)).toBeVisible();
  await press(reload, reload, '.file-tab:last-child .file-name');
  await expect(page.locator('.file-tab').first()).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('[aria-current=true]')).toHaveText('other.safetensors');
  await expect(page.locator('.panel')).toBeHidden();
  await page.locator('.file-name').first().click();
  await expect(page.locator('.panel-name')).toHaveText('x');
  // A file that is closed meanwhile is not opened again.
  await write(page);
  await expect(page.locator(reload)).toBeVisible();
  await press(reload, '[aria-label="Close model.safetensors"]');
  await page.locator('input[type=file]').setInputFiles(written({ 'last.safetensors': model(4) }));
  await expect(page.locator('.file-name')).toHaveText(['other.safetensors', 'last.safetensors']);
});

test('reloading leaves a link that is still loading its history entry', async ({ page }) => {
  const release = await holdDownload(page, 'tiny-lm.oinf');
  await openByHandle(page);
  await openTensor(page, 'x');
  await expect(page.locator('.panel-name')).toHaveText('x');
  await page.evaluate(() => void (location.hash = '#sample=oinf'));
  await write(page);
  await page.getByRole('button', { name: 'Reload' }).click();
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
  await expect(page.locator('.panel-name')).toHaveText('x');
  release();
  await expect(page.locator('[aria-current=true]')).toHaveText('tiny-lm.oinf');
  await page.goBack();
  await expect(page.locator('[aria-current=true]')).toHaveText('model.safetensors');
  await expect(page.locator('.panel-name')).toHaveText('x');
  await page.goBack();
  await expect(page.locator('.panel')).toBeHidden();
});

test('a file that does not change stays as it is', { tag: '@deep' }, async ({ page }) => {
  const [path] = written({ 'model.safetensors': model(1) });
  await openFiles(page, path);
  readFileSync(path);
  await page.evaluate(() => void dispatchEvent(new Event('focus')));
  await openTensor(page, 'x');
  await panelTab(page, 'Values');
  await expect(page.locator('.panel-values .v-list .value').first()).toHaveText('1');
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
});
