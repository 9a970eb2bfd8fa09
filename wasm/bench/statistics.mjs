// How fast statistics with a histogram go, beside a plain loop over a typed
// array that sums up the same without one: node bench/statistics.mjs

import { load } from '../dist/index.js';

const BYTES = 64 << 20;
const PIECE = 4 << 20;
const RUNS = 6;

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

function best(call) {
  let least = Infinity;
  for (let i = 0; i < RUNS; i++) {
    const begun = performance.now();
    call();
    least = Math.min(least, performance.now() - begun);
  }
  return BYTES / 1e6 / (least / 1e3);
}

const { Statistics } = await load('full');
const bytes = weights();
const loop = best(() => plain(bytes));
console.log(`  MB/s   of the loop`);
console.log(`${loop.toFixed(0).padStart(6)}   ${(1).toFixed(2).padStart(11)}   a loop in JavaScript over f32, without a histogram`);
for (const dtype of ['f32', 'bf16']) {
  const speed = best(() => {
    const sums = new Statistics(dtype);
    for (let at = 0; at < BYTES; at += PIECE) {
      sums.push(bytes.subarray(at, at + PIECE));
    }
    sums.summary();
    sums.free();
  });
  console.log(`${speed.toFixed(0).padStart(6)}   ${(speed / loop).toFixed(2).padStart(11)}   ${dtype}, with a histogram`);
}
