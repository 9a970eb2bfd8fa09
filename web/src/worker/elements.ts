/** The elements of tensors whose bytes are not the elements in order. */

import type { Numbers, Values } from 'weighbridge';
import type { Context } from './rpc.ts';
import { details } from './scan.ts';
import type { Session } from './session.ts';

/** Approximate number of elements per read. */
const ELEMENTS = 1 << 16;

/** Maximum number of elements of sparse rows that are expanded with their zeros. */
const LONGEST = 1 << 24;

/** Rows too long to compute with, now or later. */
export class TooLong extends Error {
  override name = 'TooLong';
}

/** The element type of an array in memory. */
export function nameOf(data: Numbers): string {
  const names = new Map<unknown, string>([
    [Float32Array, 'f32'],
    [Float64Array, 'f64'],
    [Int32Array, 'i32'],
    [Uint32Array, 'u32'],
    [BigInt64Array, 'i64'],
    [BigUint64Array, 'u64'],
    [Uint8Array, 'u8'],
  ]);
  return names.get(data.constructor)!;
}

/** The bytes of an array. */
export function bytesOf(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/**
 * Calls `take` with the elements of a column, row by row, including the zeros of sparse vectors.
 * Missing elements are skipped; returns their number.
 */
export async function rowElements(
  file: Session,
  tensor: number,
  context: Context,
  label: string,
  take: (data: Numbers) => void,
  /** Awaited before more is read. */
  settled?: () => Promise<void>,
): Promise<number> {
  const { shape, elements } = await details(file, tensor, context);
  const rows = shape[0] ?? 0n;
  const width = rows === 0n ? 1n : elements / rows;
  const step = Math.max(1, Math.min(4096, Math.floor(ELEMENTS / Math.max(1, Number(width)))));
  let missing = 0;
  for (let row = 0n; row < rows; row += BigInt(step)) {
    const values = await file.settle(() => file.document.values(tensor, row, step), context);
    missing += values.missing.length;
    take(present(filled(values), values));
    await settled?.();
    context.progress({ label, done: Number(row) / Number(rows) });
  }
  return missing;
}

/** Calls `take` with the stored entries of a sparse tensor. */
export async function entries(
  file: Session,
  tensor: number,
  context: Context,
  take: (data: Numbers) => void,
): Promise<void> {
  for (let from = 0n; ; from += BigInt(ELEMENTS)) {
    const { data } = await file.settle(() => file.document.values(tensor, from, ELEMENTS), context);
    take(data);
    if (data.length < ELEMENTS) {
      return;
    }
  }
}

/** Expands sparse rows to all their elements. */
function filled({ data, ends, indices, lengths }: Values): Numbers {
  if (ends === undefined || indices === undefined || lengths === undefined) {
    return data;
  }
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total === data.length) {
    return data;
  }
  if (total > LONGEST) {
    throw new TooLong(`Rows of ${total} elements are too long to process.`);
  }
  const all = new (data.constructor as new (length: number) => Numbers)(total);
  let at = 0;
  let start = 0;
  ends.forEach((end, row) => {
    for (let i = start; i < end; i++) {
      all[at + indices[i]] = data[i];
    }
    at += lengths[row];
    start = end;
  });
  return all;
}

/** Drops missing elements, which occur only in rows without zeros. */
function present(data: Numbers, { missing }: Values): Numbers {
  if (missing.length === 0 || data.length === 0) {
    return data;
  }
  const absent = new Set(missing);
  return (data as Float64Array).filter((_, i) => !absent.has(i)) as Numbers;
}
