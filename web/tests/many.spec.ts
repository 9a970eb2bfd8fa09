/** Comparing files of very many tensors. */

import { safetensors, written } from './files.ts';
import { expect, openFiles, settled, test, within } from './page.ts';

/** As many tensors as mixtures of experts have; `changed` ones have other values. */
function many(tensors: number, changed: (tensor: number) => boolean): Buffer {
  return safetensors(
    Object.fromEntries(
      Array.from({ length: tensors }, (_, i) => [`layers.${i % 32}.experts.${i}`, { dtype: 'F32', data: Float32Array.of(i, 1, 2, changed(i) ? 3.5 : 3) }]),
    ),
  );
}

async function compared(page: import('@playwright/test').Page, tensors: number): Promise<number> {
  const differs = (i: number) => i % 1000 === 7;
  await openFiles(page, written({ 'before.safetensors': many(tensors, () => false), 'after.safetensors': many(tensors, differs) }));
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText(`${tensors.toLocaleString('en-GB')} not compared`);
  const begun = performance.now();
  await page.getByRole('button', { name: 'Compare all values' }).click();
  const different = tensors / 1000;
  await expect(page.locator('.compare .list-summary')).toContainText(
    `${different} changed · ${(tensors - different).toLocaleString('en-GB')} unchanged · 0 not compared · ${different} of ${(4 * tensors).toLocaleString('en-GB')} values differ`,
    { timeout: 120_000 },
  );
  return performance.now() - begun;
}

test('comparing all values takes time in proportion to the tensors', { tag: ['@bench', '@deep'] }, async ({ page }) => {
  test.setTimeout(300_000);
  const few = await compared(page, 5_000);
  const all = await compared(page, 100_000);
  console.log(`compare 5,000 tensors: ${few.toFixed(0)} ms; 100,000: ${all.toFixed(0)} ms`);
  // Quadratic would be 400 times; the rest is room for a busy machine.
  expect(all).toBeLessThan(60 * Math.max(few, 500));
  within(all, 10_000);
});
