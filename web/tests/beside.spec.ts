/** What lies beside the weights: tokenizer, chat template, defaults of generation, code. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { folder, safetensors, written } from './files.ts';
import { PICTURES, drop, expect, openFiles, settled, test } from './page.ts';

const weights = (rows = 8) => safetensors({ 'model.embed_tokens.weight': { dtype: 'F32', data: new Float32Array(rows * 2), shape: [rows, 2] } });

const TOKENIZER = {
  added_tokens: [
    { id: 6, content: '<|im_start|>', special: true },
    { id: 7, content: '<tool>', special: false },
  ],
  normalizer: { type: 'NFC' },
  pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split' }, { type: 'ByteLevel' }] },
  decoder: { type: 'ByteLevel' },
  model: { type: 'BPE', unk_token: '<unk>', vocab: { '<unk>': 0, the: 1, 'Ġthe': 2, Ċ: 3, 'Ġcat': 4 }, merges: ['Ġ the', ['Ġ', 'cat']] },
};

const SETTINGS = {
  bos_token: { content: '<|im_start|>' },
  unk_token: '<unk>',
  tokenizer_class: 'PreTrainedTokenizerFast',
  model_max_length: 4096,
  chat_template: "{% for message in messages %}<|im_start|>{{ message.role }}{{ message.content }}{% endfor %}",
  auto_map: { AutoTokenizer: ['tokenization_x.Slow', null] },
};

const FILES = {
  'config.json': JSON.stringify({ model_type: 'x', auto_map: { AutoConfig: 'configuration_x.XConfig', AutoModel: 'me/other--modeling_x.X' } }),
  'configuration_x.py': 'print(1)',
  'convert.py': 'print(2)',
  'generation_config.json': JSON.stringify({ _from_model_config: true, temperature: 0.6, eos_token_id: [1, 2], do_sample: true }),
  'tokenizer.json': JSON.stringify(TOKENIZER),
  'tokenizer_config.json': JSON.stringify(SETTINGS),
};

const inner = (page: Page, name: RegExp) => page.getByRole('tablist', { name: 'Views of the model' }).getByRole('tab', { name });
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const token = (page: Page, row: number) => page.locator('.token-table .v-list [role=row]:not([hidden])').nth(row);

async function openModel(page: Page): Promise<void> {
  await page.locator('.file:visible').getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(page.locator('.model-head:visible')).toBeVisible();
}

async function clean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join('; ')}`)).toEqual([]);
}

test('a dropped folder brings its tokenizer, template, defaults and code', async ({ page }) => {
  await page.goto('./');
  await drop(page, folder({ 'model.safetensors': weights(), ...FILES }));
  await settled(page);
  await openModel(page);
  await expect(part(page, 'Defaults of generation').locator('.pair')).toHaveText(['temperature0.6', 'eos token id[1,2]', 'do sampletrue']);
  const code = part(page, 'Code');
  await expect(code.locator('.pair')).toHaveText([
    'AutoConfigconfiguration_x.pyconfig.jsonin this folder',
    'AutoModelmodeling_x.py of me/otherconfig.jsonin another repository',
    'AutoTokenizertokenization_x.pytokenizer_config.jsonnot among the files given',
  ]);
  await expect(code).toContainText('runs this code');
  await expect(code.locator('.note')).toHaveText('1 program that no setting names: convert.py');
  await expect(page.locator('.task-note')).toHaveCount(0);
  await page.screenshot({ path: `${PICTURES}/beside.png` });
  await clean(page);

  await inner(page, /^Tokenizer/).click();
  await expect(page.locator('.token-facts')).toHaveText('model BPE · normalizer NFC · pre-tokenizer Split, ByteLevel · decoder ByteLevel · tokenizer class PreTrainedTokenizerFast · model max length 4096tokenizer.json');
  await expect(page.locator('.special-tokens button')).toHaveText(['bos <|im_start|> 6', 'unk <unk> 0']);
  await expect(token(page, 2)).toHaveText(/^2␣theĠthenormal/);
  await expect(token(page, 5)).toHaveText(/^5\(empty\)unused/);
  await expect(token(page, 6)).toHaveText(/^6<\|im_start\|><\|im_start\|>control · bos/);
  await expect(token(page, 7)).toHaveText(/^7<tool><tool>user-defined/);
  await page.getByRole('button', { name: 'Merges' }).click();
  await expect(page.locator('.token-table .v-list [role=row]:not([hidden])')).toHaveCount(2);
  await expect(token(page, 1)).toContainText('Ġ cat');

  await inner(page, /^Chat template/).click();
  await expect(page.locator('.template-text')).toContainText('<|im_start|>');
  await expect(page.locator('.template-from')).toHaveText('From tokenizer_config.json.');
  await clean(page);
});

test('chosen files describe the model they lie beside, and a Jinja file comes first', async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': weights(4), ...FILES, 'chat_template.jinja': '{{ messages[0].content }} own', 'README.md': '# A model' }));
  await expect(page.locator('.task-note')).toHaveText(/^1 file beside the model was not opened: README\.md/);
  await openModel(page);
  // More tokens than rows: the last ones would be out of range.
  await expect(page.locator('.model-notes')).toContainText('the tokenizer has 8 tokens, but the model has a vocabulary of 4');
  await inner(page, /^Chat template/).click();
  await expect(page.locator('.template-text')).toHaveText('{{ messages[0].content }} own');
  await page.getByRole('button', { name: 'tokenizer_config.json' }).click();
  await expect(page.locator('.template-text')).toContainText('for message in messages');
});

test('a tokenizer of pieces with scores is listed, and broken settings are named', async ({ page }) => {
  const pieces = { model: { type: 'Unigram', unk_id: 0, byte_fallback: true, vocab: [['<unk>', 0], ['<0x0A>', -1.5], ['▁the', -2.25]] }, decoder: { type: 'Metaspace' } };
  await openFiles(page, written({ 'model.safetensors': weights(), 'tokenizer.json': JSON.stringify(pieces), 'generation_config.json': '{', 'tokenizer_config.json': '[1]' }));
  await openModel(page);
  await expect(page.locator('.model-notes')).toContainText('generation_config.json is not valid JSON');
  await expect(part(page, 'Code')).toHaveCount(0);
  await inner(page, /^Tokenizer/).click();
  await expect(token(page, 0)).toHaveText(/^0<unk><unk>unknown/);
  await expect(token(page, 1)).toHaveText(/byte-1\.5$/);
  await expect(token(page, 2)).toHaveText(/normal-2\.25$/);
  await expect(inner(page, /^Chat template/)).toHaveCount(0);
});

test('hostile files beside a model are bounded and say so', async ({ page }) => {
  const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  await openFiles(
    page,
    written({
      'model.safetensors': weights(),
      'tokenizer.json': JSON.stringify({ model: { type: 'BPE', vocab: { a: 0, b: 4_000_000_000, c: -1, d: 1.5, __proto__: 2 } }, added_tokens: [{ id: 1e12, content: 'x' }, null, 7] }),
      'tokenizer_config.json': nested,
      'generation_config.json': JSON.stringify({ __proto__: 1, html: '<img src=x onerror=alert(1)>' }),
    }),
  );
  await openModel(page);
  await expect(part(page, 'Defaults of generation')).toContainText('<img src=x onerror=alert(1)>');
  await inner(page, /^Tokenizer/).click();
  await expect(page.locator('.tokens [role=status]')).toContainText('1 token');
});
