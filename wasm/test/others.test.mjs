// Data in other files, which a host appends to the model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, settle } from '../dist/index.js';

const varint = (n) => (n < 128 ? [n] : [(n % 128) + 128, ...varint(Math.floor(n / 128))]);

/** A field of a Protocol Buffers message: a number, or the bytes of a text or message. */
function field(number, value) {
  if (typeof value === 'number') {
    return Buffer.from([...varint(number * 8), ...varint(value)]);
  }
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

/** A model with one tensor of type f32 for each path, which has all data of that file. */
function model(...paths) {
  const tensor = (path, i) => [field(1, 2), field(2, 1), field(8, `w${i}`), field(13, Buffer.concat([field(1, 'location'), field(2, path)])), field(14, 1)];
  const graph = [...paths.map((path, i) => field(5, Buffer.concat(tensor(path, i)))), field(2, 'graph')];
  const opset = Buffer.concat([field(1, ''), field(2, 21)]);
  return Buffer.concat([field(1, 10), field(7, Buffer.concat(graph)), field(8, opset)]);
}

/** A document of a model and files at these offsets, and its source. */
async function opened(own, data) {
  const { Document } = await load('full');
  const all = Buffer.alloc(Math.max(own.length, ...data.map((one) => (one ? Number(one.base) + one.bytes.length : 0))));
  own.copy(all);
  data.forEach((one) => one?.bytes.copy(all, Number(one.base)));
  const source = { size: BigInt(all.length), read: async (at, len) => all.subarray(Number(at), Number(at) + len) };
  const document = new Document(own.length, { name: 'model.onnx' });
  await settle(document, source, () => document.advance('index'));
  const names = await settle(document, source, () => document.otherFiles());
  document.attach(data.map((one) => one && { base: one.base, length: BigInt(one.bytes.length) }));
  await settle(document, source, () => document.advance('payloads'));
  return { document, source, names };
}

const floats = (...values) => Buffer.from(Float32Array.from(values).buffer);

test('data in other files is read where they are appended', async () => {
  const own = model('a.bin', 'b.bin', 'a.bin');
  const data = [{ base: 512n, bytes: floats(1, 2) }, { base: 1024n, bytes: floats(3, 4) }];
  const { document, source, names } = await opened(own, data);
  assert.deepEqual(names, ['a.bin', 'b.bin']);
  assert.equal(document.length, 1032n);
  assert.equal(document.verdict().verdict, 'valid');
  assert.equal(document.verdict().leftOut, undefined);
  assert.equal(document.findingCount, 0);
  for (const [i, values, offset] of [[0, [1, 2], 512n], [1, [3, 4], 1024n], [2, [1, 2], 512n]]) {
    assert.deepEqual([...(await settle(document, source, () => document.values(i, 0n, 2))).data], values);
    assert.equal((await settle(document, source, () => document.tensor(i))).offset, offset);
  }
  document.free();
});

test('a file that is missing is said, and one that is too short is found', async () => {
  const own = model('a.bin', 'b.bin');
  const { document } = await opened(own, [undefined, { base: 512n, bytes: floats(3, 4) }]);
  assert.equal(document.verdict().leftOut, 'some files that its tensors name were not found');
  assert.equal(document.verdict().unchecked, 1);
  document.free();
  const short = await opened(own, [{ base: 512n, bytes: floats(1) }, { base: 1024n, bytes: floats(3, 4) }]);
  assert.equal(short.document.verdict().valid, false);
  short.document.free();
});

test('paths that lead out of the folder are not among the files', async () => {
  for (const path of ['../a.bin', '/a.bin', 'a\\b.bin', 'c:a.bin']) {
    const { document, names } = await opened(model(path), []);
    assert.deepEqual(names, [], path);
    assert.equal(document.verdict().valid, false, path);
    document.free();
  }
});
