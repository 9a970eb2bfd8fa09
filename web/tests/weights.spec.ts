/** The sweep over all weights: verdict, columns, charts, list and exports. */

import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { safetensors, written } from './files.ts';
import { BY_URL, PICTURES, expect, openFiles, settled, test, within } from './page.ts';

/** Reproducible numbers that look like weights. */
export function noise(count: number, seed: number, scale = 0.02): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      sum += state / 2 ** 32 - 0.5;
    }
    return sum * scale;
  });
}

const f32 = (data: Float32Array, shape?: number[]) => ({ dtype: 'F32', data, shape });

/** A model of eight layers with one defective tensor of each kind. */
function damaged(): Buffer {
  const tensors: Record<string, { dtype: string; data: Float32Array; shape?: number[] }> = {};
  tensors['embed.weight'] = f32(noise(64 * 32, 7), [64, 32]);
  for (let layer = 0; layer < 8; layer++) {
    for (const [i, kind] of ['q_proj', 'k_proj', 'mlp.up'].entries()) {
      tensors[`layers.${layer}.${kind}.weight`] = f32(noise(32 * 32, layer * 10 + i + 1, 0.01 * (layer + 1)), [32, 32]);
    }
    tensors[`layers.${layer}.norm.weight`] = f32(noise(32, layer + 900).map((x) => x + 1));
  }
  tensors['layers.2.q_proj.weight'].data[5] = NaN;
  tensors['layers.2.q_proj.weight'].data[9] = NaN;
  tensors['layers.3.k_proj.weight'].data[0] = -Infinity;
  tensors['layers.4.mlp.up.weight'].data.fill(0);
  tensors['layers.5.norm.weight'].data.fill(1);
  tensors['layers.6.q_proj.weight'].data.fill(0, 32, 96);
  tensors['layers.7.k_proj.weight'].data[77] = 1e6;
  tensors['layers.7.mlp.up.weight'].data.set(tensors['layers.1.mlp.up.weight'].data);
  return safetensors(tensors);
}

const rows = '.tensor-table .v-list [role=row]:not([hidden])';

async function scan(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Scan weights' }).first().click();
  await expect(page.locator('.stage-weights')).toBeVisible();
}

/** Two matrices whose rows have 4,000 bytes, with pages that are zero or copies of one. */
function lost(zeros: [number, number], copies: [number, number]): Buffer {
  const PAGE = 4096;
  const bytes = safetensors({ a: f32(noise(300_000, 1), [300, 1000]), b: f32(noise(300_000, 2), [300, 1000]) });
  bytes.fill(0, zeros[0] * PAGE, zeros[1] * PAGE);
  for (let page = copies[0] + 1; page < copies[1]; page++) {
    bytes.copyWithin(page * PAGE, copies[0] * PAGE, (copies[0] + 1) * PAGE);
  }
  return bytes;
}

test('pages that a download or a disk lost are suspicious, with their place', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': lost([10, 40], [350, 400]) }));
  await scan(page);
  const stage = page.locator('.stage-weights');
  await expect(stage).toHaveText('Weights: 2 tensors worth a look');
  await expect(stage).toHaveAttribute('data-state', 'suspicious');
  await stage.getByRole('button').click();
  await expect(page.locator('.weights-verdict')).toHaveText('Weights: 1 tensor has rows of zeros, 2 tensors are cut by whole pages of zeros or of copies');
  const items = page.locator('.suspects .finding[data-signs*="cut"]');
  await expect(items).toHaveCount(2);
  await expect(items.nth(0)).toContainText('Zeros from byte 40,960 of the file to 163,839:');
  await expect(items.nth(1)).toContainText('Copies of one page from byte 1,433,600 of the file to 1,638,399:');
});

test('one action finds what is wrong, and says so beside the structure', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': damaged() }));
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
  await expect(page.locator('.stage')).toHaveText(['Weights not scannedScan']);
  await scan(page);
  const said =
    'Weights: 1 tensor contains NaN, 1 tensor contains infinities, 1 tensor is all zeros, 1 tensor is constant, 1 tensor has rows of zeros, 1 tensor has an outlier, 1 tensor is a duplicate';
  await expect(page.locator('.stage-weights')).toHaveText('Weights: 1 tensor contains NaN, 1 tensor contains infinities, 5 more worth a look');
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
  await page.locator('.stage-weights').getByRole('button').click();
  await expect(page.getByRole('tab', { name: /^Weights/ })).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.weights-verdict')).toHaveText(said);
  const item = (sign: string) => page.locator(`.suspects .finding[data-signs="${sign}"]`);
  await expect(page.locator('.suspects .finding')).toHaveCount(7);
  await expect(item('nan')).toContainText('layers.2.q_proj.weight');
  await expect(item('nan')).toContainText('2 of 1,024 elements are NaN; the first is at [0, 5].');
  await expect(item('infinite')).toContainText('1 of 1,024 elements is infinite; the first is at [0, 0].');
  await expect(item('zero')).toContainText('All 1,024 elements are zero.');
  await expect(item('constant')).toContainText('All 32 elements are 1.');
  await expect(item('zero-rows')).toContainText('2 of 32 rows are all zeros.');
  await expect(item('outlier')).toContainText(/lies \d+ standard deviations from the mean: the range is .* to 1000000\./);
  await expect(item('duplicate')).toContainText('The elements are identical to those of layers.1.mlp.up.weight.');
  await item('duplicate').getByRole('button', { name: 'Open tensor layers.7.mlp.up.weight' }).click();
  await expect(page.locator('.panel-name')).toHaveText('layers.7.mlp.up.weight');
});

test('columns show what was measured, and sort', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': damaged() }));
  await scan(page);
  const header = (name: string) => page.getByRole('columnheader', { name, exact: true });
  await expect(header('Offset')).toBeHidden();
  const first = page.locator(rows).first();
  await header('NaN').getByRole('button').click();
  await header('NaN').getByRole('button').click();
  await expect(header('NaN')).toHaveAttribute('aria-sort', 'descending');
  await expect(first.locator('.name')).toHaveText('layers.2.q_proj.weight');
  await expect(first.locator('.nan')).toHaveText('2');
  await expect(first.locator('.signs')).toHaveText('nan');
  // NumPy's result for the finite elements.
  const data = noise(32 * 32, 21, 0.03).filter((_, i) => i !== 5 && i !== 9);
  const mean = data.reduce((sum, x) => sum + x, 0) / data.length;
  const std = Math.sqrt(data.reduce((sum, x) => sum + (x - mean) ** 2, 0) / data.length);
  expect(Number(await first.locator('.std').getAttribute('title'))).toBeCloseTo(std, 8);
  expect(Number(await first.locator('.mean').getAttribute('title'))).toBeCloseTo(mean, 8);
  await header('Max').getByRole('button').click();
  await header('Max').getByRole('button').click();
  await expect(first.locator('.name')).toHaveText('layers.7.k_proj.weight');
  await expect(first.locator('.max')).toHaveText('1000000');
  // The other columns are one click away; sorting by a hidden column ends.
  await page.getByRole('button', { name: 'Storage' }).click();
  await expect(header('Offset')).toBeVisible();
  await expect(header('Max')).toBeHidden();
  await expect(first.locator('.name')).toHaveText('embed.weight');
});

test('charts go along the layers, by keyboard too', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': damaged() }));
  await scan(page);
  await page.getByRole('tab', { name: /^Weights/ }).click();
  await expect(page.locator('.course h4')).toHaveText(['layers.#.q_proj.weight', 'layers.#.k_proj.weight', 'layers.#.mlp.up.weight', 'layers.#.norm.weight']);
  const chart = page.getByRole('slider', { name: /^layers\.#\.q_proj\.weight, 8 layers/ });
  await chart.focus();
  await page.keyboard.press('End');
  await expect(chart).toHaveAttribute('aria-valuetext', /^layer 7: 0\.0\d+/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel-name')).toHaveText('layers.6.q_proj.weight');
  await page.getByRole('button', { name: 'Max |x|' }).click();
  await expect(page.getByRole('slider', { name: /^layers\.#\.k_proj\.weight, 8 layers: .* to 1e\+6$|^layers\.#\.k_proj\.weight, 8 layers: .* to 1000000$/ })).toBeVisible();
});

test('what was found is exported as CSV and JSON', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': damaged() }));
  await scan(page);
  await page.getByRole('tab', { name: /^Weights/ }).click();
  const save = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    expect(download.suggestedFilename()).toMatch(/^model\.weights\.(csv|json)$/);
    return readFileSync(await download.path(), 'utf8');
  };
  const lines = (await save('Export as CSV')).trimEnd().split('\r\n');
  expect(lines.length).toBe(34);
  expect(lines[0]).toBe('name,dtype,shape,elements,min,max,mean,std,zeros,nan,infinities,rows,zero_rows,outlier,signs,duplicate_of,why');
  expect(lines.find((line) => line.startsWith('layers.4.mlp.up.weight,'))).toBe('layers.4.mlp.up.weight,f32,32x32,1024,0,0,0,0,1024,0,0,32,32,,zero,,');
  const report = JSON.parse(await save('Export as JSON'));
  expect(report.weights).toMatchObject({ verdict: 'faulty', tensors: 33, skipped: 0, signs: { nan: 1, infinite: 1, duplicate: 1 } });
  expect(report.tensors.find(({ name }: { name: string }) => name === 'layers.7.mlp.up.weight').duplicate_of).toBe('layers.1.mlp.up.weight');
});

test.describe('over a network', () => {
  test.use({ baseURL: BY_URL });

  test('a sweep that is cancelled goes on where it was, and what was not scanned has no tick', async ({ page, context }) => {
    // Complex numbers are not scanned; the tensors they separate are read one at a time.
    const gap = { dtype: 'C64', data: new Uint8Array(128 << 10), shape: [16 << 10] };
    const tensors = Object.fromEntries(['a', 'b', 'c', 'd'].flatMap((name, i) => [[`gap.${name}`, gap], [name, f32(noise(256, i + 1))]]));
    const bytes = safetensors(tensors);
    const starts = [1, 2, 3, 4].map((i) => bytes.length - (4 - i) * (gap.data.length + 1024) - 1024);
    const asked: number[] = [];
    let answered = () => {};
    const holding = new Promise<void>((resolve) => (answered = resolve));
    await context.route('https://files.test/**', async (route) => {
      const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'range', 'access-control-expose-headers': 'content-range' };
      const range = /^bytes=(\d+)-(\d+)$/.exec(route.request().headers().range ?? '');
      if (range === null) {
        await route.fulfill({ status: 204, headers });
        return;
      }
      const [from, to] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
      asked.push(starts.indexOf(from));
      if (asked.filter((tensor) => tensor === 2).length === 1 && from === starts[2]) {
        // The first request for the third tensor hangs until it is cancelled.
        answered();
        return;
      }
      await route.fulfill({ status: 206, headers: { ...headers, 'content-range': `bytes ${from}-${to}/${bytes.length}` }, body: bytes.subarray(from, to + 1) });
    });
    await page.goto('./');
    await page.getByLabel('Address of a file').fill('https://files.test/model.safetensors');
    await page.getByRole('button', { name: 'Open address' }).click();
    await settled(page);
    await page.getByRole('button', { name: 'Scan weights' }).click();
    await holding;
    await page.getByRole('button', { name: 'Cancel: Scanning weights' }).click();
    const stage = page.locator('.stage-weights');
    await expect(stage).toContainText('nothing suspicious in 2 tensors; 4 tensors not scanned (6 of 8 scanned)');
    await expect(stage).toHaveAttribute('data-state', 'unchecked');
    await stage.getByRole('button', { name: 'Resume scanning weights' }).click();
    await expect(stage).toHaveText('Weights: nothing suspicious in 4 tensors; 4 tensors not scanned');
    await expect(stage).toHaveAttribute('data-state', 'unchecked');
    expect(asked.filter((tensor) => tensor >= 0)).toEqual([0, 1, 2, 2, 3]);
  });
});

test('exports have whole names, and charts come in portions', async ({ page }) => {
  const long = `${'n'.repeat(300)}.weight`;
  const kinds = Array.from({ length: 100 }, (_, i) => [`layers.${i % 2}.kind${i >> 1}`, f32(noise(16, i + 1))]);
  const tensors = Object.fromEntries([[long, f32(noise(64, 1000))], ['twin', f32(noise(64, 1000))], ['vast', { dtype: 'F64', data: Float64Array.of(0.5, 1e200, -0.5) }], ...kinds]);
  await openFiles(page, written({ 'model.safetensors': safetensors(tensors) }));
  await scan(page);
  await page.getByRole('tab', { name: /^Weights/ }).click();
  await expect(page.locator('.suspects .finding[data-signs="outlier"]')).toContainText('The standard deviation exceeds the range of a double');
  await expect(page.locator('.course')).toHaveCount(24);
  await page.getByRole('button', { name: 'Show 24 more of 26 kinds' }).click();
  await expect(page.locator('.course')).toHaveCount(48);
  await page.getByRole('button', { name: 'Show 2 kinds more' }).click();
  await expect(page.locator('.course')).toHaveCount(50);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as CSV' }).click()]);
  const lines = readFileSync(await download.path(), 'utf8').trimEnd().split('\r\n');
  expect(lines.filter((line) => line.startsWith(`${long},f32,64,`))).toHaveLength(1);
  expect(lines.find((line) => line.startsWith('twin,'))).toMatch(new RegExp(`,duplicate,${long},$`));
});

test('more suspicious tensors are added once, and the next ones are not skipped', async ({ page }) => {
  const tensors = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`t${i}`, f32(new Float32Array(8))]));
  await openFiles(page, written({ 'model.safetensors': safetensors(tensors) }));
  await scan(page);
  await page.getByRole('tab', { name: /^Weights/ }).click();
  const more = page.getByRole('region', { name: 'Suspicious' }).locator('.more');
  await expect(more).toHaveText('Show 100 more of 150');
  await more.evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await expect(more).toHaveText('Show 50 more');
  await expect(page.locator('.suspects .finding')).toHaveCount(200);
  await more.press('Enter');
  await expect(more).toBeHidden();
  const names = await page.locator('.suspects .finding-name').allTextContents();
  expect([names.length, new Set(names).size]).toEqual([250, 250]);
  await expect(page.locator('.suspects .finding').nth(200).getByRole('button').first()).toBeFocused();
});

test('the focus stays among the checks and in the view of the weights', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': damaged() }));
  await page.getByRole('tab', { name: /^Weights/ }).click();
  const button = page.getByRole('button', { name: 'Scan weights' }).first();
  await button.focus();
  // Drawn again, with another profile.
  const choose = (profile: string) =>
    page.getByLabel('Profile').evaluate((one: HTMLSelectElement, value) => {
      one.value = value;
      one.dispatchEvent(new Event('change'));
    }, profile);
  await choose('lenient');
  await expect(button).toBeFocused();
  await button.press('Enter');
  await expect(page.locator('.stage-weights')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Checks' })).toBeFocused();
  await page.getByRole('button', { name: 'Export as CSV' }).focus();
  await choose('strict');
  await expect(page.getByRole('button', { name: 'Export as CSV' })).toBeFocused();
});

test('samples of every format are scanned, encoded and quantised ones too', async ({ page }) => {
  for (const id of ['safetensors', 'gguf', 'npy', 'npz', 'oinf', 'stb', 'ztensor', 'bintensors']) {
    await page.goto('about:blank');
    await page.goto(`./#sample=${id}`);
    await expect(page.locator('.verdict')).toHaveAttribute('data-state', /valid|remarks/);
    await scan(page);
    await expect(page.locator('.stage-weights')).toHaveText(/^Weights: /);
    await expect(page.locator('.stage-weights')).not.toContainText('no weights');
  }
});

test('of a sparse tensor only its faults are known', async ({ page }) => {
  await page.goto('./#sample=ztensor');
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', /valid|remarks/);
  await scan(page);
  const row = (name: string) => page.locator(rows).filter({ hasText: name });
  await expect(row('encoder.bias').locator('.min')).not.toBeEmpty();
  for (const column of ['.min', '.std', '.zeros', '.signs']) {
    await expect(row('links').locator(column)).toBeEmpty();
  }
  await expect(row('links').locator('.nan')).toHaveText('0');
});

for (const [name, scheme, width] of [
  ['light', 'light', 1280],
  ['dark', 'dark', 1280],
  ['narrow', 'light', 390],
] as const) {
  test(`the weights have no violations of WCAG, ${name}`, { tag: name === 'light' ? [] : '@deep' }, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 844 });
    await openFiles(page, written({ 'model.safetensors': damaged() }));
    await page.getByRole('tab', { name: /^Weights/ }).click();
    const check = async () => expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([]);
    await check();
    await scan(page);
    await check();
    await page.getByRole('tab', { name: /^Tensors/ }).click();
    await check();
  });
}

test('picture: the weights', { tag: '@deep' }, async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': damaged() }));
  await scan(page);
  await page.getByRole('tab', { name: /^Weights/ }).click();
  await expect(page.locator('.course')).toHaveCount(4);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${PICTURES}/weights.png` });
});

test('a sweep of 476 MiB takes seconds', { tag: ['@deep', '@bench'] }, async ({ page }) => {
  test.setTimeout(180_000);
  const data = noise(1 << 20, 5);
  const shared = Buffer.from(data.buffer);
  const names = Array.from({ length: 119 }, (_, i) => `layers.${i % 17}.kind${Math.floor(i / 17)}.weight`);
  const head = Object.fromEntries(names.map((name, i) => [name, { dtype: 'F32', shape: [1024, 1024], data_offsets: [i << 22, (i + 1) << 22] }]));
  const text = JSON.stringify(head);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const [path] = written({ 'big.safetensors': Buffer.concat([length, Buffer.from(text), ...names.map(() => shared)]) });
  await openFiles(page, path);
  const begun = performance.now();
  await scan(page);
  const milliseconds = performance.now() - begun;
  await expect(page.locator('.stage-weights')).toHaveText('Weights: 118 tensors worth a look');
  console.log(`476 MiB: swept in ${milliseconds.toFixed(0)} ms`);
  within(milliseconds, 3000);
});
