/** Models whose tensors name the files that have their data. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { folder, onnx, written } from './files.ts';
import { BY_URL, drop, expect, openFiles, openTensor, panelTab, settled, test } from './page.ts';
import { sendRange } from './remote.ts';

const floats = (...values: number[]) => Buffer.from(Float32Array.from(values).buffer);
const MODEL = 'model.onnx';
const WEIGHTS = 'weights.data';
const BIASES = 'parts/biases.bin';

/** A model of three tensors, in two files. */
const files = (): Record<string, Buffer> => ({
  [WEIGHTS]: floats(1, 2, 3, 4, 5, 6),
  [MODEL]: onnx({
    'a.weight': { location: WEIGHTS, offset: 0, elements: 4 },
    'a.bias': { location: BIASES, offset: 4, elements: 2 },
    'b.weight': { location: WEIGHTS, offset: 16, elements: 2 },
  }),
  [BIASES]: floats(0, 0.5, -0.5),
});

/** The same with all data beside the model. */
const flat = () => ({ [WEIGHTS]: files()[WEIGHTS], [MODEL]: onnx({ 'a.weight': { location: WEIGHTS, offset: 0, elements: 6 } }) });

const findings = (page: Page) => page.locator('.finding .rule');
const filesTab = (page: Page) => page.getByRole('tab', { name: /^Files/ });

test('a model with its file of data is one model', async ({ page }) => {
  await openFiles(page, written(flat()));
  await expect(page.locator('.file-name')).toHaveText([MODEL]);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.verdict-facts')).toContainText('ONNX 10 · 2 files');
  await expect(findings(page)).toHaveCount(0);
  await openTensor(page, 'a.weight');
  await expect(page.locator('.facts-list')).toContainText(WEIGHTS);
  await panelTab(page, 'Values');
  await expect(page.locator('.value-grid')).toContainText('6');
  await page.getByRole('button', { name: 'Scan weights' }).click();
  await expect(page.locator('.stage-weights')).toHaveAttribute('data-state', 'sound');
});

test('a dropped folder with data in a folder below', async ({ page }) => {
  await page.goto('./');
  await drop(page, folder(files()));
  await settled(page);
  await page.locator('.file-name').first().click();
  const view = page.locator('.file:visible');
  await expect(view.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(view.locator('.verdict-facts')).toContainText('ONNX 10 · 3 files');
  await filesTab(page).click();
  await expect(view.locator('.set tbody tr')).toHaveText([/^model\.onnx.*0 open$/, /^weights\.data.*2 open$/, /^parts\/biases\.bin.*1 open$/]);
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await openTensor(page, 'a.bias');
  await page.locator('.facts-list .link').first().click();
  // Bytes 4 to 12 of the file itself.
  await expect(page.locator('.hex-where').first()).toHaveText(/^0x4–0xC/);
  await expect(page.locator('.hex-row mark').first()).toContainText('00 00 00 3F');
});

test('a file of data that is missing is named, and may come later', async ({ page }) => {
  const paths = written(flat());
  await openFiles(page, paths[1]);
  await expect(page.locator('.stage', { hasText: 'Some files that its tensors name were not found' })).toHaveCount(1);
  await filesTab(page).click();
  await expect(page.locator('.set')).toContainText('1 of 2 files · 1 missing: drop it here too');
  await expect(page.locator('.set [data-state=missing]')).toContainText(WEIGHTS);
  await page.locator('input[type=file]').setInputFiles(paths[0]);
  await expect(page.locator('.stage', { hasText: 'were not found' })).toHaveCount(0);
  await filesTab(page).click();
  await expect(page.locator('.set')).toContainText('2 of 2 files');
  await expect(page.locator('.set [data-state=open]')).toHaveCount(2);
});

test('a file of data that is too short makes the model invalid', async ({ page }) => {
  const { [WEIGHTS]: data, ...model } = flat();
  await openFiles(page, written({ ...model, [WEIGHTS]: data.subarray(4) }));
  await expect(page.locator('.verdict-head')).toHaveText('Invalid');
  await expect(findings(page)).toHaveText(['E-PAST']);
});

test('the address of a model opens the files beside it', async ({ page, context }) => {
  const path = folder(files());
  const asked: string[] = [];
  await context.route('https://files.test/**', async (route) => {
    const name = new URL(route.request().url()).pathname.replace('/org/', '');
    asked.push(name);
    await sendRange(route, name in files() ? readFileSync(join(path, name)) : undefined);
  });
  await page.goto(BY_URL);
  await page.getByLabel('Address of a file').fill(`https://files.test/org/${MODEL}`);
  await page.getByRole('button', { name: 'Open address' }).click();
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('3 files');
  await expect(page.locator('.verdict-head')).toHaveText(/valid/i);
  expect(new Set(asked)).toEqual(new Set([MODEL, WEIGHTS, BIASES]));
});
