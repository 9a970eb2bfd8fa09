/** Files that the page hands out: .npy, JSON, CSV. */

import type { Numbers, Profile } from 'weighbridge';
import type { Context } from './rpc.ts';
import { accessOf } from '../storage.ts';
import { bytesOf, rowElements } from './elements.ts';
import { details, scan } from './scan.ts';
import { session } from './session.ts';
import { findings, metadata, rows, type Finding } from './tables.ts';
import { NOWHERE } from './text.ts';

/** Rows taken at once. */
const PAGE = 4096;

/**
 * A tensor as .npy: a `Blob`, or, when `target` is given, written there without
 * being held in memory.
 */
export async function npy(
  context: Context,
  id: number,
  tensor: number,
  target: FileSystemFileHandle | undefined,
): Promise<Blob | undefined> {
  const file = session(id);
  const { dtype, layout, shape, elements } = await details(file, tensor, context);
  const access = accessOf({ dtype, layout });
  if (access !== 'dense' && access !== 'rows') {
    throw new Error(`.npy holds no ${dtype} data in ${layout} layout`);
  }
  const extents = Array.from(shape);
  if (access === 'rows' && (extents.includes(NOWHERE) || extents.reduce((a, b) => a * b, 1n) !== elements)) {
    throw new Error('.npy holds no rows of different lengths');
  }
  const writer = file.document.npy(tensor);
  const out = await target?.createWritable();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let queue: Promise<unknown> = Promise.resolve();
  const put = (bytes: Uint8Array) => {
    const own = new Uint8Array(bytes);
    if (out === undefined) {
      parts.push(own);
    } else {
      queue = queue.then(() => out.write(own));
    }
  };
  try {
    put(writer.header());
    const take = (bytes: Uint8Array) => {
      writer.push(bytes);
      put(writer.take());
    };
    if (access === 'dense') {
      await scan(file, tensor, context, 'Writing .npy', take);
    } else {
      const missing = await rowElements(file, tensor, context, 'Writing .npy', (data) => take(bytesOf(stored(data, dtype))));
      if (missing > 0) {
        throw new Error(`.npy holds no missing values, and the column has ${missing}`);
      }
    }
    await queue;
    await out?.close();
    return out === undefined ? new Blob(parts, { type: 'application/octet-stream' }) : undefined;
  } catch (error) {
    await out?.abort();
    throw error;
  } finally {
    writer.free();
  }
}

/** Elements in the type that the column has. */
function stored(data: Numbers, dtype: string): ArrayBufferView {
  const narrow = { i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array }[dtype];
  return narrow === undefined ? data : narrow.from(data as Int32Array);
}

/** JSON of plain values; integers of any size keep their digits. */
function json(value: unknown): string {
  if (typeof value === 'bigint') {
    return String(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map(json).join(',')}]`;
  }
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${json(member)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

function* allRows(context: Context, id: number) {
  const total = session(id).document.tensorCount;
  for (let from = 0; from < total; from += PAGE) {
    yield* rows(context, id, from, from + PAGE, 'index', {}).rows;
    context.progress({ label: 'Exporting', done: from / total });
  }
}

function extents(shape: string): (bigint | null)[] {
  return shape === 'scalar' ? [] : shape.split(' × ').map((dim) => (dim === 'var' ? null : BigInt(dim)));
}

/** The index: what the file holds, without values. */
export async function indexJson(context: Context, id: number): Promise<Blob> {
  const file = session(id);
  const { document } = file;
  const parts = [
    '{',
    `"file":${json(file.source.name)},"format":${json(document.format ?? null)},`,
    `"version":${json(document.version ?? null)},"size":${document.length},\n"metadata":[`,
  ];
  let first = true;
  for (let from = 0; from < document.metadataCount; from += PAGE) {
    const { entries } = await metadata(context, id, undefined, from, from + PAGE);
    for (const { key, type, preview } of entries) {
      parts.push(`${first ? '' : ','}\n`, json({ key, type, value: preview }));
      first = false;
    }
  }
  parts.push('],\n"tensors":[');
  first = true;
  for (const row of allRows(context, id)) {
    const { name, dtype, shape, layout, encoding, status, offset, stored, elements, chunks } = row;
    const entry = { name, dtype, shape: extents(shape), layout, encoding, status, elements, offset, stored, chunks };
    parts.push(`${first ? '' : ','}\n`, json(entry));
    first = false;
  }
  parts.push(']}\n');
  return new Blob(parts, { type: 'application/json' });
}

/** One row for each tensor. Names that a spreadsheet would take for a formula are quoted as text. */
export function indexCsv(context: Context, id: number): Blob {
  const parts = ['name,dtype,shape,elements,layout,encoding,status,offset,stored,chunks,findings\r\n'];
  for (const row of allRows(context, id)) {
    const { name, dtype, shape, elements, layout, encoding, status, offset, stored, chunks } = row;
    const cells = [name, dtype, shape, elements, layout, encoding, status, offset ?? '', stored, chunks];
    parts.push(`${[...cells, row.findings].map(cell).join(',')}\r\n`);
  }
  return new Blob(parts, { type: 'text/csv' });
}

function cell(value: unknown): string {
  let text = String(value);
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) {
    text = `'${text}`;
  }
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The report, as the command line writes it. */
export function report(context: Context, id: number, profile: Profile): Blob {
  const file = session(id);
  const { document } = file;
  const verdict = document.verdict(profile);
  const list: Finding[] = [];
  for (let from = 0; from < document.findingCount; from += PAGE) {
    list.push(...findings(context, id, from, from + PAGE));
  }
  const all = {
    file: file.source.name,
    format: document.format ?? null,
    version: document.version ?? null,
    size: document.length,
    profile,
    verdict: verdict.valid ? 'valid' : 'invalid',
    checked: verdict.checked,
    unchecked: list
      .filter(({ severity }) => severity === 'unchecked')
      .map(({ name, message }) => ({ entry: name, why: message })),
    findings: list
      .filter(({ severity }) => severity !== 'unchecked')
      .map(({ rule, severity, at, len, name, expected, found, message, spec }) => ({
        rule,
        severity,
        offset: at,
        len,
        entry: name || null,
        expected,
        found,
        message,
        spec,
      })),
  };
  return new Blob([json(all), '\n'], { type: 'application/json' });
}
