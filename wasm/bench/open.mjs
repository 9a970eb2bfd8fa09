// How long it takes to open a file with many tensors, compared with parsing the
// header of a safetensors file of the same size, and with other parsers: node
// bench/open.mjs. `scripts/peers.sh npm` installs the other parsers, which are
// skipped if they are missing.
//
// Times vary between machines and between runs; what counts is the ratio within
// one run. `index` reads the header and every entry; `structure` also proves
// that names are unique, that no two tensors share bytes and that nothing lies
// between them, and determines the layout.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBytes, open } from '../dist/index.js';
import { peer, trials } from './peers.mjs';
import { compare } from './turns.mjs';

const ROUNDS = 41;

/** Names like those of a mixture of experts. */
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

/** A GGUF file of `count` tensors of 32 bytes each, and a vocabulary with scores. */
function gguf(count, tokens) {
  const bytes = new Uint8Array(40 * tokens + 200 * count + 1024);
  const view = new DataView(bytes.buffer);
  const encoder = new TextEncoder();
  let at = 0;
  const u32 = (value) => (view.setUint32(at, value, true), (at += 4));
  const u64 = (value) => (view.setBigUint64(at, BigInt(value), true), (at += 8));
  const text = (value) => {
    const { written } = encoder.encodeInto(value, bytes.subarray(at + 8));
    u64(written);
    at += written;
  };
  u32(0x46554747), u32(3), u64(count), u64(3);
  text('general.architecture'), u32(8), text('llama');
  text('tokenizer.ggml.tokens'), u32(9), u32(8), u64(tokens);
  for (let i = 0; i < tokens; i++) {
    text(`tok${(i * 7919) % tokens}`);
  }
  text('tokenizer.ggml.scores'), u32(9), u32(6), u64(tokens), (at += 4 * tokens);
  for (const [i, name] of names(count).entries()) {
    text(name), u32(2), u64(4), u64(2), u32(30), u64(32 * i);
  }
  at = Math.ceil(at / 32) * 32 + 32 * count;
  return bytes.slice(0, at);
}

/** A server with a single file, for packages that read from one. */
function serve(bytes) {
  const file = new Blob([bytes]);
  return async (_, init) => {
    const range = /bytes=(\d+)-(\d+)/.exec(new Headers(init?.headers).get('range') ?? '');
    const [from, to] = range ? [Number(range[1]), Math.min(Number(range[2]), file.size - 1)] : [0, file.size - 1];
    const headers = {
      'content-range': `bytes ${from}-${to}/${file.size}`,
      'content-length': String(to - from + 1),
      etag: '"0"',
    };
    return new Response(file.slice(from, to + 1), { status: range ? 206 : 200, headers });
  };
}

/** Opens a file as far as `goal`. */
function opening(bytes, options) {
  const source = fromBytes(bytes);
  return async () => {
    const document = await open(source, options);
    if (document.findingCount > 0) {
      throw new Error(document.findings(0, 1).messages.text);
    }
    document.free();
  };
}

/** Both goals for a file, as named calls. */
const goals = (title, bytes, options) =>
  [['index', 'index alone'], ['structure', 'all validated']].map(([goal, name]) => [`${title}, ${name}`, opening(bytes, { ...options, goal })]);

const hub = await peer('@huggingface/hub');
for (const count of [10_000, 100_000]) {
  const { bytes, header } = safetensors(count);
  const ours = goals('safetensors', bytes, { format: 'safetensors' });
  if (count === 10_000) {
    ours.push(...goals('OINF', readFileSync(join(trials, 'many-10000.oinf')), {}));
  }
  const others = [['`JSON.parse` of the header', () => JSON.parse(new TextDecoder().decode(header))]];
  if (hub) {
    const from = { repo: 'a/b', path: 'model.safetensors', fetch: serve(bytes) };
    others.push(['`@huggingface/hub`', () => hub.parseSafetensorsMetadata(from)]);
  }
  await compare('node', `${count} tensors, `, ROUNDS, ours, others);
}

const [count, tokens] = [10_000, 150_000];
const bytes = gguf(count, tokens);
const others = [];
const [hyllama, huggingface] = [await peer('hyllama'), await peer('@huggingface/gguf')];
if (hyllama) {
  others.push(['`hyllama`', () => hyllama.ggufMetadata(bytes.buffer)]);
}
if (huggingface) {
  const fetch = serve(bytes);
  others.push(['`@huggingface/gguf`', () => huggingface.gguf('http://localhost/x.gguf', { fetch })]);
}
await compare('node', `${count} tensors and ${tokens} tokens, `, ROUNDS, goals('GGUF', bytes, { format: 'gguf' }), others);
