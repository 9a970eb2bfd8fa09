/** Ten jobs of users, from the start page alone: each takes at most five actions. */

import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { folder, gguf, safetensors, written } from './files.ts';
import { drop, expect, sampleFile, settled, test } from './page.ts';

const f32 = (shape: number[], value: (i: number) => number = (i) => ((i * 37) % 11) - 5) => ({ dtype: 'F32', shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => value(i)) });
const layers = (value: (layer: number) => (i: number) => number) => Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`model.layers.${i}.self_attn.q_proj.weight`, f32([8, 8], value(i))]));
const plain = () => (i: number) => ((i * 37) % 11) - 5;

/** Counts what a user does; files that are chosen or dropped together are one action. */
class User {
  actions = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async #act(what: () => Promise<unknown>): Promise<void> {
    this.actions++;
    await what();
  }

  async opens(files: Record<string, Buffer | string>): Promise<void> {
    await this.page.goto('./');
    await this.#act(() => this.page.locator('input[type=file]').first().setInputFiles(written(files)));
    await settled(this.page);
  }

  async drops(name: string, files: Record<string, Buffer | string>): Promise<void> {
    await this.page.goto('./');
    await this.#act(() => drop(this.page, `${folder(Object.fromEntries(Object.entries(files).map(([file, content]) => [`${name}/${file}`, content])))}/${name}`));
  }

  tab = (name: string | RegExp) => this.#act(() => this.page.locator('.file:visible').getByRole('tab', { name }).first().click());
  presses = (name: string | RegExp) => this.#act(() => this.page.getByRole('button', { name }).click());
  types = (label: string | RegExp, text: string) => this.#act(() => this.page.locator('.file:visible').getByRole('searchbox', { name: label }).fill(text));
}

const LORA = Object.fromEntries(Array.from({ length: 4 }, (_, i) => `base_model.model.model.layers.${i}.self_attn.q_proj`).flatMap((path) => [[`${path}.lora_A.weight`, f32([2, 8])], [`${path}.lora_B.weight`, f32([8, 2])]]));

const CHECKED: Record<string, { most: number; job: (user: User) => Promise<void> }> = {
  'is this download whole': {
    most: 1,
    async job(user) {
      await user.opens({ 'model.safetensors': safetensors(layers(plain)).subarray(0, -100) });
      await expect(user.page.locator('.verdict-head')).toHaveText('Truncated');
    },
  },
  'where is the NaN': {
    most: 3,
    async job(user) {
      await user.opens({ 'model.safetensors': safetensors(layers((layer) => (i) => (layer === 2 && i === 20 ? NaN : plain()(i)))) });
      await user.presses('Scan weights');
      await user.presses(/^1 tensor contains NaN/);
      await expect(user.page.locator('.weights-view:visible')).toContainText('model.layers.2.self_attn.q_proj.weight');
      await expect(user.page.locator('.weights-view:visible')).toContainText('[2, 4]');
    },
  },
  'which layers did fine-tuning change': {
    most: 3,
    async job(user) {
      await user.opens({ 'before.safetensors': safetensors(layers(plain)), 'after.safetensors': safetensors(layers((layer) => (i) => plain()(i) + (layer === 1 ? 0.5 : 0))) });
      await user.tab('Compare');
      await user.presses('Compare all values');
      await expect(user.page.locator('.compare-head strong')).toHaveText('1 of 4 tensors differs');
      await expect(user.page.locator('.compare-table .v-list [role=row]:not([hidden])')).toContainText('model.layers.1.self_attn.q_proj.weight');
    },
  },
  'does this LoRA fit this base': {
    most: 2,
    async job(user) {
      await user.opens({ 'base.safetensors': safetensors(layers(plain)), 'lora.safetensors': safetensors(LORA) });
      await user.tab('Model');
      await expect(user.page.locator('.adapter-bar strong')).toHaveText('4 of 4 updates fit the base');
    },
  },
  'what would this checkpoint run': {
    most: 2,
    async job(user) {
      await user.opens({ 'digits.pt': readFileSync(sampleFile('digits-broken.pt')) });
      await user.tab(/^Imports/);
      await expect(user.page.locator('.imports tbody tr').first()).toBeVisible();
    },
  },
  'what code would this repository run': {
    most: 2,
    async job(user) {
      await user.drops('repository', { 'model.safetensors': safetensors(layers(plain)), 'config.json': JSON.stringify({ auto_map: { AutoModel: 'modeling_x.X' } }), 'modeling_x.py': '' });
      await settled(user.page);
      await user.tab('Model');
      await expect(user.page.getByRole('region', { name: 'Code' })).toContainText('modeling_x.py');
    },
  },
  'how much memory does a long context take': {
    most: 3,
    async job(user) {
      const zeros = { type: 0, shape: [32, 64], data: Buffer.alloc(4 * 32 * 64) };
      const keys = { 'general.architecture': 'llama', 'llama.block_count': 1, 'llama.context_length': 131072, 'llama.embedding_length': 64, 'llama.attention.head_count': 2, 'llama.attention.head_count_kv': 1 };
      await user.opens({ 'model.gguf': gguf(keys, { 'blk.0.attn_k.weight': zeros, 'blk.0.attn_v.weight': zeros }) });
      await user.tab('Model');
      await user.presses('32 Ki');
      // 32 keys and 32 values in f16.
      await expect(user.page.locator('.model-facts', { hasText: 'KV cache' })).toContainText('4.00 MiB (128 B per position)');
    },
  },
  'which token has this text': {
    most: 4,
    async job(user) {
      const tokens = ['<unk>', 'Ġcat', 'Ġdog'];
      await user.opens({ 'model.gguf': gguf({ 'general.architecture': 'llama', 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.tokens': tokens }, {}) });
      await user.tab('Model');
      await user.tab(/^Tokenizer/);
      await user.types(/tokens/, 'dog');
      await expect(user.page.locator('.token-table .v-list [role=row]:not([hidden])')).toHaveText([/^2␣dog/]);
    },
  },
  'which files of this folder are broken': {
    most: 1,
    async job(user) {
      await user.drops('models', Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.safetensors`, safetensors(layers(plain)).subarray(0, i === 4 ? -8 : undefined)])));
      await expect(user.page.locator('.folder-head strong')).toHaveText('9 files · 1 invalid · 8 valid');
      await expect(user.page.locator('.folder-table tbody tr').first()).toContainText('4.safetensors');
    },
  },
  'take some tensors to NumPy': {
    most: 4,
    async job(user) {
      await user.opens({ 'model.safetensors': safetensors(layers(plain)) });
      await user.types(/./, 'layers.1.');
      const saved = user.page.waitForEvent('download');
      user.actions++;
      await user.page.locator('summary', { hasText: 'Export' }).click();
      await user.presses('Listed tensors as .npz');
      expect((await saved).suggestedFilename()).toBe('model.npz');
    },
  },
};

for (const [name, { most, job }] of Object.entries(CHECKED)) {
  test(`${name}: at most ${most} ${most === 1 ? 'action' : 'actions'}`, async ({ page }) => {
    expect(most).toBeLessThanOrEqual(5);
    const user = new User(page);
    await job(user);
    expect(user.actions).toBeLessThanOrEqual(most);
  });
}
