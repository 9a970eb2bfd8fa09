/**
 * The views of a first look, in three widths and both themes: each is free of findings in axe, and
 * nothing reaches past the window's edge. `SCREENSHOTS=FOLDER` keeps a picture of each.
 */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { folder, gguf, safetensors, written } from './files.ts';
import { drop, expect, PICTURES, settled, test } from './page.ts';

const WIDTHS = { 1280: 800, 390: 844, 1920: 1080 };
const LAYERS = 12;
const PARTS = ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj', 'self_attn.o_proj', 'mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj', 'input_layernorm'];

/** Values like those of a trained matrix: small, around zero, the same for the same seed. */
function weights(shape: number[], seed: number, scale = 0.02) {
  let state = seed + 1;
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return scale * (state / 2 ** 31 - 1);
  });
  return { dtype: 'F32', shape, data };
}

function model(change: (name: string, data: Float32Array) => void = () => {}) {
  const names = [
    ['model.embed_tokens.weight', [512, 64]],
    ...Array.from({ length: LAYERS }, (_, layer) => PARTS.map((part) => [`model.layers.${layer}.${part}.weight`, part.startsWith('input') ? [64] : [64, 64]])).flat(),
  ] as [string, number[]][];
  return Object.fromEntries(
    names.map(([name, shape], i) => {
      const tensor = weights(shape, i, 0.02 + (i % 7) / 1000);
      change(name, tensor.data);
      return [name, tensor];
    }),
  );
}

const CONFIG = { architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 64, num_hidden_layers: LAYERS, num_attention_heads: 4, num_key_value_heads: 2, vocab_size: 512, max_position_embeddings: 4096, rope_theta: 10000, intermediate_size: 64 };

const tuned = () =>
  safetensors(
    model((name, data) => {
      if (/layers\.(3|7)\.self_attn\.q/.test(name)) {
        data.forEach((_, i) => (data[i]! += i % 5 === 0 ? 0.003 : 0));
      } else if (name.includes('layers.9.mlp.up')) {
        data.fill(0);
      } else if (name.includes('layers.5.mlp.down')) {
        data[70] = NaN;
      }
    }),
  );

const shards = () => {
  const entries = Object.entries(model());
  const third = Math.ceil(entries.length / 3);
  const files: Record<string, Buffer | string> = { 'config.json': JSON.stringify(CONFIG) };
  const map: Record<string, string> = {};
  for (let i = 0; i < 3; i++) {
    const name = `model-0000${i + 1}-of-00003.safetensors`;
    const part = Object.fromEntries(entries.slice(i * third, (i + 1) * third));
    files[name] = safetensors(part, { format: 'pt' });
    Object.keys(part).forEach((tensor) => (map[tensor] = name));
  }
  files['model.safetensors.index.json'] = JSON.stringify({ metadata: { total_size: 4 * (512 * 64 + LAYERS * (7 * 64 * 64 + 64)) }, weight_map: map });
  return files;
};

const quantised = () => {
  const q8 = (rows: number) => ({ type: 8, shape: [rows, 64], data: Buffer.concat(Array.from({ length: rows * 2 }, (_, i) => Buffer.concat([Buffer.of(0, 0x20), Buffer.from(Array.from({ length: 32 }, (_, j) => (i * 7 + j * 13) % 256))]))) });
  const keys = { 'general.architecture': 'llama', 'general.name': 'Tiny', 'general.file_type': 7, 'llama.block_count': 2, 'llama.context_length': 4096, 'llama.embedding_length': 64, 'llama.attention.head_count': 4, 'llama.attention.head_count_kv': 2, 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.tokens': ['<unk>', 'Ġcat', 'Ġdog'], 'tokenizer.chat_template': '{% for message in messages %}{{ message.content }}{% endfor %}' };
  return gguf(keys, Object.fromEntries(['token_embd.weight', ...[0, 1].flatMap((i) => ['attn_q', 'attn_k', 'attn_v', 'ffn_up', 'ffn_down'].map((part) => `blk.${i}.${part}.weight`))].map((name) => [name, q8(64)])));
};

const diffusion = () => safetensors(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`conditioner.embedders.0.transformer.text_model.encoder.layers.${i >> 2}.${['self_attn.q_proj', 'self_attn.k_proj', 'mlp.fc1', 'layer_norm1'][i & 3]}.weight`, weights([8, 8], i)])));

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a'.repeat(16)}\nsize 4976698672\n`;

const view = (page: Page, name: RegExp) => page.locator('.file:visible').getByRole('tablist', { name: 'Views of the file' }).getByRole('tab', { name }).click();
const opens = async (page: Page, files: Record<string, Buffer | string>) => {
  await page.locator('input[type=file]').first().setInputFiles(written(files));
  await settled(page);
};
const drops = async (page: Page, name: string, files: Record<string, Buffer | string>) => {
  await drop(page, `${folder(Object.fromEntries(Object.entries(files).map(([file, content]) => [`${name}/${file}`, content])))}/${name}`);
  await settled(page);
};
const chooses = (page: Page, part: string) => page.locator('.file:visible .tensor-table .v-list [role=row]:not([hidden])').filter({ hasText: part }).first().click();
const compares = async (page: Page, base: Buffer, other: Buffer) => {
  await opens(page, { 'before.safetensors': base, 'after.safetensors': other });
  await view(page, /^Compare/);
  await page.getByRole('button', { name: 'Compare all values' }).click();
  await expect(page.locator('.compare-head strong')).toContainText('differ');
};

const SPOTS: Record<string, (page: Page) => Promise<void>> = {
  async 'names beside a panel'(page) {
    await opens(page, { 'sdxl.safetensors': diffusion() });
    await chooses(page, 'layers.3.mlp');
  },
  comparison: (page) => compares(page, safetensors(model()), tuned()),
  async 'details of a comparison'(page) {
    await compares(page, safetensors(model()), tuned());
    await page.locator('.compare-table .v-list [role=row]:not([hidden])').nth(2).click();
    await expect(page.locator('.compare-table')).toBeVisible();
  },
  'foreign file': (page) => opens(page, { 'model.h5': Buffer.concat([Buffer.from('\x89HDF\r\n\x1a\n', 'latin1'), Buffer.alloc(4096)]) }),
  'Git LFS pointer': (page) => opens(page, { 'model.safetensors': POINTER }),
  'truncated file': (page) => opens(page, { 'model.safetensors': safetensors(model()).subarray(0, 300_000) }),
  async 'scan, with layers'(page) {
    await opens(page, { 'model.safetensors': tuned() });
    await page.getByRole('button', { name: 'Scan weights' }).click();
    await view(page, /^Weights/);
    await expect(page.locator('.weights-view:visible')).toContainText('model.layers.5');
  },
  'tensors of a phone': (page) => opens(page, { 'model.safetensors': safetensors(model()) }),
  async 'metadata of shards'(page) {
    await drops(page, 'Tiny-Llama-v1', shards());
    await view(page, /^Metadata/);
  },
  async 'summary of shards'(page) {
    await drops(page, 'Tiny-Llama-v1', shards());
    await view(page, /^Model/);
    await expect(page.locator('.model-facts').first()).toBeVisible();
  },
  async 'heat map'(page) {
    await opens(page, { 'model.safetensors': safetensors(model()) });
    await chooses(page, 'embed_tokens');
    await page.getByRole('tablist', { name: 'Tensor views' }).getByRole('tab', { name: 'Heat map' }).click();
    await expect(page.locator('canvas:visible').first()).toBeVisible();
  },
  'folder of 23 files': async (page) => {
    const kinds = ['base', 'fp16', 'ema-only', 'fortran-order', 'kohya', 'broken'];
    const files = Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`${kinds[i % 6]}-${i}.safetensors`, safetensors({ w: weights([4], i) }).subarray(0, i % 6 === 5 ? -4 : undefined)]));
    await drop(page, `${folder(Object.fromEntries(Object.entries(files).map(([file, content]) => [`models/${file}`, content])))}/models`);
    await expect(page.locator('.folder-head strong')).toContainText('23 files');
  },
  async '23 files'(page) {
    await opens(page, Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`${['errors', 'float16', 'fortran', 'kohya-lora'][i % 4]}-${i}.safetensors`, safetensors({ w: weights([4], i) })])));
  },
  async tree(page) {
    await opens(page, { 'model.safetensors': safetensors(model()) });
    await page.locator('.file:visible').getByRole('button', { name: 'Tree' }).click();
  },
  async 'parts of a GGUF'(page) {
    await opens(page, { 'model.gguf': quantised() });
    await view(page, /^Layout/);
  },
  'verdict of a GGUF': (page) => opens(page, { 'model.gguf': quantised() }),
};

for (const [width, height] of Object.entries(WIDTHS)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.describe(`${width} pixels, ${colorScheme}`, { tag: width === '1280' && colorScheme === 'light' ? [] : '@deep' }, () => {
      test.use({ colorScheme, viewport: { width: Number(width), height } });

      for (const [name, walk] of Object.entries(SPOTS)) {
        test(`spot: ${name}`, async ({ page }) => {
          const said: string[] = [];
          page.on('console', (message) => said.push(message.text()));
          await page.goto('./');
          await walk(page);
          if (process.env.SCREENSHOTS !== undefined) {
            await page.waitForTimeout(600);
            await page.screenshot({ path: `${PICTURES}/${name.replaceAll(' ', '-')}-${width}-${colorScheme}.png` });
          }
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(Number(width));
          const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
          expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`)).toEqual([]);
          // The tests themselves forbid the service worker.
          expect(said.filter((text) => !text.startsWith('Service Worker registration blocked'))).toEqual([]);
        });
      }
    });
  }
}
