// Text, dates and records of NumPy arrays: values and saved files are those of the command line.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromBytes, open, settle } from '../dist/index.js';
import { fixtures, inspect, marked, unmark, weighbridge } from './host.mjs';

const MOST = 8;

/** The text of a value: as it is, or as JSON. Text with escapes is spelled in another way. */
function same(text, value, what) {
  if (typeof value === 'string') {
    assert.ok(!/^[ !-[\]-~]*$/.test(value) || text === value, `${what}: ${text} ${value}`);
  } else {
    assert.deepEqual(JSON.parse(marked(text), unmark), value, what);
  }
}

test('elements that are no numbers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weighbridge-'));
  const seen = new Set();
  try {
    for (const format of ['npy', 'npz']) {
      for (const name of readdirSync(join(fixtures, format))) {
        const path = join(fixtures, format, name);
        const bytes = readFileSync(path);
        const source = fromBytes(bytes);
        const document = await open(source, { name: path, goal: 'index' });
        const ask = (call) => settle(document, source, call);
        for (let i = 0; i < document.tensorCount; i++) {
          const tensor = await ask(() => document.tensor(i));
          if (tensor.descr === undefined || tensor.status !== 'sound') {
            continue;
          }
          const { values } = inspect(path, MOST).tensors[i];
          assert.equal(tensor.hasItems, values !== undefined, path);
          if (tensor.hasItems) {
            const texts = [...(await ask(() => document.values(i, 0n, MOST))).texts];
            const width = tensor.fields.length || 1;
            assert.equal(texts.length, values.length * width, path);
            values.forEach((value, k) => {
              const fields = tensor.fields.length > 0 ? Object.values(value) : [value];
              fields.forEach((field, j) => same(texts[k * width + j], field, path));
            });
          } else {
            await assert.rejects(ask(() => document.values(i, 0n, MOST)), /cannot be shown/);
          }
          const { total, offset, stored } = await ask(() => document.chunks(i, 0, 1));
          const chunk = total === 1n ? bytes.subarray(Number(offset[0]), Number(offset[0] + stored[0])) : bytes.subarray(0, 0);
          if (tensor.encoding === 'raw') {
            const out = join(folder, 'out.npy');
            const run = spawnSync(weighbridge, ['extract', path, tensor.name, '--force', '-o', out], { encoding: 'utf8' });
            const writer = document.npy(i);
            const header = writer.header();
            writer.push(chunk);
            const found = Buffer.concat([header, writer.take()]);
            writer.free();
            assert.ok(run.status !== 0 || found.equals(readFileSync(out)), path);
          }
          seen.add(tensor.dtype.replace(/[<[ ].*/, ''));
        }
        document.free();
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const dtype of ['utf32', 'bytes', 'void', 'record', 'datetime64', 'timedelta64', 'longdouble']) {
    assert.ok(seen.has(dtype), `no fixture has ${dtype}`);
  }
});
