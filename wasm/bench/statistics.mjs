// Speed of statistics with a histogram, compared with a plain loop over a typed
// array that sums the same numbers without one: node bench/statistics.mjs

import { load } from '../dist/index.js';
import { compare } from './turns.mjs';

const BYTES = 64 << 20;
const PIECE = 4 << 20;
const ROUNDS = 7;

/** Numbers around zero, like weights. */
function weights(count) {
  const all = new Float32Array(count);
  let state = 1;
  for (let i = 0; i < all.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    all[i] = (state / 2 ** 32 - 0.5) * 0.04;
  }
  return all;
}

/** The upper half of each f32. */
const asBf16 = (all) => new Uint16Array(all.buffer).filter((_, i) => i % 2 === 1);

function plain(all) {
  let [low, high, sum, squares, nans, zeros] = [Infinity, -Infinity, 0, 0, 0, 0];
  for (let i = 0; i < all.length; i++) {
    const x = all[i];
    if (x !== x) {
      nans++;
      continue;
    }
    if (x < low) low = x;
    if (x > high) high = x;
    if (x === 0) zeros++;
    sum += x;
    squares += x * x;
  }
  return { low, high, sum, squares, nans, zeros };
}

/** bf16 as the numbers of a `Float32Array`. */
function widened(all) {
  const words = new Uint32Array(all.length);
  for (let i = 0; i < all.length; i++) {
    words[i] = all[i] << 16;
  }
  return new Float32Array(words.buffer);
}

const { Statistics } = await load('compute');

/** Compares the statistics of one tensor with the peer's. */
async function row(dtype, all, peer, theirs) {
  const bytes = new Uint8Array(all.buffer);
  const ours = () => {
    const sums = new Statistics(dtype);
    for (let at = 0; at < BYTES; at += PIECE) {
      sums.push(bytes.subarray(at, at + PIECE));
    }
    sums.summary();
    sums.free();
  };
  await compare('node', 'statistics with a histogram, 64 MiB of ', ROUNDS, [[dtype, ours]], [[peer, () => theirs(all)]]);
}

const f32 = weights(BYTES / 4);
await row('f32', f32, 'a loop over `Float32Array`, no histogram', plain);
const bf16 = asBf16(weights(BYTES / 2));
await row('bf16', bf16, 'widening, and that loop', (all) => plain(widened(all)));
