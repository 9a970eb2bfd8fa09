/** Converts a document's packed tables to rows for the page. */

import type { Global, Pickle, Profile } from 'weighbridge';
import type { Context } from './rpc.ts';
import { session, type Session } from './session.ts';
import { filterOf, prepareSearch, rankOf, sortOf, type Choice, type Order } from './select.ts';
import { NOWHERE, shapeText, valueList } from './text.ts';
import { measurements } from './weights.ts';

/** Stands for a missing number. */
const NONE = 0xffffffff;
/** Type code for several types. */
const MIXED = 0xffff;


/** The file of a set that contains a byte, and the offset in it. */
export function local({ set }: Session, at: bigint): { at: bigint; file: string | undefined } {
  const member = set?.at(at);
  return { at: at - (member?.base ?? 0n), file: member?.name };
}

export async function rows(context: Context, id: number, from: number, to: number, order: Order, choice: Choice) {
  const file = session(id);
  const filter = await filterOf(file, choice, context);
  const table = file.document.rows(from, to, sortOf(file, order), filter);
  const measured = measurements(file);
  const names = [...table.names];
  const list = Array.from(table.index, (index, i) => ({
    index,
    name: names[i],
    dtype: file.word(table.dtype[i]),
    status: file.word(table.status[i]),
    layout: file.word(table.layout[i]),
    encoding: file.word(table.encoding[i]),
    elements: table.elements[i],
    stored: table.stored[i],
    offset: table.offset[i] === NOWHERE ? undefined : local(file, table.offset[i]).at,
    file: file.set?.of(index).name,
    shape: shapeText(table.dims.subarray(i === 0 ? 0 : table.dimEnds[i - 1], table.dimEnds[i])),
    chunks: table.chunks[i],
    findings: table.findings[i],
    weights: measured?.known[index] === 1 ? measured.of(index) : undefined,
  }));
  return { total: table.total, rows: list };
}

export type Row = Awaited<ReturnType<typeof rows>>['rows'][number];

export { prepareSearch, rankOf };

export async function groups(context: Context, id: number, prefix: string, choice: Choice, like = 0) {
  const file = session(id);
  const table = file.document.groups(prefix, await filterOf(file, choice, context), like);
  const [names, keys] = [[...table.names], [...table.keys]];
  return Array.from(table.count, (count, i) => ({
    name: names[i],
    key: keys[i],
    count,
    stored: table.stored[i],
    elements: table.elements[i],
    dtype: table.dtype[i] === MIXED ? 'mixed' : file.word(table.dtype[i]),
    index: table.index[i] === NONE ? undefined : table.index[i],
    findings: table.findings[i],
    first: table.first[i],
    inKey: table.inKey[i] === 1,
  }));
}

export type Group = Awaited<ReturnType<typeof groups>>[number];

export async function totals(context: Context, id: number, choice: Choice) {
  const file = session(id);
  const table = file.document.totals(await filterOf(file, choice, context));
  return Array.from(table.dtype, (dtype, i) => ({
    dtype: file.word(dtype),
    count: table.count[i],
    elements: table.elements[i],
    stored: table.stored[i],
    withoutData: table.withoutData[i],
  }));
}

export type Total = Awaited<ReturnType<typeof totals>>[number];

export async function verdict(context: Context, id: number, profile: Profile) {
  const file = session(id);
  return await file.settle(() => file.document.verdict(profile), context);
}

export function findings(_: Context, id: number, from: number, to: number) {
  const file = session(id);
  const table = file.document.findings(from, to);
  const [names, messages] = [[...table.names], [...table.messages]];
  return Array.from(table.rule, (code, i) => {
    const { id: rule, severity, basis, spec, why } = file.document.rule(code);
    return {
      rule,
      severity,
      basis,
      spec,
      why,
      message: messages[i],
      kind: file.word(table.kind[i]),
      entry: table.entry[i] === NONE ? undefined : table.entry[i],
      name: names[i],
      at: table.at[i],
      len: table.len[i],
      numbers: table.numbers[i],
      partner: /OVERLAP|ALIAS/.test(rule) && table.entry[i] !== NONE ? partnerOf(file, table.at[i], table.kind[i], table.entry[i]) : undefined,
    };
  });
}

/** Number of layout pieces before an offset that are searched for an entry. */
const AROUND = 16;

/** The name of the part that overlaps an entry; `undefined` if the layout does not tell. */
function partnerOf(file: Session, at: bigint, kind: number, entry: number): string | undefined {
  const index = file.document.locate(at);
  if (index < 0) {
    return undefined;
  }
  const table = file.document.layout(Math.max(0, index - AROUND), index + 1);
  const own = Array.from(table.entry, (other, i) => other === entry && table.kind[i] === kind && table.overlap[i] > 0n).lastIndexOf(true);
  if (own >= 0) {
    return partName(file, table.partnerPart[own], table.partnerKind[own], table.partner[own]);
  }
  const last = table.entry.length - 1;
  return table.entry[last] === entry && table.kind[last] === kind ? undefined : partName(file, table.part[last], table.kind[last], table.entry[last]);
}

export type Finding = ReturnType<typeof findings>[number];

/** What the pickles of a file import. */
export function globals(_: Context, id: number): Global[] {
  return session(id).document.globals?.() ?? [];
}

/** The pickles of a file. */
export function pickles(_: Context, id: number): Pickle[] {
  return session(id).document.pickles?.() ?? [];
}

export function layout(_: Context, id: number, from: number, to: number) {
  const file = session(id);
  const table = file.document.layout(from, to);
  const parts = Array.from(table.part, (part, i) => ({
    part: file.word(part),
    at: table.at[i],
    len: table.len[i],
    kind: file.word(table.kind[i]),
    entry: table.entry[i] === NONE ? undefined : table.entry[i],
    overlap: table.overlap[i],
    label: table.entry[i] === NONE ? '' : file.document.entryName(file.word(table.kind[i]), table.entry[i]),
    // What the overlap is shared with.
    partner: table.overlap[i] === 0n ? '' : partName(file, table.partnerPart[i], table.partnerKind[i], table.partner[i]),
  }));
  return { total: table.total, parts };
}

/** A part's name: that of its entry, otherwise its kind. */
function partName(file: Session, part: number, kind: number, entry: number): string {
  const word = file.word(kind);
  const name = entry === NONE || word === 'file' ? '' : file.document.entryName(word, entry);
  return name !== '' ? name : word === 'file' || entry === NONE ? file.word(part) : `${word} ${entry}`;
}

export type Part = ReturnType<typeof layout>['parts'][number];

export function locate(_: Context, id: number, at: bigint): number {
  return session(id).document.locate(at);
}

export function strip(_: Context, id: number, at: bigint, len: bigint, columns: number): Uint16Array {
  return session(id).document.strip(at, len, columns);
}

export async function tensor(context: Context, id: number, index: number) {
  const file = session(id);
  const it = await file.settle(() => file.document.tensor(index), context);
  const { quantization } = it;
  return {
    ...it,
    shapeText: shapeText(it.shape),
    quantization: quantization && {
      kind: quantization.kind,
      parameters: quantization.parameters.map(({ name, value }) => ({
        name,
        value: typeof value === 'object' ? valueList(value) : [String(value)],
      })),
    },
  };
}

export type TensorDetails = Awaited<ReturnType<typeof tensor>>;

export async function chunks(context: Context, id: number, index: number, from: number, to: number) {
  const file = session(id);
  const table = await file.settle(() => file.document.chunks(index, from, to), context);
  return {
    total: table.total,
    chunks: Array.from(table.offset, (offset, i) => ({
      offset,
      stored: table.stored[i],
      decoded: table.decoded[i] === NOWHERE ? undefined : table.decoded[i],
      row: table.row[i],
      elements: table.elements[i],
      encoding: file.word(table.encoding[i]),
    })),
  };
}

/** Metadata of the file or of a tensor. */
export async function metadata(context: Context, id: number, tensor: number | undefined, from: number, to: number) {
  const file = session(id);
  const { document } = file;
  const table = await file.settle(
    () => (tensor === undefined ? document.metadata(from, to) : document.attributes(tensor)),
    context,
  );
  // A tensor's attributes come all together.
  const shown = tensor === undefined ? table.index : table.index.subarray(0, to);
  const [keys, types, previews] = [[...table.keys], [...table.types], [...table.previews]];
  return {
    total: table.total,
    entries: Array.from(shown, (index, i) => ({
      index,
      key: keys[i],
      type: types[i],
      preview: previews[i],
      at: table.at[i],
      len: table.len[i],
    })),
  };
}

export type MetaEntry = Awaited<ReturnType<typeof metadata>>['entries'][number];

export async function metaValue(context: Context, id: number, tensor: number | undefined, index: number) {
  const file = session(id);
  const { document } = file;
  const value = await file.settle(
    () => (tensor === undefined ? document.value(index) : document.attributeValue(tensor, index)),
    context,
  );
  return {
    key: value.key,
    keyHex: value.keyHex,
    type: value.type,
    text: value.text,
    textHex: value.textHex,
    values: value.values && valueList(value.values),
    shape: value.shape && shapeText(value.shape),
    truncated: value.truncated,
  };
}

/** Elements, rows or entries `from..from + count` of a tensor in storage order, as text. */
export async function values(context: Context, id: number, index: number, from: bigint, count: number) {
  const file = session(id);
  const values = await file.settle(() => file.document.values(index, from, count), context);
  return valueList(values, values.dtype.startsWith('key') ? await keysOf(context, file, index) : undefined);
}

/** A table of elements, as text. */
export async function grid(
  context: Context,
  id: number,
  index: number,
  from: bigint,
  rows: number,
  rowStep: bigint,
  columns: number,
  columnStep: bigint,
) {
  const file = session(id);
  const { document } = file;
  return valueList(
    await file.settle(() => document.grid(index, from, rows, rowStep, columns, columnStep), context),
  );
}

/** The texts that the keys of columns stand for, cached per column. */
const keys = new WeakMap<Session, Map<number, string[]>>();

async function keysOf(context: Context, file: Session, index: number): Promise<string[]> {
  const known = keys.get(file) ?? new Map<number, string[]>();
  keys.set(file, known);
  let texts = known.get(index);
  if (texts === undefined) {
    // A column with missing or broken key values shows the numbers.
    texts = await file.settle(() => file.document.keyValues(index), context).then(Array.from<string>, () => []);
    context.signal.throwIfAborted();
    known.set(index, texts);
  }
  return texts;
}
