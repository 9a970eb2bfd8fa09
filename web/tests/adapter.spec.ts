/** Adapters: their facts, the base that they fit, the norm of each update; training, components, layouts. */

import { deflateSync, crc32 } from 'node:zlib';
import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { folder, safetensors, written } from './files.ts';
import { PICTURES, drop, expect, openFiles, settled, test } from './page.ts';

const f32 = (shape: number[], value: (i: number) => number = () => 1) => ({ dtype: 'F32', shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => value(i)) });
const zeros = (dtype: string, shape: number[]) => {
  const bytes = { F32: 4, F16: 2, I32: 4, U8: 1, I8: 1 }[dtype]!;
  return { dtype, shape, data: new Uint8Array(bytes * shape.reduce((a, b) => a * b, 1)) };
};

const RANK = 2;
const LAYERS = 3;

/** An adapter of `q_proj` and `v_proj`, as PEFT writes it. */
function peft(): Buffer {
  const all: Record<string, ReturnType<typeof f32>> = {};
  for (let i = 0; i < LAYERS; i++) {
    for (const name of ['q_proj', 'v_proj']) {
      const path = `base_model.model.model.layers.${i}.self_attn.${name}`;
      all[`${path}.lora_A.weight`] = f32([RANK, 6], (k) => k + i);
      all[`${path}.lora_B.weight`] = f32([4, RANK], (k) => (i === 2 ? 0 : k % 3));
    }
  }
  return safetensors(all);
}

const SETTINGS = { peft_type: 'LORA', r: RANK, lora_alpha: 8, target_modules: ['q_proj', 'v_proj'], base_model_name_or_path: 'org/base-7b' };

/** The base; `width` is that of `q_proj`. */
function base(width = 6): Buffer {
  const all: Record<string, ReturnType<typeof f32>> = { 'model.norm.weight': f32([6]) };
  for (let i = 0; i < LAYERS; i++) {
    all[`model.layers.${i}.self_attn.q_proj.weight`] = f32([4, width], () => 2);
    all[`model.layers.${i}.self_attn.v_proj.weight`] = f32([4, 6], () => 0.5);
  }
  return safetensors(all);
}

const panel = (page: Page) => page.locator('.file:visible .adapter');
const facts = (page: Page, name: string) => panel(page).locator('.pair', { has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd');
const rows = (page: Page) => panel(page).locator('.updates tbody tr');
const tab = (page: Page, name: string | RegExp) => page.locator('.file:visible').getByRole('tab', { name });

async function clean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join('; ')}`)).toEqual([]);
}

/** The norm of the first update, by multiplying the matrices. */
function norm(scale: number): number {
  let sum = 0;
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 6; column++) {
      let cell = 0;
      for (let k = 0; k < RANK; k++) {
        cell += ((row * RANK + k) % 3) * (k * 6 + column);
      }
      sum += cell * cell;
    }
  }
  return scale * Math.sqrt(sum);
}

test('an adapter says its rank, alpha, targets and base, and what it changes by how much', async ({ page }) => {
  await page.goto('./');
  await drop(page, folder({ 'adapter_model.safetensors': peft(), 'adapter_config.json': JSON.stringify(SETTINGS) }));
  await settled(page);
  await tab(page, 'Model').click();
  await expect(facts(page, 'Method')).toHaveText('LoRA, names as of PEFT');
  await expect(facts(page, 'Base')).toHaveText('org/base-7b');
  await expect(facts(page, 'Rank')).toHaveText('2');
  await expect(facts(page, 'Alpha')).toHaveText('8 (adapter_config.json)');
  await expect(facts(page, 'Target modules')).toHaveText('q_proj × 3, v_proj × 3');
  await expect(rows(page)).toHaveCount(6);
  // The base is opened later, and is chosen without asking.
  await page.locator('input[type=file]').first().setInputFiles(written({ 'base.safetensors': base() }));
  await settled(page);
  await page.locator('.file-name').first().click();
  await expect(panel(page).locator('.adapter-bar strong')).toHaveText('6 of 6 updates fit the base');
  await expect(rows(page).first()).toContainText('model.layers.0.self_attn.q_proj.weight');
  await page.getByRole('button', { name: 'Measure updates' }).press('Enter');
  const first = rows(page).filter({ hasText: 'layers.0.self_attn.v_proj' });
  const expected = norm(8 / RANK);
  await expect(first.locator('td').nth(3)).toHaveText(String(Number(expected.toPrecision(3))));
  await expect(first.locator('td').nth(4)).toHaveText(`${Number(((100 * expected) / Math.sqrt(24 * 0.25)).toPrecision(3))} %`);
  // The largest comes first, and updates of zeros last.
  await expect(rows(page).last().locator('td').nth(4)).toHaveText('0 %');
  await expect(rows(page).first()).toContainText('v_proj');
  await page.screenshot({ path: `${PICTURES}/adapter.png` });
  await clean(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: `${PICTURES}/adapter-phone.png` });
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as CSV' }).click()]);
  expect(readFileSync(await download.path(), 'utf8').split('\r\n').length).toBe(8);
});

test('an adapter that does not fit its base says which updates and why', async ({ page }) => {
  await openFiles(page, written({ 'base.safetensors': base(8), 'adapter_model.safetensors': peft() }));
  await page.locator('.file-name', { hasText: 'adapter' }).click();
  await tab(page, 'Model').click();
  await expect(panel(page).locator('.adapter-bar strong')).toHaveText('3 of 6 updates fit the base');
  await expect(rows(page).first()).toContainText('does not fit: the tensor is 4 × 8');
  await expect(panel(page)).toContainText('says the alpha');
});

test('settings that contradict the adapter are named', async ({ page }) => {
  await openFiles(page, written({ 'adapter_model.safetensors': peft(), 'adapter_config.json': JSON.stringify({ ...SETTINGS, r: 16, target_modules: ['q_proj', 'k_proj'] }) }));
  await tab(page, 'Model').click();
  await tab(page, 'Overview').click();
  await expect(page.locator('.model-notes li')).toHaveText([/says rank 16, but 6 of 6 updates have another, such as 2 in/, /names target modules that no tensor changes: k_proj/]);
});

/** A PNG of one colour. */
function png(side: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: side }, () => Buffer.concat([Buffer.of(0), Buffer.alloc(3 * side, 99)]))))), chunk('IEND', Buffer.alloc(0))]);
}

test('an adapter of kohya shows its training, tags and picture, and finds tensors by flat names', async ({ page }) => {
  const names = ['lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn1_to_q', 'lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn1_to_out_0', 'lora_te_text_model_encoder_layers_0_mlp_fc1'];
  const tensors = Object.fromEntries(names.flatMap((name) => [[`${name}.lora_down.weight`, f32([4, 8])], [`${name}.lora_up.weight`, f32([8, 4])], [`${name}.alpha`, f32([], () => 2)]]));
  const metadata = {
    ss_network_dim: '4',
    ss_sd_model_name: 'v1-5.safetensors',
    ss_training_started_at: '1700000000.5',
    ss_tag_frequency: JSON.stringify({ '10_cat': { cat: 12, ' cat': 3, dog: 5 }, '1_other': { dog: 1, ...Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`tag number ${i}`, 1])) } }),
    'modelspec.thumbnail': `data:image/png;base64,${png(300).toString('base64')}`,
    'modelspec.title': 'A cat',
    'modelspec.other': 'data:image/png;base64,aaaa',
  };
  const unet = { 'down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q.weight': f32([8, 8]), 'down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_out.0.weight': f32([8, 8]) };
  await openFiles(page, written({ 'unet.safetensors': safetensors(unet), 'cat.safetensors': safetensors(tensors, metadata) }));
  await tab(page, 'Model').click();
  await expect(facts(page, 'Method')).toHaveText('LoRA, names as of kohya');
  await expect(facts(page, 'Alpha')).toHaveText('2 (alpha tensors)');
  await expect(facts(page, 'Base')).toHaveText('v1-5.safetensors');
  await expect(facts(page, 'Target modules')).toHaveText('attn1_to_q × 1, attn1_to_out × 1, mlp_fc1 × 1');
  await expect(panel(page).locator('.adapter-bar strong')).toHaveText('2 of 3 updates fit the base');
  await expect(rows(page).first()).toContainText('no such tensor');
  await tab(page, 'Card').click();
  await expect(page.locator('.tags li').first()).toHaveText('cat 15');
  await expect(page.locator('.tags li').nth(1)).toHaveText('dog 6');
  await expect(page.locator('.card')).toContainText('9,002 tags');
  await expect(page.locator('.card')).toContainText('2023-11-14 22:13:20 UTC');
  const drawn = page.getByRole('img', { name: 'Picture of 300 × 300 pixels' });
  await expect(drawn).toBeVisible();
  expect(await drawn.evaluate((canvas: HTMLCanvasElement) => [...canvas.getContext('2d')!.getImageData(5, 5, 1, 1).data])).toEqual([99, 99, 99, 255]);
  await expect(page.locator('.card .pair', { hasText: 'other' }).last()).toContainText('embedded data, not shown');
  await page.screenshot({ path: `${PICTURES}/training.png` });
  await clean(page);
});

test('a checkpoint of several models lists them', async ({ page }) => {
  await openFiles(
    page,
    written({
      'sdxl.safetensors': safetensors({
        'model.diffusion_model.input_blocks.0.0.weight': f32([8, 4]),
        'model_ema.diffusion_modelinput_blocks00weight': f32([8, 4]),
        'first_stage_model.decoder.conv_in.weight': f32([4, 4]),
        'conditioner.embedders.0.transformer.text_model.a.weight': f32([4]),
        'conditioner.embedders.1.model.b.weight': f32([5]),
        'denoiser.sigmas': f32([3]),
      }),
    }),
  );
  await tab(page, 'Model').click();
  await expect(page.locator('.components tbody tr')).toHaveText(['diffusion model132128 B', 'EMA copy132128 B', 'VAE11664 B', 'text encoder 11416 B', 'text encoder 21520 B', 'others1312 B']);
  await expect(page.getByRole('region', { name: 'Components' })).toContainText('without it, 128 B less');
  await clean(page);
});

test('quantised layouts of several tensors are named, with the bits they take', async ({ page }) => {
  const gptq = { 'l.0.q.qweight': zeros('I32', [16, 32]), 'l.0.q.qzeros': zeros('I32', [2, 4]), 'l.0.q.scales': zeros('F16', [2, 32]), 'l.0.q.g_idx': zeros('I32', [128]) };
  const awq = { 'l.0.q.qweight': zeros('I32', [128, 8]), 'l.0.q.qzeros': zeros('I32', [2, 8]), 'l.0.q.scales': zeros('F16', [2, 64]) };
  const nf4 = { 'l.0.q.weight': zeros('U8', [64, 1]), 'l.0.q.weight.absmax': zeros('F32', [2]), 'l.0.q.weight.quant_map': zeros('F32', [16]), 'l.0.q.weight.quant_state.bitsandbytes__nf4': zeros('U8', [8]) };
  const mxfp4 = { 'l.0.gate_up_proj_blocks': zeros('U8', [2, 4, 2, 16]), 'l.0.gate_up_proj_scales': zeros('U8', [2, 4, 2]) };
  await openFiles(page, written({ 'a-gptq.safetensors': safetensors(gptq), 'b-awq.safetensors': safetensors(awq), 'c-nf4.safetensors': safetensors(nf4), 'd-mxfp4.safetensors': safetensors(mxfp4) }));
  const found: string[] = [];
  for (let i = 0; i < 4; i++) {
    await page.locator('.file-name').nth(i).click();
    await tab(page, 'Model').click();
    const row = page.locator('.file:visible .model-facts .pair', { has: page.locator('dt', { hasText: /^Quantised$/ }) }).locator('dd');
    await expect(row).toBeVisible();
    const bits = page.locator('.file:visible .tile', { hasText: 'Bits per weight' }).locator('strong');
    found.push(`${(await row.innerText()).replace(/\s*from names/, '')}: ${await bits.innerText()}`);
  }
  const per = (bytes: number, weights: number) => ((8 * bytes) / weights).toFixed(2);
  expect(found).toEqual([
    `GPTQ, 4 bits, groups of 64 · 1 tensor: ${per(2048 + 32 + 128 + 512, 4096)}`,
    `AWQ, 4 bits, groups of 64 · 1 tensor: ${per(4096 + 64 + 256, 8192)}`,
    `bitsandbytes NF4 · 1 tensor: ${per(64 + 8 + 64 + 8, 128)}`,
    `MXFP4, groups of 32 · 1 tensor: ${per(256 + 16, 512)}`,
  ]);
});
