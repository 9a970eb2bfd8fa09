/** Numbers are shown with as many digits as fit, and copied in full. */

import type { Page } from '@playwright/test';
import { fit, parameters, real } from '../src/ui/format.ts';
import { safetensors, written } from './files.ts';
import { expect, openFiles, openTensor, panelTab, test } from './page.ts';

const VALUES = [1.2345678901234e-7, -9.87654321098765e-300, 123456789.123456789, -0.000012345678901, 3.5];

test('a number that is too long loses digits, never its exponent', () => {
  expect(fit('1.2345678901234e-7', 10)).toBe('1.23457e-7');
  expect(fit('-1.2345678901234e-107', 10)).toBe('-1.23e-107');
  expect(fit('123456789.12345679', 10)).toBe('123456789');
  expect(fit('-9223372036854775808', 10)).toBe('-9.2234e18');
  expect(fit('0.1000000000000001', 10)).toBe('0.1');
  expect(fit('-0.000075678901', 10)).toBe('-7.5679e-5');
  expect(fit('3.5', 10)).toBe('3.5');
  expect(fit('-Infinity', 10)).toBe('-Infinity');
  for (const value of VALUES) {
    expect(Math.abs(Number(fit(String(value), 10)) / value - 1)).toBeLessThan(1e-2);
  }
});

test('a list that is too long loses elements', () => {
  expect(fit('[1.5e-7, 2.25e-7, 3.5]', 22)).toBe('[1.5e-7, 2.25e-7, 3.5]');
  expect(fit('[1.5e-7, 2.25e-7, 3.5]', 20)).toBe('[1.5e-7, 2.25e-7, …');
  expect(fit('[1.5e-7, 2.25e-7, 3.5]', 18)).toBe('[1.5e-7, …');
  expect(fit('any text, with commas, stays', 10)).toBe('any text, with commas, stays');
});

test('statistics use the hyphen that programs read', () => {
  expect(real(-1.5e-9)).toBe('-1.5e-9');
  expect(real(-Infinity)).toBe('-∞');
});

test('parameters are counted as people say them', () => {
  expect([0n, 999n, 1000n, 73_728n, 999_600n, 7_241_732_096n].map(parameters)).toEqual(['0', '999', '1.00 K', '73.7 K', '1.00 M', '7.24 B']);
});

async function copied(page: Page, locator: string): Promise<string> {
  return page.evaluate((selector) => {
    const all = document.querySelectorAll(selector);
    const range = document.createRange();
    range.setStartBefore(all[0]);
    range.setEndAfter(all[all.length - 1]);
    getSelection()!.removeAllRanges();
    getSelection()!.addRange(range);
    const clipboardData = new DataTransfer();
    const event = new ClipboardEvent('copy', { clipboardData, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
    return event.defaultPrevented ? clipboardData.getData('text/plain') : getSelection()!.toString();
  }, locator);
}

test('cells show whole numbers and give all digits when copied', async ({ page }) => {
  await openFiles(page, written({ 'f64.safetensors': safetensors({ w: { dtype: 'F64', data: Float64Array.from(VALUES) } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Values');
  const cells = page.locator('.value-grid .v-list [role=row]:not([hidden]) .value');
  await expect(cells.first()).toHaveText('1.23457e-7');
  await expect(cells.first()).toHaveAttribute('title', '1.2345678901234e-7');
  const cut = await cells.evaluateAll((all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
  expect(cut).toBe(0);
  const text = await copied(page, '.value-grid .v-list [role=row]');
  const numbers = text.split(/[\t\n]/);
  for (const value of VALUES) {
    expect(numbers).toContain(String(value));
  }
  expect(await copied(page, '.value-grid .v-list [data-full]:nth-child(2)')).toBe('1.2345678901234e-7');
});

test('statistics are copied as programs read them', async ({ page }) => {
  await openFiles(page, written({ 'f64.safetensors': safetensors({ w: { dtype: 'F64', data: Float64Array.of(-1 / 3, -2e-9) } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Statistics');
  await expect(page.locator('.statistics')).toContainText('-0.3333333');
  expect(await page.locator('.panel').innerText()).not.toContain('\u2212');
  expect(await copied(page, '.statistics .pair')).toContain('-0.3333333333333333');
});

test('a statistic in a column is rounded once', async ({ page }) => {
  // Seven digits of it are -4.302795, which would be -4.30279 in six.
  const data = Float32Array.of(-4.30279541015625, 0.5, 1);
  await openFiles(page, written({ 'w.safetensors': safetensors({ w: { dtype: 'F32', data } }) }));
  await page.getByRole('button', { name: 'Scan weights' }).first().click();
  const min = page.locator('.tensor-table .v-list .min').first();
  await expect(min).toHaveText('-4.3028');
  await expect(min).toHaveAttribute('title', '-4.30279541015625');
});
