/** Checkpoints of PyTorch: what their pickles import, and several as one model. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { written } from './files.ts';
import { expect, openFiles, openSample, test } from './page.ts';

const SAMPLES = join(import.meta.dirname, '../public/samples');
const SHARDS = ['pytorch_model-00001-of-00002.bin', 'pytorch_model-00002-of-00002.bin'];

test('a pickle that runs code says what, and the name leads to its byte', async ({ page }) => {
  await openSample(page, 'pytorch-broken');
  await expect(page.locator('.verdict')).toContainText('which would run posix.system');
  await page.getByRole('tab', { name: /^Imports/ }).click();
  const table = page.getByRole('table', { name: 'What the pickle imports' });
  const rows = table.locator('tbody tr');
  await expect(rows).toHaveCount(4);
  await expect(rows.first()).toContainText('posix.system');
  await expect(rows.first().locator('.standing')).toHaveText('not listed');
  await expect(rows.nth(1).locator('.standing')).toHaveText('listed');
  expect((await new AxeBuilder({ page }).include('.imports').analyze()).violations).toEqual([]);
  await rows.first().getByRole('button').click();
  await expect(page.getByRole('tab', { name: 'Hex' })).toHaveAttribute('aria-selected', 'true');
});

test('a pickle alone lists what it imports', async ({ page }) => {
  await openFiles(page, written({ 'x.pkl': Buffer.from('cposix\nsystem\n(S"id"\ntR.') }));
  await page.getByRole('tab', { name: /^Imports/ }).click();
  await expect(page.locator('.imports tbody tr')).toHaveText([/posix\.system/]);
});

test('a model without a pickle has no list of imports', async ({ page }) => {
  await openSample(page, 'onnx');
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.getByRole('tab', { name: /^Imports/ })).toHaveCount(0);
});

test('shards of PyTorch are one model', async ({ page }) => {
  const checkpoint = readFileSync(join(SAMPLES, 'digits.pt'));
  const names = ['model.fc1.weight', 'model.fc1.weight_transposed', 'model.fc1.bias', 'model.fc2.weight', 'model.fc2.bias'];
  const map = Object.fromEntries(names.map((name) => [name, SHARDS[0]]));
  const index = JSON.stringify({ metadata: {}, weight_map: map });
  await openFiles(page, written({ 'pytorch_model.bin.index.json': index, [SHARDS[0]]: checkpoint }));
  await expect(page.locator('.file-name')).toHaveText(['pytorch_model.bin.index.json']);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.verdict-facts')).toContainText('5 tensors');
  await expect(page.getByRole('tab', { name: /^Imports/ })).toContainText('3');
});
