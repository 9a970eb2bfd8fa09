/**
 * Opening hub models by name: what is listed, what is opened, and what a server must not be able to
 * do.
 */

import { readFileSync, readdirSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { BrowserContext, Page, Route } from '@playwright/test';
import { repositoryOf } from '../src/worker/hubs.ts';
import { choicesOf } from '../src/worker/repository.ts';
import { gguf, safetensors } from './files.ts';
import { BY_URL, LOCAL, PICTURES, expect, settled, test } from './page.ts';
import { CORS, sendRange } from './remote.ts';

const HUB = 'https://huggingface.co';

test.use({ baseURL: BY_URL, elsewhere: [`${HUB}/`] });

const floats = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.from(values) });
const model = safetensors({ weight: floats(1, 2, 3) });

/** Two shards and their index. */
const shards = {
  'model-00001-of-00002.safetensors': safetensors({ 'layers.0.weight': floats(1, 2) }),
  'model-00002-of-00002.safetensors': safetensors({ 'layers.1.weight': floats(3, 4) }),
  'model.safetensors.index.json': Buffer.from(
    JSON.stringify({ metadata: { total_size: 16 }, weight_map: { 'layers.0.weight': 'model-00001-of-00002.safetensors', 'layers.1.weight': 'model-00002-of-00002.safetensors' } }),
  ),
};

const listed = (files: Record<string, { length: number }>) => Object.entries(files).map(([path, { length }]) => ({ type: 'file', oid: '0', size: length, path }));
const sendJson = (route: Route, value: unknown, headers: Record<string, string> = {}) => route.fulfill({ status: 200, headers: { ...CORS, ...headers }, contentType: 'application/json', body: JSON.stringify(value) });

/** A hub with one repository; `answer` may override the response. Returns the recorded requests. */
async function hub(context: BrowserContext, files: Record<string, Buffer>, answer: (route: Route, url: URL) => Promise<void> | undefined = () => undefined): Promise<string[]> {
  const asked: string[] = [];
  await context.route(`${HUB}/**`, async (route) => {
    const url = new URL(route.request().url());
    asked.push(url.pathname + url.search);
    const other = answer(route, url);
    if (other !== undefined) {
      await other;
    } else if (url.pathname.startsWith('/api/models/org/model/tree/')) {
      await sendJson(route, [{ type: 'directory', oid: '0', size: 0, path: 'folder' }, ...listed(files)]);
    } else {
      await sendRange(route, files[decodeURIComponent(url.pathname.replace(/^\/org\/model\/resolve\/[^/]+\//, ''))]);
    }
  });
  return asked;
}

async function enter(page: Page, text: string): Promise<void> {
  await page.goto('./');
  await page.getByLabel('Address of a file').fill(text);
  await page.keyboard.press('Enter');
}

const dialog = (page: Page) => page.getByRole('dialog', { name: 'org/model' });

test('names of models, and pages of the hub', () => {
  const of = (text: string) => {
    const { kind, name, revision, path } = repositoryOf(text) ?? {};
    return kind && `${kind} ${name} ${revision} ${path}`.trim();
  };
  expect(of('org/model')).toBe('models org/model main');
  expect(of('hf://org/Model-7B.v2')).toBe('models org/Model-7B.v2 main');
  expect(of('org/model@v1.0')).toBe('models org/model v1.0');
  expect(of('org/model@refs/pr/1')).toBe('models org/model refs/pr/1');
  expect(of('org/model@refs%2Fpr%2F1/sub')).toBe('models org/model refs/pr/1 sub');
  expect(of('org/model/a/b/')).toBe('models org/model main a/b');
  expect(of('datasets/org/data')).toBe('datasets org/data main');
  expect(of(`${HUB}/org/model`)).toBe('models org/model main');
  expect(of(`${HUB}/org/model/?library=x#files`)).toBe('models org/model main');
  expect(of('https://hf.co/org/model/tree/main')).toBe('models org/model main');
  expect(of(`${HUB}/org/model/tree/refs%2Fpr%2F1/a%20b/c`)).toBe('models org/model refs/pr/1 a b/c');
  expect(of(`${HUB}/datasets/org/data/tree/main/x`)).toBe('datasets org/data main x');
  // Not repository names: URLs of files, names that lead elsewhere, incomplete names.
  for (const text of [
    `${HUB}/org/model/blob/main/m.gguf`,
    'huggingface.co/org/model/blob/main/m.gguf',
    'bucket.s3.amazonaws.com/org/m.gguf?X-Amz-Signature=abc',
    'https://files.test/org/model',
    'model',
    '',
    '../model',
    'org/..',
    'org/model@..',
    'org/model/../other',
    `${HUB}/org/model/tree/%2e%2e/x`,
    `${HUB}/org/model/tree/main/%2e%2e/x`,
    'org/mod\u202eel',
    'org/model@\u0000',
    'or g/model',
  ]) {
    expect(of(text), text).toBeUndefined();
  }
});

test('files put together to sets, those that lie less deep first', () => {
  const paths = ['deep/a.gguf', 'config.json', 'model.safetensors.index.json', 'model-00002-of-00002.safetensors', 'model-00001-of-00002.safetensors', 'q-00002-of-00003.gguf', 'q-00001-of-00003.gguf', 'q-00003-of-00003.gguf', 'q-00001-of-00002.gguf', 'lone-00001-of-00002.safetensors', 'model.safetensors'];
  const choices = choicesOf(
    paths.map((path) => ({ path, size: 10 })),
    repositoryOf('org/model@v1')!,
  );
  expect(choices.map(({ path, files, size }) => `${path} ${files} ${size}`)).toEqual([
    'lone-00001-of-00002.safetensors 1 10',
    'model.safetensors 1 10',
    'model.safetensors.index.json 3 30',
    'q-00001-of-00002.gguf 1 10',
    'q-00001-of-00003.gguf 3 30',
    'deep/a.gguf 1 10',
  ]);
  expect(choices[1].address).toBe(`${HUB}/org/model/resolve/v1/model.safetensors`);
  expect(choices.map(({ config }) => config)).toEqual([...Array<string>(5).fill(`${HUB}/org/model/resolve/v1/config.json`), undefined]);
});

test('the only tensor file is opened at once, with its settings', async ({ page, context }) => {
  const asked = await hub(context, { 'model.safetensors': model, 'README.md': Buffer.from('#'), 'config.json': Buffer.from('{"architectures":["TinyForCausalLM"],"model_type":"tiny"}') });
  await enter(page, 'org/model');
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText('model.safetensors');
  await expect(page).toHaveURL(/#url=https%3A%2F%2Fhuggingface\.co%2Forg%2Fmodel%2Fresolve%2Fmain%2Fmodel\.safetensors/);
  expect(asked[0]).toBe('/api/models/org/model/tree/main?recursive=true');
  await page.getByRole('tab', { name: 'Model' }).click();
  await expect(page.locator('.model').first()).toContainText('TinyForCausalLM');
  expect(asked.filter((path) => path.startsWith('/api/'))).toHaveLength(1);
});

test('a revision, a folder and a file by name', async ({ page, context }) => {
  const asked = await hub(context, { 'a b/model.safetensors': model });
  await enter(page, 'org/model@refs/pr/1/a b');
  await settled(page);
  expect(asked.slice(0, 2)).toEqual(['/api/models/org/model/tree/refs%2Fpr%2F1/a%20b?recursive=true', '/org/model/resolve/refs%2Fpr%2F1/a%20b/model.safetensors']);
  asked.length = 0;
  await enter(page, 'org/model/a b/model.safetensors');
  await settled(page);
  expect(asked).toEqual(['/org/model/resolve/main/a%20b/model.safetensors']);
});

test('of several the user chooses, by keyboard; an index is one with its shards', async ({ page, context }) => {
  await hub(context, { ...shards, 'extra/adapter.safetensors': model });
  await enter(page, `${HUB}/org/model`);
  const choices = dialog(page).getByRole('listitem');
  await expect(choices).toHaveText([/^model\.safetensors\.index\.json3 files, \d+ B$/, /^extra\/adapter\.safetensors\d+ B$/]);
  await expect(choices.first().getByRole('button')).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(choices.nth(1).getByRole('button')).toBeFocused();
  // Closing the dialog opens nothing, and the focus returns.
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByLabel('Address of a file')).toBeFocused();
  await expect(page.locator('.file-name')).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(choices.first().getByRole('button')).toBeFocused();
  await page.keyboard.press('Enter');
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('safetensors · 3 files');
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.tensor-table .v-list [role=row]:not([hidden]) .name bdi')).toHaveText(['layers.0.weight', 'layers.1.weight']);
});

test('the parts of a split GGUF are one choice, opened as one', async ({ page, context }) => {
  const part = (no: number) => gguf({ ...(no === 0 ? { 'general.architecture': 'llama' } : {}), 'split.no': { u16: no }, 'split.count': { u16: 2 }, 'split.tensors.count': { i32: 2 } }, { [`blk.${no}.weight`]: { type: 0, shape: [2], data: Buffer.alloc(8) } });
  await hub(context, { 'q/model-00001-of-00002.gguf': part(0), 'q/model-00002-of-00002.gguf': part(1) });
  await enter(page, 'org/model');
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('GGUF 3 · 2 files');
});

test('a name that is pasted, and a link that has to be confirmed', async ({ page, context }) => {
  const asked = await hub(context, { 'model.safetensors': model });
  await page.goto('./');
  const paste = () =>
    page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', ' org/model\n');
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    });
  await paste();
  await settled(page);
  // While a file is shown, the same text is not treated as a name.
  const before = asked.length;
  await paste();
  await page.waitForTimeout(500);
  expect(asked.length).toBe(before);
  await page.goto('about:blank');
  await page.goto(`./#url=${encodeURIComponent(`${HUB}/org/model`)}`);
  await expect(page.getByRole('alert')).toContainText(`The link points to ${HUB}/org/model`);
  expect(asked.length).toBe(before);
  await page.getByRole('button', { name: 'Open it' }).click();
  await settled(page);
});

test('the list goes on at the next page, on the same server', async ({ page, context }) => {
  const next = { link: `<${HUB}/api/models/org/model/tree/main?recursive=true&cursor=abc>; rel="next"` };
  const asked = await hub(context, { 'model.safetensors': model }, (route, url) =>
    url.pathname.startsWith('/api/') && !url.searchParams.has('cursor') ? sendJson(route, listed({ 'README.md': { length: 1 } }), next) : undefined,
  );
  await enter(page, 'org/model');
  await settled(page);
  expect(asked[1]).toBe('/api/models/org/model/tree/main?recursive=true&cursor=abc');
});

for (const [what, link] of [
  ['another server', 'https://files.test/api/models/org/model/tree/main?cursor=abc'],
  ['another port', 'https://huggingface.co:8443/api?cursor=abc'],
  ['no address', 'https://'],
  ['a script', 'javascript:alert(1)'],
] as const) {
  test(`a next page that is on ${what} is not asked for`, async ({ page, context }) => {
    // The guard of all tests fails on any other request.
    const asked = await hub(context, {}, (route) => sendJson(route, listed({ 'model.safetensors': model }), { link: `<${link}>; rel="next"` }));
    await enter(page, 'org/model');
    await expect(page.getByRole('alert')).toContainText('huggingface.co continues its list on a different server (');
    await expect(page.getByRole('alert')).toContainText('). Nothing was read there.');
    expect(asked).toHaveLength(1);
  });
}

test('a list without an end is left after a hundred pages', async ({ page, context }) => {
  const asked = await hub(context, {}, (route, url) =>
    url.pathname.startsWith('/api/') ? sendJson(route, listed({ 'model.safetensors': model }), { link: `<${HUB}/api/models/org/model/tree/main?cursor=${asked.length}>; rel="next"` }) : undefined,
  );
  await enter(page, 'org/model');
  await expect(dialog(page)).toContainText('Only the first 100 entries were listed.');
  expect(asked).toHaveLength(100);
});

test('a million entries: too many bytes at once are not read, many entries end the list', { tag: '@deep' }, async ({ page, context }) => {
  test.setTimeout(120_000);
  const entries = (count: number) => `[${Array.from({ length: count }, (_, i) => `{"type":"file","size":1,"path":"${i}.gguf"}`).join(',')}]`;
  let [body, many] = [entries(1_000_000), 0];
  await hub(context, {}, (route) => {
    many++;
    return route.fulfill({ status: 200, headers: { ...CORS, link: `<${HUB}/api/next>; rel="next"` }, body });
  });
  await enter(page, 'org/model');
  await expect(page.getByRole('alert')).toContainText('huggingface.co sent more than 16 MiB in one response. The rest was not read.');
  body = entries(250_000);
  many = 0;
  await enter(page, 'org/model');
  await expect(dialog(page)).toContainText('Only the first 250,000 entries were listed.');
  await expect(dialog(page).getByRole('status')).toHaveText('250,000 files and sets, the first 200 shown');
  await dialog(page).getByRole('searchbox').fill('1234 gguf 99');
  await expect(dialog(page).getByRole('status')).toContainText(' of 250,000');
  expect(many).toBe(1);
});

test('paths that lead elsewhere, and names that no file has, are left out and counted', async ({ page, context }) => {
  const entry = (path: string, size: unknown = 1) => ({ type: 'file', oid: '0', size, path });
  const strange = ['../../../evil.gguf', '/etc/x.gguf', 'a//b.gguf', './c.gguf', 'a/../../d.gguf', 'new\nline.gguf', 'esc\u001b[2J.gguf', 'right\u202eleft.gguf', 'line\u2028.gguf', 'half\ud800.gguf', `${'x'.repeat(2000)}.gguf`];
  await hub(context, {}, (route) => sendJson(route, [...strange.map((path) => entry(path)), entry('negative.gguf', -1), entry('text.gguf', '12'), entry('none.gguf', null), entry('<img src=x>.gguf', 5), entry('100%#?.gguf', 7)]));
  await enter(page, 'org/model');
  await expect(dialog(page).getByRole('listitem')).toHaveText(['100%#?.gguf7 B', '<img src=x>.gguf5 B']);
  await expect(dialog(page)).toContainText('14 files with an invalid name or size are not shown.');
  const asked = page.waitForRequest(`${HUB}/org/model/resolve/main/100%25%23%3F.gguf`);
  await dialog(page).getByRole('button', { name: '100%#?.gguf' }).click();
  await asked;
});

test('what is no list of files is refused', async ({ page, context }) => {
  let body = '';
  await hub(context, {}, (route) => route.fulfill({ status: 200, headers: CORS, body }));
  for (body of ['', '{', '{}', 'null', '"files"', '[1]', '[null]', '[[]]', '[{"type":"file"}]', '[{"path":7,"type":"file","size":1}]', '<html>', '{"error":"no"}', '{"length":1,"0":{"type":"file","path":"a.gguf"}}']) {
    await enter(page, 'org/model');
    await expect(page.getByRole('alert'), body).toContainText('huggingface.co returned an invalid list of files.');
  }
});

for (const [what, status, code, said] of [
  ['a model that there is not, or is private', 401, 'RepoNotFound', 'The model org/model is private or does not exist (huggingface.co returned 401), and this page cannot sign in.'],
  ['a gated model', 403, 'GatedRepo', 'The model org/model requires sign-in and acceptance of its terms, and this page cannot sign in.'],
  ['no revision', 404, 'RevisionNotFound', 'The revision v2 of org/model does not exist (huggingface.co returned 404).'],
  ['too many requests', 429, '', 'huggingface.co has received too many requests from your network. Wait a few minutes and try again.'],
  ['a hub that is down', 503, '', 'huggingface.co is unavailable (it returned 503). Try again later.'],
] as const) {
  test(`in words: ${what}`, async ({ page, context }) => {
    await hub(context, {}, (route) => route.fulfill({ status, headers: { ...CORS, 'x-error-code': code } }));
    await enter(page, 'org/model@v2');
    await expect(page.getByRole('alert')).toContainText(`Listing org/model: ${said}`);
    await expect(page.getByLabel('Address of a file')).toHaveValue('org/model@v2');
  });
}

test('in words: a gated file, no tensor files, no network, no model', async ({ page, context }) => {
  let answer: (route: Route, url: URL) => Promise<void> | undefined = (route, url) => (url.pathname.startsWith('/api/') ? undefined : route.fulfill({ status: 401, headers: { ...CORS, 'x-error-code': 'GatedRepo' } }));
  await hub(context, { 'model.safetensors': model }, (route, url) => answer(route, url));
  const alert = page.getByRole('alert');
  await enter(page, 'org/model');
  await expect(alert).toContainText('This file requires sign-in and acceptance of its terms, and this page cannot sign in. Download it and open it from disk.');
  answer = (route) => sendJson(route, listed({ 'flax_model.msgpack': { length: 9 }, 'config.json': { length: 9 } }));
  await enter(page, 'org/model');
  await expect(alert).toContainText('org/model contains no file of a known format (checked 2 entries).');
  answer = (route) => route.abort();
  await enter(page, 'org/model');
  await expect(alert).toContainText('huggingface.co could not be reached: check the address and the connection.');
  await enter(page, 'model');
  await expect(alert).toContainText('“model” is not an address such as https://');
});

test('a listing can be cancelled', async ({ page, context }) => {
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  await hub(context, { 'model.safetensors': model }, (route) => held.then(() => route.abort()));
  await enter(page, 'org/model');
  await page.getByRole('button', { name: 'Cancel: Listing org/model' }).click();
  await expect(page.locator('.task')).toHaveCount(0);
  await expect(page.getByRole('alert')).toBeHidden();
  go();
});

test('the build for local files has nothing of it', async ({ page, request }) => {
  const code = (build: string) => readdirSync(`dist/${build}/assets`).filter((name) => name.endsWith('.js')).map((name) => readFileSync(`dist/${build}/assets/${name}`, 'utf8')).join();
  expect(code('url')).toContain('?recursive=true');
  expect(code('local')).not.toContain('?recursive=true');
  expect((await request.get(LOCAL)).headers()['content-security-policy']).toContain("connect-src 'self';");
  await page.goto(LOCAL);
  await expect(page.locator('.sample').first()).toBeVisible();
  await expect(page.getByPlaceholder('org/model')).toHaveCount(0);
});

for (const [name, scheme, width] of [
  ['light', 'light', 1280],
  ['dark', 'dark', 1280],
  ['narrow', 'light', 390],
] as const) {
  test(`the list of a repository is accessible, ${name}`, { tag: name === 'light' ? [] : '@deep' }, async ({ page, context }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 760 });
    const quants = ['Q2_K', 'Q3_K_M', 'Q4_0', 'Q4_K_M', 'Q5_K_M', 'Q6_K', 'Q8_0', 'F16'];
    const files = Object.fromEntries(quants.map((quant, i) => [`tiny-llama-1.1b-chat-v1.0.${quant}.gguf`, { length: (i + 2) * 2 ** 29 }]));
    await hub(context, {}, (route) => sendJson(route, [...listed({ ...files, ...shards, 'imatrix/a-folder-with-a-long-name/imatrix.gguf': { length: 5e6 } }), { type: 'file', size: 1, path: '../x.gguf' }]));
    await page.goto('./');
    await page.screenshot({ path: `${PICTURES}/start-url-${name}.png` });
    await page.getByLabel('Address of a file').fill('org/model');
    await page.keyboard.press('Enter');
    await expect(dialog(page).getByRole('listitem')).toHaveCount(10);
    await expect(dialog(page).getByRole('searchbox')).toBeFocused();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([]);
    await page.screenshot({ path: `${PICTURES}/hub-${name}.png` });
    await page.keyboard.type('q4 k');
    await expect(dialog(page).getByRole('listitem')).toHaveCount(1);
    await expect(dialog(page).getByRole('status')).toHaveText('1 of 10');
    // It fits the width of the window.
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
}
