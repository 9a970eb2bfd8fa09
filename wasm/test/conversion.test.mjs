// Safetensors files made of documents have the bytes that the command writes.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { convert, fromBytes, open } from '../dist/index.js';
import { files, fixtures, weighbridge } from './host.mjs';

/** Checkpoints, and every eighth of the other files; all with DEEP=1. */
function inputs() {
  const checkpoints = readdirSync(join(fixtures, 'pytorch')).map((name) => join(fixtures, 'pytorch', name));
  return [...checkpoints, ...files(fixtures).filter((_, i) => process.env.DEEP !== undefined || i % 8 === 0)];
}

/** What a session alone leaves out. */
const OWN = /its rows are not read piece by piece|its elements lie too far apart/;

test('every file is converted as by the command, or refused as well', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weighbridge-'));
  const out = join(folder, 'out.safetensors');
  const seen = { written: new Set(), refused: 0 };
  try {
    for (const path of inputs()) {
      const run = spawnSync(weighbridge, ['convert', path, out, '--overwrite', '--json'], { encoding: 'utf8' });
      const command = JSON.parse(run.stdout);
      const source = fromBytes(readFileSync(path));
      const document = await open(source, { name: basename(path), module: 'full', goal: 'payloads' });
      const parts = [];
      let error;
      const take = (bytes) => void parts.push(bytes);
      const found = await convert(document, source, take, { piece: 5 }).catch((caught) => {
        error = caught;
      });
      document.free();
      if (OWN.test(error?.message ?? '')) {
        continue;
      }
      assert.equal(found !== undefined, command.written, `${path}: ${error?.message} ${run.stdout}`);
      if (found === undefined) {
        seen.refused++;
        continue;
      }
      const bytes = Buffer.concat(parts);
      assert.ok(bytes.equals(readFileSync(out)), path);
      assert.equal(found.length, BigInt(bytes.length));
      assert.deepEqual(found.tied, command.tied);
      assert.deepEqual(found.metadataLeftOut, command.metadata_left_out);
      seen.written.add(command.format);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.ok(seen.refused > 50, `${seen.refused} refused`);
  for (const format of ['pytorch', 'safetensors', 'gguf', 'oinf']) {
    assert.ok(seen.written.has(format), `no ${format} file was written`);
  }
});

test('a file with a fault is converted by force alone, without what is faulty', async () => {
  const path = join(fixtures, 'pytorch', 'first-past-end.pt');
  const source = fromBytes(readFileSync(path));
  const document = await open(source, { module: 'full' });
  const parts = [];
  await assert.rejects(convert(document, source, (bytes) => void parts.push(bytes)), /it is invalid/);
  assert.equal(parts.length, 0);
  const found = await convert(document, source, (bytes) => void parts.push(bytes), { force: true });
  assert.ok(found.leftOut.length > 0 && found.tensors === 0, JSON.stringify(found.leftOut));
  assert.equal(BigInt(Buffer.concat(parts).length), found.length);
  document.free();
});
