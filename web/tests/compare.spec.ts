/** Comparing two files: what differs, by how much, and where NaN is. */

import { readFileSync, utimesSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { safetensors, written } from './files.ts';
import { PICTURES, expect, openFiles, pointed, settled, test } from './page.ts';

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });

function files(): string[] {
  return written({
    'before.safetensors': safetensors({
      equal: f32(1, 2, 3),
      moved: f32(1, 2, 3, 4),
      spoilt: f32(1, 2, 3, NaN),
      far: f32(10, 0),
      gone: f32(1),
      shaped: { ...f32(1, 2, 3, 4), shape: [2, 2] },
      '=formula': f32(5),
    }),
    'after.safetensors': safetensors({
      equal: f32(1, 2, 3),
      moved: f32(1, 2, 3, 4.5),
      spoilt: f32(1, NaN, 3.25, NaN),
      far: f32(3, 1),
      fresh: f32(1, 2),
      shaped: { ...f32(1, 2, 3, 4), shape: [4] },
      '=formula': f32(5),
    }),
  });
}

async function open(page: Page): Promise<void> {
  await openFiles(page, files());
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.locator('.file-name').first().click();
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('1 added');
}

const rows = (page: Page) => page.locator('.compare-table .v-list [role=row]:not([hidden])');
const row = (page: Page, name: string) => rows(page).filter({ has: page.locator('bdi', { hasText: new RegExp(`^${name}$`) }) });
const names = (page: Page) => rows(page).locator('.name bdi').allTextContents();

test('what was compared is changed or unchanged, and the totals say so', async ({ page }) => {
  await open(page);
  const summary = page.locator('.compare .list-summary');
  await expect(summary).toHaveText('1 added · 1 removed · 1 changed · 0 unchanged · 5 not compared');
  await expect(row(page, 'moved')).toContainText('not compared');
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(summary).toHaveText('1 added · 1 removed · 4 changed · 2 unchanged · 0 not compared · 5 of 18 values differ · max |a - b| 7 in far');
  await page.getByRole('group', { name: 'Show' }).getByRole('button', { name: 'All' }).click();
  await expect(row(page, 'moved')).toContainText('≠ changed');
  await expect(row(page, 'moved').locator('.what')).toHaveText('values');
  await expect(row(page, 'equal')).toContainText('= unchanged');
  await expect(row(page, 'shaped').locator('.what')).toHaveText('shape');
  await expect(page.locator('.compare')).not.toContainText('alike');
  const show = page.getByRole('group', { name: 'Show' });
  await show.getByRole('button', { name: 'Changed', exact: true }).click();
  await expect.poll(async () => (await names(page)).sort()).toEqual(['far', 'moved', 'shaped', 'spoilt']);
  await show.getByRole('button', { name: 'Unchanged' }).click();
  await expect.poll(async () => (await names(page)).sort()).toEqual(['=formula', 'equal']);
});

test('a NaN on one side is counted apart from how far values are', { tag: '@deep' }, async ({ page }) => {
  await open(page);
  await row(page, 'spoilt').click();
  await page.getByRole('button', { name: 'Compare values' }).click();
  await expect(page.locator('.compare-result')).toHaveText(
    /^2 of 4 values differ; 1 is NaN in the other file only, first at \[1\]; the others by at most 0\.25, at \[2\]; relative error 0\.\d+; cosine of the 2 finite pairs 0\.99/,
  );
  await expect(row(page, 'spoilt').locator('.nans')).toHaveText('1');
  await expect(row(page, 'spoilt')).not.toContainText('∞');
  await expect(row(page, 'spoilt').locator('.number').nth(3)).toHaveText('–');
});

test('every column sorts, up and down and back', { tag: '@deep' }, async ({ page }) => {
  await open(page);
  const before = await names(page);
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('0 not compared');
  await page.getByRole('group', { name: 'Show' }).getByRole('button', { name: 'All' }).click();
  const header = (name: string) => page.getByRole('columnheader', { name });
  await header('Max |a - b|').click();
  await expect(header('Max |a - b|')).toHaveAttribute('aria-sort', 'descending');
  await expect.poll(async () => (await names(page)).slice(0, 3)).toEqual(['far', 'moved', 'spoilt']);
  await header('Max |a - b|').click();
  await expect.poll(async () => (await names(page)).slice(3, 6)).toEqual(['spoilt', 'moved', 'far']);
  await header('Max |a - b|').click();
  await expect.poll(() => names(page)).toEqual(before);
  await header('Name').click();
  await expect.poll(() => names(page)).toEqual([...before].sort());
  await page.getByRole('grid', { name: 'Differences' }).focus();
  await page.keyboard.press('s');
  await expect(header('Details')).toHaveAttribute('aria-sort', 'ascending');
  // The selection is kept.
  await row(page, 'moved').click();
  await header('Cosine').click();
  await expect(row(page, 'moved')).toHaveAttribute('aria-selected', 'true');
});

test('the comparison is exported, with all digits and without formulas', { tag: '@deep' }, async ({ page }) => {
  await open(page);
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('0 not compared');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export as CSV' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('before-vs-after.csv');
  const lines = readFileSync((await file.path())!, 'utf8').trimEnd().split('\r\n');
  expect(lines[0]).toBe('name,change,what,type_a,shape_a,type_b,shape_b,values,differing,nan_a_only,nan_b_only,max_abs,max_at,cosine_of_finite,relative_rms,reordered,name_b');
  expect(lines).toHaveLength(9);
  const line = (name: string) => lines.find((text) => text.startsWith(`${name},`))!.split(',');
  expect(line('moved').slice(0, 13)).toEqual(['moved', 'changed', 'values', 'f32', '4', 'f32', '4', '4', '1', '0', '0', '0.5', '3']);
  expect(line('spoilt').slice(7, 13)).toEqual(['4', '2', '0', '1', '0.25', '2']);
  expect(line('equal')[1]).toBe('unchanged');
  expect(line('fresh').slice(0, 8)).toEqual(['fresh', 'added', 'f32 8 B', '', '', 'f32', '2', '']);
  expect(lines.some((text) => text.startsWith("'=formula,"))).toBe(true);
});

test('the result is a headline, and the list opens on what differs, the worst first', async ({ page }) => {
  await open(page);
  const headline = page.locator('.compare-head strong');
  await expect(headline).toHaveText('3 of 8 tensors differ, 5 not compared');
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(headline).toHaveText('6 of 8 tensors differ');
  await expect(page.getByRole('group', { name: 'Show' }).getByRole('button', { name: 'Differing' })).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(() => names(page)).toEqual(['spoilt', 'far', 'moved', 'shaped', 'fresh', 'gone']);
  await expect(page.getByRole('columnheader', { name: 'Rel. error' })).toHaveAttribute('aria-sort', 'descending');
  // A list that the user has arranged stays as it is.
  await page.getByRole('button', { name: 'Removed' }).click();
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect.poll(() => names(page)).toEqual(['gone']);
});

test('the file opened first is the base, in either tab, and Swap makes it the other', async ({ page }) => {
  await open(page);
  const sides = page.locator('.compare-sides:visible');
  await expect(sides).toHaveText('Base before.safetensors → after.safetensors');
  await page.locator('.file-name').last().click();
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(sides).toHaveText('Base before.safetensors → after.safetensors');
  await expect(row(page, 'fresh').locator('.change')).toHaveText('+ added');
  // The tensor opened is that of the file in front.
  await row(page, 'gone').click();
  await expect(page.getByRole('button', { name: 'Open tensor' })).toHaveCount(0);
  await row(page, 'fresh').click();
  await page.getByRole('button', { name: 'Open tensor' }).click();
  await expect(page.locator('.panel-name:visible')).toHaveText('fresh');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Swap' }).press('Enter');
  await expect(sides).toHaveText('Base after.safetensors → before.safetensors');
  await expect(row(page, 'fresh').locator('.change')).toHaveText('- removed');
  await expect(page.getByRole('button', { name: 'Swap' })).toBeFocused();
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await row(page, 'spoilt').click();
  await expect(page.locator('.compare-result')).toContainText('1 is NaN in the base only');
});

test('an older file is the base although it was opened later', async ({ page }) => {
  const [before, after] = files();
  utimesSync(after, new Date('2024-05-01'), new Date('2024-05-01'));
  await openFiles(page, [before, after]);
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare-sides')).toHaveText('Base after.safetensors → before.safetensors');
  await expect(row(page, 'fresh').locator('.change')).toHaveText('- removed');
});

test('values that are equal in another type are not called changed', async ({ page }) => {
  const doubles = { dtype: 'F64', data: Float64Array.of(1, 2, 3) };
  await openFiles(page, written({ 'a.safetensors': safetensors({ one: f32(1, 2, 3), two: f32(1, 2) }), 'b.safetensors': safetensors({ one: doubles, two: f32(1, 2) }) }));
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare-head strong')).toHaveText('1 of 2 tensors differs, 1 not compared');
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.compare-head strong')).toHaveText('All 2 tensors are equal');
  await expect(row(page, 'one').locator('.change')).toHaveText('= equal values');
  await expect(row(page, 'one').locator('.what')).toHaveText('f32 → f64');
  await expect(page.locator('.compare .list-summary')).toContainText('1 equal in another type');
});

test('the chart of layers has numbers, and says what infinite is', async ({ page }) => {
  const layers = (value: (layer: number) => number) => safetensors(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`layers.${i}.weight`, f32(value(i), value(i))])));
  await openFiles(page, written({ 'a.safetensors': layers((i) => (i === 7 ? 0 : 1)), 'b.safetensors': layers((i) => (i === 20 ? NaN : i < 9 ? 2 : 1)) }));
  await page.getByRole('tab', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.layer-axis span')).toHaveText(['0', '3', '6', '9', '12', '15', '18', '21', '24', '27']);
  await expect(page.locator('.layer-endless')).toHaveText('NaN on one side, or infinite: the base is all zeros');
  // Each bar answers where it is drawn.
  await expect(page.getByRole('button', { name: 'Compare all values' })).not.toHaveAttribute('aria-disabled', 'true');
  const slider = page.getByRole('slider', { name: /^Relative error of each layer/ });
  const bar = async () => {
    const { x, y, width, height } = (await page.locator('.layer').nth(28).boundingBox())!;
    return { x: x + width / 2, y: y + height / 2 };
  };
  await pointed(page, bar, () => expect(slider).toHaveAttribute('aria-valuetext', /^layer 28: 0 /, { timeout: 500 }));
});

/** Opens two files and a third with one tensor of the first; shows the comparison of the first two. */
async function openThree(page: Page): Promise<void> {
  await openFiles(page, [...files(), ...written({ 'third.safetensors': safetensors({ equal: f32(1, 2, 4) }) })]);
  await expect(page.locator('.file-tab')).toHaveCount(3);
  await settled(page);
  await page.locator('.file-name').first().click();
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('1 added');
}

/** Compares with the third file, then presses a key or a button before the pairs are there. */
const chooseThird = (page: Page, then: string) =>
  page.evaluate((then) => {
    const choice = document.querySelector<HTMLSelectElement>('.compare-with select')!;
    choice.selectedIndex = 1;
    choice.dispatchEvent(new Event('change'));
    const buttons = [...document.querySelectorAll<HTMLElement>('.compare button')].filter(({ textContent }) => textContent === then);
    buttons.forEach((button) => button.click());
    choice.parentElement!.dispatchEvent(new KeyboardEvent('keydown', { key: then, bubbles: true }));
    return buttons.length;
  }, then);

test('a tensor of the previous file is not compared with the new one', async ({ page }) => {
  await openThree(page);
  await row(page, 'moved').click();
  await expect(page.getByRole('button', { name: 'Compare values' })).toBeVisible();
  expect(await chooseThird(page, 'Compare values')).toBe(0);
  await expect(page.locator('.compare .list-summary')).toHaveText('0 added · 6 removed · 0 changed · 0 unchanged · 1 not compared');
});

test('a cancelled comparison can be started again', async ({ page }) => {
  await openThree(page);
  await chooseThird(page, 'c');
  await expect(page.locator('.compare-detail')).toHaveText('Not compared. Try again');
  await expect(page.locator('.compare .list-summary')).toBeEmpty();
  await page.getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(page.locator('.compare .list-summary')).toContainText('6 removed');
  await expect(page.getByRole('grid', { name: 'Differences' })).toBeFocused();
});

test('closing the other file ends the comparison', async ({ page }) => {
  await openFiles(page, files());
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.evaluate(() => {
    [...document.querySelectorAll<HTMLElement>('[role=tab]')].filter(({ textContent, offsetParent }) => offsetParent && textContent === 'Compare').forEach((tab) => {
      tab.focus();
      tab.click();
    });
    document.querySelector<HTMLElement>('[aria-label="Close before.safetensors"]')!.click();
  });
  await expect(page.getByRole('tab', { name: /^Tensors/ })).toBeFocused();
  await page.getByRole('tab', { name: 'Hex' }).click();
  await expect(page.locator('.hex-row').first()).toContainText('7B');
  await expect(page.locator('.alert')).toBeHidden();
});

test('all values and the export are those of the file chosen last', async ({ page }) => {
  await openThree(page);
  const download = page.waitForEvent('download');
  await chooseThird(page, 'Export as CSV');
  const lines = readFileSync((await (await download).path())!, 'utf8').trimEnd().split('\r\n');
  expect(lines).toHaveLength(8);
  await page.evaluate(() => {
    const choice = document.querySelector<HTMLSelectElement>('.compare-with select')!;
    for (const index of [0, 1]) {
      choice.selectedIndex = index;
      choice.dispatchEvent(new Event('change'));
      [...document.querySelectorAll<HTMLElement>('.compare button')].find(({ textContent }) => textContent === 'Compare all values')!.click();
    }
  });
  await expect(page.locator('.compare .list-summary')).toContainText('6 removed · 1 changed · 0 unchanged · 0 not compared · 1 of 3 values differ');
});

test('buttons stay while all values are compared, and the focus is kept', async ({ page }) => {
  await open(page);
  await row(page, 'gone').click();
  const tensor = await page.getByRole('button', { name: 'Open tensor' }).elementHandle();
  const all = page.getByRole('button', { name: 'Compare all values' });
  await all.press('Enter');
  await expect(page.locator('.compare .list-summary')).toContainText('0 not compared');
  expect(await tensor!.evaluate((button) => button.isConnected)).toBe(true);
  await expect(all).toBeEnabled();
  await expect(all).toBeFocused();
});

test('after comparing one tensor, the focus is in the list', async ({ page }) => {
  await open(page);
  await row(page, 'moved').click();
  await page.getByRole('button', { name: 'Compare values' }).press('Enter');
  await expect(page.locator('.compare-result')).toContainText('1 of 4 values');
  await expect(page.getByRole('grid', { name: 'Differences' })).toBeFocused();
});

test('comparing all values shows how far it is, and can be stopped', { tag: '@deep' }, async ({ page }) => {
  const data = new Float32Array(4 << 20);
  const tensors = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`w${i}`, { dtype: 'F32', data }]));
  const bytes = safetensors(tensors);
  await openFiles(page, written({ 'a.safetensors': bytes, 'b.safetensors': bytes }));
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('12 not compared');
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.task-label')).toHaveText(/^Comparing values: tensor \d+ of 12$/);
  const bar = page.getByRole('progressbar', { name: 'Comparing values' });
  await expect.poll(() => bar.evaluate((one: HTMLProgressElement) => one.value)).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Cancel: Comparing values' }).press('Enter');
  await expect(page.locator('.task')).toHaveCount(0);
  await expect(page.locator('p.visually-hidden')).toHaveText('Comparing values: cancelled');
  await expect(page.getByRole('tab', { name: 'Compare' })).toBeFocused();
  // The remaining pairs are compared on the next request.
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('12 unchanged · 0 not compared');
});

test('the map of a difference shows where it is, with its largest regions', async ({ page }) => {
  const matrix = (value: (row: number, column: number) => number) => ({ dtype: 'F32', shape: [128, 64], data: Float32Array.from({ length: 128 * 64 }, (_, i) => value(Math.floor(i / 64), i % 64)) });
  const after = (row: number, column: number) => row + (row === 100 && column < 2 ? 8 - 2 * column : row === 7 && column === 63 ? NaN : 0);
  await openFiles(page, written({ 'a.safetensors': safetensors({ w: matrix((row) => row) }), 'b.safetensors': safetensors({ w: matrix(after) }) }));
  await page.getByRole('tab', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await row(page, 'w').click();
  await page.getByRole('button', { name: 'Show where' }).press('Enter');
  const where = page.getByRole('region', { name: 'Where they differ' });
  await expect(where.locator('tbody tr')).toHaveText(['6–763∞∞', '100–101048', '100–101136']);
  await expect(where).toContainText('red cells have a NaN or an infinity on one side');
  const alpha = await where.locator('canvas').evaluate((canvas: HTMLCanvasElement) => [[0, 50], [1, 50], [63, 3], [5, 5]].map(([x, y]) => canvas.getContext('2d')!.getImageData(x, y, 1, 1).data[3]));
  expect(alpha[0]).toBe(255);
  expect(alpha[1]).toBeGreaterThan(150);
  expect(alpha.slice(2)).toEqual([255, 0]);
  await expect(where.getByRole('table')).toBeInViewport();
  await page.screenshot({ path: `${PICTURES}/regions.png` });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await where.scrollIntoViewIfNeeded();
  await page.screenshot({ path: `${PICTURES}/regions-phone.png` });
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join('; ')}`)).toEqual([]);
});

test('details of a pair are in sight as a whole at 1280 pixels', async ({ page }) => {
  const model = (change: number) => safetensors(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`layers.${i}.w`, f32(1, 2, 3, 4 + i * change)])));
  await openFiles(page, written({ 'before.safetensors': model(0), 'after.safetensors': model(0.5) }));
  await settled(page);
  await page.locator('.file:visible').getByRole('tab', { name: /^Compare/ }).click();
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.compare-head strong')).toContainText('differ');
  await rows(page).first().click();
  const pane = page.locator('.compare-detail');
  await expect(pane.locator('canvas')).toBeVisible();
  expect(await pane.evaluate((one) => one.scrollHeight - one.clientHeight)).toBeLessThanOrEqual(0);
});
