/** A transformers checkpoint and llama.cpp's conversion of it: names, row order, errors. */

import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { gguf, safetensors, written } from './files.ts';
import { PICTURES, expect, openFiles, settled, test } from './page.ts';

const HEADS = 2;

/** Values that bf16 represents exactly, distributed like weights. */
function weights(count: number, seed: number): Float32Array {
  const bits = new Uint32Array(1);
  const value = new Float32Array(bits.buffer);
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    value[0] = ((state >>> 8) / 2 ** 24 - 0.5) / 4;
    bits[0] &= 0xffff0000;
    return value[0];
  });
}

const bf16 = (values: Float32Array) => Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);

/** Q4_0 blocks with power-of-two scales, and the values they represent. */
function q4(values: Float32Array): { data: Buffer; back: Float64Array } {
  const data = Buffer.alloc((values.length / 32) * 18);
  const back = new Float64Array(values.length);
  for (let block = 0; block < values.length / 32; block++) {
    const power = -5 - (block % 2);
    data.writeUInt16LE((power + 15) << 10, block * 18);
    for (let i = 0; i < 32; i++) {
      const code = Math.max(0, Math.min(15, Math.round(values[block * 32 + i] / 2 ** power) + 8));
      data[block * 18 + 2 + (i % 16)] |= code << (i < 16 ? 0 : 4);
      back[block * 32 + i] = (code - 8) * 2 ** power;
    }
  }
  return { data, back };
}

/** Rows of heads in the order of `convert_hf_to_gguf.py`. */
function reordered(values: Float32Array, row: number): Float32Array {
  const rows = values.length / row / HEADS;
  return Float32Array.from(values, (_, at) => {
    const [head, inside] = [Math.floor(at / row / rows), Math.floor(at / row) % rows];
    const from = (inside % 2) * (rows / 2) + Math.floor(inside / 2);
    return values[(head * rows + from) * row + (at % row)];
  });
}

/** `np.linalg.norm(a - b) / np.linalg.norm(a)`. */
function relative(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [error, square] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    error += (a[i] - b[i]) ** 2;
    square += a[i] ** 2;
  }
  return Math.sqrt(error) / Math.sqrt(square);
}

function models(): { files: string[]; errors: Record<string, number> } {
  const tensors = {
    'model.embed_tokens.weight': ['token_embd.weight', [16, 32]],
    'model.layers.0.self_attn.q_proj.weight': ['blk.0.attn_q.weight', [16, 64]],
    'model.layers.0.self_attn.v_proj.weight': ['blk.0.attn_v.weight', [16, 64]],
    'model.layers.0.mlp.down_proj.weight': ['blk.0.ffn_down.weight', [8, 96]],
    'extra.first': ['special.first.q', [4, 32]],
  } as const;
  const theirs: Parameters<typeof safetensors>[0] = {};
  const ours: Parameters<typeof gguf>[1] = {};
  const errors: Record<string, number> = {};
  for (const [i, [name, [other, shape]]] of Object.entries(tensors).entries()) {
    const values = weights(shape[0] * shape[1], i + 1);
    const stored = name.includes('q_proj') ? reordered(values, shape[1]) : values;
    const { data, back } = q4(stored);
    theirs[name] = { dtype: 'BF16', shape: [...shape], data: bf16(values) };
    ours[other] = { type: 2, shape: [...shape], data };
    errors[name] = relative(stored, back);
  }
  const norm = weights(32, 9);
  theirs['model.layers.0.post_attention_layernorm.weight'] = { dtype: 'BF16', shape: [32], data: bf16(norm) };
  ours['blk.0.ffn_norm.weight'] = { type: 0, shape: [32], data: Buffer.from(norm.buffer) };
  errors['model.layers.0.post_attention_layernorm.weight'] = 0;
  theirs['lm_head.weight'] = { dtype: 'BF16', shape: [32], data: bf16(norm) };
  const keys = { 'general.architecture': 'llama', 'llama.attention.head_count': HEADS, 'llama.attention.head_count_kv': HEADS };
  return { files: written({ 'model.safetensors': safetensors(theirs), 'model-q4_0.gguf': gguf(keys, ours) }), errors };
}

async function exported(page: Page): Promise<Record<string, string>[]> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export as CSV' }).click();
  const fields = (line: string) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted ?? plain);
  const [head, ...lines] = readFileSync((await (await download).path())!, 'utf8').trimEnd().split('\r\n');
  const names = fields(head);
  return lines.map((line) => Object.fromEntries(fields(line).map((value, i) => [names[i], value])));
}

test('a quantised GGUF is compared with the checkpoint it was made of', async ({ page }) => {
  const { files, errors } = models();
  await openFiles(page, files);
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.locator('.file-name').first().click();
  await page.getByRole('tab', { name: 'Compare' }).click();
  const summary = page.locator('.compare .list-summary');
  await expect(summary).toHaveText('1 added · 2 removed · 5 changed · 0 unchanged · 0 not compared · 5 under another name');

  // Unknown names are matched by a regular expression.
  await page.getByText('Match names').click();
  await page.getByLabel('Regular expression for names in the base').fill('^extra\\.(.+');
  await page.getByRole('button', { name: 'Match', exact: true }).click();
  await expect(page.locator('.compare-rename [role=alert]')).not.toBeEmpty();
  await page.getByLabel('Regular expression for names in the base').fill('^extra\\.(.+)$');
  await page.getByLabel('Name in the other file').fill('special.$1.q');
  await page.keyboard.press('Enter');
  await expect(summary).toHaveText('0 added · 1 removed · 6 changed · 0 unchanged · 0 not compared · 6 under another name');

  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(summary).toContainText('values differ');
  await expect(page.getByRole('button', { name: 'Compare all values' })).toBeEnabled();
  const lines = await exported(page);
  expect(lines).toHaveLength(7);
  for (const [name, error] of Object.entries(errors)) {
    const line = lines.find((one) => one.name === name)!;
    expect(Math.abs(Number(line.relative_rms) - error), name).toBeLessThanOrEqual(1e-6 * error);
    expect(line.name_b, name).not.toBe('');
  }
  expect(lines.find(({ name }) => name === 'lm_head.weight')!.relative_rms).toBe('');

  // Sorted by error, largest first, with the magnitudes of the differences.
  await expect(page.getByRole('columnheader', { name: 'Rel. error' })).toHaveAttribute('aria-sort', 'descending');
  const rows = page.locator('.compare-table .v-list [role=row]:not([hidden])');
  const worst = Object.keys(errors).reduce((a, b) => (errors[a] > errors[b] ? a : b));
  await expect(rows.first().locator('.name')).toContainText(worst);
  await rows.filter({ hasText: 'q_proj' }).click();
  await expect(page.locator('.compare-result')).toContainText('Attention head rows are compared in GGUF order.');
  await expect(page.locator('.compare-detail .histogram')).toBeVisible();
  await rows.filter({ hasText: 'v_proj' }).click();
  await expect(page.locator('.compare-result')).not.toContainText('GGUF order');
});

test('picture: a comparison', { tag: '@deep' }, async ({ page }) => {
  const { files } = models();
  await openFiles(page, files);
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.locator('.file-name').first().click();
  await page.getByRole('tab', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.compare .list-summary')).toContainText('values differ');
  await page.locator('.compare-table .v-list [role=row]:not([hidden])').filter({ hasText: 'q_proj' }).click();
  await expect(page.locator('.compare-detail .histogram')).toBeVisible();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${PICTURES}/compare.png` });
});
