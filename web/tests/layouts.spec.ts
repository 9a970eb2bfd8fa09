/** Tensors whose bytes are not the elements in order. */

import type { Page } from '@playwright/test';
import { safetensors, written } from './files.ts';
import { expect, openFiles, openSample, openTensor, panelTab, test } from './page.ts';

const fact = (page: Page, term: string) =>
  page.locator('.panel-statistics .pair', { has: page.locator('dt', { hasText: new RegExp(`^${term}$`) }) }).locator('dd');

async function saved(page: Page): Promise<{ header: string; data: Buffer }> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as .npy' }).click();
  const parts: Buffer[] = [];
  for await (const part of await (await download).createReadStream()) {
    parts.push(part as Buffer);
  }
  const bytes = Buffer.concat(parts);
  const length = bytes.readUInt16LE(8);
  return { header: bytes.subarray(10, 10 + length).toString(), data: bytes.subarray(10 + length) };
}

test('columns are taken apart for statistics and .npy', async ({ page }) => {
  await openSample(page, 'idv');
  await openTensor(page, 'Place');
  const place = await saved(page);
  expect(place.header).toContain("'descr': '<f4', 'fortran_order': False, 'shape': (300, 3)");
  expect(place.data.length).toBe(300 * 3 * 4);
  const numbers = new Float32Array(place.data.buffer.slice(place.data.byteOffset, place.data.byteOffset + place.data.length));
  await panelTab(page, 'Statistics');
  await expect(fact(page, 'Elements')).toHaveText('900');
  await expect(fact(page, 'NaN')).toHaveText('0');
  await expect(fact(page, 'Subnormal')).toHaveText('0');
  const shown = (value: number) => String(Number(value.toPrecision(7)));
  await expect(fact(page, 'Minimum')).toHaveText(shown(Math.min(...numbers)));
  await expect(fact(page, 'Maximum')).toHaveText(shown(Math.max(...numbers)));

  // Every third value is true; the file stores packed bits.
  await openTensor(page, 'Paid');
  await panelTab(page, 'Statistics');
  await expect(fact(page, 'Elements')).toHaveText('300');
  await expect(fact(page, 'Zeros')).toContainText('200');
  await panelTab(page, 'Overview');
  const paid = await saved(page);
  expect(paid.header).toContain("'descr': '|b1'");
  expect([...paid.data]).toEqual(Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? 1 : 0)));

  // Each row stores two of a hundred elements: 1 and 2.5.
  await openTensor(page, 'Words');
  await panelTab(page, 'Statistics');
  await expect(fact(page, 'Elements')).toHaveText('30,000');
  await expect(fact(page, 'Zeros')).toContainText('29,400');
  await expect(fact(page, 'Maximum')).toHaveText('2.5');

  // There are no statistics for keys and text.
  for (const name of ['Vendor', 'Street']) {
    await openTensor(page, name);
    await panelTab(page, 'Statistics');
    await expect(page.locator('.panel-statistics')).toContainText('Statistics are not available for');
    await panelTab(page, 'Overview');
    await expect(page.getByRole('button', { name: 'Save as .npy' })).toBeDisabled();
  }
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('blocks of GGUF are numbers everywhere', async ({ page }) => {
  await openSample(page, 'gguf');
  await openTensor(page, 'blk.1.attn_q.weight');
  const { header, data } = await saved(page);
  expect(header).toContain("'descr': '<f4', 'fortran_order': False, 'shape': (64, 64)");
  const numbers = new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
  expect(numbers.length).toBe(64 * 64);
  await panelTab(page, 'Statistics');
  const shown = (value: number) => String(Number(value.toPrecision(7)));
  await expect(fact(page, 'Minimum')).toHaveText(shown(Math.min(...numbers)));
  await expect(fact(page, 'Maximum')).toHaveText(shown(Math.max(...numbers)));
  await panelTab(page, 'Heat map');
  await expect(page.locator('.heat .readout')).toHaveText(`[0, 0] ${shown(numbers[0])}`);
  await page.locator('.heat-canvas').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) {
    await page.keyboard.press(key);
  }
  await expect(page.locator('.heat .readout')).toHaveText(`[2, 1] ${shown(numbers[2 * 64 + 1])}`);
});

test('of a sparse tensor the stored entries count', async ({ page }) => {
  await openSample(page, 'ztensor');
  await openTensor(page, 'links');
  await expect(page.getByRole('button', { name: 'Save as .npy' })).toBeDisabled();
  await panelTab(page, 'Values');
  // The file stores five entries (see the sample builder), and each has a row.
  await expect(page.locator('.value-grid .v-list [role=row]:not([hidden])')).toHaveCount(5);
  await panelTab(page, 'Statistics');
  await expect(fact(page, 'Entries stored')).toHaveText('5');
  await expect(fact(page, 'Subnormal')).toHaveText('0');
});

test('integers are shown to the last digit', async ({ page }) => {
  const [path] = written({
    'extremes.safetensors': safetensors({
      signed: { dtype: 'I32', data: Int32Array.of(-(2 ** 31), 2 ** 31 - 1) },
      unsigned: { dtype: 'U64', data: BigUint64Array.of(1n, 2n ** 64n - 1n) },
    }),
  });
  await openFiles(page, path);
  await openTensor(page, 'signed');
  await panelTab(page, 'Statistics');
  await expect(fact(page, 'Minimum')).toHaveText('-2147483648');
  await expect(fact(page, 'Maximum')).toHaveText('2147483647');
  await openTensor(page, 'unsigned');
  await panelTab(page, 'Statistics');
  await expect(fact(page, 'Minimum')).toHaveText('1');
  await expect(fact(page, 'Maximum')).toHaveText('≈ 18446740000000000000');
});
