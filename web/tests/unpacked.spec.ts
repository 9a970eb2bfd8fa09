/** Weights that are decoded with scales from other tensors. */

import type { Page } from '@playwright/test';
import { safetensors, written } from './files.ts';
import { expect, openFiles, openTensor, panelTab, test } from './page.ts';

type Tensors = Parameters<typeof safetensors>[0];

const [ONE, HALF, QUARTER] = [0x3c00, 0x3800, 0x3400];
const f16 = (shape: number[], at: (i: number) => number) => ({ dtype: 'F16', shape, data: Uint16Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => at(i)) });
const f32 = (shape: number[], ...data: number[]) => ({ dtype: 'F32', shape, data: Float32Array.from(data) });
const u8 = (shape: number[], ...data: number[]) => ({ dtype: 'U8', shape, data: Uint8Array.from(data) });

/** Words of 4-bit numbers, the lowest bits first. */
const words = (shape: number[], numbers: number[], dtype = 'I32') => ({
  dtype,
  shape,
  data: Uint32Array.from({ length: numbers.length / 8 }, (_, i) => numbers.slice(8 * i, 8 * i + 8).reduce((word, number, at) => word | (number << (4 * at)), 0) >>> 0),
});

/** The decoded values, row by row as far as they are shown. */
async function decoded(page: Page, tensor: string): Promise<number[][]> {
  await page.locator('.tensor-table .v-list').getByTitle(tensor, { exact: true }).click();
  await expect(page.locator('.panel-name')).toHaveText(tensor);
  await panelTab(page, 'Decoded');
  const rows = page.locator('.panel-unpacked .v-list [role=row]:not([hidden])');
  await expect(rows.first().getByRole('cell').first()).not.toHaveText('');
  return await rows.evaluateAll((all) => all.map((row) => [...row.querySelectorAll('[role=cell]')].map(({ textContent }) => Number(textContent))));
}

const open = (page: Page, tensors: Tensors, config?: unknown) => openFiles(page, written({ 'model.safetensors': safetensors(tensors), ...(config !== undefined && { 'config.json': JSON.stringify(config) }) }));
const note = (page: Page) => page.locator('.panel-unpacked .note').first();
const code = (i: number, j: number) => (3 * i + 5 * j) % 16;
const matrix = (rows: number, columns: number, at: (i: number, j: number) => number) => Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => at(i, j)));
const near = (found: number[][], wanted: number[][]) => expect(found.map((row, i) => row.map((value, j) => Math.abs(value - wanted[i]![j]!) < 1e-6))).toEqual(found.map((row) => row.map(() => true)));

test('GPTQ weights are decoded: packed along the inputs, groups by g_idx, zero points less 1', async ({ page }) => {
  // 16 inputs, 8 outputs; the groups of inputs alternate.
  const along = Array.from({ length: 16 * 8 }, (_, n) => code(8 * Math.floor(n / 64) + (n % 8), Math.floor(n / 8) % 8));
  const tensors = { 'q.qweight': words([2, 8], along), 'q.qzeros': words([2, 1], [...Array(8).fill(7), ...Array(8).fill(3)]), 'q.scales': f16([2, 8], (i) => (i < 8 ? HALF : QUARTER)), 'q.g_idx': { dtype: 'I32', data: Int32Array.from({ length: 16 }, (_, i) => i % 2) } };
  await open(page, tensors);
  const found = await decoded(page, 'q.qweight');
  expect(found.length).toBeGreaterThanOrEqual(8);
  near(found, matrix(16, 8, (i, j) => (i % 2 === 0 ? 0.5 * (code(i, j) - 8) : 0.25 * (code(i, j) - 4))));
  await expect(note(page)).toHaveText(/^GPTQ, 4 bits: 16 × 8, rows are inputs, columns outputs/);
  await page.getByRole('button', { name: 'Statistics of the decoded weights' }).click();
  // Codes 0 to 15 occur in both groups.
  await expect(page.locator('.panel-unpacked .facts-list')).toContainText(/Minimum\s*-4\s*Maximum\s*3.5/);
  // Version 2 of the layout stores zero points as they are.
  await open(page, tensors, { quantization_config: { quant_method: 'gptq', bits: 4, checkpoint_format: 'gptq_v2' } });
  near(await decoded(page, 'q.qweight'), matrix(16, 8, (i, j) => (i % 2 === 0 ? 0.5 * (code(i, j) - 7) : 0.25 * (code(i, j) - 3))));
});

test('AWQ weights are decoded: eight outputs in a word, in its order', async ({ page }) => {
  const ordered = (row: number[]) => [0, 2, 4, 6, 1, 3, 5, 7].map((column) => row[column]!);
  const rows = matrix(16, 8, code);
  await open(page, { 'q.qweight': words([16, 1], rows.flatMap(ordered)), 'q.qzeros': words([1, 1], ordered([0, 1, 2, 3, 4, 5, 6, 7])), 'q.scales': f16([1, 8], () => HALF) });
  near(await decoded(page, 'q.qweight'), matrix(16, 8, (i, j) => 0.5 * (code(i, j) - j)));
  await expect(note(page)).toHaveText(/^AWQ, 4 bits: 16 × 8/);
});

test('NF4 weights are decoded, with scales that are quantised themselves', async ({ page }) => {
  const state = { quant_type: 'nf4', blocksize: 4, dtype: 'bfloat16', shape: [2, 8], nested_blocksize: 2, nested_dtype: 'float32', nested_offset: 0.5 };
  const table = Float32Array.from({ length: 16 }, (_, i) => (i - 8) / 8);
  const nested = Float32Array.from({ length: 256 }, (_, i) => i / 4);
  await open(page, {
    'q.weight': u8([8, 1], ...Array.from({ length: 8 }, (_, i) => ((2 * i) << 4) | (2 * i + 1))),
    'q.weight.absmax': u8([4], 2, 4, 6, 8),
    'q.weight.quant_map': { dtype: 'F32', data: table },
    'q.weight.nested_absmax': f32([2], 1, 2),
    'q.weight.nested_quant_map': { dtype: 'F32', data: nested },
    'q.weight.quant_state.bitsandbytes__nf4': { dtype: 'U8', data: Buffer.from(JSON.stringify(state)) },
  });
  const scales = [0.5 + 0.5, 1 + 0.5, 3 + 0.5, 4 + 0.5];
  near(await decoded(page, 'q.weight'), matrix(2, 8, (i, j) => ((8 * i + j - 8) / 8) * scales[2 * i + Math.floor(j / 4)]!));
});

test('integers and FP8 with scales are decoded', async ({ page }) => {
  await open(page, {
    'a.weight': { dtype: 'I8', shape: [2, 2], data: Int8Array.of(127, -127, 64, 0) },
    'a.SCB': f32([2], 2, 4),
    // FP8: 1, 2, -1, 0.5
    'b.weight': { dtype: 'F8_E4M3', shape: [2, 2], data: Uint8Array.of(0x38, 0x40, 0xb8, 0x30) },
    'b.weight_scale_inv': f32([1, 1], 3),
    'plain.weight': { dtype: 'I8', shape: [2], data: Int8Array.of(1, 2) },
  });
  near(await decoded(page, 'a.weight'), [[2, -2], [(64 * 4) / 127, 0]]);
  near(await decoded(page, 'b.weight'), [[3, 6], [-3, 1.5]]);
  await openTensor(page, 'plain.weight');
  await expect(page.getByRole('tab', { name: 'Values', exact: true })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Decoded' })).toHaveCount(0);
});

test('blocks of FP4 are decoded: MXFP4, and NVFP4 with either common scale', async ({ page }) => {
  // Codes 0 to 15, twice: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and the same with a sign.
  const codes = Array.from({ length: 16 }, (_, i) => ((2 * i) % 16) | (((2 * i + 1) % 16) << 4));
  const values = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
  const row = Array.from({ length: 32 }, (_, i) => values[i % 8]! * (i % 16 < 8 ? 1 : -1));
  await open(page, {
    'e.up_blocks': u8([1, 2, 1, 16], ...codes, ...codes),
    'e.up_scales': u8([1, 2, 1], 127, 128),
    'm.weight': u8([1, 16], ...codes),
    'm.weight_scale': { dtype: 'F8_E4M3', shape: [1, 2], data: Uint8Array.of(0x38, 0x40) },
    'm.weight_scale_2': f32([], 0.5),
    'n.weight_packed': u8([1, 16], ...codes),
    'n.weight_scale': { dtype: 'F8_E4M3', shape: [1, 2], data: Uint8Array.of(0x38, 0x40) },
    'n.weight_global_scale': f32([1], 2),
  });
  near(await decoded(page, 'e.up_blocks'), [row, row.map((value) => 2 * value)]);
  near(await decoded(page, 'm.weight'), [row.map((value, i) => value * (i < 16 ? 0.5 : 1))]);
  near(await decoded(page, 'n.weight_packed'), [row.map((value, i) => value * (i < 16 ? 0.5 : 1))]);
});

test('packed integers of compressed-tensors and MLX are decoded', async ({ page }) => {
  const rows = matrix(8, 16, code);
  await open(
    page,
    {
      'c.weight_packed': words([8, 2], rows.flat()),
      'c.weight_shape': { dtype: 'I64', data: BigInt64Array.of(8n, 16n) },
      'c.weight_scale': f16([8, 2], (i) => (i % 2 === 0 ? ONE : HALF)),
      // Zero points are packed along the outputs: those of the first group are the row's number.
      'c.weight_zero_point': words([1, 2], [0, 1, 2, 3, 4, 5, 6, 7, ...Array(8).fill(8)]),
      'm.weight': words([8, 2], rows.flat(), 'U32'),
      'm.scales': f16([8, 2], () => QUARTER),
      'm.biases': f16([8, 2], () => ONE),
    },
    { quantization: { group_size: 8, bits: 4 } },
  );
  near(await decoded(page, 'c.weight_packed'), matrix(8, 16, (i, j) => (j < 8 ? code(i, j) - i : 0.5 * (code(i, j) - 8))));
  near(await decoded(page, 'm.weight'), matrix(8, 16, (i, j) => 0.25 * code(i, j) + 1));
});

test('layouts that do not fit together are refused with words', async ({ page }) => {
  await open(page, {
    'a.qweight': words([2, 8], Array(128).fill(1)),
    'a.qzeros': words([2, 1], Array(16).fill(7)),
    'a.scales': f16([2, 8], () => HALF),
    'a.g_idx': { dtype: 'I32', data: Int32Array.from({ length: 16 }, () => 5) },
    'b.weight': u8([2, 1], 1, 2),
    'b.weight.quant_state.bitsandbytes__nf4': { dtype: 'U8', data: Buffer.from('{"shape":[2') },
    'c.x_blocks': u8([2, 4], 1, 2, 3, 4, 5, 6, 7, 8),
    'c.x_scales': u8([2], 1, 2),
  });
  for (const [tensor, words] of [['b.weight', 'The quant_state beside this tensor is not understood.'], ['c.x_blocks', 'The blocks and scales of MXFP4 do not have the shapes expected']] as const) {
    await openTensor(page, tensor);
    await panelTab(page, 'Decoded');
    await expect(page.locator('.panel-unpacked')).toContainText(words);
  }
  await openTensor(page, 'a.qweight');
  await panelTab(page, 'Decoded');
  await expect(page.locator('.alert:visible, .task-fail:visible').first()).toContainText('a.g_idx names group 5 of 2');
});
