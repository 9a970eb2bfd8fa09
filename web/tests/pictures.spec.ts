/** Zooming heat maps, their colours, and the blocks of quantised tensors. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { gguf, safetensors, written } from './files.ts';
import { failNext, holdBack } from './late.ts';
import { PICTURES, expect, openFiles, openTensor, panelTab, test } from './page.ts';

const SIDE = 1024;
/** Values equal to their positions. */
const ramp = () => Float32Array.from({ length: SIDE * SIDE }, (_, i) => i);

const readout = (page: Page) => page.locator('.heat .readout');
const part = (page: Page) => page.locator('.heat-part').first();

async function clean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join()}`)).toEqual([]);
}

test('a part of a heat map is drawn at its own resolution, by keys, wheel and pointer', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data: ramp(), shape: [SIDE, SIDE] } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Heat map');
  const canvas = page.locator('.heat-canvas');
  await expect(readout(page)).toHaveText('[0–1, 0–1] mean 512.5, 0 to 1025');
  await canvas.focus();
  await page.keyboard.press('+');
  await expect(part(page)).toHaveText('rows 0–511, columns 0–511');
  await expect(readout(page)).toHaveText('[0, 0] 0');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('ArrowDown');
  await expect(readout(page)).toHaveText(`[1, 16] ${SIDE + 16}`);
  // Moving beyond the edge pans the picture.
  for (let i = 0; i < 32; i++) {
    await page.keyboard.press('Shift+ArrowRight');
  }
  await expect(part(page)).toHaveText('rows 0–511, columns 17–528');
  await expect(readout(page)).toHaveText(`[1, 528] ${SIDE + 528}`);
  await page.keyboard.press('0');
  await expect(part(page)).toHaveText('');
  await expect(readout(page)).toContainText('mean');

  // The cell under the pointer stays in place while zooming.
  const box = (await canvas.boundingBox())!;
  await page.mouse.move(box.x + box.width - 1, box.y + box.height - 1);
  await page.mouse.wheel(0, -400);
  await expect(part(page)).toHaveText(/^rows 76\d–1,02\d, columns 76\d–1,02\d$/);
  await expect(readout(page)).toHaveText(/^\[1,02\d, 1,02\d\] 104\d{4}$/);
  const starts = async () => (await part(page).textContent())!.match(/(?<=s )\d+/g)!.map(Number);
  const [top, left] = await starts();
  await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height, { steps: 5 });
  await page.mouse.up();
  await expect(async () => {
    const [higher, lefter] = await starts();
    expect(Math.abs(top - higher - 128)).toBeLessThan(4);
    expect(Math.abs(left - lefter - 64)).toBeLessThan(4);
  }).toPass({ timeout: 30_000 });
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, 4000);
  await expect(part(page)).toHaveText('');
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await expect(part(page)).toHaveText('rows 256–767, columns 256–767');
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await expect(part(page)).toHaveText('');
});

test('colours reach from end to end, around zero, or as far as most elements', async ({ page }) => {
  const data = Float32Array.from({ length: 10_000 }, (_, i) => i / 5000 - 1);
  data[77] = 1e6;
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data, shape: [100, 100] } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Heat map');
  const ends = page.locator('.heat-key .mono');
  await expect(ends).toHaveText(['-1000000', '1000000']);
  const colours = page.getByLabel('Colours');
  await expect(colours).toHaveValue('even');
  await colours.selectOption('range');
  await expect(ends).toHaveText(['-1', '1000000']);
  const pixel = () => page.locator('.heat-canvas').evaluate((c: HTMLCanvasElement) => [...c.getContext('2d')!.getImageData(0, 99, 1, 1).data].join());
  const flat = await pixel();
  await colours.selectOption('hundredth');
  await expect(ends.nth(1)).toHaveText(/^≥ 0\.98/);
  await expect(ends.nth(0)).toHaveText(/^≤ -0\.98/);
  expect(await pixel()).not.toBe(flat);
  await colours.selectOption('thousandth');
  await expect(ends.nth(1)).toHaveText(/^≥ 0\.99[5-9]|^≥ 1$/);
});

test('the colours are those chosen last', async ({ page }) => {
  const data = Float32Array.from({ length: 10_000 }, (_, i) => (3 * i) / 10_000 - 1);
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data, shape: [100, 100] } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Heat map');
  const colours = page.getByLabel('Colours');
  const ends = page.locator('.heat-key .mono');
  await expect(ends).toHaveText(['-2', '2']);
  await colours.selectOption('range');
  await expect(ends).toHaveText(['-1', '2']);
  // Without statistics, the colours stay.
  await failNext(page, 'statistics');
  await colours.selectOption('hundredth');
  await expect(page.getByRole('alert')).toContainText('out of luck');
  await expect(colours).toHaveValue('range');
  const release = await holdBack(page, 'statistics');
  await colours.evaluate((select: HTMLSelectElement) => {
    for (const choice of ['hundredth', 'range']) {
      select.value = choice;
      select.dispatchEvent(new Event('change'));
    }
  });
  await release(1);
  await expect(colours).toHaveValue('range');
  await expect(ends).toHaveText(['-1', '2']);
});

test('a slice can be zoomed before it is drawn', async ({ page }) => {
  const data = Float32Array.from({ length: 2 * 32 * 32 }, (_, i) => i);
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data, shape: [2, 32, 32] } }) }));
  await openTensor(page, 'w');
  await panelTab(page, 'Heat map');
  await expect(readout(page)).toHaveText('[0, 0] 0');
  await page.getByLabel('Axis 0', { exact: true }).evaluate((input: HTMLInputElement) => {
    input.value = '1';
    input.dispatchEvent(new Event('change'));
    [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Zoom in')!.click();
  });
  await expect(part(page)).toHaveText('rows 8–23, columns 8–23');
  await expect(readout(page)).toHaveText(`[8, 8] ${32 * 32 + 8 * 32 + 8}`);
});

test('going back to a tensor draws its picture without reading', async ({ page }) => {
  await page.addInitScript(() => {
    const post = Worker.prototype.postMessage;
    const calls: string[] = [];
    Object.assign(window, { calls });
    Worker.prototype.postMessage = function (this: Worker, message: { method?: string }, ...rest: never[]) {
      calls.push(message.method ?? '');
      post.call(this, message, ...rest);
    };
  });
  const entry = (add: number) => ({ dtype: 'F32', data: Float32Array.from({ length: 64 }, (_, i) => i + add), shape: [8, 8] });
  await openFiles(page, written({ 'model.safetensors': safetensors({ a: entry(0), b: entry(100) }) }));
  const drawn = () => page.evaluate(() => (window as unknown as { calls: string[] }).calls.filter((call) => call === 'heatmap').length);
  await openTensor(page, 'a');
  await panelTab(page, 'Heat map');
  await expect(readout(page)).toHaveText('[0, 0] 0');
  await openTensor(page, 'b');
  await expect(readout(page)).toHaveText('[0, 0] 100');
  expect(await drawn()).toBe(2);
  await openTensor(page, 'a');
  await expect(readout(page)).toHaveText('[0, 0] 0');
  expect(await drawn()).toBe(2);
});

/** Q4_0 blocks with these scales (as f16 bits); the codes are 0 to 15, twice. */
function q4(scales: number[]): Buffer {
  return Buffer.concat(
    scales.map((scale) => {
      const block = Buffer.alloc(18);
      block.writeUInt16LE(scale);
      for (let i = 0; i < 16; i++) {
        block[2 + i] = i * 17;
      }
      return block;
    }),
  );
}

const quantised = () => written({ 'model.gguf': gguf({ 'general.architecture': 'none' }, { w: { type: 2, shape: [2, 64], data: q4([0x3c00, 0x4000, 0x3800, 0xc000]) } }) });

test('a block shows its scale, its codes, its values and its bytes', async ({ page }) => {
  await openFiles(page, quantised());
  await openTensor(page, 'w');
  await panelTab(page, 'Blocks');
  const blocks = page.locator('.blocks');
  await expect(blocks).toContainText('0 of 4, 32 elements in 18 bytes');
  await expect(blocks.locator('.scales tbody tr')).toHaveText(['0–311']);
  await expect(blocks.locator('.codes tbody tr').first().locator('td').first()).toHaveText('-8');
  const bytes = async () => (await blocks.getByRole('button', { name: /^0x/ }).textContent())!.match(/0x[\dA-F]+/g)!.map(Number);
  const [from, to] = await bytes();
  expect(to - from).toBe(18);
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(blocks.locator('.scales tbody td')).toHaveText(['2']);
  expect(await bytes()).toEqual([from + 18, to + 18]);
  await expect(blocks).toContainText('[0, 32] to [0, 63]');
  await blocks.getByRole('button', { name: 'Values' }).click();
  await expect(blocks.locator('.codes tbody tr').nth(1).locator('td')).toHaveText(Array.from({ length: 16 }, (_, i) => String((i - 8) * 2)));
  await page.getByLabel('Block', { exact: true }).fill('99');
  await page.getByLabel('Block', { exact: true }).press('Enter');
  await expect(page.getByLabel('Block', { exact: true })).toHaveValue('3');
  await expect(blocks.locator('.scales tbody td')).toHaveText(['-2']);
  // The heat map of the scales.
  await panelTab(page, 'Heat map');
  await page.getByRole('button', { name: 'Scales' }).click();
  await expect(readout(page)).toHaveText('[0, 0] scale 1');
  await page.locator('.heat-canvas').focus();
  await page.keyboard.press('ArrowDown');
  await expect(readout(page)).toHaveText('[1, 0] scale 0.5');
});

test('the block is the one asked for last', async ({ page }) => {
  await openFiles(page, quantised());
  await openTensor(page, 'w');
  await panelTab(page, 'Blocks');
  const blocks = page.locator('.blocks');
  await expect(blocks).toContainText('0 of 4');
  const release = await holdBack(page, 'block');
  await page.getByRole('button', { name: 'Next' }).evaluate((next: HTMLElement) => {
    next.click();
    next.click();
  });
  await release(2);
  await expect(blocks).toContainText('2 of 4');
  await expect(page.getByLabel('Block', { exact: true })).toHaveValue('2');
});

test('a block that cannot be read is not counted', async ({ page }) => {
  await openFiles(page, quantised());
  await openTensor(page, 'w');
  await panelTab(page, 'Blocks');
  const blocks = page.locator('.blocks');
  await expect(blocks).toContainText('0 of 4');
  await failNext(page, 'block');
  await page.getByLabel('Block', { exact: true }).fill('3');
  await page.getByLabel('Block', { exact: true }).press('Enter');
  await expect(page.getByRole('alert')).toContainText('out of luck');
  await expect(page.getByLabel('Block', { exact: true })).toHaveValue('0');
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(blocks).toContainText('1 of 4');
});

test('blocks are not offered for other types', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': safetensors({ w: { dtype: 'F32', data: Float32Array.of(1, 2) } }) }));
  await openTensor(page, 'w');
  await expect(page.getByRole('tablist', { name: 'Tensor views' }).getByRole('tab')).toHaveText(['Overview', 'Statistics', 'Heat map', 'Values', 'Hex']);
});

test('each layer that was compared has a bar', async ({ page }) => {
  const model = (noise: (layer: number) => number) =>
    safetensors(
      Object.fromEntries(
        Array.from({ length: 8 }, (_, layer) => ['attn', 'mlp'].map((kind) => [`layers.${layer}.${kind}.weight`, { dtype: 'F32', data: Float32Array.from({ length: 256 }, (_, i) => Math.sin(i) + (kind === 'mlp' ? noise(layer) : 0)) }] as const)).flat(),
      ),
    );
  await openFiles(page, written({ 'a.safetensors': model(() => 0), 'b.safetensors': model((layer) => layer / 100) }));
  // Asked for before the tensors are paired.
  await page.getByRole('tab', { name: 'Compare' }).evaluate(async (tab: HTMLElement) => {
    tab.click();
    const button = () => [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Compare all values');
    // The view is fetched first.
    while (button() === undefined) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    button()!.click();
  });
  const bars = page.getByRole('slider', { name: /^Relative error of each layer: 8 layers/ });
  await expect(bars.locator('.layer')).toHaveCount(8);
  // Drawn again with each tensor, until the last is compared.
  await expect(async () => {
    await bars.focus();
    await page.keyboard.press('End');
    await expect(bars).toHaveAttribute('aria-valuetext', /^layer 7: 0\.09\d+ in layers\.7\.mlp\.weight, the worst of 2$/, { timeout: 500 });
  }).toPass();
  const heights = await bars.locator('.layer-bar').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  expect(heights[0]).toBe(0);
  expect(heights[7]).toBeGreaterThan(heights[3]);
  await clean(page);
  await bars.focus();
  // The last tensor may have drawn the bars again.
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await expect(page.locator('.compare-detail h2')).toHaveText('layers.7.mlp.weight');
  await page.screenshot({ path: `${PICTURES}/layers.png` });
});

for (const [name, colorScheme, width] of [['light', 'light', 1280], ['dark', 'dark', 1280], ['narrow', 'light', 390]] as const) {
  test(`axe: pictures and blocks, ${name}`, { tag: name === 'light' ? [] : '@deep' }, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await openFiles(page, quantised());
    await page.locator('.tensor-table .v-list [role=row]').first().click();
    await panelTab(page, 'Blocks');
    await expect(page.locator('.codes')).toBeVisible();
    await clean(page);
    await page.screenshot({ path: `${PICTURES}/blocks-${name}.png` });
    await panelTab(page, 'Heat map');
    await expect(page.locator('.heat-canvas')).toBeVisible();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect(part(page)).not.toHaveText('');
    await clean(page);
    await page.screenshot({ path: `${PICTURES}/heat-${name}.png` });
  });
}
