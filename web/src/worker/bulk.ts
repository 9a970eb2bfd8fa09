/** Many tensors, or all values of one: archives of arrays, CSV, norms of rows and columns. */

import { line } from '../csv.ts';
import { hasChannels, savedAs } from '../storage.ts';
import { npy } from './exports.ts';
import type { Context } from './rpc.ts';
import { details } from './scan.ts';
import type { Choice } from './select.ts';
import { session } from './session.ts';
import { rows } from './tables.ts';
import { valueList } from './text.ts';

export { safetensors, safetensorsPlan } from './convert.ts';
export { regions } from './regions.ts';

/** Elements per read. */
const STEP = 1 << 16;
/** Rows per request. */
const PAGE = 1024;
/** Limits of an archive without the extensions for large ones. */
const MOST_BYTES = 0xffff_ffff;
const MOST_ENTRIES = 0xffff;
/** Maximum number of values in a CSV file: spreadsheets take fewer. */
const MOST_VALUES = 1n << 22n;
/** Maximum number of rows and of columns whose norms are kept. */
const MOST_CHANNELS = 1 << 22;
/** Number of channels that are listed. */
const LISTED = 8;

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let sum = n;
  for (let i = 0; i < 8; i++) {
    sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  }
  return sum;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffff_ffff;
  for (let i = 0; i < bytes.length; i++) {
    sum = TABLE[(sum ^ bytes[i]) & 255] ^ (sum >>> 8);
  }
  return ~sum >>> 0;
}

/** A header of an archive: two-byte and four-byte numbers, then bytes. */
function header(fields: readonly (readonly [2 | 4, number])[], name: Uint8Array): Uint8Array<ArrayBuffer> {
  const size = fields.reduce((sum, [width]) => sum + width, 0);
  const bytes = new Uint8Array(size + name.length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 2) {
      view.setUint16(at, value, true);
    } else {
      view.setUint32(at, value, true);
    }
    at += width;
  }
  bytes.set(name, at);
  return bytes;
}

/** The name of an array in an archive, which must not lead out of a folder. */
function entryName(name: string, taken: Set<string>): string {
  const safe = name.split(/[/\\]/).map((part) => (part === '' || part === '.' || part === '..' ? '_' : part)).join('/');
  let own = safe;
  for (let i = 2; taken.has(own); i++) {
    own = `${safe} (${i})`;
  }
  taken.add(own);
  return own;
}

export interface Archive {
  blob: Blob;
  tensors: number;
  /** Tensors that .npy cannot hold, or that are broken. */
  left: number;
}

/** The chosen tensors as .npz: an archive of arrays that are not compressed. */
export async function npz(context: Context, id: number, choice: Choice): Promise<Archive> {
  const file = session(id);
  const parts: Blob[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  const taken = new Set<string>();
  let [at, left] = [0, 0];
  for (let from = 0, total = 1; from < total; from += PAGE) {
    const page = await rows(context, id, from, from + PAGE, 'index', choice);
    total = page.total;
    for (const [i, { index, status }] of page.rows.entries()) {
      const about = await details(file, index, context);
      const access = savedAs(about);
      if (status !== 'sound' || (access !== 'dense' && access !== 'rows')) {
        left++;
        continue;
      }
      context.progress({ label: `tensor ${from + i + 1} of ${total}`, done: (from + i) / total });
      const blob = (await npy({ ...context, progress: () => undefined }, id, index, undefined))!;
      if (at + blob.size > MOST_BYTES || directory.length >= MOST_ENTRIES) {
        throw new Error('the archive would exceed 4 GiB or 65,535 arrays: list fewer tensors');
      }
      const name = new TextEncoder().encode(`${entryName(about.name, taken)}.npy`);
      const sum = crc32(new Uint8Array(await blob.arrayBuffer()));
      // Version 2.0, names in UTF-8, stored, 1 January 1980.
      const common = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, sum], [4, blob.size], [4, blob.size], [2, name.length], [2, 0]] as const;
      const local = header([[4, 0x04034b50], ...common], name);
      directory.push(header([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]], name));
      parts.push(new Blob([local]), blob);
      at += local.length + blob.size;
      context.signal.throwIfAborted();
    }
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = directory.length;
  const end = header([[4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at], [2, 0]], new Uint8Array());
  return { blob: new Blob([...parts, ...directory, end], { type: 'application/zip' }), tensors: count, left };
}

/** All values of a tensor as CSV: a line for each row of its last axis. */
export async function valuesCsv(context: Context, id: number, tensor: number): Promise<Blob> {
  const file = session(id);
  const { elements, shape } = await details(file, tensor, context);
  if (elements > MOST_VALUES) {
    throw new Error(`the tensor has ${elements} values, more than the ${MOST_VALUES} that a CSV file may have`);
  }
  const width = Math.max(1, Number(shape.at(-1) ?? 1n));
  const parts: string[] = [];
  let texts: string[] = [];
  for (let from = 0n; from < elements; from += BigInt(STEP)) {
    const values = await file.settle(() => file.document.values(tensor, from, Math.min(STEP, Number(elements - from))), context);
    texts = texts.concat(valueList(values));
    let done = 0;
    for (; texts.length - done >= width; done += width) {
      // No spreadsheet takes a number for a formula.
      parts.push(line(texts.slice(done, done + width).map((text) => (Number.isNaN(Number(text)) ? text : { toString: () => text }))));
    }
    texts = texts.slice(done);
    context.progress({ label: 'Values', done: Number(from) / Number(elements) });
  }
  return new Blob(parts, { type: 'text/csv' });
}

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
  return { axis, count: norms.length, median, largest: finite.slice(0, LISTED), outliers: finite.filter(({ norm }) => norm > 6 * median).length, broken: norms.length - finite.length };
}
