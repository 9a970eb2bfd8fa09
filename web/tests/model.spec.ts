/** The model view: numbers, memory, tokens, chat template, card. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { gguf, safetensors, written } from './files.ts';
import { failNext, holdBack } from './late.ts';
import { PICTURES, expect, openFiles, openSample, test, within } from './page.ts';

const BLOCKS = 16;
const [WIDTH, FEED, VOCABULARY] = [256, 704, 4096];

const CHAT = `{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = 'You are a helpful assistant.' %}
{%- endif %}
{# Tools come before the conversation. #}
{%- if tools %}
    {{- '<|im_start|>system\\n' + system_message + '\\n# Tools\\n<tools>' }}
    {%- for tool in tools %}
        {{- '\\n' + tool | tojson }}
    {%- endfor %}
    {{- '\\n</tools><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or message.role == 'assistant' %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role != 'tool' %}
        {{- raise_exception('Unexpected role: ' + message.role) }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}`;

/** Tokens that include some that people search for. */
function tokens(count: number): string[] {
  const known = ['<unk>', '<|im_start|>', '<|im_end|>', '!', 'the', 'Ġthe', 'ĠThe', 'Ċ', 'ĊĊ', 'é', 'èªŀ', 'ĠâĤ¬', '<b>bold</b>'];
  return Array.from({ length: count }, (_, i) => known[i] ?? `Ġt${i.toString(36)}`);
}

function zeros(type: number, shape: number[]): { type: number; shape: number[]; data: Buffer } {
  const elements = shape.reduce((a, b) => a * b, 1);
  const bytes = type === 0 ? 4 * elements : type === 8 ? (elements / 32) * 34 : (elements / 32) * 18;
  return { type, shape, data: Buffer.alloc(bytes) };
}

function llama(more: Parameters<typeof gguf>[0] = {}, count = VOCABULARY): Buffer {
  const tensors: Record<string, ReturnType<typeof zeros>> = {
    'token_embd.weight': zeros(8, [VOCABULARY, WIDTH]),
    'output_norm.weight': zeros(0, [WIDTH]),
    'output.weight': zeros(8, [VOCABULARY, WIDTH]),
    'rope_freqs.weight': zeros(0, [16]),
  };
  for (let i = 0; i < BLOCKS; i++) {
    // Mixed types, as llama.cpp uses them: some blocks keep more bits.
    const fine = i < 2 || i >= 14 || i % 3 === 0 ? 8 : 2;
    const add = (name: string, type: number, shape: number[]) => (tensors[`blk.${i}.${name}.weight`] = zeros(type, shape));
    add('attn_norm', 0, [WIDTH]);
    add('attn_q', 2, [WIDTH, WIDTH]);
    add('attn_k', 2, [WIDTH / 4, WIDTH]);
    add('attn_v', fine, [WIDTH / 4, WIDTH]);
    add('attn_output', 2, [WIDTH, WIDTH]);
    add('ffn_norm', 0, [WIDTH]);
    add('ffn_gate', 2, [FEED, WIDTH]);
    add('ffn_up', 2, [FEED, WIDTH]);
    add('ffn_down', fine, [WIDTH, FEED]);
  }
  return gguf(
    {
      'general.architecture': 'llama',
      'general.name': 'Weighbridge Demo 13M Instruct',
      'general.size_label': '13M',
      'general.license': 'apache-2.0',
      'general.description': 'A small model of the usual shape.',
      'general.file_type': 15,
      'llama.block_count': BLOCKS,
      'llama.context_length': 131072,
      'llama.embedding_length': WIDTH,
      'llama.feed_forward_length': FEED,
      'llama.attention.head_count': 8,
      'llama.attention.head_count_kv': 2,
      'llama.attention.layer_norm_rms_epsilon': 0.00001,
      'llama.rope.freq_base': 500000.5,
      'llama.rope.dimension_count': 32,
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.pre': 'llama-bpe',
      'tokenizer.ggml.tokens': tokens(count),
      'tokenizer.ggml.token_type': Int32Array.from({ length: count }, (_, i) => (i === 0 ? 2 : i < 3 ? 3 : 1)),
      'tokenizer.ggml.scores': Float32Array.from({ length: count }, (_, i) => -i),
      'tokenizer.ggml.merges': ['Ġ t', 'h e', 'Ġt he'],
      'tokenizer.ggml.bos_token_id': 1,
      'tokenizer.ggml.eos_token_id': 2,
      'tokenizer.ggml.add_bos_token': false,
      'tokenizer.chat_template': CHAT,
      ...more,
    },
    tensors,
  );
}

async function openModel(page: Page, name: string, content: Buffer): Promise<void> {
  await openFiles(page, written({ [name]: content }));
  await page.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(page.locator('.model-head')).toBeVisible();
}

const inner = (page: Page, name: RegExp) => page.getByRole('tablist', { name: 'Views of the model' }).getByRole('tab', { name });
const fact = (page: Page, name: string) => page.locator('.model-facts .pair').filter({ has: page.locator('dt', { hasText: new RegExp(`^\\s*${name}$`) }) }).locator('dd');

async function clean(page: Page, state: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${state}: ${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`)).toEqual([]);
}

test('parameters, settings and memory', async ({ page }) => {
  await openModel(page, 'model.gguf', llama());
  // Norms, attention, feed-forward; embedding, output, final norm.
  const block = 2 * WIDTH + 2.5 * WIDTH * WIDTH + 3 * WIDTH * FEED;
  const all = BLOCKS * block + 2 * VOCABULARY * WIDTH + WIDTH;
  await expect(page.locator('.tile').first()).toContainText(all.toLocaleString('en-GB'));
  await expect(page.locator('.tile').nth(1)).toContainText('16 other elements');
  await expect(page.locator('.model-head')).toContainText('llama · 13M · Q4_K_M');
  await inner(page, /^Card/).click();
  await expect(fact(page, 'file type')).toHaveText('Q4_K_M 15');
  await inner(page, /^Overview/).click();
  await expect(fact(page, 'KV heads')).toHaveText('2');
  await expect(fact(page, 'RoPE base')).toHaveText('500000.5');
  await expect(fact(page, 'Key length')).toHaveText('32derived');
  // 16 layers × 2 heads × (32 + 32) × 131,072 positions × 2 bytes.
  await expect(fact(page, 'KV cache')).toContainText('512 MiB (4.00 KiB per position)');
  await page.getByLabel('Context length', { exact: true }).fill('8192');
  await expect(fact(page, 'KV cache')).toContainText('32.0 MiB');
  await page.getByRole('button', { name: 'q8_0' }).click();
  await expect(fact(page, 'KV cache')).toContainText('17.0 MiB');
  await expect(page.locator('.shares').first()).toContainText('feed-forward');
  await page.getByRole('slider', { name: /16 blocks/ }).focus();
  await page.keyboard.press('End');
  await expect(page.locator('.block-chart')).toContainText('block 15: ');
});

test('the state of layers takes the same for any context', async ({ page }) => {
  const dims = { conv_kernel: 4, inner_size: 8, state_size: 16 };
  const keys = Object.fromEntries(Object.entries(dims).map(([key, value]) => [`mamba.ssm.${key}`, value]));
  const tensor = { type: 0, shape: [2], data: Buffer.from(Float32Array.of(1, 2).buffer) };
  await openModel(page, 'model.gguf', gguf({ 'general.architecture': 'mamba', 'mamba.block_count': 2, ...keys }, { 'blk.0.ssm_d': tensor }));
  // 2 layers × (3 × 8 + 16 × 8) elements × 4 bytes.
  await expect(fact(page, 'State')).toHaveText('1.19 KiB in 2 layers');
  await expect(fact(page, 'Layers with state')).toContainText('2');
  await page.getByLabel('Context length', { exact: true }).fill('9');
  await expect(fact(page, 'KV cache')).toContainText('0 B');
  await expect(fact(page, 'Total')).toHaveText('1.20 KiB');
});

test('tokens are found by text, id and type, and copied as they are', async ({ page, context }) => {
  test.slow();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const count = 256_000;
  await openModel(page, 'vocabulary.gguf', llama({ 'tokenizer.ggml.padding_token_id': 999999 }, count));
  await expect(page.locator('.model-notes')).toContainText('the tokenizer has 256000 tokens, but the embedding has 4096 rows.');
  await inner(page, /^Tokenizer/).click();
  const grid = page.getByRole('grid', { name: 'Tokens' });
  const rows = grid.locator('.v-list [role=row]');
  await expect(page.locator('.tokens [role=status]')).toHaveText('256,000 tokens');
  await expect(rows.nth(5)).toContainText('␣the');
  await expect(rows.nth(7)).toContainText('\\n');
  await expect(rows.nth(10)).toContainText('語');
  await expect(rows.nth(12)).toContainText('<b>bold</b>');
  await expect(rows.nth(1)).toContainText('control · bos');
  await expect(page.locator('.special-tokens button').nth(1)).toContainText('eos <|im_end|> 2');
  await expect(page.locator('.special-tokens button').nth(2)).toContainText('no such token');
  // The last of all tokens.
  await grid.focus();
  await page.keyboard.press('End');
  await expect(rows.filter({ hasText: '255999' })).toHaveAttribute('aria-selected', 'true');
  const search = page.getByRole('searchbox', { name: 'Search tokens by text or ID' });
  await search.fill(' the');
  await expect(page.locator('.tokens [role=status]')).toHaveText(/^\d+ of 256,000 tokens$/);
  await expect(rows.first()).toContainText('␣the');
  await search.fill('123456');
  await expect(rows.first()).toContainText('123456');
  await search.fill('nothing like this');
  await expect(page.locator('.tokens [role=status]')).toHaveText('No token matches');
  await search.fill('');
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'control (2)' });
  await expect(page.locator('.tokens [role=status]')).toHaveText('2 of 256,000 tokens');
  await page.locator('.special-tokens button').first().click();
  await expect(rows.nth(1)).toHaveAttribute('aria-selected', 'true');
  await search.focus();
  await search.fill('ĠThe');
  await expect(rows.first()).toContainText('␣the');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(rows.nth(1)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Control+c');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('ĠThe');
  // From the key press to the rows, including the debounce.
  const took = await page.evaluate(async () => {
    const field = document.querySelector<HTMLInputElement>('.tokens input[type=search]')!;
    const status = document.querySelector('.tokens [role=status]')!;
    const begun = performance.now();
    const changed = new Promise((resolve) => new MutationObserver(resolve).observe(status, { childList: true, characterData: true, subtree: true }));
    field.value = 'zz';
    field.dispatchEvent(new Event('input'));
    await changed;
    return performance.now() - begun;
  });
  console.log(`search among 256,000 tokens: ${took.toFixed(0)} ms`);
  within(took, 160);
  await page.getByRole('button', { name: 'Merges' }).click();
  await page.getByRole('searchbox', { name: 'Search tokens by text or ID' }).fill('');
  await expect(page.getByRole('grid', { name: 'Merges' })).toContainText('Ġ t');
});

/** Clicks buttons in one go. */
async function clickAll(page: Page, ...names: string[]): Promise<void> {
  await page.evaluate((names) => {
    for (const name of names) {
      [...document.querySelectorAll<HTMLElement>('.model button')].find(({ textContent }) => textContent === name)!.click();
    }
  }, names);
}

test('the list of tokens is the one chosen last', async ({ page }) => {
  await openModel(page, 'model.gguf', llama());
  await inner(page, /^Tokenizer/).click();
  const status = page.locator('.tokens [role=status]');
  const grid = page.locator('.token-table');
  await expect(status).toHaveText('4,096 tokens');
  const release = await holdBack(page, 'vocabulary');
  await clickAll(page, 'Merges', 'Tokens');
  await release(2);
  await expect(status).toHaveText('4,096 tokens');
  await expect(grid).toHaveAttribute('aria-label', 'Tokens');
  await expect(page.getByLabel('Type', { exact: true })).toBeVisible();
  // A special token is looked up in the tokens.
  await clickAll(page, 'Merges');
  await release(1);
  await expect(status).toHaveText('3 merges');
  await clickAll(page, 'Tokens', 'bos <|im_start|> 1');
  await release(2);
  const marked = grid.locator('[role=row][aria-selected=true]');
  await expect(marked).toContainText('<|im_start|>');
  await clickAll(page, 'Merges');
  await release(1);
  await clickAll(page, 'eos <|im_end|> 2');
  await release(1);
  await expect(marked).toContainText('<|im_end|>');
  await expect(page.getByRole('button', { name: 'Tokens' })).toHaveAttribute('aria-pressed', 'true');
});

test('a special token stays chosen after a search', async ({ page }) => {
  await openModel(page, 'model.gguf', llama());
  await inner(page, /^Tokenizer/).click();
  await expect(page.locator('.tokens [role=status]')).toHaveText('4,096 tokens');
  const release = await holdBack(page, 'findTokens');
  await page.getByRole('searchbox', { name: 'Search tokens by text or ID' }).evaluate((search: HTMLInputElement) => {
    search.value = 'x';
    search.dispatchEvent(new Event('input'));
    document.querySelector<HTMLElement>('.special-tokens button')!.click();
  });
  await release(2, true);
  await expect(page.locator('.token-table [role=row][aria-selected=true]')).toContainText('<|im_start|>');
});

test('a list of tokens that could not be read is read again', async ({ page }) => {
  await openModel(page, 'model.gguf', llama());
  await failNext(page, 'vocabulary');
  await inner(page, /^Tokenizer/).click();
  const status = page.locator('.tokens [role=status]');
  await expect(status).toContainText('The list could not be read.');
  await page.getByRole('searchbox', { name: 'Search tokens by text or ID' }).fill('the');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(status).toHaveText(/^\d of 4,096 tokens$/);
  await expect(page.locator('.token-table')).toBeFocused();
});

test('the template is the one chosen last', async ({ page }) => {
  await openModel(page, 'model.gguf', llama({ 'tokenizer.chat_template.other': 'another' }));
  await inner(page, /^Chat template/).click();
  await expect(page.locator('.template-text')).toHaveText(CHAT);
  const release = await holdBack(page, 'chatTemplate');
  await clickAll(page, 'other', 'default');
  await release(2);
  await expect(page.locator('.template-text')).toHaveText(CHAT);
  await failNext(page, 'chatTemplate');
  await page.getByRole('button', { name: 'other' }).click();
  await expect(page.locator('.template')).toHaveText('The template could not be read. Try again');
});

test('a template shows what it touches, and is not rendered', async ({ page }) => {
  const attack = `<img src=x onerror="window.hacked = true">\u202e{{ messages[0].__class__.__base__ }}{% if role == 'user' %}{{ x['\\x5f\\x5fglobals\\x5f\\x5f'] }}{% endif %}`;
  await openModel(page, 'model.gguf', llama({ 'tokenizer.chat_template.attack': attack, 'tokenizer.chat_template.long': 'x'.repeat(5_000_000) + '{{ y.__init__ }}' }));
  await inner(page, /^Chat template/).click();
  const touched = (name: string) => fact(page, name).locator('code');
  await expect(touched('Reads')).toHaveText(['add_generation_prompt', 'messages', 'tools']);
  await expect(touched('Calls')).toHaveText(['raise_exception']);
  await expect(touched('Filters')).toHaveText(['tojson']);
  await expect(touched('Roles')).toHaveText(['assistant', 'system', 'tool', 'user']);
  await expect(touched('Special tokens and tags')).toHaveText(['</tools>', '<tools>', '<|im_end|>', '<|im_start|>']);
  await expect(page.locator('.template-text')).toHaveText(CHAT);
  await expect(page.locator('.template-warning')).toHaveCount(0);
  await page.getByRole('button', { name: 'attack' }).click();
  await expect(page.locator('.template-warning li')).toHaveText([/__class__/, /__base__/, /globals/]);
  await expect(page.locator('.template-warning')).toContainText('CVE-2024-34359');
  await expect(page.locator('.template-text')).toContainText('<img src=x onerror="window.hacked = true">\\u{202e}');
  await expect(page.locator('.t-warning')).toHaveCount(3);
  await clean(page, 'attack');
  // Text after five million characters is checked as well.
  await page.getByRole('button', { name: 'long' }).click();
  await expect(page.locator('.template-warning li')).toHaveText([/__init__/]);
  await expect(page.locator('.template')).toContainText('The first 65,536 of 5,000,016 characters are shown.');
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

test('a card, names and shapes, and a config.json', async ({ page }) => {
  const matrix = (rows: number) => ({ dtype: 'F32', data: new Float32Array(rows * 8), shape: [rows, 8] });
  const tensors = {
    'model.embed_tokens.weight': matrix(20),
    'model.layers.0.self_attn.q_proj.weight': matrix(8),
    'model.layers.0.self_attn.k_proj.weight': matrix(4),
    'model.layers.0.self_attn.v_proj.weight': matrix(4),
  };
  const metadata = {
    format: 'pt',
    'modelspec.title': 'A <b>title</b>\u202e',
    'modelspec.thumbnail': 'data:image/png;base64,AAAA',
    ss_training_started_at: '1700000000.5',
    ss_tag_frequency: JSON.stringify({ img: { cat: 3, dog: 4 } }),
  };
  const paths = written({ 'model.safetensors': safetensors(tensors, metadata), 'config.json': JSON.stringify({ model_type: 'llama', num_attention_heads: 2, num_key_value_heads: 1, rope_scaling: { factor: 8 } }) });
  await openFiles(page, paths[0]);
  await page.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(page.locator('.model-head h2')).toHaveText('A <b>title</b>\\u{202e}');
  await expect(page.locator('.model-head')).toContainText('Architecture not specified');
  await expect(fact(page, 'Blocks')).toHaveText('1from names');
  await expect(fact(page, 'Vocabulary')).toHaveText('20from shapes');
  await expect(fact(page, 'Heads')).toHaveCount(0);
  await expect(fact(page, 'KV cache')).toContainText('16 B per position');
  await inner(page, /^Card/).click();
  await expect(fact(page, 'training started at')).toContainText('2023-11-14 22:13:20 UTC');
  await expect(fact(page, 'thumbnail')).toContainText('not shown');
  await expect(page.locator('.tags li')).toHaveText(['dog 4', 'cat 3']);
  await clean(page, 'card');
  // The settings give the number of heads.
  await inner(page, /^Overview/).click();
  await page.getByLabel('A config.json').setInputFiles(paths[1]);
  await expect(fact(page, 'Heads')).toHaveText('2config.json');
  await expect(fact(page, 'RoPE factor')).toHaveText('8config.json');
  await expect(page.locator('.model-head')).toContainText('llama');
  // The result is the same when both are opened together.
  await openFiles(page, paths);
  await page.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(fact(page, 'Heads')).toHaveText('2config.json');
});

test('settings that cannot be true are noted', async ({ page }) => {
  await openModel(
    page,
    'hostile.gguf',
    llama({ 'llama.block_count': 4_000_000_000, 'llama.attention.head_count': 0, 'llama.rope.freq_base': NaN, 'tokenizer.ggml.token_type': Int32Array.of(3), 'tokenizer.ggml.scores': 'none', 'general.name': '\u202eeman\u0000' }),
  );
  await expect(page.locator('.model-notes li')).toHaveText([/block_count is 4000000000/, /head_count is 0/, /rope_base is "NaN"/]);
  await expect(page.locator('.model-head h2')).toHaveText('\\u{202e}eman\\u{0}');
  await expect(page.getByRole('region', { name: 'Memory' })).toContainText('The size of the KV cache is unknown: the number of blocks, 4000000000, is implausible');
  await inner(page, /^Tokenizer/).click();
  await expect(page.locator('.tokens [role=status]')).toHaveText('4,096 tokens');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, { tag: colorScheme === 'dark' ? '@deep' : [] }, () => {
    test.use({ colorScheme });

    test(`the model is for everyone, ${colorScheme}`, async ({ page }) => {
      await openModel(page, 'model.gguf', llama({ 'llama.feed_forward_length': FEED + 1, 'llama.embedding_length': 128 }));
      for (const tab of [/^Overview/, /^Tokenizer/, /^Chat template/, /^Card/]) {
        await inner(page, tab).click();
        await page.waitForTimeout(300);
        await clean(page, String(tab));
      }
      await page.setViewportSize({ width: 390, height: 800 });
      for (const tab of [/^Overview/, /^Tokenizer/, /^Chat template/, /^Card/]) {
        await inner(page, tab).click();
        await page.waitForTimeout(200);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        const wide = await page.locator('.model .scroll:visible').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
        expect(wide, String(tab)).toBe(0);
        await page.screenshot({ path: `${PICTURES}/summary-390-${colorScheme}-${tab.source.slice(1, 5)}.png` });
      }
    });
  });
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`picture, ${colorScheme}`, { tag: '@deep' }, () => {
    test.use({ colorScheme, viewport: { width: 1280, height: 1180 } });

    test(`picture: the model, ${colorScheme}`, async ({ page }) => {
      await openModel(page, 'demo-13m-instruct.gguf', llama());
      await page.mouse.move(0, 0);
      await page.screenshot({ path: `${PICTURES}/${colorScheme === 'light' ? 'summary' : 'summary-dark'}.png` });
      for (const tab of ['Tokenizer', 'Chat template', 'Card']) {
        await inner(page, new RegExp(`^${tab}`)).click();
        await page.waitForTimeout(500);
        await page.screenshot({ path: `${PICTURES}/summary-${colorScheme}-${tab.split(' ')[0].toLowerCase()}.png` });
      }
    });
  });
}

test('a token whose role is named like its type has the name once', async ({ page }) => {
  await openModel(page, 'unknown.gguf', llama({ 'tokenizer.ggml.unknown_token_id': 0 }));
  await inner(page, /^Tokenizer/).click();
  const rows = page.getByRole('grid', { name: 'Tokens' }).locator('.v-list [role=row]');
  await expect(rows.nth(1).locator('.kind')).toHaveText('control · bos');
  await expect(rows.nth(0).locator('.kind')).toHaveText('unknown');
});

test('the view brings no styles to the rest of the page', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openSample(page, 'gguf');
  const legend = page.locator('.strip-foot ul');
  const look = () =>
    legend.evaluate((list) => {
      const { display, gap, margin, padding, font, color } = getComputedStyle(list);
      return [display, gap, margin, padding, font, color];
    });
  const before = await look();
  await page.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Parameters by part' })).toBeVisible();
  expect(await look()).toEqual(before);
});

test('weights without an architecture claim no cache', async ({ page }) => {
  await openFiles(page, written({ 'lora.safetensors': safetensors({ 'lora_unet_down.alpha': { dtype: 'F32', data: Float32Array.of(1) } }) }));
  await page.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Memory' })).toHaveText('MemoryWeights take 4 B. A language model also keeps a KV cache; its size needs a config.json.');
});

test('an encoder has no cache', async ({ page }) => {
  const settings = { model_type: 'clip_text_model', hidden_size: 8, num_attention_heads: 2, num_hidden_layers: 1 };
  const weights = { 'text_model.encoder.layers.0.self_attn.q_proj.weight': { dtype: 'F32', data: new Float32Array(64), shape: [8, 8] } };
  await openFiles(page, written({ 'model.safetensors': safetensors(weights), 'config.json': JSON.stringify(settings) }));
  await page.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Memory' })).toContainText('There is no KV cache: the model is an encoder');
});
