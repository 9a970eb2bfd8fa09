/** The files that the page exports: .npy, JSON, CSV. */

import type { MetaValue, Numbers, Profile } from 'weighbridge';
import type { Context } from './rpc.ts';
import { line } from '../csv.ts';
import { savedAs } from '../storage.ts';
import { bytesOf, rowElements } from './elements.ts';
import { details, scan } from './scan.ts';
import { session, type Session } from './session.ts';
import { findings, local, rows, verdict as judge, type Finding, type Row } from './tables.ts';
import { NOWHERE, valueList } from './text.ts';

/** Rows per request. */
const PAGE = 4096;

/** A tensor as .npy: a `Blob`, or written to `target` without being held in memory. */
export async function npy(
  context: Context,
  id: number,
  tensor: number,
  target: FileSystemFileHandle | undefined,
): Promise<Blob | undefined> {
  const file = session(id);
  const { dtype, layout, shape, elements, descr } = await details(file, tensor, context);
  const access = savedAs({ dtype, layout, descr });
  if (access !== 'dense' && access !== 'rows') {
    throw new Error(`.npy cannot hold ${dtype} data in ${layout} layout`);
  }
  const extents = Array.from(shape);
  if (access === 'rows' && (extents.includes(NOWHERE) || extents.reduce((a, b) => a * b, 1n) !== elements)) {
    throw new Error('.npy cannot hold rows of different lengths');
  }
  const writer = await file.settle(() => file.document.npy(tensor), context);
  const out = await target?.createWritable();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const put = (bytes: Uint8Array) => parts.push(new Uint8Array(bytes));
  // Read no more until the disk has taken what is pending.
  const written = async () => {
    for (const part of parts.splice(0)) {
      await out!.write(part);
    }
  };
  try {
    put(writer.header());
    const take = (bytes: Uint8Array) => {
      writer.push(bytes);
      put(writer.take());
    };
    const settled = out && written;
    if (access === 'dense') {
      await scan(file, tensor, context, 'Writing .npy', take, undefined, settled);
    } else {
      const missing = await rowElements(file, tensor, context, 'Writing .npy', (data) => take(bytesOf(stored(data, dtype))), settled);
      if (missing > 0) {
        throw new Error(`.npy cannot hold missing values, and the column has ${missing}`);
      }
    }
    await settled?.();
    await out?.close();
    return out === undefined ? new Blob(parts, { type: 'application/octet-stream' }) : undefined;
  } catch (error) {
    await out?.abort().catch(() => undefined);
    throw error;
  } finally {
    writer.free();
  }
}

/** Converts elements to the column's type. */
function stored(data: Numbers, dtype: string): ArrayBufferView {
  const narrow = { i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array }[dtype];
  return narrow === undefined ? data : narrow.from(data as Int32Array);
}

/** Text that is already JSON. */
class Written {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON of plain values; integers of any size keep all digits. */
function json(value: unknown): string {
  if (typeof value === 'bigint') {
    return String(value);
  }
  if (value instanceof Written) {
    return value.text;
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

/** Reports an export's progress, and yields now and then so that the page can cancel it. */
function pace(context: Context): (label: string, done: number) => Promise<void> {
  let last = performance.now();
  return async (label, done) => {
    const now = performance.now();
    if (now - last > 30) {
      context.progress({ label, done });
      await new Promise((resolve) => setTimeout(resolve));
      last = performance.now();
    }
    context.signal.throwIfAborted();
  };
}

async function* allRows(context: Context, id: number) {
  const step = pace(context);
  const total = session(id).document.tensorCount;
  for (let from = 0; from < total; from += PAGE) {
    for (const row of (await rows(context, id, from, from + PAGE, 'index', {})).rows) {
      await step('Tensors', row.index / total);
      yield row;
    }
  }
}

/** The exact name in the file. The displayed name differs only if it is truncated or escaped. */
async function exactName(context: Context, file: Session, { index, name }: Row) {
  if (!/[\\…]/.test(name)) {
    return { name };
  }
  const exact = await details(file, index, context);
  return { name: exact.name, name_hex: exact.nameHex };
}

/** A metadata value for JSON: text, a number, a list, or the tree in the file. */
function plain({ type, text, values, shape }: MetaValue): unknown {
  if (text !== undefined || values === undefined) {
    return text !== undefined && type !== 'string' && isJson(text) ? new Written(text) : text;
  }
  const all = valueList(values).map((shown, i) => {
    const value = values.data[i];
    return typeof value === 'bigint' ? value : Number.isFinite(value) ? Number(shown) : shown;
  });
  return shape === undefined && type !== 'bitset' && all.length === 1 ? all[0] : all;
}

function extents(shape: string): (bigint | null)[] {
  return shape === 'scalar' ? [] : shape.split(' × ').map((dim) => (dim === 'var' ? null : BigInt(dim)));
}

/** The index: the contents of the file without values. */
export async function indexJson(context: Context, id: number): Promise<Blob> {
  const file = session(id);
  const { document } = file;
  const parts = [
    '{',
    `"file":${json(file.source.name)},"format":${json(document.format ?? null)},`,
    `"version":${json(document.version ?? null)},"size":${file.source.size},\n"metadata":[`,
  ];
  let first = true;
  const step = pace(context);
  for (let i = 0; i < document.metadataCount; i++) {
    await step('Metadata', i / document.metadataCount);
    const value = await file.settle(() => document.value(i), context);
    const { key, keyHex, type, textHex, truncated } = value;
    const entry = { key, key_hex: keyHex, type, value: plain(value), value_hex: textHex, truncated: truncated || undefined };
    parts.push(`${first ? '' : ','}\n`, json(entry));
    first = false;
  }
  parts.push('],\n"tensors":[');
  first = true;
  for await (const row of allRows(context, id)) {
    const { dtype, shape, layout, encoding, status, offset, stored, elements, chunks, file: within } = row;
    const name = await exactName(context, file, row);
    const entry = { ...name, file: within, dtype, shape: extents(shape), layout, encoding, status, elements, offset, stored, chunks };
    parts.push(`${first ? '' : ','}\n`, json(entry));
    first = false;
  }
  parts.push(']}\n');
  return new Blob(parts, { type: 'application/json' });
}

/** One row per tensor. Names that a spreadsheet would evaluate as a formula are quoted as text. */
export async function indexCsv(context: Context, id: number): Promise<Blob> {
  const { parts: set } = session(id).source;
  const parts = [`name,dtype,shape,elements,layout,encoding,status,offset,stored,chunks,findings${set === undefined ? '' : ',file'}\r\n`];
  for await (const row of allRows(context, id)) {
    const { name, dtype, shape, elements, layout, encoding, status, offset, stored, chunks } = row;
    // As in the table of the weights, and as the command writes shapes.
    const cells = [name, dtype, shape.replaceAll(' × ', 'x'), elements, layout, encoding, status, offset ?? '', stored, chunks];
    parts.push(line([...cells, row.findings, ...(set === undefined ? [] : [row.file])]));
  }
  return new Blob(parts, { type: 'text/csv' });
}

/** The report, in the format of the command-line tool. */
export async function report(context: Context, id: number, profile: Profile): Promise<Blob> {
  const file = session(id);
  const { document } = file;
  const verdict = await judge(context, id, profile);
  const list: Finding[] = [];
  const step = pace(context);
  for (let from = 0; from < document.findingCount; from += PAGE) {
    await step('Findings', from / document.findingCount);
    list.push(...findings(context, id, from, from + PAGE));
  }
  const all = {
    file: file.source.name,
    format: document.format ?? null,
    version: document.version ?? null,
    size: file.source.size,
    profile,
    verdict: verdict.verdict,
    diagnosis: verdict.diagnosis,
    checked: verdict.checked,
    unchecked: [
      ...(document.refused ? [{ entry: null, why: 'the file could not be opened' }] : []),
      ...(verdict.leftOut === undefined ? [] : [{ entry: null, why: verdict.leftOut }]),
      ...list
        .filter(({ severity }) => severity === 'unchecked')
        .map(({ name, message, at }) => ({ file: local(file, at).file, entry: name, why: message })),
    ],
    findings: list
      .filter(({ severity }) => severity !== 'unchecked')
      .map(({ rule, severity, at, len, name, numbers, message, spec }) => ({
        rule,
        severity,
        file: local(file, at).file,
        offset: local(file, at).at,
        len,
        entry: name || null,
        expected: numbers.expected ?? null,
        found: numbers.found ?? null,
        message,
        spec,
      })),
    findings_not_listed: verdict.notListed.length > 0 ? verdict.notListed : undefined,
  };
  return new Blob([json(all), '\n'], { type: 'application/json' });
}
