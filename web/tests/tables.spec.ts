import { safetensors, written } from './files.ts';
import { failNext } from './late.ts';
import { TRIALS, expect, openFiles, openSample, sampleFile, test } from './page.ts';

test('rows of a data view: text, keys with their values, sparse vectors', async ({ page }) => {
  await openSample(page, 'idv');
  await page.getByRole('tab', { name: 'Rows' }).click();
  await expect(page.locator('.data-grid [role=columnheader]')).toHaveText([/Row/, /Vendor/, /Street/, /Fare/, /Paid/, /Place/, /Words/, /When/]);
  const rows = page.locator('.data-grid .v-list [role=row]:not([hidden])');
  await expect(rows.first().locator('.cell').nth(2)).not.toHaveText('');
  const column = (index: number) => 
    // In full: a cell's text is cut between two elements if it is too long.
    rows.locator(`.cell:nth-child(${index + 1})`).evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title') ?? ''));
  await expect.poll(async () => (await column(1)).join('\n')).toMatch(/^[1-5] (CMT|VTS|Curb|Größe|🚢 Ferry)$/m);
  await expect.poll(async () => (await column(1)).every((text) => /^(\(missing\)|[1-5] \S.*)$/.test(text))).toBe(true);
  await expect.poll(async () => (await column(2)).join('\n')).toMatch(/Main St|Broadway|Канал/);
  await expect.poll(async () => (await column(6))[0]).toMatch(/^\{\d+: 1, \d+: 2.5\} of 100$/);
  await expect.poll(async () => (await column(5))[0]).toMatch(/^\[-?[\d.e-]+, -?[\d.e-]+, -?[\d.e-]+\]$/);
});

test('times of a data view are times', { tag: '@deep' }, async ({ page }) => {
  await openSample(page, 'idv');
  await page.getByRole('tab', { name: 'Rows' }).click();
  const when = page.locator('.data-grid .v-list [role=row]:not([hidden]) .cell:nth-child(8)');
  await expect(when.nth(0)).toHaveText('2024-01-01 00:00:00');
  await expect(when.nth(1)).toHaveText('2024-01-01 00:01:00');
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  await expect(page.locator('.lists .empty')).toContainText('select a column');
});

test('metadata in full, with its place', { tag: '@deep' }, async ({ page }) => {
  await openSample(page, 'oinf');
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  const rows = page.locator('.meta-table .v-list [role=row]:not([hidden])');
  await expect(rows).toHaveCount(5);
  await rows.filter({ hasText: 'rope.frequencies' }).click();
  await expect(page.locator('.value-text')).toHaveText('1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125');
  await page.locator('.meta-value .link').click();
  await expect(page.locator('.hex-bytes mark').first()).toBeVisible();
});

test('the value of the last of many keys is shown', async ({ page }) => {
  const metadata = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`key ${i}`, `value ${i}`]));
  await openFiles(page, written({ 'keys.safetensors': safetensors({ w: { dtype: 'U8', data: Uint8Array.of(1) } }, metadata) }));
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  await page.getByRole('grid', { name: 'Metadata' }).press('End');
  await expect(page.locator('.value-text')).toHaveText('value 399');
});

test('rows that could not be read are read again', async ({ page }) => {
  await openSample(page, 'idv');
  await failNext(page, 'values');
  await page.getByRole('tab', { name: 'Rows' }).click();
  await expect(page.getByRole('alert')).toContainText('out of luck');
  await page.setViewportSize({ width: 1280, height: 700 });
  await expect(page.locator('.data-grid .v-list [role=row]:not([hidden])').first().locator('.cell').nth(1)).toHaveText(/^(\(missing\)|[1-5] )/);
});

test('annotations of a column', { tag: '@deep' }, async ({ page }) => {
  await openSample(page, 'idv');
  await page.locator('.tensor-table .v-list').getByText('Vendor', { exact: true }).click();
  await page.locator('.panel').getByRole('button', { name: 'KeyValues' }).click();
  await expect(page.locator('.panel .value-text')).toContainText('Größe');
});

test('two files compared: added, removed, changed, and by how much', async ({ page }) => {
  await openFiles(page, [sampleFile('tiny-lm.oinf'), `${TRIALS}/changed.oinf`]);
  await page.locator('.file-name').first().click();
  await page.getByRole('tab', { name: 'Compare' }).click();
  const base = page.locator('.compare-sides bdi').first();
  if ((await base.textContent()) !== 'tiny-lm.oinf') {
    // The generated files were not written in this order.
    await page.getByRole('button', { name: 'Swap' }).click();
  }
  await expect(page.locator('.compare .list-summary')).toHaveText('1 added · 1 removed · 1 changed · 0 unchanged · 28 not compared');
  for (const width of [360, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    const cut = await page.locator('.compare-table .cell.change').evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
    expect(cut).toBe(0);
  }
  await page.getByRole('group', { name: 'Show' }).getByRole('button', { name: 'Differing' }).click();
  const rows = page.locator('.compare-table .v-list [role=row]:not([hidden])');
  await expect(rows).toHaveCount(3);
  await expect(rows.filter({ hasText: 'test.added' })).toContainText('+ added');
  await expect(rows.filter({ hasText: 'layers.3.norm.weight' })).toContainText('- removed');
  await expect(rows.filter({ hasText: 'test.cube' })).toContainText('shape');
  await page.getByRole('group', { name: 'Show' }).getByRole('button', { name: 'All' }).click();
  const ramp = rows.filter({ hasText: 'test.ramp' });
  const grid = page.getByRole('grid', { name: 'Differences' });
  await grid.focus();
  for (let i = 0; i < 40 && !(await ramp.count() && (await ramp.getAttribute('aria-selected')) === 'true'); i++) {
    await page.keyboard.press('ArrowDown');
  }
  await page.getByRole('button', { name: 'Compare values' }).click();
  await expect(page.locator('.compare-result')).toHaveText(/^1 of 96 values differs; by at most 2, at \[0, 10\]; relative error 0\.\d+; cosine 0\.99/);
});

test('comparing all values finds equal ones equal', { tag: '@deep' }, async ({ page }) => {
  await openFiles(page, [sampleFile('autoencoder.zt'), sampleFile('micro.stb')]);
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('4 added · 5 removed');
});
