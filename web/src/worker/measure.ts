/** Measures the tensors of one stretch of a file, stored as raw contiguous bytes. */

import type { ComputeLibrary, Gauge, Weights } from 'weighbridge';
import type { Source } from './sources.ts';

/** A tensor stored as one raw contiguous range. */
export interface Part {
  tensor: number;
  at: bigint;
  len: bigint;
  dtype: string;
  endianness: 'little' | 'big';
  elements: bigint;
  /** Extent of the first axis if rows are measured, otherwise 0. */
  rows: bigint;
  /** Where the data begins in its own file, and the bytes of its rows, if they are known. */
  place?: { offset: bigint; row: bigint };
  /** Offset of its file within a set. */
  base?: bigint;
}

/** Tensors close enough to be read together. */
export interface Stretch {
  at: bigint;
  len: bigint;
  parts: Part[];
}

/** Creates the gauge for a tensor. */
export function gaugeOf({ Gauge }: ComputeLibrary, part: Omit<Part, 'tensor' | 'at' | 'len' | 'base'>, seed: bigint): Gauge {
  const { dtype, endianness, elements, rows, place } = part;
  return new Gauge(dtype, { endianness, elements, rows, seed, place });
}

/** Reads a stretch once and passes on the measurements tensor by tensor. */
export async function measure(
  library: ComputeLibrary,
  source: Source,
  { at, len, parts }: Stretch,
  seed: bigint,
  signal: AbortSignal,
  give: (tensor: number, weights: Weights) => void,
  passed: (bytes: number) => void,
): Promise<void> {
  let next = 0;
  let gauge: Gauge | undefined;
  let offset = at;
  try {
    for await (const bytes of source.pieces(at, len, signal)) {
      const end = offset + BigInt(bytes.length);
      while (next < parts.length && parts[next].at < end) {
        const part = parts[next];
        const stop = part.at + part.len;
        gauge ??= gaugeOf(library, part, seed);
        const from = part.at > offset ? Number(part.at - offset) : 0;
        gauge.push(bytes.subarray(from, stop < end ? Number(stop - offset) : bytes.length));
        if (stop > end) {
          break;
        }
        give(part.tensor, gauge.weights());
        gauge.free();
        gauge = undefined;
        next++;
      }
      offset = end;
      passed(bytes.length);
    }
  } finally {
    gauge?.free();
  }
}
