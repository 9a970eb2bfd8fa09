// Speed of decoding a zstd frame of bf16 weights, compared with the C library in WebAssembly, which
// `scripts/peers.sh npm` installs: node bench/zstd.mjs

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBytes, open } from '../dist/index.js';
import { peer, trials } from './peers.mjs';
import { compare } from './turns.mjs';

const ROUNDS = 21;

const zstddec = await peer('zstddec');
if (zstddec) {
  const bytes = readFileSync(join(trials, 'weights.zt'));
  const document = await open(fromBytes(bytes));
  const { offset, stored, decoded } = document.decoder(0, 0);
  const frame = bytes.subarray(Number(offset), Number(offset + stored));
  const theirs = new zstddec.ZSTDDecoder();
  await theirs.init();
  const decode = () => {
    const decoder = document.decoder(0, 0);
    const data = decoder.push(frame);
    decoder.finish();
    decoder.free();
    return data;
  };
  if (Buffer.compare(decode(), theirs.decode(frame, Number(decoded))) !== 0) {
    throw new Error('the two differ');
  }
  const others = [['`zstddec`', () => theirs.decode(frame, Number(decoded))]];
  await compare('node', `zstd, ${decoded >> 20n} MiB of `, ROUNDS, [['weights, bf16', decode]], others);
}
