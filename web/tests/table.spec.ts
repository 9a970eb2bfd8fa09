/** A folder as one table with verdicts, from which models are opened; many tabs; Back after closing. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { folder, safetensors, written } from './files.ts';
import { PICTURES, drop, expect, openFiles, settled, test } from './page.ts';

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });
const model = () => safetensors({ 'model.embed_tokens.weight': { ...f32(1, 2, 3, 4), shape: [2, 2] } });
const shardOf = (number: number) => `model-0000${number}-of-00002.safetensors`;

/** Six models, one of them broken and one of two shards, and a file that is none. */
const FOLDER = {
  'zoo/a/model.safetensors': model(),
  'zoo/a/config.json': JSON.stringify({ model_type: 'llama', num_attention_heads: 2 }),
  'zoo/a/tokenizer.json': '{}',
  'zoo/b/model.safetensors': model(),
  'zoo/c/broken.safetensors': model().subarray(0, -4),
  [`zoo/d/${shardOf(1)}`]: safetensors({ a: f32(1, 2) }),
  [`zoo/d/${shardOf(2)}`]: safetensors({ b: f32(3) }),
  'zoo/d/model.safetensors.index.json': JSON.stringify({ metadata: { total_size: 12 }, weight_map: { a: shardOf(1), b: shardOf(2) } }),
  'zoo/e/late.safetensors': model(),
  'zoo/f/one.safetensors': model(),
  'zoo/f/notes.md': '# Notes',
  'zoo/f/state.pkl': Buffer.from('80049506000000000000008c026f73942e', 'hex'),
};

const rows = (page: Page) => page.locator('.folder-table tbody tr');
const files = (page: Page) => page.locator('.file-name');

async function openFolder(page: Page): Promise<void> {
  await page.goto('./');
  await drop(page, `${folder(FOLDER)}/zoo`);
  await expect(page.locator('.folder-head strong')).toHaveText(/^7 files · 2 (?:invalid|not supported)|^7 files · 1 invalid · 1 not/);
  await expect(rows(page).locator('.icon-busy')).toHaveCount(0);
}

test('a folder is one table with the verdict on each file, the worst first', async ({ page }) => {
  await openFolder(page);
  await expect(files(page)).toHaveCount(0);
  await expect(page).toHaveTitle('zoo · Weighbridge');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('zoo');
  const row = (name: string) => rows(page).filter({ hasText: name });
  await expect(rows(page)).toHaveCount(7);
  await expect(row('c/broken.safetensors')).toContainText('Truncated');
  await expect(row('d/model.safetensors.index.json')).toContainText('and 2 files');
  await expect(row('d/model.safetensors.index.json')).toContainText('Valid');
  await expect(row('f/state.pkl')).toContainText('pickle');
  const states = await rows(page).evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.state!));
  expect(states.slice(-5)).toEqual(['valid', 'valid', 'valid', 'valid', 'valid']);
  expect(states.slice(0, 2)).not.toContain('valid');
  await page.screenshot({ path: `${PICTURES}/folder.png` });
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join('; ')}`)).toEqual([]);
  for (const [name, width, scheme] of [['folder-phone', 390, 'light'], ['folder-dark', 1280, 'dark']] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 844 });
    await page.screenshot({ path: `${PICTURES}/${name}.png` });
  }
});

test('a model is opened from the table with its own settings, and Back leads to the table', async ({ page }) => {
  await openFolder(page);
  const open = rows(page).getByRole('button', { name: 'a/model.safetensors' });
  await open.press('Enter');
  await settled(page);
  await expect(files(page)).toHaveText(['model.safetensors']);
  await page.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(page.locator('.model-facts .pair', { has: page.locator('dt', { hasText: /^Heads$/ }) })).toContainText('2');
  await page.goBack();
  await page.goBack();
  await expect(page.locator('.folder-table')).toBeVisible();
  // The same model is not opened twice.
  await open.click();
  await expect(page.locator('.verdict')).toBeVisible();
  await expect(files(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'The folder zoo' }).or(page.locator('.folder-name')).first().click();
  await rows(page).getByRole('button', { name: 'd/model.safetensors.index.json' }).click();
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('3 files');
  await page.getByRole('button', { name: 'Close the folder zoo' }).click();
  await expect(page.locator('.folder-name')).toHaveCount(0);
  await expect(page.locator('.verdict')).toBeVisible();
});

test('a few models of a folder open at once, beside their table', async ({ page }) => {
  await page.goto('./');
  await drop(page, `${folder({ 'two/a.safetensors': model(), 'two/b.safetensors': model() })}/two`);
  await expect(files(page)).toHaveText(['a.safetensors', 'b.safetensors']);
  await settled(page);
  await page.locator('.folder-name').click();
  await expect(page.locator('.folder-head strong')).toHaveText('2 files · 2 valid');
});

test('checking a folder can be cancelled and resumed', async ({ page }) => {
  await page.goto('./');
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`many/${i}.safetensors`, model()]));
  await drop(page, `${folder(many)}/many`);
  await page.getByRole('button', { name: 'Cancel: Checking the folder' }).click();
  await expect(page.locator('.folder-head strong')).toContainText('not checked yet');
  await page.getByRole('button', { name: 'Check the rest' }).click();
  await expect(page.locator('.folder-head strong')).toHaveText('300 files · 300 valid');
});

const many = (count: number) => written(Object.fromEntries(Array.from({ length: count }, (_, i) => [`file-${String(i + 1).padStart(2, '0')}.safetensors`, model()])));

test('many files have tabs of some width, and a menu that says how many', async ({ page }) => {
  await openFiles(page, many(23));
  await expect(files(page)).toHaveCount(23);
  const widths = await page.locator('.file-tab').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
  expect(Math.min(...widths)).toBeGreaterThanOrEqual(130);
  const menu = page.getByRole('combobox', { name: 'All 23 files' });
  await expect(page.locator('.tab-menu')).toContainText('23 files');
  await expect(menu.locator('option')).toHaveCount(23);
  await menu.selectOption('file-03.safetensors');
  await expect(page).toHaveTitle('file-03.safetensors · Weighbridge');
  await expect(page.locator('.file-name[aria-current=true]')).toHaveText('file-03.safetensors');
  await expect(page.locator('.file-name[aria-current=true]')).toBeInViewport();
  await page.screenshot({ path: `${PICTURES}/many-tabs.png` });
  await openFiles(page, written({ 'one.safetensors': model() }));
  await expect(page.locator('.tab-menu')).toBeHidden();
});

test('tabs show the end of a name before its extension', async ({ page }) => {
  await openFiles(page, written(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`kohya-lora-${i + 10}.safetensors`, model()]))));
  await expect(files(page)).toHaveCount(12);
  await expect(files(page).last()).toHaveText('kohya-lora-21.safetensors');
  const cut = await files(page).last().locator('> *').evaluateAll((all) => all.map((one) => one.scrollWidth > one.clientWidth));
  expect(cut).toEqual([false, true]);
});

test('of many tabs none is cut', async ({ page }) => {
  /** Pixels of the tabs that are out of sight, of those that are partly in sight. */
  const cut = () =>
    page.locator('#files').evaluate((bar) => {
      const { left, right } = bar.getBoundingClientRect();
      const tabs = [...bar.children].map((one) => one.getBoundingClientRect()).filter((tab) => tab.right > left + 1 && tab.left < right - 1);
      return Math.max(...tabs.flatMap((tab) => [left - tab.left, tab.right - right]));
    });
  await openFiles(page, many(23));
  await expect(files(page)).toHaveCount(23);
  await expect(files(page).last()).toBeInViewport({ ratio: 1 });
  expect(await cut()).toBeLessThanOrEqual(1);
  await page.getByRole('combobox', { name: 'All 23 files' }).selectOption('file-05.safetensors');
  await expect(files(page).nth(4)).toBeInViewport({ ratio: 1 });
  expect(await cut()).toBeLessThanOrEqual(1);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(files(page).nth(4)).toBeInViewport({ ratio: 1 });
  await expect.poll(cut).toBeLessThanOrEqual(1);
});

test('Back after closing a file goes to what was before it', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': model(), 'b.safetensors': model() }));
  await expect(files(page)).toHaveCount(2);
  await settled(page);
  await files(page).first().click();
  await page.getByRole('tab', { name: /^Findings/ }).click();
  await files(page).nth(1).click();
  await page.getByRole('tab', { name: /^Layout/ }).click();
  await page.getByRole('button', { name: 'Close b.safetensors' }).click();
  await expect(page.locator('.file:visible').getByRole('tab', { name: /^Findings/ })).toHaveAttribute('aria-selected', 'true');
  // The steps of the closed file are skipped, and each step back shows something else.
  await page.goBack();
  await expect(page.locator('.file:visible').getByRole('tab', { name: /^Tensors/ })).toHaveAttribute('aria-selected', 'true');
});
