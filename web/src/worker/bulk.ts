/** Many tensors, or all values of one: archives of arrays, CSV. */

import { line } from '../csv.ts';
import { savedAs } from '../storage.ts';
import { npy } from './exports.ts';
import type { Context } from './rpc.ts';
import { details } from './scan.ts';
import type { Choice } from './select.ts';
import { session } from './session.ts';
import { rows } from './tables.ts';
import { valueList } from './text.ts';

export { safetensors, safetensorsPlan } from './convert.ts';
export { channels } from './channels.ts';
export { code, storages } from './pickles.ts';
export { regions } from './regions.ts';
export { spectrum } from './spectrum.ts';
export { unpacked, unpackedGrid, unpackedStatistics } from './unpacked.ts';

/** Elements per read. */
const STEP = 1 << 16;
/** Rows per request. */
const PAGE = 1024;
/** Limits of an archive without the extensions for large ones. */
const MOST_BYTES = 0xffff_ffff;
const MOST_ENTRIES = 0xffff;
/** Maximum number of values in a CSV file: spreadsheets take fewer. */
const MOST_VALUES = 1n << 22n;

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
