// What a user of the package meets first.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fromBytes, load, open, settle, stream } from '../dist/index.js';
import { files, fixtures } from './host.mjs';

async function* documents(goal) {
  for (const path of files(fixtures)) {
    const source = fromBytes(readFileSync(path));
    const document = await open(source, { name: path, goal });
    yield { path, source, document };
    document.free();
  }
}

test('words that were asked for first know the codes of later tables', async () => {
  let findings = 0;
  for await (const { path, source, document } of documents('structure')) {
    const words = document.words();
    const known = (codes) => Array.from(codes, (code) => assert.equal(typeof words[code], 'string', path));
    const { severity, kind, total } = document.findings(0, document.findingCount);
    [severity, kind].forEach(known);
    assert.ok(Array.from(severity).every((code) => ['fatal', 'violation', 'lint', 'unchecked'].includes(words[code])));
    findings += total;
    const { dtype, status, layout, encoding } = document.rows(0, document.tensorCount);
    [dtype, status, layout, encoding, document.totals().dtype].forEach(known);
    const { part, kind: of } = document.layout(0, 1000);
    [part, of].forEach(known);
    if (document.tensorCount > 0) {
      known((await settle(document, source, () => document.chunks(0, 0, 10))).encoding);
    }
  }
  assert.ok(findings > 100, `${findings} findings`);
});

test('texts are read as an array is', async () => {
  const texts = { seen: 0 };
  for await (const { document } of documents('index')) {
    const { names, index } = document.rows(0, 10);
    const all = [...names];
    assert.equal(all.length, index.length);
    assert.equal(names.length, index.length);
    assert.deepEqual(all.map((_, i) => names.at(i)), all);
    assert.equal(names.at(-1), all.at(-1));
    assert.equal(names.at(all.length), undefined);
    assert.equal(all.join(''), names.text);
    texts.seen += all.length;
  }
  assert.ok(texts.seen > 100);
});

test('without vectors all but the first module are refused with a reason', () => {
  const program = `WebAssembly.validate = () => false;
    const { load } = await import('${new URL('../dist/index.js', import.meta.url)}');
    const base = await load();
    for (const flavour of ['full', 'compute']) {
      await load(flavour).catch((error) => console.log(base.flavour, error.name, error.message));
    }`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.match(said, /^(?:base WeighbridgeError .*SIMD.*\n){2}$/);
});

test('a length and an offset may be plain numbers', async () => {
  const path = files(fixtures).find((it) => it.endsWith('.safetensors'));
  const bytes = readFileSync(path);
  const read = async (at, len) => bytes.subarray(Number(at), Number(at) + len);
  const document = await open({ size: bytes.length, read }, { name: path });
  assert.equal(document.length, BigInt(bytes.length));
  assert.equal(document.locate(0), document.locate(0n));
  assert.deepEqual(document.strip(0, bytes.length, 4), document.strip(0n, document.length, 4));
  const { Document } = await load('full');
  const other = new Document(bytes.length, { name: path });
  assert.equal(other.advance('index'), false);
  other.supply(0, bytes);
  assert.equal(other.advance('index'), true);
  assert.throws(() => new Document(1.5), RangeError);
  document.free();
  other.free();
});

test('what is thrown is an error that says what and where', async () => {
  const seen = { rule: 0, offset: 0 };
  const expect = (error, path) => {
    assert.ok(error instanceof Error && error.message !== '', path);
    assert.equal(error.name, 'WeighbridgeError', `${path}: ${error.stack}`);
    const { rule, offset } = error;
    assert.ok(rule === undefined || /^[A-Z][A-Z0-9-]*$/.test(rule), `${path}: ${rule}`);
    assert.ok(offset === undefined || typeof offset === 'bigint', path);
    seen.rule += rule === undefined ? 0 : 1;
    seen.offset += offset === undefined ? 0 : 1;
  };
  for await (const { path, source, document } of documents('structure')) {
    const ask = (call) => settle(document, source, call).catch((error) => expect(error, path));
    for (let i = 0; i < document.tensorCount; i++) {
      await ask(() => document.tensor(i));
      await ask(() => document.values(i, 0, 4));
      await ask(() => document.attributes(i));
      await stream(document, source, i, []).catch((error) => expect(error, path));
    }
    for (let i = 0; i < document.metadataCount; i++) {
      await ask(() => document.value(i));
    }
    await ask(() => document.tensor(document.tensorCount));
    // Bytes that have changed since.
    document.supply(0, new Uint8Array(Number(document.length)).fill(0xff));
    for (let i = 0; i < document.tensorCount; i++) {
      await ask(() => document.tensor(i));
      await ask(() => document.chunks(i, 0, 4));
      await ask(() => document.attributes(i));
    }
  }
  assert.ok(seen.rule > 0 && seen.offset > 0, JSON.stringify(seen));
});

test('a file of another kind has a verdict and a name', async () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4970\n';
  const other = async (content, name, options) => {
    const document = await open(fromBytes(Buffer.from(content, 'latin1')), { name, ...options });
    const { verdict, valid, diagnosis } = document.verdict();
    document.free();
    assert.equal(valid, false);
    return [verdict, diagnosis];
  };
  const hdf5 = '\x89HDF\r\n\x1A\n and so on';
  for (const name of ['x', 'x.npy', 'x.safetensors', 'x.oinf']) {
    assert.deepEqual(await other(hdf5, name), ['unsupported', 'an HDF5 file']);
  }
  // Who says what a file is wants to know what is wrong with it.
  assert.equal((await other(hdf5, 'x', { format: 'oinf' }))[0], 'invalid');
  const [verdict, diagnosis] = await other(pointer, 'x.gguf');
  assert.equal(verdict, 'invalid');
  assert.match(diagnosis, /^a Git LFS pointer.* fetches its 4,970 bytes$/);
  assert.deepEqual(await other('', 'x'), ['invalid', 'an empty file']);
});

test('a file that is cut off is called that', async () => {
  for (const [extension, said] of [
    ['.safetensors', /^1 byte short; [\d,]+ tensors? reach(?:es)? past the end: download it again$/],
    ['.oinf', /^1 byte short: download it again$/],
  ]) {
    let bytes;
    for (const path of files(fixtures).filter((it) => it.endsWith(extension))) {
      const document = await open(fromBytes(readFileSync(path)), { name: path, goal: 'payloads' });
      const { verdict, diagnosis } = document.verdict();
      bytes ??= verdict === 'valid' && document.tensorCount > 0 && document.findingCount === 0 ? readFileSync(path) : undefined;
      assert.ok(verdict !== 'valid' || diagnosis === undefined, path);
      document.free();
    }
    const cut = await open(fromBytes(bytes.subarray(0, bytes.length - 1)), { name: `x${extension}`, goal: 'payloads' });
    assert.match(cut.verdict().diagnosis, said);
    assert.equal(cut.verdict().verdict, 'invalid');
    cut.free();
  }
});
