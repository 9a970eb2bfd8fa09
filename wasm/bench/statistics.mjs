// How fast statistics with a histogram go, beside a plain loop over a typed
// array that sums up the same without one: node bench/statistics.mjs

import { load } from '../dist/index.js';
import { compare } from './turns.mjs';

const BYTES = 64 << 20;
const PIECE = 4 << 20;
const ROUNDS = 7;

/** Numbers around zero, as weights are. */
function weights() {
  const all = new Float32Array(BYTES / 4);
  let state = 1;
  for (let i = 0; i < all.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    all[i] = (state / 2 ** 32 - 0.5) * 0.04;
  }
  return new Uint8Array(all.buffer);
}

function plain(bytes) {
  const all = new Float32Array(bytes.buffer);
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

const { Statistics } = await load('full');
const bytes = weights();
const statistics = (dtype) => () => {
  const sums = new Statistics(dtype);
  for (let at = 0; at < BYTES; at += PIECE) {
    sums.push(bytes.subarray(at, at + PIECE));
  }
  sums.summary();
  sums.free();
};
const ours = ['f32', 'bf16'].map((dtype) => [dtype, statistics(dtype)]);
await compare('node', 'statistics with a histogram, 64 MiB of ', ROUNDS, ours, [['a loop over `Float32Array`, no histogram', () => plain(bytes)]]);
