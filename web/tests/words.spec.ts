/** Terminology. */

import { readFileSync, readdirSync } from 'node:fs';
import { safetensors, written } from './files.ts';
import { expect, openFiles, openSample, openTensor, panelTab, test } from './page.ts';

test('heat maps have min and max', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  await panelTab(page, 'Heat map');
  await expect(page.getByRole('group', { name: 'Cell' }).getByRole('button')).toHaveText(['Mean', 'Min', 'Max']);
});

test('columns turn to the next and the previous', async ({ page }) => {
  await openFiles(page, written({ 'wide.safetensors': safetensors({ w: { dtype: 'F32', data: new Float32Array(512), shape: [2, 256] } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Values');
  const columns = page.locator('.pager .mono');
  await expect(columns).toHaveText(/^columns 0–/);
  await page.getByRole('button', { name: 'Next columns' }).click();
  await expect(columns).not.toHaveText(/^columns 0–/);
  await page.getByRole('button', { name: 'Previous columns' }).click();
  await expect(columns).toHaveText(/^columns 0–/);
});

test('parameters are counted, of all tensors and of those that are shown', async ({ page }) => {
  await openSample(page, 'oinf');
  await expect(page.locator('.tensors .list-summary')).toHaveText(/^30 tensors · \d+ without data · [\d.]+ K parameters \([\d,]+ elements\) · /);
  await expect(page.locator('.verdict-facts')).toHaveText(/30 tensors · [\d.]+ K parameters · \d+ without data · [\d,]+ B$/);
  await page.getByRole('searchbox').fill('MLP');
  await expect(page.locator('.tensors .list-summary')).toHaveText(/^4 tensors · 73\.7 K parameters \(73,728 elements\)/);
});

test('an unknown element type is quoted', async ({ page }) => {
  const types = { plain: 'Q7_Z', long: 'a type with a long name', turned: '\u202eF32', placeholder: '{found}' };
  await openFiles(page, written({ 'odd.safetensors': safetensors(Object.fromEntries(Object.entries(types).map(([name, dtype]) => [name, { dtype, data: new Uint8Array(4) }]))) }));
  await page.getByRole('tab', { name: /^Findings/ }).click();
  const messages = page.locator('.finding[data-rule=DTYPE-UNKNOWN] .message');
  const said = ['Q7_Z', 'a type with a l…', '\\u{202e}F32', '{found}'].map((type) => `the element type "${type}" is not one of the 22 that safetensors defines, so the size cannot be checked`);
  await expect(messages).toHaveText(said);
});

test('the page uses the usual words', () => {
  const all = readdirSync('dist/local/assets')
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(`dist/local/assets/${name}`, 'utf8'))
    .join('\n');
  for (const word of ['alike', 'Columns behind', 'Greatest', 'or the like', 'is lacking', 'such a slice.', 'has thought better']) {
    expect(all).not.toContain(word);
  }
});
