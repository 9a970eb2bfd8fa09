// What a user of the package meets first.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inflateRawSync, inflateSync } from 'node:zlib';
import { fromBytes, load, open, settle, stream } from '../dist/index.js';
import { jsonFloat } from '../dist/unpack.js';
import { files, fixtures } from './host.mjs';

async function* documents(goal) {
  for (const path of files(fixtures)) {
    const source = fromBytes(readFileSync(path));
    const document = await open(source, { name: path, goal, module: 'base' });
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

test('messages name the value types of GGUF, and the numbers stay', async () => {
  const number = (bytes, value) => {
    const of = Buffer.alloc(8);
    of.writeBigUInt64LE(BigInt(value));
    return of.subarray(0, bytes);
  };
  const key = 'tokenizer.ggml.bos_token_id';
  const id = [number(8, key.length), Buffer.from(key), number(4, 10), number(8, 1)];
  const bytes = Buffer.concat([Buffer.from('GGUF'), number(4, 3), number(8, 0), number(8, 1), ...id]);
  const document = await open(fromBytes(bytes), { name: 'a.gguf', goal: 'structure', module: 'base' });
  const { messages, numbers, rule } = document.findings(0, document.findingCount);
  const at = Array.from(rule).findIndex((code) => document.rule(code).id === 'KEYS-TYPE');
  assert.equal(messages.at(at), 'the value or its items are of type uint64; readers take type uint32');
  assert.deepEqual(numbers[at], { expected: 4n, found: 10n });
  document.free();
});

/** The document of a module that knows `bytes`, as far as `goal`. */
async function openIn(flavour, bytes, goal, name) {
  const { Document } = await load(flavour);
  const source = fromBytes(bytes);
  const document = new Document(source.size, { name });
  await settle(document, source, () => document.advance(goal));
  return document;
}

test('the first module takes no file for another format', async () => {
  const heads = new Set();
  for (const path of files(fixtures)) {
    const bytes = readFileSync(path);
    // The magic of a format, followed by the start of a safetensors file.
    for (const magic of [2, 4, 6, 8]) {
      heads.add(Buffer.concat([bytes.subarray(0, magic), Buffer.alloc(Math.max(0, 8 - magic)), Buffer.from('{"a":{}}')]).toString('latin1'));
    }
  }
  for (const magic of ['PK\x03\x04', 'PK\x05\x06', '\x93NUMPY', '\x80\x02', '\x89HDF', '{"weight_map":{}}', '{']) {
    heads.add(`${magic.padEnd(8, '\0')}{"a":{}}`);
  }
  let own = 0;
  for (const head of heads) {
    const bytes = Buffer.from(head, 'latin1');
    const [first, full] = [await openIn('base', bytes, 'index'), await openIn('full', bytes, 'index')];
    if (!first.refused || !first.unknown) {
      assert.equal(first.format, full.format, JSON.stringify(head));
      own++;
    }
    first.free();
    full.free();
  }
  assert.ok(own > 2 && own < heads.size, `${own} of ${heads.size}`);
});

test('elements in blocks take another module, which settle loads', async () => {
  const first = await load('base');
  const path = files(fixtures).find((it) => it.endsWith('every-type.gguf'));
  const source = fromBytes(readFileSync(path));
  const document = new first.Document(source.size, { granule: 512, budget: 1024 });
  await settle(document, source, () => document.advance('index'));
  let blocks = 0;
  for (let i = 0; i < document.tensorCount; i++) {
    const { dtype, elements } = await settle(document, source, () => document.tensor(i));
    const ask = () => settle(document, source, () => document.values(i, 0, Number(elements)));
    if (!/^(i?q|tq|mx|nv)/.test(dtype)) {
      await ask().catch((error) => assert.match(error.message, /cannot be shown/, dtype));
      continue;
    }
    if (blocks === 0) {
      assert.equal(document.requires, undefined);
      for (let answer; document.requires === undefined; answer = document.values(i, 0, 1)) {
        assert.equal(answer, undefined);
        const need = document.need();
        for (let k = 0; k < need.length; k += 2) {
          document.supply(need[k], await source.read(need[k], Number(need[k + 1])));
        }
      }
      assert.equal(document.requires, 'compute');
      assert.equal(document.npy(i), undefined);
      // A later call that misses bytes does not wait for the module.
      const others = Array.from({ length: document.tensorCount }, (_, k) => k);
      const missing = others.find((k) => document.tensor(k) !== undefined && document.values(k, 0, 1) === undefined && document.need().length > 0);
      assert.notEqual(missing, undefined);
      assert.equal(document.requires, undefined);
    }
    blocks++;
    const { data } = await ask().catch((error) => {
      assert.match(error.message, /cannot be shown/, dtype);
      assert.ok(['q8_1', 'q8_k'].includes(dtype), dtype);
      return { data: new Float32Array(Number(elements)) };
    });
    assert.ok(data instanceof Float32Array, dtype);
    assert.equal(data.length, Number(elements), dtype);
    assert.equal(document.requires, undefined);
  }
  assert.ok(blocks > 20, `${blocks} types`);
  document.free();
});

test('floats are written as the command writes them', () => {
  const written = [
    [0.1, '0.1'], [1, '1.0'], [-0, '-0.0'], [123456, '123456.0'], [1e-4, '0.0001'], [9.5e-5, '9.5e-5'],
    [9_999_999_999_999_998, '9999999999999998.0'], [1e16, '1e+16'], [-1.5e300, '-1.5e+300'], [5e-324, '5e-324'],
    [NaN, '"NaN"'], [Infinity, '"Infinity"'], [-Infinity, '"-Infinity"'],
  ];
  written.forEach(([value, text]) => assert.equal(jsonFloat(value), text));
});

test('many tensors are listed by the faster module', async () => {
  const file = (count) => {
    const header = Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, { dtype: 'U8', shape: [1], data_offsets: [i, i + 1] }]));
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeUInt32LE(text.length);
    return Buffer.concat([length, text, Buffer.alloc(count)]);
  };
  for (const [count, needed] of [[10_000, false], [10_001, true]]) {
    const bytes = file(count);
    const first = await openIn('base', bytes, 'index');
    assert.equal(first.needsFull, needed);
    assert.equal(first.tensorCount, count);
    const document = await open(fromBytes(bytes), { module: 'base' });
    assert.equal(document.needsFull, false);
    assert.equal(document.tensorCount, count);
    assert.equal(document.verdict().valid, true);
    [first, document].forEach((one) => one.free());
  }
});

test('without vectors the modules that use them are refused with a reason', () => {
  const program = `WebAssembly.validate = () => false;
    const { load } = await import('${new URL('../dist/index.js', import.meta.url)}');
    const [base] = await Promise.all([load(), load('summary')]);
    for (const flavour of ['full', 'compute']) {
      await load(flavour).catch((error) => console.log(base.flavour, error.name, error.message));
    }`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.match(said, /^(?:base WeighbridgeError .*SIMD.*\n){2}$/);
});

test('a module that could not be loaded is named, and may be loaded again', async () => {
  // Another process: here the module may have been loaded already.
  const program = `const { load } = await import('${new URL('../dist/index.js', import.meta.url)}');
    await load('summary', Uint8Array.of(0)).catch((error) => console.log(error.name, error.module, error.message));
    console.log((await load('summary')).flavour);`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.match(said, /^WeighbridgeError summary the module summary could not be loaded: .+\nsummary\n$/);
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
    // The bytes have changed since.
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
    const { verdict, valid, diagnosis, diagnosisKind } = document.verdict();
    document.free();
    assert.equal(valid, false);
    return [verdict, diagnosis, diagnosisKind];
  };
  const hdf5 = '\x89HDF\r\n\x1A\n and so on';
  for (const name of ['x', 'x.npy', 'x.safetensors', 'x.oinf']) {
    assert.deepEqual(await other(hdf5, name), ['unsupported', 'an HDF5 file', 'other']);
  }
  // A caller who names the format wants to know what is wrong with the file.
  assert.equal((await other(hdf5, 'x', { format: 'oinf' }))[0], 'invalid');
  const [verdict, diagnosis, kind] = await other(pointer, 'x.gguf');
  assert.equal(verdict, 'invalid');
  assert.equal(kind, 'lfs-pointer');
  assert.match(diagnosis, /^a Git LFS pointer.* fetches its 4,970 bytes$/);
  assert.deepEqual(await other('', 'x'), ['invalid', 'an empty file', 'incomplete']);
});

test('a file whose pickle would run something is invalid', async () => {
  const bytes = new TextEncoder().encode("cposix\nsystem\n(S'true'\ntR.");
  const document = await open(fromBytes(bytes), { goal: 'payloads', module: 'base' });
  for (const profile of ['strict', 'lenient']) {
    const { verdict, diagnosis } = document.verdict(profile);
    assert.equal(verdict, 'invalid', profile);
    assert.match(diagnosis, /which would run posix\.system$/);
  }
  document.free();
  const plain = await open(fromBytes(new TextEncoder().encode('(dp0\n.')), { goal: 'payloads' });
  assert.equal(plain.verdict().verdict, 'unsupported');
  plain.free();
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

/** The output of a new decoder for stored bytes pushed `size` at a time. */
function decoded(document, i, bytes, size, taken) {
  const decoder = document.decoder(i, 0);
  const { offset, stored } = decoder;
  const parts = [];
  for (let at = 0; at < Number(stored); at += size) {
    const from = Number(offset) + at;
    const piece = bytes.subarray(from, Math.min(from + size, Number(offset + stored)));
    parts.push(decoder.push(piece, taken ? (data) => parts.push(data) : undefined));
  }
  assert.equal(decoder.finish().decoded, BigInt(parts.reduce((sum, part) => sum + part.length, 0)));
  decoder.free();
  return Buffer.concat(parts);
}

test('decoded bytes are the same however they come', async () => {
  const seen = new Map();
  for await (const { path, document } of documents('structure')) {
    const bytes = readFileSync(path);
    for (let i = 0; i < document.tensorCount; i++) {
      const { encoding, status, chunks } = document.tensor(i);
      if (encoding === 'raw' || status !== 'sound' || chunks !== 1n) {
        continue;
      }
      let whole;
      try {
        whole = decoded(document, i, bytes, bytes.length, false);
      } catch (error) {
        assert.equal(error.name, 'WeighbridgeError', path);
        continue;
      }
      for (const [size, taken] of [[bytes.length, true], [7, false], [7, true], [1000, false]]) {
        assert.deepEqual(decoded(document, i, bytes, size, taken), whole, `${path}: ${size}, ${taken}`);
      }
      const known = { zlib: inflateSync, deflate: inflateRawSync }[encoding];
      if (known) {
        const { offset, stored } = document.decoder(i, 0);
        const peer = known(bytes.subarray(Number(offset), Number(offset + stored)));
        assert.deepEqual(whole, peer.subarray(peer.length - whole.length), path);
      }
      seen.set(encoding, (seen.get(encoding) ?? 0) + whole.length);
    }
  }
  assert.ok(seen.get('zstd') > 0 && seen.size > 1, [...seen]);
});
