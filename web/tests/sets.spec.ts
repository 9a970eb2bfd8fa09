/** Multi-file models: shards with an index, and split GGUF. */

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { folderOf } from '../src/names.ts';
import { folder, gguf, safetensors, written } from './files.ts';
import { BY_URL, expect, openFiles, openSample, openTensor, panelTab, settled, test } from './page.ts';
import { sendRange } from './remote.ts';

const floats = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.from(values) });
const shardOf = (number: number, count = 3) => `model-0000${number}-of-0000${count}.safetensors`;
const INDEX = 'model.safetensors.index.json';

/** Three shards of two tensors each, and their index. */
function checkpoint(change: (values: number[]) => number[] = (values) => values) {
  const tensors = (number: number) =>
    safetensors({
      [`layers.${number - 1}.weight`]: { ...floats(...change([number, 2, 3, 4, 5, 6])), shape: [2, 3] },
      [`layers.${number - 1}.bias`]: floats(...change([0.5, -0.5, 1, number])),
    });
  const files = Object.fromEntries([1, 2, 3].map((number) => [shardOf(number), tensors(number)]));
  const map = Object.fromEntries([1, 2, 3].flatMap((number) => ['weight', 'bias'].map((kind) => [`layers.${number - 1}.${kind}`, shardOf(number)])));
  return { files, map };
}

const index = (map: Record<string, string>, total_size = 120) => JSON.stringify({ metadata: { total_size }, weight_map: map });

const names = (page: Page) => page.locator('.tensor-table .v-list [role=row]:not([hidden]) .name bdi');
const findings = (page: Page) => page.locator('.finding .rule');
const filesTab = (page: Page) => page.getByRole('tab', { name: /^Files/ });

async function open(page: Page, files: Record<string, Buffer | string>): Promise<void> {
  await openFiles(page, written(files));
}

test('an index with its shards is one model', async ({ page }) => {
  const { files, map } = checkpoint();
  await open(page, { ...files, [INDEX]: index(map) });
  await expect(page.locator('.file-name')).toHaveText([INDEX]);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.verdict-facts')).toContainText('safetensors · 4 files · ');
  await expect(page.locator('.verdict-facts')).toContainText('6 tensors · 30 parameters');
  await expect(names(page)).toHaveText([1, 2, 3].flatMap((n) => [`layers.${n - 1}.weight`, `layers.${n - 1}.bias`]));
  // The file of each tensor: a column, and a filter.
  const columns = page.locator('.tensor-table .v-list [role=row]:not([hidden]) .encoding');
  await expect(columns.first()).toHaveText('00001-of-00003');
  await page.getByRole('button', { name: 'File', exact: true }).click();
  await page.getByRole('button', { name: 'File', exact: true }).click();
  await expect(columns.first()).toHaveText('00003-of-00003');
  await page.getByLabel('In file', { exact: true }).selectOption({ label: `${shardOf(2)} (2)` });
  await expect(names(page)).toHaveText(['layers.1.bias', 'layers.1.weight']);
  await page.getByRole('searchbox').fill('bias');
  await expect(names(page)).toHaveText(['layers.1.bias']);
  await page.getByRole('searchbox').fill('layers.*.bias');
  await expect(names(page)).toHaveText(['layers.1.bias']);
  await page.getByLabel('In file', { exact: true }).selectOption('');
  await expect(names(page)).toHaveCount(3);
  await page.getByRole('searchbox').fill('');
  await page.getByRole('button', { name: 'Tree' }).click();
  await expect(page.locator('.tree [role=row][aria-level]')).toHaveText([/^▾layers(?:mixed|f32)/, /^▸0/, /^▸1/, /^▸2/]);
  await page.getByRole('button', { name: 'List' }).click();
  // The details name the file; values and bytes come from it.
  await openTensor(page, 'layers.2.weight');
  await expect(page.locator('.facts-list')).toContainText(shardOf(3));
  await panelTab(page, 'Values');
  await expect(page.locator('.value-grid')).toContainText('3');
  await panelTab(page, 'Overview');
  const bytes = files[shardOf(3)];
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  await page.locator('.facts-list .link').first().click();
  await expect(page.getByLabel('File', { exact: true })).toHaveValue(/\d/);
  await expect(page.locator('.hex-where').first()).toHaveText(new RegExp(`^0x${start.toString(16).toUpperCase()}–0x${(start + 24).toString(16).toUpperCase()}`));
  await expect(page.locator('.hex-row mark').first()).toContainText('00 00 40 40');
  await filesTab(page).click();
  await expect(page.locator('.set tbody tr')).toHaveText([new RegExp(`^${INDEX}`), ...[1, 2, 3].map((n) => new RegExp(`^${shardOf(n)}.*222 open$`))]);
});

test('models of the same file name are told apart: by folder, by address, or by number', async ({ page }) => {
  const { files, map } = checkpoint();
  const all = () => written({ [INDEX]: index(map), ...files });
  await openFiles(page, all());
  await page.locator('input[type=file]').setInputFiles(all());
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText([INDEX, `${INDEX} (2)`]);
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.locator('.compare-sides:visible')).toHaveText(`Base ${INDEX} → ${INDEX} (2)`);
  expect(['https://huggingface.co/org/a%20model/resolve/main/x.json', 'https://files.test/models/llama/x.json', 'https://files.test/x.json'].map(folderOf)).toEqual(['org/a model', 'llama', undefined]);
});

test('metadata of shards says of which file it is', async ({ page }) => {
  const files = Object.fromEntries([1, 2].map((number) => [shardOf(number, 2), safetensors({ [`layers.${number}`]: floats(number) }, { format: 'pt' })]));
  await open(page, { ...files, [INDEX]: index({ 'layers.1': shardOf(1, 2), 'layers.2': shardOf(2, 2) }, 8) });
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  await expect(page.locator('.meta-table .v-list [role=row]:not([hidden])')).toHaveText([...[1, 2].map((number) => `formatstringpt0000${number}-of-00002`), 'total_sizenumber8index']);
});

test('a line of Python reads a tensor from the shard that has it', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { files, map } = checkpoint();
  await open(page, { ...files, [INDEX]: index(map) });
  await openTensor(page, 'layers.1.bias');
  await page.getByRole('button', { name: 'Copy Python' }).press('Enter');
  await expect(page.getByRole('status').filter({ hasText: 'Copied: ' })).toHaveCount(1);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`safetensors.safe_open("${shardOf(2)}", "np").get_tensor("layers.1.bias")`);
});

test('the sample in shards is one model, and the other misses a shard', async ({ page }) => {
  await openSample(page, 'shards');
  await expect(page.locator('.file-name')).toHaveCount(1);
  await expect(page.locator('.verdict-facts')).toContainText('safetensors · 4 files · ');
  await filesTab(page).click();
  await expect(page.locator('.set [data-state=open]')).toHaveCount(3);
  await page.getByRole('tab', { name: 'Model' }).click();
  await expect(page.locator('.model').first()).toContainText('3');
  await openSample(page, 'shards-broken');
  await expect(findings(page)).toHaveText(['TENSOR-MISSING', 'SHARD-MISSING', 'TENSOR-ELSEWHERE']);
});

test('what index and shards do not agree on is found, as the command finds it', async ({ page }) => {
  const { files, map } = checkpoint();
  delete files[shardOf(3)];
  files[shardOf(2)] = safetensors({ 'layers.1.weight': floats(1), 'layers.0.bias': floats(2), extra: floats(3) });
  files[shardOf(4, 4).replace('of-00004', 'of-00003')] = safetensors({ more: floats(1) });
  await open(page, { ...files, [INDEX]: index(map) });
  await page.locator('.file-name').first().click();
  await expect(page.locator('.file:visible .verdict-head')).toHaveText('Invalid');
  const view = page.locator('.file:visible');
  await expect(view.locator('.finding .rule')).toHaveText(['TENSOR-MISSING', 'SHARD-MISSING', 'TENSOR-ELSEWHERE', 'TENSOR-UNLISTED']);
  await expect(view.locator('.finding .finding-name')).toHaveText(['layers.1.bias', shardOf(3), 'layers.0.bias', 'extra']);
  await expect(view.locator('.finding .finding-where').first()).toContainText(`in ${INDEX}`);
  await view.getByRole('tab', { name: /^Files/ }).click();
  await expect(view.locator('.set')).toContainText('2 of 3 shards · 1 missing: drop it here too · 1 not in the index');
  await expect(view.locator('.set [data-state=missing]')).toContainText(shardOf(3));
  await expect(view.locator('.set [data-state=open]').nth(1)).toContainText(`${shardOf(2)}`);
  await expect(view.locator('.set [data-state=open]').nth(1)).toContainText('1 tensor missing');
  // A file whose name fits the set is also shown on its own.
  await expect(page.locator('.file-name')).toHaveText([INDEX, 'model-00004-of-00003.safetensors']);
});

test('a shard that comes later joins its index', async ({ page }) => {
  const { files, map } = checkpoint();
  const paths = written({ ...files, [INDEX]: index(map) });
  await openFiles(page, paths[3]);
  await expect(page.locator('.set')).toContainText('0 of 3 shards · 3 missing: drop them here too');
  // Files that were never requested are not reported as missing.
  await expect(findings(page)).toHaveCount(0);
  await page.locator('input[type=file]').setInputFiles(paths.slice(0, 2));
  await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveAttribute('aria-selected', 'true');
  await expect(findings(page)).toHaveText(['SHARD-MISSING']);
  await page.locator('input[type=file]').setInputFiles(paths[2]);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.file-name')).toHaveText([INDEX]);
});

test('a broken shard is marked, and the others are shown', async ({ page }) => {
  const { files, map } = checkpoint();
  files[shardOf(2)] = files[shardOf(2)].subarray(0, -4);
  await open(page, { ...files, [INDEX]: index(map) });
  await expect(page.locator('.verdict-head')).toHaveText('Invalid');
  await expect(page.locator('.verdict-diagnosis')).toContainText(`${shardOf(2)}: 4 bytes short`);
  await expect(page.locator('.finding', { hasText: 'OFFSET-BOUNDS' }).first().locator('.finding-where')).toContainText(`in ${shardOf(2)}`);
  await expect(page.locator('.finding', { hasText: 'SHARD-INVALID' })).toHaveCount(1);
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await expect(page.locator('.tensor-table .v-list .faulty')).not.toHaveCount(0);
  await expect(names(page)).toHaveCount(6);
});

/** Part `no`, counted from 0, of a model split in three. */
const part = (no: number, tensors: Record<string, number[]>, count = 3) => {
  const data = (values: number[]) => ({ type: 0, shape: [values.length], data: Buffer.from(Float32Array.from(values).buffer) });
  const own = Object.fromEntries(Object.entries(tensors).map(([name, values]) => [name, data(values)]));
  return gguf({ ...(no === 0 ? { 'general.architecture': 'llama' } : {}), 'split.no': { u16: no }, 'split.count': { u16: count }, 'split.tensors.count': { i32: 3 } }, own);
};
const partOf = (number: number) => `model-0000${number}-of-00003.gguf`;
const parts = () => Object.fromEntries([1, 2, 3].map((number) => [partOf(number), part(number - 1, { [`blk.${number}.weight`]: [number, 2, 3, 4] })]));

test('the parts of a split GGUF are one model', async ({ page }) => {
  await open(page, parts());
  await expect(page.locator('.file-name')).toHaveCount(1);
  await expect(page.locator('.verdict-facts')).toContainText('GGUF 3 · 3 files');
  await expect(names(page)).toHaveText([1, 2, 3].map((n) => `blk.${n}.weight`));
  await expect(page.locator('.stage', { hasText: 'parts of its set' })).toHaveCount(0);
  await openTensor(page, 'blk.3.weight');
  await expect(page.locator('.facts-list')).toContainText(partOf(3));
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  await expect(page.locator('.metadata, .meta-list').first()).toContainText('general.architecture');
});

test('a part that is missing, and a tensor in two', async ({ page }) => {
  const { [partOf(2)]: _, ...files } = parts();
  files[partOf(3)] = part(2, { 'blk.1.weight': [1] });
  await open(page, files);
  await expect(findings(page)).toContainText(['KEYS-SPLIT-MISSING', 'KEYS-SPLIT-TWICE']);
  await expect(page.locator('.finding', { hasText: 'KEYS-SPLIT-MISSING' })).toContainText(`part 2 of 3 is missing`);
  await filesTab(page).click();
  await expect(page.locator('.set')).toContainText('2 of 3 parts · 1 missing: drop it here too');
});

test('the first part is missing, which has no tensors', async ({ page }) => {
  const { [partOf(1)]: _, ...files } = parts();
  await open(page, files);
  await expect(page.locator('.finding', { hasText: 'KEYS-SPLIT-MISSING' })).toContainText('part 1 of 3 is missing');
  await expect(page.locator('.verdict-head')).toHaveText('Invalid');
});

test('a dropped folder with a model and other files', async ({ page }) => {
  const { files, map } = checkpoint();
  const path = folder({ ...files, [INDEX]: index(map), 'other.safetensors': safetensors({ x: floats(1) }), 'README.md': '# A model', 'config.json': '{}' });
  await page.goto('./');
  await page.evaluate(
    (list) => {
      const file = (name: string, bytes: number[]) => ({ kind: 'file', name, getFile: async () => new File([new Uint8Array(bytes)], name) });
      const directory = { kind: 'directory', name: 'model', values: async function* () { yield* list.map(({ name, bytes }) => file(name, bytes)); } };
      const transfer = { items: [{ kind: 'file', getAsFileSystemHandle: async () => directory, webkitGetAsEntry: () => null, getAsFile: () => null }] };
      dispatchEvent(Object.assign(new Event('drop', { cancelable: true }), { dataTransfer: transfer }));
    },
    [...Object.keys(files), 'other.safetensors', INDEX, 'README.md', 'config.json'].map((name) => ({ name, bytes: [...readFileSync(join(path, name))] })),
  );
  await expect(page.locator('.file-name')).toHaveText(['model', 'other.safetensors']);
  await page.locator('.file-name').first().click();
  await expect(page.locator('.file:visible .verdict-facts')).toContainText('4 files');
});

test('a set is scanned, compared and exported as one', async ({ page }) => {
  const { files, map } = checkpoint();
  const one = safetensors(Object.fromEntries([0, 1, 2].flatMap((n) => [[`layers.${n}.weight`, { ...floats(n + 1, 2, 3, 4, 5, 6), shape: [2, 3] }], [`layers.${n}.bias`, floats(0.5, -0.5, 1, n === 2 ? NaN : n + 1)]])));
  await open(page, { ...files, [INDEX]: index(map), 'whole.safetensors': one });
  await page.locator('.file-name').first().click();
  const view = page.locator('.file:visible');
  await view.getByRole('button', { name: 'Scan weights' }).click();
  await expect(view.locator('.stage-weights')).toHaveAttribute('data-state', /sound|suspicious/);
  await expect(view.locator('.tensor-table .v-list [role=row]:not([hidden]) .max')).toHaveText(['6', '1', '6', '2', '6', '3']);
  await view.getByRole('tab', { name: 'Compare' }).click();
  await view.getByRole('button', { name: 'Compare all values' }).click();
  await expect(view.locator('.compare .list-summary')).toContainText('0 added · 0 removed · 1 changed · 5 unchanged');
  const download = async (name: string) => {
    await view.locator('.menu summary').click();
    const [file] = await Promise.all([page.waitForEvent('download'), view.getByRole('button', { name }).click()]);
    return readFileSync(await file.path(), 'utf8');
  };
  const csv = await download('Index as CSV');
  expect(csv.split('\r\n')[0]).toMatch(/,file$/);
  expect(csv).toMatch(new RegExp(`layers\\.2\\.bias.*,${shardOf(3)}\r\n`));
});

test('the address of an index opens the shards beside it', async ({ page, context }) => {
  const { files, map } = checkpoint();
  delete files[shardOf(2)];
  const path = folder({ ...files, [INDEX]: index(map) });
  await context.route('https://files.test/**', async (route) => {
    const name = basename(new URL(route.request().url()).pathname);
    await sendRange(route, name in files || name === INDEX ? readFileSync(join(path, name)) : undefined);
  });
  await page.goto(BY_URL);
  await page.getByLabel('Address of a file').fill(`https://files.test/org/model/${INDEX}`);
  await page.getByRole('button', { name: 'Open address' }).click();
  await settled(page);
  await expect(findings(page)).toHaveText(['SHARD-MISSING']);
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await expect(names(page)).toHaveCount(4);
});

test('200 shards with 100,000 tensors', { tag: '@deep' }, async ({ page }) => {
  const [shards, each] = [200, 500];
  const named = (n: number) => `model-${String(n + 1).padStart(5, '0')}-of-00200.safetensors`;
  const map: Record<string, string> = {};
  const files: Record<string, Buffer | string> = {};
  for (let n = 0; n < shards; n++) {
    const tensors = Array.from({ length: each }, (_, i) => `model.layers.${n}.mlp.experts.${i}.weight`);
    tensors.forEach((name) => (map[name] = named(n)));
    files[named(n)] = safetensors(Object.fromEntries(tensors.map((name, i) => [name, floats(n, i)])));
  }
  await page.goto('./');
  const paths = written({ ...files, [INDEX]: index(map, 8 * shards * each) });
  await page.locator('input[type=file]').setInputFiles(paths);
  // Opening through the picker takes time, too.
  const begun = Date.now();
  await expect(page.locator('.tensor-table .v-list [data-status=sound]').first()).toBeVisible();
  const shown = Date.now() - begun;
  await settled(page);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  console.log(`200 shards, 100,000 tensors: rows after ${shown} ms, verdict after ${Date.now() - begun} ms`);
  await page.getByRole('searchbox').fill('layers.199.mlp.experts.499.');
  await expect(names(page)).toHaveText(['model.layers.199.mlp.experts.499.weight']);
});

test('opening a set can be cancelled', async ({ page, context }) => {
  const { files, map } = checkpoint();
  const path = folder({ [INDEX]: index(map) });
  await context.route('https://files.test/**', async (route) => {
    const name = basename(new URL(route.request().url()).pathname);
    if (name in files) {
      // Never answer.
      return;
    }
    const bytes = readFileSync(join(path, name));
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'range', 'access-control-expose-headers': 'content-range' };
    await route.fulfill(route.request().method() === 'OPTIONS' ? { status: 204, headers } : { status: 206, headers: { ...headers, 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}` }, body: bytes });
  });
  await page.goto(BY_URL);
  await page.getByLabel('Address of a file').fill(`https://files.test/org/model/${INDEX}`);
  await page.getByRole('button', { name: 'Open address' }).click();
  await expect(page.locator('.task')).toContainText('Opening');
  await page.getByRole('button', { name: /Cancel/ }).click();
  await expect(page.getByRole('button', { name: /Cancel/ })).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Drop a tensor file' })).toBeVisible();
});

for (const [theme, width] of [['light', 1280], ['dark', 1280], ['light', 390]] as const) {
  test(`a set is accessible: ${theme}, ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: theme });
    const { files, map } = checkpoint();
    delete files[shardOf(2)];
    await open(page, { ...files, [INDEX]: index(map) });
    for (const tab of [/^Findings/, /^Files/, /^Tensors/]) {
      await page.getByRole('tab', { name: tab }).click();
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([]);
      await page.screenshot({ path: `test-results/sets-${theme}-${width}-${String(tab).slice(2, 6)}.png` });
    }
    // By keyboard: the tabs, and the choice of a file.
    await filesTab(page).click();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name: /^Tensors/ })).toHaveAttribute('aria-selected', 'true');
    await page.getByLabel('In file', { exact: true }).focus();
    await page.keyboard.press('ArrowDown');
    await expect(names(page)).toHaveCount(2);
  });
}
