/** Folders of models: what belongs to which model, and what is not a model. */

import { folder, safetensors, written } from './files.ts';
import { drop, expect, openFiles, settled, test } from './page.ts';
import type { Page } from '@playwright/test';

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });
const model = (name = 'model.embed_tokens.weight') => safetensors({ [name]: { ...f32(1, 2, 3, 4), shape: [2, 2] } });
const config = (heads: number) => JSON.stringify({ model_type: 'llama', num_attention_heads: heads });
const shardOf = (number: number, count = 2) => `model-0000${number}-of-0000${count}.safetensors`;
const INDEX = 'model.safetensors.index.json';
const shards = () => ({
  [shardOf(1)]: safetensors({ a: f32(1, 2) }),
  [shardOf(2)]: safetensors({ b: f32(3) }),
  [INDEX]: JSON.stringify({ metadata: { total_size: 12 }, weight_map: { a: shardOf(1), b: shardOf(2) } }),
});

const view = (page: Page) => page.locator('.file:visible');
const files = (page: Page) => page.locator('.file-name');

/** The number of heads that the summary of the file in front gives; `none` if it gives none. */
async function heads(page: Page): Promise<string> {
  await view(page).getByRole('tab', { name: 'Model' }).click();
  await expect(view(page).locator('.model-part').first()).toBeVisible();
  const fact = view(page).locator('.model-facts dt', { hasText: /^Heads$/ });
  return (await fact.count()) === 0 ? 'none' : (await fact.locator('+ dd').innerText()).replace('config.json', '').trim();
}

test('a config_json applies to the models of its own folder only', async ({ page }) => {
  const path = folder({
    'one/model.safetensors': model(),
    'one/config.json': config(8),
    'two/model.safetensors': model(),
    'two/config.json': config(4),
    'three/model.safetensors': model(),
  });
  await page.goto('./');
  await drop(page, `${path}/one`, `${path}/three`, `${path}/two`);
  await expect(files(page)).toHaveCount(3);
  await settled(page);
  const found: string[] = [];
  for (let i = 0; i < 3; i++) {
    await files(page).nth(i).click();
    found.push(await heads(page));
  }
  expect(found).toEqual(['8', 'none', '4']);
});

test('files beside a model are passed over with one line', async ({ page }) => {
  await openFiles(
    page,
    written({
      'README.md': '# A model',
      'config.json': config(8),
      'generation_config.json': '{}',
      'model.safetensors': model(),
      'special_tokens_map.json': '{}',
      'tokenizer.json': '{}',
      'tokenizer_config.json': '{}',
    }),
  );
  await expect(files(page)).toHaveText(['model.safetensors']);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.task-note')).toHaveText(/^2 files beside the model were not opened: README\.md, special_tokens_map\.json/);
  expect(await heads(page)).toBe('8');
  // A companion alone is what the user asked for.
  await page.getByLabel('Files to open').setInputFiles(written({ 'tokenizer.json': '{}' }));
  await expect(files(page)).toHaveText(['model.safetensors', 'tokenizer.json']);
  await expect(page.locator('.task-note')).toHaveCount(0);
});

test('a file that is not understood does not take the front from one that is', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': model(), 'weights.bin': 'no tensors here, but more than a few bytes' }));
  await expect(files(page)).toHaveText(['model.safetensors', 'weights.bin']);
  await expect(files(page).first()).toHaveAttribute('aria-current', 'true');
  await expect(view(page).locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.file-tab[data-state]').nth(1)).toHaveAttribute('data-state', 'invalid');
});

test('an index without its shards is not valid, and says what is missing', async ({ page }) => {
  await openFiles(page, written({ [INDEX]: shards()[INDEX] }));
  await expect(page.locator('.verdict-head')).toHaveText('2 of 2 files missing');
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'remarks');
  await expect(page.locator('.file-tab')).toHaveAttribute('data-state', 'missing');
});

test('shards that were opened first join their index', async ({ page }) => {
  const { [INDEX]: index, ...parts } = shards();
  await openFiles(page, written(parts));
  await expect(files(page)).toHaveText([shardOf(1), shardOf(2)]);
  await files(page).nth(1).click();
  await expect(view(page).locator('.verdict-checked')).toContainText('File 2 of 2 of a model');
  await page.locator('input[type=file]').setInputFiles(written({ [INDEX]: index }));
  await expect(files(page)).toHaveText([INDEX]);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.verdict-facts')).toContainText('3 files');
});

test('sharded models are called by their folder', async ({ page }) => {
  const path = folder(Object.fromEntries(['first', 'second'].flatMap((name) => Object.entries(shards()).map(([file, content]) => [`${name}/${file}`, content]))));
  await page.goto('./');
  await drop(page, `${path}/first`, `${path}/second`);
  await expect(files(page)).toHaveText(['first', 'second']);
  await settled(page);
  await expect(page).toHaveTitle('second · Weighbridge');
  await expect(files(page).nth(1)).toHaveAttribute('title', `second (${INDEX})`);
  await view(page).getByRole('tab', { name: 'Compare' }).click();
  await expect(view(page).getByLabel('Compare with').locator('option')).toHaveText(['first']);
  await view(page).getByRole('tab', { name: 'Model' }).click();
  await expect(view(page).locator('.model-head h2')).toHaveText('second');
});

test('a wrong file chosen as config_json is called by its own name', async ({ page }) => {
  const [path, wrong] = written({ 'model.safetensors': model(), 'notes.json': 'no JSON' });
  await openFiles(page, path);
  await page.getByRole('tab', { name: 'Model' }).click();
  await page.getByLabel('A config.json').setInputFiles(wrong);
  await expect(page.getByRole('alert')).toContainText('notes.json is not valid JSON.');
});

test('a folder can be chosen without a mouse', async ({ page }) => {
  const path = folder({ 'one/model.safetensors': model(), 'one/config.json': config(8), 'one/tokenizer.json': '{}', 'two/model.safetensors': model(), 'two/config.json': config(4) });
  await page.addInitScript(() => delete (window as { showDirectoryPicker?: unknown }).showDirectoryPicker);
  await page.goto('./');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open folder…' }).press('Enter');
  await (await chooser).setFiles(path);
  await expect(files(page)).toHaveCount(2);
  await settled(page);
  const found: string[] = [];
  for (let i = 0; i < 2; i++) {
    await files(page).nth(i).click();
    found.push(await heads(page));
  }
  expect(found.sort()).toEqual(['4', '8']);
  // With a key, while a file is open; a folder without models says so.
  const again = page.waitForEvent('filechooser');
  await page.keyboard.press('f');
  await (await again).setFiles(folder({ 'notes/readme.txt': 'no tensors' }));
  await expect(page.getByRole('alert')).toContainText('contains no tensor files');
});
