/**
 * Every view of every kind of file, on a desk and on a phone, in both themes: axe finds nothing, the
 * console stays silent, nothing reaches past the window's edge, and what can be clicked can be reached
 * with the keyboard.
 */

import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { folder, gguf, safetensors, stored, written } from './files.ts';
import { drop, expect, openSample, sampleFile, settled, test } from './page.ts';

/** What a click does something to, and no key reaches. */
function unreachable(): string[] {
  const isPointer = (element: Element) => getComputedStyle(element).cursor === 'pointer';
  const keyed = 'a[href], button, input, select, summary, label, option, textarea, [tabindex], [role=grid] *, [role=treegrid] *, [role=listbox] *';
  const all = [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility() && isPointer(element) && !isPointer(element.parentElement!));
  return all.filter((element) => !element.matches(keyed) && element.closest(keyed.replaceAll(', [tabindex]', '')) === null).map((element) => `no key reaches ${element.outerHTML.slice(0, 120)}`);
}

/** What these rules of axe find in what is shown. */
async function axe(page: Page, rules: (builder: AxeBuilder) => AxeBuilder): Promise<string[]> {
  const { violations } = await rules(new AxeBuilder({ page }).options({ resultTypes: ['violations'] })).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`);
}

/** Looks at what is shown, in both themes; `state` names it. */
async function look(page: Page, state: string, faults: string[]): Promise<void> {
  await expect(page.locator('.file:visible [aria-busy=true]')).toHaveCount(0);
  // Views that are loaded on first use, and fades.
  await page.waitForTimeout(250);
  const found = await axe(page, (builder) => builder.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']));
  // The dark theme differs only in colours.
  await page.emulateMedia({ colorScheme: 'dark' });
  found.push(...(await axe(page, (builder) => builder.withRules(['color-contrast', 'link-in-text-block']))).map((fault) => `dark: ${fault}`));
  await page.emulateMedia({ colorScheme: 'light' });
  found.push(...(await page.evaluate(unreachable)));
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) {
    found.push(`${over} pixels too wide`);
  }
  faults.push(...found.map((fault) => `${state}: ${fault}`));
}

/** Opens each tab of the list of this name, and returns their labels. */
async function eachTab(page: Page, list: string, then: (label: string) => Promise<void>): Promise<string[]> {
  const tabs = page.locator('.file:visible').getByRole('tablist', { name: list }).getByRole('tab').filter({ visible: true });
  const labels: string[] = [];
  for (let i = 0; i < (await tabs.count()); i++) {
    const tab = tabs.nth(i);
    const label = (await tab.innerText()).replace(/\s*[\d,]*$/, '');
    labels.push(label);
    await tab.click();
    await expect(tab).toHaveAttribute('aria-selected', 'true');
    await then(label);
  }
  return labels;
}

/** Walks through the views of the file in front; returns their names. `whole`: also those that every format shares. */
async function walk(page: Page, faults: string[], whole: boolean, { tensor, isRefused }: Walk): Promise<string[]> {
  const seen: string[] = [];
  const views = await eachTab(page, 'Views of the file', async (view) => {
    await look(page, view, faults);
    if (view === 'Model') {
      const parts = page.locator('.file:visible').getByRole('tablist', { name: 'Views of the model' });
      if (await parts.isVisible()) {
        const inner = await eachTab(page, 'Views of the model', (part) => look(page, `Model, ${part}`, faults));
        seen.push(...inner.map((part) => `Model, ${part}`));
      }
    }
  });
  const contents = page.locator('.file:visible');
  if (views.some((view) => view === 'Tensors' || view === 'Columns')) {
    await contents.getByRole('tab', { name: /^(Tensors|Columns)/ }).click();
    if (whole) {
      await contents.getByRole('button', { name: 'Tree' }).click();
      await look(page, 'tree', faults);
      await contents.getByRole('button', { name: 'List' }).click();
      await contents.getByRole('searchbox').fill('nothing has this name');
      await expect(contents.locator('.no-match')).toBeVisible();
      await look(page, 'no match', faults);
      await contents.getByRole('searchbox').fill('');
      await contents.locator('.menu > summary').click();
      await look(page, 'export', faults);
      await page.keyboard.press('Escape');
    }
    const rows = contents.locator('.tensor-table .v-list [role=row]:not([hidden])');
    if (isRefused) {
      await expect(rows).toHaveCount(0);
      return [...views, ...seen];
    }
    await (tensor === undefined ? rows.first() : rows.filter({ hasText: tensor }).first()).click();
    await expect(contents.locator('.panel')).toBeVisible();
    await page.waitForTimeout(250);
    const panels = await eachTab(page, 'Tensor views', (panel) => look(page, `tensor, ${panel}`, faults));
    seen.push(...panels.map((panel) => `tensor, ${panel}`));
    await page.keyboard.press('Escape');
  }
  return [...views, ...seen];
}

const opens = async (page: Page, files: Record<string, Buffer | string>) => {
  await page.goto('./');
  await page.locator('input[type=file]').first().setInputFiles(written(files));
  await settled(page);
};
const f32 = (...shape: number[]) => ({ dtype: 'F32', shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i)) });

/** GPTQ: weights that are decoded with scales from other tensors. */
const packed = () => {
  const words = (shape: number[]) => ({ dtype: 'I32', shape, data: Uint32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => (i * 0x13579bd) >>> 0) });
  const scales = { dtype: 'F16', shape: [2, 8], data: new Uint16Array(16).fill(0x3800) };
  return safetensors({ 'q.qweight': words([2, 8]), 'q.qzeros': words([2, 1]), 'q.scales': scales, 'q.g_idx': { dtype: 'I32', data: Int32Array.from({ length: 16 }, (_, i) => i % 2) } });
};
const language = () => {
  const keys = { 'general.architecture': 'llama', 'general.name': 'Tiny', 'llama.block_count': 1, 'llama.context_length': 64, 'llama.embedding_length': 32, 'llama.attention.head_count': 4, 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.tokens': ['<unk>', 'Ġcat', 'Ġdog'], 'tokenizer.ggml.merges': ['Ġ cat', 'Ġ dog'], 'tokenizer.chat_template': '{% for message in messages %}{{ message.content }}{% endfor %}' };
  const q8 = { type: 8, shape: [4, 32], data: Buffer.alloc(4 * 34, 7) };
  return gguf(keys, { 'token_embd.weight': q8, 'blk.0.attn_q.weight': q8 });
};
const pipeline = () => stored({ 'model_index.json': JSON.stringify({ _class_name: 'Pipeline', vae: ['diffusers', 'AutoencoderKL'] }), 'vae/config.json': '{}', 'vae/diffusion_pytorch_model.safetensors': safetensors({ 'decoder.weight': f32(4) }), 'unet/model.safetensors': safetensors({ 'down.weight': { ...f32(2), shape: [3] } }) });

const MODEL = ['Tensors', 'Findings', 'Weights', 'Model', 'Metadata', 'Layout', 'Hex'];
const PANEL = ['Overview', 'Statistics', 'Heat map', 'Values', 'Hex'].map((panel) => `tensor, ${panel}`);

interface Walk {
  open(page: Page): Promise<void>;
  /** The views there must be. */
  views: string[];
  /** The tensor to look at, if it is not the first. */
  tensor?: string;
  /** Nothing of the file is listed. */
  isRefused?: true;
}
const sample = (id: string, views: string[], tensor?: string): Walk => ({ open: (page) => openSample(page, id), views, tensor });

const WALKS: Record<string, Walk> = {
  safetensors: sample('safetensors', [...MODEL, 'Model, Adapter', ...PANEL]),
  'safetensors, broken': sample('safetensors-broken', [...MODEL, ...PANEL]),
  gguf: sample('gguf', [...MODEL, 'Model, Tokenizer', ...PANEL, 'tensor, Blocks'], 'attn'),
  'gguf, broken': sample('gguf-broken', MODEL),
  pytorch: sample('pytorch', [...MODEL, 'Imports', 'Storages', ...PANEL]),
  'pytorch, broken': sample('pytorch-broken', [...MODEL, 'Imports', 'Storages', ...PANEL]),
  onnx: sample('onnx', [...MODEL, ...PANEL]),
  'onnx, broken': sample('onnx-broken', [...MODEL, ...PANEL]),
  tflite: sample('tflite', [...MODEL, ...PANEL], 'fc1'),
  'tflite, an activation': {
    ...sample('tflite', MODEL, 'hidden'),
    async open(page) {
      await openSample(page, 'tflite');
      await page.getByRole('button', { name: '3 activations' }).click();
    },
  },
  'tflite, broken': sample('tflite-broken', [...MODEL, ...PANEL], 'fc1'),
  oinf: sample('oinf', [...MODEL, ...PANEL]),
  ztensor: sample('ztensor', [...MODEL, ...PANEL]),
  'ztensor, broken': sample('ztensor-broken', MODEL),
  bintensors: sample('bintensors', [...MODEL, ...PANEL]),
  npy: sample('npy', [...MODEL, ...PANEL]),
  npz: sample('npz', [...MODEL, ...PANEL]),
  'npz, broken': sample('npz-broken', MODEL),
  stb: sample('stb', [...MODEL, ...PANEL]),
  idv: sample('idv', ['Columns', 'Rows', 'Findings', 'Metadata', 'Layout', 'Hex']),
  'idv, broken': { ...sample('idv-broken', ['Columns', 'Findings']), isRefused: true },
  shards: { open: (page) => openSample(page, 'shards'), views: ['Files', ...MODEL, ...PANEL] },
  'shards, broken': { open: (page) => openSample(page, 'shards-broken'), views: ['Files', ...MODEL] },
  'packed weights': { open: (page) => opens(page, { 'model.safetensors': packed() }), views: [...PANEL, 'tensor, Decoded'], tensor: 'qweight' },
  'language model': { open: (page) => opens(page, { 'model.gguf': language() }), views: ['Model, Tokenizer', 'Model, Chat template', 'tensor, Blocks'] },
  pickle: { open: (page) => opens(page, { 'x.pkl': Buffer.from('cposix\nsystem\n(S"id"\ntR.') }), views: ['Imports'] },
  'foreign file': { open: (page) => opens(page, { 'model.h5': Buffer.concat([Buffer.from('\x89HDF\r\n\x1a\n', 'latin1'), Buffer.alloc(4096)]) }), views: ['About', 'Hex'] },
  'members of a DDUF file': {
    async open(page) {
      await opens(page, { 'pipeline.dduf': pipeline() });
      await page.locator('.file-name').first().click();
      await settled(page);
    },
    views: ['Tensors', 'Compare'],
  },
  comparison: {
    async open(page) {
      await opens(page, { 'a.safetensors': safetensors({ x: f32(8, 8), y: f32(4) }), 'b.safetensors': safetensors({ x: f32(8, 8), z: f32(4) }) });
      await page.locator('.file:visible').getByRole('tab', { name: 'Compare' }).click();
      await page.getByRole('button', { name: 'Compare all values' }).click();
      await expect(page.locator('.compare-head strong')).not.toBeEmpty();
    },
    views: ['Compare'],
  },
  scanned: {
    async open(page) {
      await opens(page, { 'a.safetensors': safetensors({ 'layers.0.x': f32(8, 8), 'layers.1.x': { ...f32(8, 8), data: new Float32Array(64).fill(NaN) } }) });
      await page.getByRole('button', { name: 'Scan weights' }).click();
      await expect(page.locator('.stage-weights')).toBeVisible();
    },
    views: ['Weights'],
  },
};

/** Views without a file, or beside it. */
const OTHERS: Record<string, (page: Page) => Promise<void>> = {
  'no file': async (page) => {
    await page.goto('./');
    await expect(page.locator('.sample')).not.toHaveCount(0);
  },
  help: async (page) => {
    await openSample(page, 'stb');
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog')).toBeVisible();
  },
  folder: async (page) => {
    const models = Object.fromEntries(Array.from({ length: 22 }, (_, i) => [`models/${i}.safetensors`, safetensors({ x: f32(4) }).subarray(0, i % 5 === 0 ? -4 : undefined)]));
    const files = { ...models, 'models/c.pkl': Buffer.from('cposix\nsystem\n(tR.'), 'models/notes.txt': 'notes' };
    await page.goto('./');
    await drop(page, `${folder(files)}/models`);
    await expect(page.locator('.folder-head strong')).toContainText(/2\d files/);
  },
  'folder of a DDUF file': async (page) => {
    await opens(page, { 'pipeline.dduf': pipeline() });
    await page.locator('.folder-name').click();
  },
  failure: async (page) => {
    await page.goto('./#sample=none');
    await expect(page.getByRole('alert')).toBeVisible();
  },
  question: async (page) => {
    await openSample(page, 'safetensors-broken');
    await page.locator('.file:visible .menu > summary').click();
    await page.getByRole('button', { name: 'Model as safetensors' }).click();
    await expect(page.getByRole('alert')).toBeVisible();
  },
  'changed on disk': async (page) => {
    const [path] = written({ 'a.safetensors': safetensors({ x: f32(4) }) });
    await page.goto('./');
    await page.locator('input[type=file]').first().setInputFiles(path);
    await settled(page);
    const { writeFileSync } = await import('node:fs');
    writeFileSync(path, readFileSync(sampleFile('micro.stb')));
    await page.evaluate(() => void dispatchEvent(new Event('focus')));
    await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'outdated');
  },
};

/** One file for each kind of views. `WEIGHBRIDGE_VIEWS=all` walks through all samples. */
const KINDS = ['gguf', 'oinf', 'pytorch', 'onnx', 'tflite', 'packed weights', 'members of a DDUF file', 'scanned', ...Object.keys(OTHERS)];

const isAll = process.env['WEIGHBRIDGE_VIEWS'] === 'all';

/** In a build for every change: views that no other test opens. */
const QUICK = ['packed weights', 'members of a DDUF file', 'folder'];

const WIDTHS = { 1280: 800, 390: 844 };

const quiet = (page: Page) => {
  const said: string[] = [];
  page.on('console', (message) => said.push(`console: ${message.text()}`));
  // The tests themselves forbid the service worker.
  return () => said.filter((text) => !text.includes('Service Worker registration blocked'));
};

for (const [width, height] of Object.entries(WIDTHS)) {
  // A walk takes half a minute.
  const tag = (name: string) => ({ tag: width === '1280' && QUICK.includes(name) ? [] : '@deep' });
  // The others on a phone take twelve minutes more.
  const isDue = (name: string) => isAll || width === '1280' || QUICK.includes(name);

  test.describe(`${width} pixels`, () => {
    test.use({ colorScheme: 'light', viewport: { width: Number(width), height } });

    for (const [name, one] of Object.entries(WALKS).filter(([name]) => isDue(name) && (isAll || KINDS.includes(name)))) {
      test(`views: ${name}`, tag(name), async ({ page }) => {
        test.setTimeout(240_000);
        const said = quiet(page);
        const faults: string[] = [];
        await one.open(page);
        const seen = await walk(page, faults, name === 'oinf', one);
        expect([...faults, ...said()]).toEqual([]);
        expect(seen).toEqual(expect.arrayContaining(one.views));
      });
    }

    for (const [name, go] of Object.entries(OTHERS).filter(([name]) => isDue(name))) {
      test(`views: ${name}`, tag(name), async ({ page }) => {
        const said = quiet(page);
        const faults: string[] = [];
        await go(page);
        await look(page, name, faults);
        expect([...faults, ...said()]).toEqual([]);
      });
    }
  });
}
