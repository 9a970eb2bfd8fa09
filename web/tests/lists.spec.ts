/** The lists of tensors, parts, metadata, tokens and differences, and the tree: one behaviour for all. */

import type { Locator, Page } from '@playwright/test';
import { gguf, safetensors, written } from './files.ts';
import { expect, openFiles, settled, test } from './page.ts';

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });

/** A model with a tokenizer, and the same with another value in each tensor. */
function models(): string[] {
  const keys = {
    'general.architecture': 'llama',
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': Array.from({ length: 40 }, (_, i) => `token${i}`),
    'tokenizer.ggml.scores': new Float32Array(40),
    'tokenizer.ggml.token_type': new Int32Array(40).fill(1),
  };
  const tensors = (value: number) => Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`blk.${i}.w`, { type: 0, shape: [8], data: Buffer.from(new Float32Array(8).fill(value).buffer) }]));
  return written({ 'a.gguf': gguf(keys, tensors(1)), 'b.gguf': gguf(keys, tensors(2)) });
}

/** The list with this name, and how to come to it. */
const LISTS: Record<string, (page: Page) => Promise<void>> = {
  Tensors: (page) => tab(page, /^Tensors/),
  'Tensors by name': async (page) => {
    await tab(page, /^Tensors/);
    await page.locator('.file:visible').getByRole('button', { name: 'Tree' }).click();
  },
  'Parts of the file': (page) => tab(page, 'Layout'),
  Metadata: (page) => tab(page, /^Metadata/),
  Tokens: async (page) => {
    await tab(page, 'Model');
    await tab(page, /^Tokenizer/);
  },
  Differences: (page) => tab(page, 'Compare'),
};

async function tab(page: Page, name: string | RegExp): Promise<void> {
  await page.locator('.file:visible').getByRole('tab', { name }).first().click();
}

/** The row that a screen reader is told. */
async function active(grid: Locator): Promise<string | null> {
  return await grid.evaluate((element) => {
    const row = element.querySelector(`#${element.getAttribute('aria-activedescendant')}`);
    return row?.classList.contains('active') ? row.getAttribute('aria-rowindex') : null;
  });
}

for (const [name, go] of Object.entries(LISTS)) {
  test(`the keys of every list: ${name}`, async ({ page }) => {
    await openFiles(page, models());
    await settled(page);
    await go(page);
    const grid = page.locator('.file:visible').getByRole(name === 'Tensors by name' ? 'treegrid' : 'grid', { name, exact: true });
    await expect(grid.locator('.v-list [role=row]:not(:empty)').first()).toBeVisible();
    const total = Number(await grid.getAttribute('aria-rowcount'));
    await grid.focus();
    for (const [key, row] of [
      ['Home', 2],
      ['ArrowDown', 3],
      ['j', 4],
      ['ArrowUp', 3],
      ['k', 2],
      ['ArrowUp', 2],
      ['End', total],
      ['ArrowDown', total],
      ['Home', 2],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => active(grid), `${key}`).toBe(String(row));
    }
    await page.keyboard.press('PageDown');
    await expect.poll(async () => Number(await active(grid))).toBeGreaterThan(2);
    await page.keyboard.press('PageUp');
    await expect.poll(() => active(grid)).toBe('2');
    // Keys of the browser stay with it.
    await page.keyboard.press('Alt+End');
    expect(await active(grid)).toBe('2');
    // A click makes a row the active one; a part of the file opens at once.
    if (name !== 'Parts of the file') {
      await grid.locator('[data-rank="1"]').click();
      await expect.poll(() => active(grid)).toBe('3');
      await grid.focus();
    }
    // The rows are no stop of their own.
    await page.keyboard.press('Tab');
    expect(await grid.evaluate((element) => element.contains(document.activeElement))).toBe(false);
  });
}

test('no row is active before the user has moved to one', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: f32(1), b: f32(2) }) }));
  const grid = page.getByRole('grid', { name: 'Tensors' });
  await expect(grid).toBeFocused();
  await expect(grid.locator('.active')).toHaveCount(0);
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.panel-name')).toHaveText('a');
  await expect(grid.locator('.active')).toHaveCount(1);
});

test('heads of columns stand above their columns', async ({ page }) => {
  const bytes = safetensors({ w: { dtype: 'F32', data: Float32Array.of(1) } }, { format: 'pt', by: 'a test' });
  await openFiles(page, written({ 'model.safetensors': bytes }));
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  const starts = (row: string) => page.locator(`.meta-table ${row} > *`).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  await expect(page.locator('.meta-table .v-list [role=row]:not([hidden])')).toHaveCount(2);
  expect(await starts('.grid-head [role=row]')).toEqual(await starts('.v-list [role=row]:first-child'));
});
