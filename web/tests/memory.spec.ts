/** Views that are no longer shown are freed. */

import type { CDPSession, Page } from '@playwright/test';
import { safetensors, written } from './files.ts';
import { expect, openFiles, panelTab, test } from './page.ts';

async function used(session: CDPSession): Promise<{ nodes: number; heap: number }> {
  // Resize observers are released a frame later.
  for (let i = 0; i < 3; i++) {
    await session.send('HeapProfiler.collectGarbage');
  }
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((metric) => metric.name === name)!.value;
  return { nodes: of('Nodes'), heap: of('JSHeapUsedSize') };
}

/** Selects the next tensor and waits for its histogram. */
async function next(page: Page, i: number): Promise<void> {
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.panel-name')).toHaveText(`layers.${i}.weight`);
  await expect(page.locator('.panel-statistics .histogram')).toHaveAttribute('data-scale', 'linear');
}

test('after 300 histograms there are no more nodes and no more heap than before', { tag: '@deep' }, async ({ page }) => {
  test.setTimeout(240_000);
  const data = Float32Array.from({ length: 4096 }, (_, i) => Math.sin(i) * 2 ** (i % 40));
  const tensors = Object.fromEntries(Array.from({ length: 350 }, (_, i) => [`layers.${i}.weight`, { dtype: 'F32', data: data.map((x) => x + i) }]));
  await openFiles(page, written({ 'model.safetensors': safetensors(tensors) }));
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.getByRole('grid', { name: 'Tensors' }).focus();
  await page.keyboard.press('Home');
  await panelTab(page, 'Statistics');
  await page.getByRole('grid', { name: 'Tensors' }).focus();
  // From here on, the caches are full.
  for (let i = 1; i <= 40; i++) {
    await next(page, i);
  }
  const before = await used(session);
  for (let i = 41; i <= 340; i++) {
    await next(page, i);
  }
  const after = await used(session);
  console.log(`300 histograms: nodes ${before.nodes} to ${after.nodes}, heap ${(before.heap / 1e6).toFixed(2)} to ${(after.heap / 1e6).toFixed(2)} MB`);
  expect(after.nodes).toBeLessThan(before.nodes * 1.1);
  // Allow a tenth, plus what the browser keeps for the test driver.
  expect(after.heap).toBeLessThan(before.heap * 1.1 + 250_000);
});

test('a histogram still takes the colours of the theme', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data: Float32Array.of(1, 2, 2, 3) } }) }));
  await page.locator('.tensor-table .v-list [role=row]').first().click();
  await panelTab(page, 'Statistics');
  const canvas = page.locator('.histogram canvas');
  await expect(canvas).toBeVisible();
  const picture = () => canvas.evaluate((one: HTMLCanvasElement) => one.toDataURL());
  const light = await picture();
  await page.getByRole('button', { name: 'Switch between light and dark' }).click();
  await expect.poll(picture).not.toBe(light);
});
