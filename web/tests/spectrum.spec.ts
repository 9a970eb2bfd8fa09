/** Singular values: against known matrices, and in the page. */

import AxeBuilder from '@axe-core/playwright';
import { singularValues } from '../src/worker/svd.ts';
import { safetensors, written } from './files.ts';
import { PICTURES, expect, openFiles, openTensor, panelTab, test } from './page.ts';

const nothing = async () => undefined;
const close = (found: readonly number[], expected: readonly number[]) => found.forEach((value, i) => expect(Math.abs(value - expected[i])).toBeLessThan(1e-9 * Math.max(1, expected[0])));

/** A product of turns around the axes and a diagonal: its singular values are those of the diagonal. */
function turned(rows: number, columns: number, values: readonly number[]): Float64Array {
  const data = new Float64Array(rows * columns);
  values.forEach((value, i) => (data[i * columns + i] = value));
  for (let i = 0; i < rows - 1; i++) {
    const [cosine, sine] = [Math.cos(i + 1), Math.sin(i + 1)];
    for (let column = 0; column < columns; column++) {
      const [x, y] = [data[i * columns + column], data[(i + 1) * columns + column]];
      data[i * columns + column] = cosine * x - sine * y;
      data[(i + 1) * columns + column] = sine * x + cosine * y;
    }
  }
  for (let i = 0; i < columns - 1; i++) {
    const [cosine, sine] = [Math.cos(2 * i + 1), Math.sin(2 * i + 1)];
    for (let row = 0; row < rows; row++) {
      const [x, y] = [data[row * columns + i], data[row * columns + i + 1]];
      data[row * columns + i] = cosine * x - sine * y;
      data[row * columns + i + 1] = sine * x + cosine * y;
    }
  }
  return data;
}

test('all singular values of a small matrix are found, equal ones and zeros too', async () => {
  const values = [9, 5, 5, 5, 1e-3, 0];
  for (const [rows, columns] of [[6, 6], [6, 17], [31, 6]]) {
    const found = await singularValues({ rows, columns, data: turned(rows, columns, values) }, 64, nothing);
    expect(found.values).toHaveLength(6);
    close(found.values, values);
    expect(found.errors).toEqual(Array(6).fill(0));
  }
  expect(await singularValues({ rows: 2, columns: 3, data: new Float64Array(6) }, 9, nothing)).toEqual({ values: [0, 0], errors: [0, 0] });
});

test('the largest singular values come first, within their bound', async () => {
  const values = Array.from({ length: 200 }, (_, i) => 100 / (i + 1));
  const { values: found, errors } = await singularValues({ rows: 220, columns: 200, data: turned(220, 200, values) }, 64, nothing);
  expect(found).toHaveLength(64);
  let sure = 0;
  found.forEach((value, i) => {
    expect(Math.min(...values.map((known) => Math.abs(known - value)))).toBeLessThanOrEqual(errors[i] + 1e-9);
    sure += Number(errors[i] < 1e-6);
  });
  expect(sure).toBeGreaterThan(8);
  close(found.slice(0, 8), values);
});

test('the curves of norms name the outliers, and singular values say their bound', async ({ page }) => {
  // A matrix of rank 2, and one column a hundred times as large.
  const data = Float32Array.from({ length: 96 * 80 }, (_, i) => Math.floor(i / 80) + (i % 80 === 7 ? 30_000 : i % 80));
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data, shape: [96, 80] }, broken: { dtype: 'F32', data: Float32Array.of(1, NaN, 2, 3), shape: [2, 2] } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Statistics');
  await page.getByRole('button', { name: 'Norms of rows and columns' }).press('Enter');
  const columns = page.getByRole('slider', { name: /^Norms of columns in descending order/ });
  await columns.focus();
  await expect(columns).toHaveAttribute('aria-valuetext', /^column 7, number 1 by norm: 29\d{4}/);
  await page.keyboard.press('End');
  await expect(columns).toHaveAttribute('aria-valuetext', /^column 0, number 80 by norm: /);
  await expect(page.getByRole('region', { name: 'Norms of columns' }).locator('.plot-mark')).toHaveCount(1);
  await page.getByRole('button', { name: 'Singular values' }).press('Enter');
  const spectrum = page.getByRole('region', { name: 'Singular values' });
  await expect(spectrum).toContainText('96 × 80: 80 singular values. All are computed.');
  await expect(spectrum).toContainText(/Stable rank 1 of 80; the largest has (?:99\.\d+|100) % of the squared norm\./);
  const first = spectrum.getByRole('slider');
  await first.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  // Of rank 2: the third is rounding.
  const text = (await first.getAttribute('aria-valuetext'))!;
  expect(Number(text.replace('number 3: ', ''))).toBeLessThan(1e-3);
  await page.screenshot({ path: `${PICTURES}/spectrum.png` });
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join('; ')}`)).toEqual([]);
  await openTensor(page, 'broken');
  await page.getByRole('button', { name: 'Norms of rows and columns' }).press('Enter');
  await page.getByRole('button', { name: 'Singular values' }).press('Enter');
  await expect(page.getByRole('alert')).toContainText('a matrix with NaN or infinity has no singular values');
});

test('of a larger matrix the largest singular values are shown, with their bound', async ({ page }) => {
  // 1/(i + j + 1) has singular values that fall quickly.
  const data = Float32Array.from({ length: 400 * 300 }, (_, i) => 1 / (Math.floor(i / 300) + (i % 300) + 1));
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data, shape: [400, 300] } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Statistics');
  await page.getByRole('button', { name: 'Norms of rows and columns' }).press('Enter');
  await page.getByRole('button', { name: 'Singular values' }).press('Enter');
  await expect(page.getByRole('region', { name: 'Singular values' })).toContainText(/400 × 300: 300 singular values\. The \d+ largest are computed, each within \S+ of a singular value\./);
});
