// Ranges of metadata entries, compared with where they were written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBytes, open, settle } from '../dist/index.js';

const encoder = new TextEncoder();

function u32(value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

function u64(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
}

const text = (string) => [u64(encoder.encode(string).length), encoder.encode(string)];
const UINT32 = 4;
const STRING = 8;
const ARRAY = 9;
const texts = (list) => [u32(STRING), u64(list.length), ...list.flatMap(text)];

/** A GGUF file without tensors, and the position of each entry's value. */
function gguf(entries) {
  const parts = [encoder.encode('GGUF'), u32(3), u64(0), u64(entries.length)];
  const length = () => parts.reduce((sum, part) => sum + part.length, 0);
  const ranges = entries.map(([key, type, value]) => {
    parts.push(...text(key), u32(type));
    const at = length();
    parts.push(...value);
    return [key, BigInt(at), BigInt(length() - at)];
  });
  return { bytes: new Uint8Array(Buffer.concat(parts)), ranges };
}

const words = (count, word) => Array.from({ length: count }, (_, i) => `${word}${i}`);

const { bytes, ranges } = gguf([
  ['general.architecture', STRING, text('llama')],
  ['tokenizer.ggml.tokens', ARRAY, texts(words(40_000, 'token'))],
  ['tokenizer.ggml.merges', ARRAY, texts(words(30_000, 'merge '))],
  ['tokenizer.ggml.few', ARRAY, texts(['a', 'b'])],
  ['tokenizer.ggml.nested', ARRAY, [u32(ARRAY), u64(2), ...texts(['a']), ...texts(['b', 'c'])]],
  ['llama.block_count', UINT32, [u32(2)]],
  ['tokenizer.ggml.last', ARRAY, texts(words(1000, 'last'))],
]);

for (const windows of [{}, { budget: 64 << 10, granule: 512 }]) {
  test(`entries end where their values end, ${windows.budget ?? 'any'} bytes in memory`, async () => {
    const source = fromBytes(bytes);
    const document = await open(source, { ...windows, name: 'x.gguf', goal: 'structure' });
    const table = await settle(document, source, () => document.metadata(0, ranges.length));
    const found = Array.from(table.keys, (key, i) => [key, table.at[i], BigInt(table.len[i])]);
    assert.deepEqual(found, ranges);
    const value = await settle(document, source, () => document.value(3));
    assert.equal(value.text, '["a","b"]');
    document.free();
  });
}
