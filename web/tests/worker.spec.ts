/** A worker that ends: noticed, and restarted with one click. */

import { safetensors, written } from './files.ts';
import { expect, openFiles, settled, test } from './page.ts';
import type { Page } from '@playwright/test';

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });
const alert = (page: Page) => page.getByRole('alert');

/** Ends the worker as the browser does when memory runs out: no event reaches the page. */
async function end(page: Page): Promise<void> {
  await expect.poll(() => page.workers().length).toBe(1);
  await page
    .workers()[0]
    .evaluate(() => self.close())
    .catch(() => undefined);
}

test('a worker that ends is noticed, and one click opens the files again', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: f32(1, 2) }), 'b.safetensors': safetensors({ b: f32(1, 2, 3) }) }));
  await expect(page.locator('.file-name')).toHaveCount(2);
  await settled(page);
  await end(page);
  await expect(alert(page)).toContainText('The worker that reads the files failed: it has ended.');
  // What is asked for now does not wait for ever.
  await page.locator('.file:visible').getByRole('tab', { name: 'Model' }).click();
  await expect(page.locator('.file:visible .model').first()).toContainText('No summary available.');
  await expect(page.locator('.task')).toHaveCount(0);
  await alert(page).getByRole('button', { name: 'Restart' }).click();
  await expect(alert(page)).toBeHidden();
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText(['a.safetensors', 'b.safetensors']);
  await expect(page.locator('.file:visible .model-head')).toContainText('b.safetensors');
  await page.locator('.file-name').first().click();
  await page.locator('.file:visible').getByRole('tab', { name: /^Tensors/ }).click();
  await page.locator('.file:visible .tensor-table .v-list [role=row]:not([hidden])').first().click();
  await page.locator('.file:visible').getByRole('tab', { name: 'Values' }).click();
  await expect(page.locator('.file:visible .value-grid')).toContainText('2');
  // The new one is watched, too.
  await end(page);
  await expect(alert(page)).toContainText('it has ended');
});

test('a worker that ends while it reads leaves no task', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: f32(1, 2) }) }));
  // The next read never ends, so that the worker ends in the middle of a task.
  await page.workers()[0].evaluate(() => {
    Blob.prototype.arrayBuffer = () => new Promise(() => undefined);
  });
  await page.getByRole('button', { name: 'Scan weights' }).click();
  await expect(page.locator('.task')).toContainText('Scanning weights');
  await end(page);
  await expect(alert(page)).toContainText('it has ended');
  await expect(page.locator('.task')).toHaveCount(0);
  await expect(page.locator('.verdict-checked .icon-busy')).toHaveCount(0);
});
