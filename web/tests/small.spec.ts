/** Small things: words for what is wrong, singular, percent and rate, readings that take long. */

import { Pace } from '../src/ui/pace.ts';
import { gguf, safetensors, written } from './files.ts';
import { expect, openFiles, test } from './page.ts';

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });

test('a byte that does not exist is answered with words', async ({ page }) => {
  const bytes = safetensors({ a: f32(1) });
  await openFiles(page, written({ 'a.safetensors': bytes }));
  await page.getByRole('tab', { name: 'Hex' }).click();
  const go = page.getByLabel('Go to byte');
  await go.fill(String(bytes.length));
  await go.press('Enter');
  await expect(page.locator('.hex-where')).toHaveText(`There are bytes from 0x0 to 0x${(bytes.length - 1).toString(16).toUpperCase()} only`);
  await go.fill('twelve');
  await go.press('Enter');
  await expect(page.locator('.hex-where')).toHaveText('Not a number: use 0x1A or 26');
  await go.fill('0x4');
  await go.press('Enter');
  await expect(page.locator('.hex-where')).toHaveText('0x4 = 4');
});

test('a regular expression that is not one counts nothing', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: f32(1), b: f32(1, 2) }) }));
  await expect(page.locator('.list-summary:visible')).toHaveText('2 tensors · 3 parameters · 12 B');
  await page.getByRole('searchbox').fill('/(/');
  await expect(page.locator('.no-match')).toContainText('is not a valid regular expression');
  await expect(page.locator('.list-summary:visible')).toHaveText('Not searched');
  await page.getByRole('searchbox').fill('a');
  await expect(page.locator('.list-summary:visible')).toHaveText('1 tensor · 1 parameter · 4 B');
});

test('a name of spaces is no blank row', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ ' ': f32(1), '': f32(2), '  ': f32(2) }) }));
  const said = await page.locator('.tensor-table .v-list .cell.name').evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content).sort());
  expect(said).toEqual(['"(1 space)"', '"(2 spaces)"', '"(empty name)"']);
});

test('a shape is written alike in both tables of values', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: { dtype: 'F32', data: new Float32Array(6), shape: [2, 3] } }) }));
  const saved = async (action: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent('download'), action()]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) {
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks).toString();
  };
  await page.locator('summary', { hasText: 'Export' }).click();
  const index = await saved(() => page.getByRole('button', { name: 'Index as CSV' }).click());
  await page.getByRole('button', { name: 'Scan weights' }).first().click();
  await page.getByRole('tab', { name: /^Weights/ }).click();
  const weights = await saved(() => page.getByRole('button', { name: 'Export as CSV' }).click());
  expect(index).toContain('2x3');
  expect(weights).toContain('2x3');
});

test('parameters of a truncated file are called those of whole tensors', async ({ page }) => {
  const bytes = safetensors({ a: f32(1, 2), b: f32(1, 2, 3) });
  await openFiles(page, written({ 'a.safetensors': bytes.subarray(0, -4) }));
  await expect(page.locator('.verdict-facts')).toContainText('2 tensors · 2 parameters in whole tensors');
  await openFiles(page, written({ 'a.safetensors': bytes }));
  await expect(page.locator('.verdict-facts')).toHaveText(/2 tensors · 5 parameters$/, { useInnerText: true });
});

test('a faulty layer has the colour of its card', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ 'layers.0.w': f32(1, 2, 3), 'layers.1.w': f32(1, 3, NaN), 'layers.2.w': f32(1, 2, 3.0001) }) }));
  await page.getByRole('button', { name: 'Scan weights' }).first().click();
  await page.getByRole('tab', { name: /^Weights/ }).click();
  const mark = page.locator('.course .plot-mark');
  await expect(mark).toHaveClass(/fault/);
  const colour = await mark.evaluate((element) => getComputedStyle(element).stroke);
  expect(colour).toBe(await page.locator('.finding[data-severity=fatal] .icon').first().evaluate((icon) => getComputedStyle(icon).stroke));
  // Close values have as many digits as it takes, and the layers have numbers.
  await page.getByRole('button', { name: 'Max |x|' }).click();
  await expect(page.locator('.course .plot-readout')).toHaveText('3 to 3.0001');
  await expect(page.locator('.plot-axis.ends')).toHaveText('layer 02');
});

test('a long task says its percent, its rate and the time left', () => {
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  try {
    const pace = new Pace();
    time = 900;
    expect(pace.said({ label: '', done: 0.1, bytes: 2 ** 30 })).toBe('');
    time = 10_000;
    expect(pace.said({ label: '', done: undefined })).toBe('');
    expect(pace.said({ label: '', done: 0.25, bytes: 400 * 2 ** 20 })).toBe('25 % · 10.0 MiB/s · 30 s left');
    expect(pace.said({ label: '', done: 0.019 })).toBe('1 % · 9 min left');
  } finally {
    performance.now = now;
  }
});

test('a reading of over ten seconds that reports nothing is shown, until it ends', async ({ page }) => {
  await page.clock.install();
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: { dtype: 'F32', data: new Float32Array(64), shape: [8, 8] } }) }));
  await page.workers()[0].evaluate(() => {
    const read = Blob.prototype.arrayBuffer;
    const go = new Promise<void>((resolve) => Object.assign(self, { go: resolve }));
    Blob.prototype.arrayBuffer = async function () {
      await go;
      return await read.call(this);
    };
  });
  await page.locator('.tensor-table [data-rank="0"]').click();
  await page.getByRole('tablist', { name: 'Tensor views' }).getByRole('tab', { name: 'Values' }).click();
  await expect(page.locator('.value-grid')).toBeVisible();
  await page.clock.fastForward(9_000);
  await expect(page.locator('.task', { hasText: 'Still reading' })).toHaveCount(0);
  await page.clock.fastForward(3_000);
  await expect(page.locator('.task', { hasText: 'Still reading' })).toBeVisible();
  await page.workers()[0].evaluate(() => (self as unknown as { go(): void }).go());
  await expect(page.locator('.task')).toHaveCount(0);
});

test('parts of a file have the words of its format', async ({ page }) => {
  await openFiles(page, [...written({ 'a.safetensors': safetensors({ a: f32(1) }) }), ...written({ 'b.gguf': gguf({ 'general.architecture': 'llama' }, { w: { type: 0, shape: [32], data: Buffer.alloc(128) } }) })]);
  for (const [name, words] of [
    ['a.safetensors', ['header size', 'header (JSON)', 'byte buffer']],
    ['b.gguf', ['header', 'key-values', 'tensor infos', 'gap', 'tensor data']],
  ] as const) {
    await page.getByRole('button', { name, exact: true }).click();
    const file = page.locator('.file:visible');
    await expect(file.locator('.legend')).toContainText(words.at(-1)!);
    await file.getByRole('tab', { name: 'Layout' }).click();
    await expect(file.locator('.layout-table .v-list .part').filter({ hasText: /./ })).toHaveText(words);
  }
});

test('the map has its legend, and hints for the keyboard only with one', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: f32(1) }) }));
  const [legend, note, bar] = [page.locator('.legend'), page.locator('.strip-note'), page.getByRole('slider', { name: 'Layout of the file' })];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await expect(legend).toBeVisible();
    await expect(note).toHaveText('');
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator('.profile').focus();
  await page.keyboard.press('Shift+Tab');
  await bar.focus();
  await expect(note).toHaveText('Arrow keys step through the parts; + and - zoom');
  await page.keyboard.press('ArrowRight');
  await expect(note).toContainText('header (JSON)');
});

test('the value of a metadata entry opens with the first choice', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ a: f32(1) }, Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`key${i}`, `value${i}`]))) }));
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  const [grid, value] = [page.getByRole('grid', { name: 'Metadata' }), page.getByRole('region', { name: 'Value' })];
  await expect(grid.getByText('key0', { exact: true })).toBeVisible();
  await expect(value).toBeHidden();
  const last = grid.locator('.v-list [role=row]').last();
  const before = (await grid.boundingBox())!.height;
  await grid.locator('[data-rank="18"]').click();
  await expect(value).toContainText('value18');
  expect((await grid.boundingBox())!.height).toBeLessThan(0.7 * before);
  // The row is still in sight.
  await expect(grid.locator('[data-rank="18"]')).toBeInViewport();
  await expect(last).toBeAttached();
});

test('a heat map starts with the longest axes, fills the width and says its scale', async ({ page }) => {
  const shape = [96, 1100, 3, 3];
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  await openFiles(page, written({ 'a.safetensors': safetensors({ conv: { dtype: 'F32', data, shape }, small: { dtype: 'F32', data: new Float32Array(64), shape: [8, 8] } }) }));
  await page.locator('.tensor-table [data-rank="0"]').click();
  await page.getByRole('tablist', { name: 'Tensor views' }).getByRole('tab', { name: 'Heat map' }).click();
  await expect(page.getByLabel('Rows', { exact: true })).toHaveValue('0');
  await expect(page.getByLabel('Columns', { exact: true })).toHaveValue('1');
  await expect(page.locator('.heat-cell')).toHaveText('a cell is 1 × 2.15 elements');
  const share = await page.locator('.heat-canvas').evaluate((canvas) => canvas.clientWidth / canvas.closest('.heat-stage')!.clientWidth);
  expect(share).toBeGreaterThan(0.9);
  await page.locator('.tensor-table [data-rank="1"]').click();
  await expect(page.locator('.heat-cell')).toHaveText('a cell is an element');
  expect(await page.locator('.heat-canvas').evaluate((canvas) => canvas.clientWidth / canvas.closest('.heat-stage')!.clientWidth)).toBeGreaterThan(0.9);
});

test('every icon stands beside words or has a tooltip', async ({ page }) => {
  await openFiles(page, written({ 'a.safetensors': safetensors({ 'layers.0.w': f32(1, NaN), 'layers.1.w': f32(1, 2) }, { key: 'value' }) }));
  await page.getByRole('button', { name: 'Scan weights' }).first().click();
  await page.locator('.tensor-table [data-rank="0"]').click();
  const tabs = page.getByRole('tablist', { name: 'Views of the file' }).getByRole('tab');
  for (let i = 0; i < (await tabs.count()); i++) {
    await tabs.nth(i).click();
    const bare = await page.locator('svg.icon:visible').evaluateAll((icons) =>
      icons.filter((icon) => !icon.closest('[title]') && !/\w/.test((icon.closest('button, a, li, p, h1, h2, td, div') as HTMLElement).innerText)).map((icon) => icon.parentElement!.outerHTML.slice(0, 80)),
    );
    expect(bare).toEqual([]);
  }
});

test('on a phone the head is one line while the list is scrolled', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openFiles(page, written({ 'a.safetensors': safetensors(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`layers.${i}.w`, f32(1)]))) }));
  const strip = page.locator('.strip:visible');
  const top = async () => (await page.locator('.file:visible .body').boundingBox())!.y;
  const before = await top();
  await expect(strip).toHaveCount(1);
  const list = page.locator('.tensor-table .v-list').first();
  await list.hover();
  await page.mouse.wheel(0, 300);
  await expect(strip).toHaveCount(0);
  await expect(page.locator('.verdict-head:visible')).toHaveText('Structure valid');
  expect(await top()).toBeLessThan(before - 80);
  // At the top it is whole again, and in another view.
  await page.mouse.wheel(0, -2000);
  await expect(strip).toHaveCount(1);
  await page.mouse.wheel(0, 300);
  await expect(strip).toHaveCount(0);
  await page.getByRole('tab', { name: /^Layout/ }).click();
  await expect(strip).toHaveCount(1);
  // Wide windows have room for it.
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.locator('.layout-table:visible').hover();
  await page.mouse.wheel(0, 300);
  await expect(strip).toHaveCount(1);
});
