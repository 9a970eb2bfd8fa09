/** The start page: its purpose, its permissions, recently opened files. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { BY_URL, expect, settled, test } from './page.ts';
import { safetensors } from './files.ts';

const model = safetensors({ w: { dtype: 'F32', data: Float32Array.of(1, 2) } });

/** Makes the picker return a file of the page's private file system. */
async function withHandle(page: Page): Promise<void> {
  await page.evaluate(async (base64) => {
    const root = await navigator.storage.getDirectory();
    const handle = await root.getFileHandle('model.safetensors', { create: true });
    const out = await handle.createWritable();
    await out.write(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    await out.close();
    Object.assign(window, { showOpenFilePicker: async () => [handle], remove: () => root.removeEntry('model.safetensors') });
  }, model.toString('base64'));
}

test('it says what it is for and what it may do, safetensors and GGUF first', async ({ page }) => {
  await page.goto('./');
  await expect(page.locator('.purpose')).toContainText('safetensors or GGUF checkpoint');
  await expect(page.locator('.samples tbody th')).toHaveText([/^safetensors$/, /^GGUF$/, ...Array<RegExp>(12).fill(/./)]);
  await expect(page.locator('.policy')).toContainText("connect-src 'self'");
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  expect(policy).toMatch(/connect-src 'self'(;|$)/);
  await expect(page.getByRole('region', { name: 'Recent files' })).toBeHidden();
  await page.goto(BY_URL);
  await expect(page.locator('.policy')).toContainText('uploads nothing');
});

test('files with handles are listed, opened again, and forgotten', async ({ page }) => {
  await page.goto('./');
  await withHandle(page);
  await page.getByRole('button', { name: 'Open files…' }).click();
  await settled(page);
  await page.getByRole('button', { name: 'Close model.safetensors' }).click();
  const recent = page.getByRole('region', { name: 'Recent files' });
  await expect(recent.getByRole('listitem')).toHaveText(['model.safetensors']);
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  // Also after reloading the page.
  await page.reload();
  await recent.getByRole('button', { name: 'model.safetensors' }).evaluate((button: HTMLElement) => [button.click(), button.click()]);
  await settled(page);
  await expect(page.locator('.file-tab')).toHaveCount(1);
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
  await page.getByRole('button', { name: 'Close model.safetensors' }).click();
  // Opening a deleted file reports an error and removes it from the list.
  await page.evaluate(async () => (await navigator.storage.getDirectory()).removeEntry('model.safetensors'));
  await recent.getByRole('button', { name: 'model.safetensors' }).click();
  await expect(page.locator('.alert')).toContainText('model.safetensors has been moved or deleted');
  await expect(recent).toBeHidden();
});

test('what was opened is forgotten on request', async ({ page }) => {
  await page.goto('./');
  await withHandle(page);
  await page.getByRole('button', { name: 'Open files…' }).click();
  await settled(page);
  await page.getByRole('button', { name: 'Close model.safetensors' }).click();
  await page.getByRole('button', { name: 'Clear list' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Open files…' })).toBeFocused();
  await expect(page.getByRole('region', { name: 'Recent files' })).toBeHidden();
  await page.reload();
  await expect(page.locator('.sample').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Recent files' })).toBeHidden();
});
