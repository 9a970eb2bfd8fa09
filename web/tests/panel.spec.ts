import { readFileSync } from 'node:fs';
import { safetensors, written } from './files.ts';
import { failNext, holdBack } from './late.ts';
import { expect, openFiles, openSample, openTensor, panelTab, pointed, sampleFile, test } from './page.ts';

const fact = (page: import('@playwright/test').Page, term: string) =>
  page.locator('.panel .pair', { has: page.locator('dt', { hasText: new RegExp(`^${term}$`) }) }).locator('dd');

test('the overview has shape, type, place and quantization', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'head.weight');
  await expect(fact(page, 'Shape')).toHaveText('64 × 96');
  await expect(fact(page, 'Type')).toHaveText('i8');
  await expect(fact(page, 'Stored')).toHaveText('6.00 KiB (6,144 B)');
  await expect(page.locator('.panel summary', { hasText: 'Quantization' })).toBeVisible();
  await expect(page.locator('.panel .block')).toContainText('0.001');
});

test('statistics are those of known values', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  await panelTab(page, 'Statistics');
  // -48 … 47
  await expect(fact(page, 'Minimum')).toHaveText('-48');
  await expect(fact(page, 'Maximum')).toHaveText('47');
  await expect(fact(page, 'Mean')).toHaveText('-0.5');
  await expect(fact(page, 'Standard deviation')).toHaveText('27.71131');
  await expect(fact(page, 'Zeros')).toHaveText('1 (1.04 %)');
  await expect(fact(page, 'NaN')).toHaveText('0');
  const histogram = page.locator('.histogram');
  await histogram.getByText('Show as table').click();
  const counts = async () => (await histogram.locator('tbody td:last-child').allTextContents()).map(Number);
  await expect.poll(async () => (await counts()).reduce((sum, n) => sum + n, 0)).toBe(96);
  await page.getByRole('button', { name: 'Logarithmic' }).click();
  await expect(histogram).toHaveAttribute('data-scale', 'log');
  // Magnitudes 32–64, 16–32, … on both sides, and zero.
  await expect.poll(counts).toEqual([17, 16, 8, 4, 2, 1, 1, 1, 2, 4, 8, 16, 16]);
});

test('NaN and infinity are counted, with the first position', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.special');
  await panelTab(page, 'Statistics');
  await expect(fact(page, 'NaN')).toHaveText('1 (6.25 %) first at [5]');
  await expect(fact(page, 'Infinite')).toHaveText('2 (12.5 %) first at [9]');
  await expect(fact(page, 'Zeros')).toContainText('2');
  await expect(fact(page, 'Subnormal')).toContainText('1');
  await expect(fact(page, 'Maximum')).toHaveText('4.25');
});

test('the heat map shows known cells, under the pointer and the keys', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  await panelTab(page, 'Heat map');
  const canvas = page.locator('.heat-canvas');
  await expect(canvas).toBeVisible();
  expect(await canvas.evaluate((c: HTMLCanvasElement) => [c.width, c.height])).toEqual([12, 8]);
  const readout = page.locator('.heat .readout');
  await expect(readout).toHaveText('[0, 0] -48');
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(readout).toHaveText('[1, 1] -35');
  const last = async () => {
    const { x, y, width, height } = (await canvas.boundingBox())!;
    return { x: x + width - 2, y: y + height - 2 };
  };
  await pointed(page, last, () => expect(readout).toHaveText('[7, 11] 47', { timeout: 500 }));
  // The corners are the ends of the scale: dark blue and dark brown.
  const corner = (x: number, y: number) => canvas.evaluate((c: HTMLCanvasElement, [x, y]) => [...c.getContext('2d')!.getImageData(x, y, 1, 1).data], [x, y]);
  const [low, high] = [await corner(0, 0), await corner(11, 7)];
  expect(low[2]).toBeGreaterThan(low[0]);
  expect(high[0]).toBeGreaterThan(high[2]);
});

test('a heat map of any two axes of three', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.cube');
  await panelTab(page, 'Heat map');
  const readout = page.locator('.heat .readout');
  await expect(readout).toHaveText('[0, 0] 0');
  await page.getByLabel('Axis 0', { exact: true }).fill('2');
  await page.getByLabel('Axis 0', { exact: true }).press('Enter');
  await expect(readout).toHaveText('[0, 0] 40');
  await page.getByLabel('Rows', { exact: true }).selectOption('0');
  // Rows are now axis 0, columns axis 2, and axis 1 is fixed at 0.
  await page.locator('.heat-canvas').focus();
  await page.keyboard.press('ArrowDown');
  await expect(readout).toHaveText('[1, 0] 20');
});

test('values of a slice are those of the file', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.cube');
  await panelTab(page, 'Values');
  const row = (at: number) => page.locator('.value-grid .v-list [role=row]:not([hidden])').nth(at).locator('.value');
  await expect(row(1)).toHaveText(['5', '6', '7', '8', '9']);
  await page.getByLabel('Axis 0', { exact: true }).fill('1');
  await page.getByLabel('Axis 0', { exact: true }).press('Enter');
  await expect(row(0)).toHaveText(['20', '21', '22', '23', '24']);
  await page.getByLabel('Columns', { exact: true }).selectOption('1');
  await expect(row(2)).toHaveText(['22', '27', '32', '37']);
});

/** Opens a tensor whose values are their positions. */
async function openRamp(page: import('@playwright/test').Page, ...shape: number[]): Promise<void> {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => i);
  await openFiles(page, written({ 'ramp.safetensors': safetensors({ w: { dtype: 'F32', data, shape } }) }));
  await openTensor(page, 'w');
}

test('values are those of the slice chosen last', async ({ page }) => {
  await openRamp(page, 2, 16, 16);
  await panelTab(page, 'Values');
  const first = page.locator('.value-grid .v-list [role=row]:not([hidden]) .value').first();
  await expect(first).toHaveText('0');
  const release = await holdBack(page, 'grid');
  await page.getByLabel('Axis 0', { exact: true }).evaluate((input: HTMLInputElement) => {
    for (const slice of ['1', '0']) {
      input.value = slice;
      input.dispatchEvent(new Event('change'));
    }
  });
  await release(2);
  await expect(first).toHaveText('0');
});

test('choosing an axis keeps the other controls, and the focus', async ({ page }) => {
  await openRamp(page, 2, 3, 4);
  for (const view of ['Values', 'Heat map']) {
    await panelTab(page, view);
    const panel = page.locator('.panel-body:visible');
    const rows = panel.getByLabel('Rows', { exact: true });
    await rows.focus();
    await rows.selectOption('0');
    await expect(rows).toBeFocused();
    await expect(panel.getByLabel('Columns', { exact: true })).toHaveValue('2');
    await expect(panel.getByLabel(/^Axis/).filter({ visible: true })).toHaveAttribute('max', '2');
    await rows.selectOption('2');
    await expect(panel.getByLabel('Columns', { exact: true })).toHaveValue('0');
  }
  await expect(page.getByLabel('Colours')).toBeVisible();
  await expect(page.getByRole('group', { name: 'Cell' })).toBeVisible();
});

test('turning over columns keeps the focus', async ({ page }) => {
  await openRamp(page, 2, 100);
  await panelTab(page, 'Values');
  const next = page.getByRole('button', { name: 'Next columns' });
  await next.click();
  await expect(page.locator('.pager')).not.toContainText('columns 0–');
  await expect(next).toBeFocused();
});

for (const [view, method, cell, text] of [
  ['Values', 'values', '.value-grid .v-list .value', '0'],
  ['Hex', 'bytes', '.panel .hex-bytes', '00 00 00 00'],
] as const) {
  test(`what could not be read is read again: ${view}`, async ({ page }) => {
    await openRamp(page, 1);
    await failNext(page, method);
    await panelTab(page, view);
    await expect(page.getByRole('alert')).toContainText('out of luck');
    // A list that grows is drawn again.
    await page.setViewportSize({ width: 1280, height: 900 });
    await expect(page.locator(cell).first()).toHaveText(text);
  });
}

test('a cell of a heat map names the elements that it covers', async ({ page }) => {
  // 600 columns in 512 cells: the first covers two of them, the second one.
  await openRamp(page, 2, 600);
  await panelTab(page, 'Heat map');
  const readout = page.locator('.heat .readout');
  await expect(readout).toHaveText('[0, 0–1] mean 0.5, 0 to 1');
  await page.locator('.heat-canvas').focus();
  await page.keyboard.press('ArrowRight');
  await expect(readout).toHaveText('[0, 2] mean 2, 2 to 2');
});

test('values of a type that cannot be shown are no failure', async ({ page }) => {
  await openFiles(page, written({ 'others.safetensors': safetensors({ complex: { dtype: 'C64', data: new Float32Array(4), shape: [2] }, packed: { dtype: 'F6_E2M3', data: new Uint8Array(3), shape: [4] } }) }));
  for (const [name, dtype] of [['complex', 'c64'], ['packed', 'f6e2m3']]) {
    await openTensor(page, name);
    await panelTab(page, 'Values');
    await expect(page.locator('.panel-values')).toHaveText(`Values are not available for ${dtype}.`);
    await expect(page.getByRole('alert')).toBeHidden();
  }
});

test('one element is not several', async ({ page }) => {
  await openRamp(page, 1);
  await panelTab(page, 'Statistics');
  await expect(page.locator('.panel-statistics')).toContainText('All finite elements are 0');
});

test('reading values does not outlive the file', async ({ page }) => {
  await openRamp(page, 2, 16, 16);
  await panelTab(page, 'Values');
  await expect(page.locator('.value-grid .v-list .value').first()).toHaveText('0');
  await failNext(page, 'grid');
  await page.getByLabel('Axis 0', { exact: true }).evaluate(async (input: HTMLInputElement) => {
    input.value = '1';
    input.dispatchEvent(new Event('change'));
    document.querySelector<HTMLElement>('[aria-label^="Close ramp"]')!.click();
    await new Promise((resolve) => setTimeout(resolve));
  });
  await expect(page.getByRole('alert')).toBeHidden();
});

for (const [view, method] of [['Statistics', 'statistics'], ['Heat map', 'heatmap']] as const) {
  test(`trying again keeps the focus: ${view}`, async ({ page }) => {
    await openRamp(page, 8, 8);
    await failNext(page, method);
    await panelTab(page, view);
    const panel = page.locator('.panel-body:visible');
    await panel.getByRole('button', { name: /^(Compute statistics|Draw)$/ }).click();
    await expect(panel.getByRole('button', { name: /^(Logarithmic|Zoom in)$/ })).toBeVisible();
    await expect(panel.locator(':focus')).toHaveCount(1);
  });
}

test('special values are named in the value grid', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.special');
  await panelTab(page, 'Values');
  const cells = page.locator('.value-grid .v-list [role=row]:not([hidden]) .value');
  await expect(cells.nth(5)).toHaveText('NaN');
  await expect(cells.nth(3)).toHaveText('-0');
  await expect(cells.nth(9)).toHaveText('Infinity');
  await expect(cells.nth(12)).toHaveText('-Infinity');
});

test('the hex of a tensor is its bytes', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  const [from, to] = (await fact(page, 'Data').textContent())!.match(/0x[\dA-F]+/g)!.map(Number);
  expect(to - from).toBe(96 * 4);
  await panelTab(page, 'Hex');
  const bytes = readFileSync(sampleFile('tiny-lm.oinf')).subarray(from, to);
  const rows = page.locator('.panel .hex-row:not([hidden]) .hex-bytes');
  // Visible rows appear as they are read.
  let shown: string[] = [];
  await expect(async () => {
    shown = (await rows.allTextContents()).join(' ').split(' ');
    expect(shown.length).toBeGreaterThan(100);
    expect(shown).not.toContain('');
  }).toPass();
  const expected = [...bytes].map((byte) => byte.toString(16).toUpperCase().padStart(2, '0'));
  expect(shown).toEqual(expected.slice(0, shown.length));
});

test('checksums are verified on demand', async ({ page }) => {
  await openSample(page, 'ztensor');
  await openTensor(page, 'encoder.weight');
  await page.getByRole('button', { name: 'Verify' }).click();
  await expect(page.locator('.outcome')).toHaveText('matches');
  await openSample(page, 'ztensor-broken');
  await openTensor(page, 'encoder.weight');
  await page.getByRole('button', { name: 'Verify' }).click();
  await expect(page.locator('.outcome')).toHaveText('does not match');
});

test('zstd, big-endian and sparse tensors show values', async ({ page }) => {
  await openSample(page, 'ztensor');
  for (const name of ['decoder.weight', 'decoder.bias']) {
    await openTensor(page, name);
    await panelTab(page, 'Values');
    await expect(page.locator('.value-grid .v-list .value').first()).toHaveText(/^-?0\.\d+/);
    await panelTab(page, 'Statistics');
    await expect(fact(page, 'NaN')).toHaveText('0');
    const deviation = Number(await fact(page, 'Standard deviation').textContent());
    expect(deviation).toBeGreaterThan(0.01);
    expect(deviation).toBeLessThan(0.1);
  }
  await openTensor(page, 'links');
  await panelTab(page, 'Values');
  await expect(page.locator('.value-grid .v-list')).toContainText('3.5');
});

test('a tensor without data says so', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.declared');
  await panelTab(page, 'Hex');
  await expect(page.locator('.panel-hex')).toHaveText('This tensor has no data.');
});
