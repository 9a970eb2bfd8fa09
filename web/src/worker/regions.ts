/** Where two tensors differ, on a coarse grid. */

import { hasChannels } from '../storage.ts';
import type { Context } from './rpc.ts';
import { details } from './scan.ts';
import { session } from './session.ts';

/** Elements per read. */
const STEP = 1 << 16;
/** Maximum number of cells on each side. */
const SIDE = 64;
/** Number of cells that are listed. */
const LISTED = 3;

type Range = readonly [from: number, to: number];

export interface Regions {
  height: number;
  width: number;
  /** The mean |a - b| of each cell; infinite if one side has a NaN or an infinity that the other lacks. */
  cells: Float32Array;
  /** The cells that differ most; the last row and column are part of them. */
  largest: { rows: Range; columns: Range; mean: number; most: number }[];
}

/** Compares two tensors of the same shape. Rows are the first axis, columns all others. */
export async function regions(context: Context, a: number, tensorA: number, b: number, tensorB: number): Promise<Regions> {
  const files = [session(a), session(b)] as const;
  const [left, right] = await Promise.all([details(files[0], tensorA, context), details(files[1], tensorB, context)]);
  if (!hasChannels(left) || !hasChannels(right) || left.shape.join() !== right.shape.join()) {
    throw new Error('only matrices of the same shape, in order, have regions');
  }
  const total = Number(left.elements);
  const rows = Number(left.shape[0]);
  const columns = total / (rows || 1);
  const [height, width] = [Math.min(rows, SIDE), Math.min(columns, SIDE)];
  const [sums, most, counts] = [0, 1, 2].map(() => new Float64Array(height * width));
  for (let from = 0; from < total; from += STEP) {
    const count = Math.min(STEP, total - from);
    const [one, other] = await Promise.all(files.map((file, i) => file.settle(() => file.document.values(i === 0 ? tensorA : tensorB, BigInt(from), count), context)));
    for (let i = 0; i < count; i++) {
      const [x, y] = [Number(one.data[i]), Number(other.data[i])];
      const apart = Object.is(x, y) || x === y ? 0 : Math.abs(x - y);
      const row = Math.floor((from + i) / columns);
      const cell = Math.floor((row * height) / rows) * width + Math.floor((((from + i) % columns) * width) / columns);
      const value = Number.isNaN(apart) ? Infinity : apart;
      sums[cell] += value;
      most[cell] = Math.max(most[cell], value);
      counts[cell]++;
    }
    context.progress({ label: 'Regions', done: from / total });
  }
  const cells = Float32Array.from(sums, (sum, i) => sum / counts[i]);
  const range = (at: number, extent: number, parts: number): Range => [Math.ceil((at * extent) / parts), Math.ceil(((at + 1) * extent) / parts) - 1];
  const order = Array.from(cells.keys()).filter((i) => cells[i] > 0).sort((i, j) => (cells[j] === cells[i] ? i - j : cells[j] - cells[i]));
  const largest = order.slice(0, LISTED).map((i) => ({ rows: range(Math.floor(i / width), rows, height), columns: range(i % width, columns, width), mean: cells[i], most: most[i] }));
  return { height, width, cells, largest };
}
