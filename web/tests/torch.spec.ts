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
  await expect(rows.first().locator('.place')).toHaveText('callback');
  await expect(rows.nth(1).locator('.place')).toHaveText('fc2.bias');
  const operations = page.getByRole('table', { name: 'Operations of the pickle' });
  const current = operations.locator('[aria-current=true]');
  await expect(current).toContainText(['GLOBAL']);
  await expect(current).toContainText(['posix system']);
  expect((await new AxeBuilder({ page }).include('.imports').analyze()).violations).toEqual([]);
  await page.getByRole('button', { name: 'Operations around torch.FloatStorage' }).click();
  await expect(current).toContainText(['torch FloatStorage']);
  await page.getByLabel('Byte', { exact: true }).fill('1');
  await page.keyboard.press('Enter');
  await expect(page.locator('.imports')).toContainText('No pickle has this byte.');
  await rows.first().getByRole('button').first().click();
  await expect(page.getByRole('tab', { name: 'Hex' })).toHaveAttribute('aria-selected', 'true');
});

test('a finding on a pickle leads to the operations around it', async ({ page }) => {
  await openFiles(page, written({ 'x.pkl': Buffer.from('\x80\x02]q\0\xff.', 'latin1') }));
  await page.getByRole('tab', { name: /^Imports/ }).click();
  const operations = page.getByRole('table', { name: 'Operations of the pickle' }).locator('tbody tr');
  await expect(operations.first()).toContainText('PROTO');
  await page.getByLabel('Byte', { exact: true }).fill('5');
  await page.keyboard.press('Enter');
  await expect(operations.last()).toContainText('no operation has the byte 0xff');
});

test('storages name their tensors and lead to bytes', async ({ page }) => {
  await openSample(page, 'pytorch');
  await page.getByRole('tab', { name: /^Storages/ }).click();
  const rows = page.getByRole('table', { name: 'Storages' }).locator('tbody tr');
  await expect(rows).toHaveCount(4);
  // Shared storages come first.
  await expect(rows.first()).toContainText('model.fc1.weight_transposed');
  expect((await new AxeBuilder({ page }).include('.storages').analyze()).violations).toEqual([]);
  await rows.nth(1).getByRole('button').nth(1).click();
  await expect(page.locator('.panel-name')).toHaveText('model.fc1.bias');
  await rows.first().getByRole('button').first().click();
  const contents = page.getByRole('region', { name: 'Contents' });
  await expect(contents.getByRole('tab', { name: 'Hex' })).toHaveAttribute('aria-selected', 'true');
});

test('the tree divides keys, and shows which dots are in them', async ({ page }) => {
  await openSample(page, 'pytorch');
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await page.getByRole('button', { name: 'Tree' }).click();
  const rows = page.getByRole('treegrid').locator('.v-list [role=row]:not([hidden])');
  const layers = ['fc1', '.bias', '.weight', '.weight_transposed', 'fc2', '.bias', '.weight'];
  await expect(rows.locator('bdi')).toHaveText(['model', ...layers]);
  await rows.nth(4).click();
  await expect(page.locator('.panel-name')).toHaveText('model.fc1.weight_transposed');
  // A node that is closed and opened again has the same children.
  await rows.nth(1).click();
  await expect(rows.locator('bdi')).toHaveText(['model', 'fc1', 'fc2', '.bias', '.weight']);
  await rows.nth(1).click();
  await expect(rows.locator('bdi')).toHaveText(['model', ...layers]);
});

test('a pickle alone lists what it imports', async ({ page }) => {
  await openFiles(page, written({ 'x.pkl': Buffer.from('cposix\nsystem\n(S"id"\ntR.') }));
  await page.getByRole('tab', { name: /^Imports/ }).click();
  await expect(page.getByRole('table', { name: 'What the pickle imports' }).locator('tbody tr')).toHaveText([/posix\.system/]);
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
