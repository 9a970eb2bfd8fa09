// How long it takes to open a file of many tensors, beside what parsing the
// header of a safetensors file of as many takes: node bench/open.mjs
//
// Times differ from machine to machine and from run to run: the ratio within
// one run is what counts. `index` reads the header and every entry; `structure`
// also proves that names are unique, that no two tensors share bytes and that
// nothing lies between them, and lays out the file.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromBytes, open } from '../dist/index.js';

const RUNS = 40;
const root = fileURLToPath(new URL('../..', import.meta.url));
const trials = join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'web-trials');

/** Names as those of a mixture of experts. */
function names(count) {
  return Array.from({ length: count }, (_, i) => `model.layers.${Math.floor(i / 200)}.mlp.experts.${i % 200}.down_proj.weight`);
}

/** A safetensors file of `count` tensors of 8 bytes each. */
function safetensors(count) {
  const entries = names(count).map((name, i) => [name, { dtype: 'F32', shape: [1, 2], data_offsets: [8 * i, 8 * i + 8] }]);
  const header = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const padded = Math.ceil(header.length / 8) * 8;
  const bytes = new Uint8Array(8 + padded + 8 * count).fill(0x20, 0, 8 + padded);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(header, 8);
  bytes.fill(0, 8 + padded);
  return { bytes, header: bytes.subarray(8, 8 + padded) };
}

/** Milliseconds that a call takes: the best and the median of many runs. */
async function time(call) {
  const all = [];
  for (let i = 0; i < RUNS; i++) {
    const begun = performance.now();
    await call();
    all.push(performance.now() - begun);
  }
  all.sort((a, b) => a - b);
  return { best: all[0], median: all[RUNS >> 1] };
}

async function opening(bytes, options) {
  const source = fromBytes(bytes);
  return time(async () => {
    const document = await open(source, options);
    if (document.findingCount > 0) {
      throw new Error(document.findings(0, 1).messages.text);
    }
    document.free();
  });
}

const rows = [];
for (const count of [10_000, 100_000]) {
  const { bytes, header } = safetensors(count);
  const parse = await time(() => JSON.parse(new TextDecoder().decode(header)));
  const files = [['safetensors', bytes, { format: 'safetensors' }]];
  if (count === 10_000) {
    files.push(['OINF', readFileSync(join(trials, 'many-10000.oinf')), {}]);
  }
  rows.push([`JSON.parse, ${count} tensors`, parse, 1]);
  for (const [name, content, options] of files) {
    for (const goal of ['index', 'structure']) {
      const found = await opening(content, { ...options, goal });
      rows.push([`${name}, ${goal}, ${count} tensors`, found, found.best / parse.best]);
    }
  }
}
console.log('best ms   median ms   of JSON.parse');
for (const [name, { best, median }, ratio] of rows) {
  console.log(`${best.toFixed(2).padStart(7)}   ${median.toFixed(2).padStart(9)}   ${ratio.toFixed(2).padStart(13)}   ${name}`);
}
