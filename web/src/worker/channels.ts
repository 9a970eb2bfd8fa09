/** The norms of the rows and columns of a tensor. */

import { hasChannels } from '../storage.ts';
import type { Context } from './rpc.ts';
import { details } from './scan.ts';
import { session } from './session.ts';

/** Elements per read. */
const STEP = 1 << 16;
/** Maximum number of rows and of columns whose norms are kept. */
const MOST_CHANNELS = 1 << 22;
/** Number of channels that are listed. */
const LISTED = 8;
/** Number of the largest norms that a curve has in full. */
const IN_FULL = 32;
/** How much further each later point of a curve is. */
const APART = 1.04;

/** The norms of the rows or columns of a tensor. */
export interface Channels {
  axis: 'row' | 'column';
  count: number;
  median: number;
  /** Those with the largest norms. */
  largest: { index: number; norm: number }[];
  /** How many norms exceed six times the median. */
  outliers: number;
  /** How many have a NaN or an infinity. */
  broken: number;
  /** Finite norms in descending order: the largest ones, then ever fewer, and the smallest. */
  curve: { rank: number; index: number; norm: number }[];
}

/** The norms of rows (the first axis) and columns (the second); those of all other axes are summed. */
export async function channels(context: Context, id: number, tensor: number): Promise<Channels[]> {
  const file = session(id);
  const about = await details(file, tensor, context);
  const [height = 0, width = 0, ...others] = Array.from(about.shape, Number);
  if (!hasChannels(about) || height > MOST_CHANNELS || width > MOST_CHANNELS) {
    throw new Error('the tensor has no rows and columns in order, or too many');
  }
  const inner = others.reduce((a, b) => a * b, 1);
  const sums = [new Float64Array(height), new Float64Array(width)];
  const total = Number(about.elements);
  for (let from = 0; from < total; from += STEP) {
    const { data } = await file.settle(() => file.document.values(tensor, BigInt(from), Math.min(STEP, total - from)), context);
    for (let i = 0; i < data.length; i++) {
      const value = Number(data[i]);
      const place = Math.floor((from + i) / inner);
      sums[0][Math.floor(place / width)] += value * value;
      sums[1][place % width] += value * value;
    }
    context.progress({ label: 'Rows and columns', done: from / total });
  }
  return sums.map((all, i) => described(i === 0 ? 'row' : 'column', all));
}

function described(axis: Channels['axis'], sums: Float64Array): Channels {
  const norms = Array.from(sums, (sum, index) => ({ index, norm: Math.sqrt(sum) }));
  const finite = norms.filter(({ norm }) => Number.isFinite(norm)).sort((a, b) => b.norm - a.norm || a.index - b.index);
  const half = (finite.length - 1) / 2;
  const median = finite.length === 0 ? NaN : (finite[Math.floor(half)].norm + finite[Math.ceil(half)].norm) / 2;
  return {
    axis,
    count: norms.length,
    median,
    largest: finite.slice(0, LISTED),
    outliers: finite.filter(({ norm }) => norm > 6 * median).length,
    broken: norms.length - finite.length,
    curve: ranks(finite.length).map((rank) => ({ rank, ...finite[rank - 1] })),
  };
}

/** Ranks from 1 to `last`, at most some hundred. */
function ranks(last: number): number[] {
  const all: number[] = [];
  for (let rank = 1; rank < last; rank = rank < IN_FULL ? rank + 1 : Math.ceil(rank * APART)) {
    all.push(rank);
  }
  return last > 0 ? [...all, last] : all;
}
