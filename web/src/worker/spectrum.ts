/** The singular values of a tensor taken as a matrix. */

import { hasChannels } from '../storage.ts';
import type { Context } from './rpc.ts';
import { details } from './scan.ts';
import { session } from './session.ts';
import { singularValues, type Singular } from './svd.ts';

/** Elements per read. */
const STEP = 1 << 16;
/** Maximum bytes of the matrix in memory: all steps go over all of it. */
export const MOST_BYTES = 128 << 20;
/** Least and most steps of the approximation. If the shorter side is no longer, all values are found. */
const STEPS = [64, 256] as const;
/** Multiplications that more than the least steps may take. */
const WORK = 2 ** 31;
/** Share of the largest value within which a value counts as found. */
const CLOSE = 0.01;

export interface Spectrum {
  rows: number;
  columns: number;
  /** Largest first, as far as found. */
  values: number[];
  /** How far any of them may be from a singular value. */
  error: number;
  /** Whether these are all singular values. */
  complete: boolean;
  /** The sum of the squares of all singular values. */
  energy: number;
}

/** Rows are the first axis, columns all others. */
export async function spectrum(context: Context, id: number, tensor: number): Promise<Spectrum> {
  const file = session(id);
  const about = await details(file, tensor, context);
  const total = Number(about.elements);
  const rows = Number(about.shape[0]);
  if (!hasChannels(about) || total === 0) {
    throw new Error('only tensors with rows and columns in order have singular values');
  }
  let data: Float32Array | Float64Array | undefined;
  let energy = 0;
  for (let from = 0; from < total; from += STEP) {
    const { data: part } = await file.settle(() => file.document.values(tensor, BigInt(from), Math.min(STEP, total - from)), context);
    data ??= room(total, part instanceof Float32Array);
    for (let i = 0; i < part.length; i++) {
      const value = Number(part[i]);
      data[from + i] = value;
      energy += value * value;
    }
    context.progress({ label: 'Reading the matrix', done: (0.3 * from) / total });
  }
  if (!Number.isFinite(energy)) {
    throw new Error('a matrix with NaN or infinity has no singular values');
  }
  const columns = total / rows;
  const [least, most] = STEPS;
  const steps = Math.max(least, Math.min(most, rows, columns, Math.floor(WORK / total)));
  const found = await singularValues({ rows, columns, data: data! }, steps, async (step) => {
    context.progress({ label: 'Singular values', done: 0.3 + (0.7 * step) / Math.min(steps, rows, columns) });
    // A request to stop must get through.
    await new Promise((resolve) => setTimeout(resolve));
    context.signal.throwIfAborted();
  });
  return { rows, columns, energy, ...close(found, Math.min(rows, columns)) };
}

function room(elements: number, single: boolean): Float32Array | Float64Array {
  const bytes = elements * (single ? 4 : 8);
  if (bytes > MOST_BYTES) {
    throw new Error(`the matrix takes ${bytes >> 20} MiB as numbers, more than the ${MOST_BYTES >> 20} MiB up to which singular values are computed`);
  }
  return single ? new Float32Array(elements) : new Float64Array(elements);
}

/** The values from the first on that are close to what they approximate. */
function close({ values, errors }: Singular, all: number): Pick<Spectrum, 'values' | 'error' | 'complete'> {
  const complete = values.length === all;
  const far = errors.findIndex((error) => error > CLOSE * values[0]);
  const kept = far < 0 ? values.length : far;
  return { values: values.slice(0, kept), error: Math.max(0, ...errors.slice(0, kept)), complete };
}
