/** What an index says of its model besides the list of shards. */

import { safetensors, written } from './files.ts';
import { expect, openFiles, test } from './page.ts';
import { fromFile } from '../src/worker/sources.ts';
import { statedBy } from '../src/worker/stated.ts';

const told = async (text: string) => {
  const file = new File([text], 'model.safetensors.index.json');
  const bytes = new TextEncoder().encode(text);
  const all = await statedBy(fromFile(file));
  return all.map(({ key, type, text, at, len }) => [key, type, text, new TextDecoder().decode(bytes.slice(Number(at), Number(at + len)))]);
};

test('members of the metadata are listed with their places', async () => {
  expect(await told('{ "né": "}", "metadata" : {"total_size": 18446744073709551615, "by": "a\\"é\\n", "of": {"x": [1, {"metadata": 2}]}, "none": null }, "weight_map": {"metadata": "a.safetensors"}}')).toEqual([
    ['total_size', 'number', '18446744073709551615', '18446744073709551615'],
    ['by', 'string', 'a"é\n', '"a\\"é\\n"'],
    ['of', 'object', '{"x": [1, {"metadata": 2}]}', '{"x": [1, {"metadata": 2}]}'],
    ['none', 'null', 'null', 'null'],
  ]);
});

test('of what is repeated, the last counts', async () => {
  expect((await told('{"metadata":{"total_size":1,"total_size":2}}')).map(([, , text]) => text)).toEqual(['2']);
  expect((await told('{"metadata":{"a":1},"weight_map":{},"metadata":{"b":2}}')).map(([key]) => key)).toEqual(['b']);
});

test('broken and foreign JSON yields what is whole', async () => {
  for (const text of ['{"metadata":{"a":1,"b":"x', '{"metadata":{"b":,"a":1}}', '{"metadata":{"b":1 2,"a":1}}']) {
    expect(await told(text), text).toEqual([['a', 'number', '1', '1']]);
  }
  for (const text of ['', '[]', '{"metadata":[]}', '{"metadata":7}', '{"metadata"', '}}}{"metadata":{"a":1}}', '{"weight_map":{"metadata":{"a":1}}}']) {
    expect(await told(text), text).toEqual([]);
  }
});

test('metadata of shards shows what the index says', async ({ page }) => {
  const shard = (value: number) => safetensors({ [`w${value}`]: { dtype: 'F32', shape: [1], data: Float32Array.of(value) } }, { format: 'pt' });
  const name = (number: number) => `model-0000${number}-of-00002.safetensors`;
  const index = { metadata: { total_size: 8, by: '\u202etest' }, weight_map: { w1: name(1), w2: name(2) } };
  await openFiles(page, written({ [name(1)]: shard(1), [name(2)]: shard(2), 'model.safetensors.index.json': JSON.stringify(index) }));
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  const rows = page.locator('.meta-table .v-list [role=row]:not([hidden])');
  await expect(rows).toHaveText(['formatstringpt00001-of-00002', 'formatstringpt00002-of-00002', 'total_sizenumber8index', 'bystring\\u{202e}testindex']);
  await rows.filter({ hasText: 'total_size' }).click();
  await expect(page.locator('.meta-value .value-text')).toHaveText('8');
  await page.locator('.meta-value .facts .link').click();
  await expect(page.locator('.hex-row mark').first()).toHaveText('38');
});
