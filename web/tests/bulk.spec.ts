/** Many tensors at once, values as CSV, norms of rows and columns, and what is copied. */

import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { gguf, safetensors, written } from './files.ts';
import { PICTURES, expect, openFiles, openTensor, panelTab, test } from './page.ts';

const f32 = (shape: number[], value: (i: number) => number) => ({ dtype: 'F32', shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => value(i)) });

async function saved(page: Page, press: () => Promise<unknown>): Promise<{ path: string; name: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return { path: await download.path(), name: download.suggestedFilename() };
}

/** The entries of an archive: names and contents, by its directory. */
function unzipped(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.length - 22;
  expect(bytes.readUInt32LE(end)).toBe(0x06054b50);
  const all = new Map<string, Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  for (let i = 0; i < bytes.readUInt16LE(end + 10); i++) {
    const [size, length, local] = [bytes.readUInt32LE(at + 24), bytes.readUInt16LE(at + 28), bytes.readUInt32LE(at + 42)];
    const name = bytes.toString('utf8', at + 46, at + 46 + length);
    expect(bytes.readUInt32LE(local)).toBe(0x04034b50);
    all.set(name, bytes.subarray(local + 30 + length, local + 30 + length + size));
    at += 46 + length;
  }
  return all;
}

test('listed tensors are exported as an archive that this page finds valid', async ({ page }) => {
  const tensors = { 'a.weight': f32([2, 3], (i) => i), 'a.bias': f32([3], (i) => -i), '../up/b': f32([1], () => 7), c: { dtype: 'BF16', shape: [2], data: Uint16Array.of(0x3f80, 0xc000) } };
  await openFiles(page, written({ 'model.safetensors': safetensors(tensors) }));
  const press = async () => {
    await page.locator('summary', { hasText: 'Export' }).click();
    await page.getByRole('button', { name: 'Listed tensors as .npz' }).press('Enter');
  };
  const { path, name } = await saved(page, press);
  expect(name).toBe('model.npz');
  await expect(page.locator('.task-note')).toHaveText('4 tensors exported');
  const entries = unzipped(readFileSync(path));
  expect([...entries.keys()].sort()).toEqual(['_/up/b.npy', 'a.bias.npy', 'a.weight.npy', 'c.npy']);
  const array = entries.get('a.weight.npy')!;
  expect(array.toString('latin1')).toContain("'shape': (2, 3)");
  expect([...new Float32Array(Uint8Array.from(array.subarray(array.length - 24)).buffer)]).toEqual([0, 1, 2, 3, 4, 5]);
  expect(new Float32Array(Uint8Array.from(entries.get('c.npy')!.subarray(-8)).buffer)).toEqual(Float32Array.of(1, -2));
  // Only what is listed.
  await page.getByRole('searchbox').fill('a.*');
  await expect(page.locator('.list-summary')).toContainText('2');
  const some = await saved(page, press);
  expect([...unzipped(readFileSync(some.path)).keys()].sort()).toEqual(['a.bias.npy', 'a.weight.npy']);
  // The archive is sound: this page checks its sums.
  await openFiles(page, written({ 'again.npz': readFileSync(path) }));
  await expect(page.locator('.verdict-head')).toHaveText('Valid');
  await expect(page.locator('.verdict-facts')).toContainText('4 tensors');
});

test('all values of a tensor are exported as CSV, a line for each row', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: f32([2, 2, 3], (i) => (i === 4 ? NaN : i - 1.5)) }) }));
  await openTensor(page, 'w');
  const { path, name } = await saved(page, () => page.getByRole('button', { name: 'Values as CSV' }).press('Enter'));
  expect(name).toBe('w.csv');
  expect(readFileSync(path, 'utf8')).toBe('-1.5,-0.5,0.5\r\n1.5,NaN,3.5\r\n4.5,5.5,6.5\r\n7.5,8.5,9.5\r\n');
});

test('the name, the shape and a line of Python are copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const name = 'a."b\\';
  await openFiles(page, written({ 'model.safetensors': safetensors({ [name]: f32([2, 3], (i) => i) }) }));
  await page.locator('.tensor-table .v-list [role=row]:not([hidden])').first().click();
  const copies = async (what: string, text: string) => {
    await page.getByRole('button', { name: `Copy ${what}` }).press('Enter');
    await expect(page.getByRole('status').filter({ hasText: 'Copied: ' })).toHaveCount(1);
    // The status of the copy before may still be there.
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(text);
  };
  await copies('name', name);
  await copies('shape', '2 × 3');
  await copies('Python', 'safetensors.safe_open("model.safetensors", "np").get_tensor("a.\\"b\\\\")');
});

test('statistics have norm and quartiles, and the rows and columns that stand out', async ({ page }) => {
  // Column 5 is a hundred times as large, and row 3 has an infinity.
  const value = (i: number) => (i === 3 * 16 + 1 ? Infinity : (i % 16 === 5 ? 100 : 1) * (i % 2 === 0 ? 1 : -1));
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: f32([32, 16], value), x: f32([4], (i) => i) }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Statistics');
  const fact = (name: string) => page.locator('.statistics .pair', { has: page.locator('dt', { hasText: name }) }).locator('dd');
  const norm = Math.sqrt(32 * 10_000 + 32 * 15 - 1);
  await expect(fact('Norm (L2)')).toHaveText(String(Number(norm.toPrecision(7))));
  await expect(fact('Quartiles')).toHaveText(/^-1(?:\.\d+)?, /);
  await page.getByRole('button', { name: 'Norms of rows and columns' }).press('Enter');
  const columns = page.getByRole('region', { name: 'Norms of columns' });
  await expect(columns.locator('p').first()).toHaveText('16 columns, median norm 5.66; 1 outlier above 6 times that; 1 with NaN or infinity.');
  await expect(columns.locator('tbody tr').first()).toHaveText(`5${Number(Math.sqrt(320_000).toPrecision(7))}100`);
  await expect(page.getByRole('region', { name: 'Norms of rows' }).locator('p').first()).toHaveText('32 rows, median norm 100; none above 6 times that; 1 with NaN or infinity.');
  await page.screenshot({ path: `${PICTURES}/channels.png` });
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join('; ')}`)).toEqual([]);
  await openTensor(page, 'x');
  await panelTab(page, 'Statistics');
  await expect(fact('Norm (L2)')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Norms of rows and columns' })).toHaveCount(0);
});

test('norms of quantised rows are those of the decoded values', async ({ page }) => {
  // A block of Q8_0: its scale (1.0) and 32 codes.
  const block = (code: number) => Buffer.concat([Buffer.of(0, 0x3c), Buffer.alloc(32, code)]);
  await openFiles(page, written({ 'model.gguf': gguf({ 'general.architecture': 'llama' }, { w: { type: 8, shape: [2, 32], data: Buffer.concat([block(1), block(3)]) } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Statistics');
  await page.getByRole('button', { name: 'Norms of rows and columns' }).click();
  await expect(page.getByRole('region', { name: 'Norms of rows' }).locator('tbody tr')).toHaveText([new RegExp(`^1${String(Math.sqrt(9 * 32)).slice(0, 7)}`), new RegExp(`^0${String(Math.sqrt(32)).slice(0, 7)}`)]);
});
