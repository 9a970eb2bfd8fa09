// Arrays written for NumPy match the command line's byte for byte.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromBytes, load, open, settle } from '../dist/index.js';
import { files, fixtures, weighbridge } from './host.mjs';

const DENSE = new Set(['row-major', 'column-major', 'channels-last']);

/** The types that the page treats as numbers. */
const page = readFileSync(new URL('../../web/src/storage.ts', import.meta.url), 'utf8');
const NUMERIC = new RegExp(/^const NUMERIC = \/(.*)\/;$/m.exec(page)[1]);

/** One stored tensor of each type, byte order and format: everything that may affect the output. */
async function* tensors() {
  const seen = new Set();
  for (const path of files(fixtures)) {
    const bytes = readFileSync(path);
    const source = fromBytes(bytes);
    const document = await open(source, { name: path, goal: 'index' });
    for (let i = 0; i < document.tensorCount; i++) {
      const tensor = await settle(document, source, () => document.tensor(i));
      const { name, dtype, status, layout, encoding, endianness, elements, chunks, offset, stored } = tensor;
      const kind = `${document.format} ${dtype} ${endianness}`;
      const plain = status === 'sound' && elements > 0n && encoding === 'raw' && chunks === 1n && DENSE.has(layout) && /^[\w.]+$/.test(name);
      if (plain && !seen.has(kind)) {
        seen.add(kind);
        yield { kind, path, document, i, name, dtype, data: bytes.subarray(Number(offset), Number(offset + stored)) };
      }
    }
    document.free();
  }
}

/** The file written from pieces of three bytes, or the reason why there is none. */
function written(document, i, data) {
  let writer;
  try {
    writer = document.npy(i);
  } catch (error) {
    return error.message;
  }
  const parts = [writer.header()];
  for (let at = 0; at < data.length; at += 3) {
    writer.push(data.subarray(at, at + 3));
    parts.push(writer.take());
  }
  writer.free();
  return Buffer.concat(parts);
}

test('every type', async () => {
  await load('compute');
  const folder = mkdtempSync(join(tmpdir(), 'weighbridge-'));
  const types = new Set();
  try {
    for await (const { kind, path, document, i, name, dtype, data } of tensors()) {
      const out = join(folder, 'out.npy');
      const run = spawnSync(weighbridge, ['extract', path, name, '--force', '-o', out], { encoding: 'utf8' });
      const found = written(document, i, data);
      if (run.status === 0) {
        assert.deepEqual(found, readFileSync(out), kind);
      } else {
        assert.equal(run.status, 3, `${kind}: ${run.stderr}`);
        assert.ok(run.stderr.includes(found), `${kind}: ${found}, ${run.stderr}`);
      }
      assert.equal(NUMERIC.test(dtype) || /^c(?:64|128)$/.test(dtype), run.status === 0, `${dtype} in the page`);
      types.add(dtype);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const dtype of ['bool', 'bf16', 'i4', 'u1', 'c64', 'c128', 'f4e2m1', 'f6e2m3', 'f8e8m0', 'q4_k', 'tq1_0', 'tq2_0', 'mxfp4']) {
    assert.ok(types.has(dtype), `no fixture has ${dtype}`);
  }
});
