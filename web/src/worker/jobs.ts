/** Jobs that read payloads: statistics, pictures, comparisons, checksums. */

import type { Block, DifferenceSummary, Summary, Tensor } from 'weighbridge';
import { accessOf } from '../storage.ts';
import { checksumOf } from './checksum.ts';
import { bytesOf, entries, nameOf, rowElements } from './elements.ts';
import { matched, renamed, type Rename } from './matching.ts';
import type { Context } from './rpc.ts';
import { bitsOf, details, scan, scanBytes } from './scan.ts';
import { computing, session, type Session } from './session.ts';
import type { Source } from './sources.ts';

/** Audits up to `goal`; other calls may run in between. */
export async function audit(context: Context, id: number, goal: 'structure' | 'payloads'): Promise<void> {
  const file = session(id);
  const size = Number(file.document.length) || 1;
  let supplied = file.document.progress().supplied;
  const before = supplied;
  await file.settle(
    () => file.document.advance(goal),
    context,
    () => {
      const progress = file.document.progress();
      supplied = progress.supplied;
      context.progress({
        label: progress.stage,
        done: goal === 'payloads' ? Math.min(1, Number(supplied - before) / size) : undefined,
        bytes: size,
      });
    },
  );
}

export interface StatisticsResult {
  summary: Summary;
  /** Number of elements per magnitude bin, without the empty ends. */
  magnitudes: { first: number; negative: Float64Array; positive: Float64Array };
  /** Equal-width bins from the least to the greatest finite element; empty if there is none. */
  bins: Float64Array;
  /** The quantiles at `SHARES`. */
  quantiles: Float64Array;
}

/** A thousandth and a hundredth at each end, then the quartiles. */
const SHARES = [0.001, 0.01, 0.99, 0.999, 0.25, 0.5, 0.75];

/** Magnitude bins on each side of zero. */
const MAGNITUDES = 2100;
const BINS = 128;

export async function statistics(context: Context, id: number, tensor: number): Promise<StatisticsResult> {
  const file = session(id);
  const { Statistics } = await computing();
  const about = await details(file, tensor, context);
  const access = accessOf(about);
  if (access === undefined) {
    throw new Error(`statistics are not available for ${about.dtype} in ${about.layout} layout`);
  }
  // Elements that have to be decoded come in their in-memory type.
  const dense = access === 'dense';
  const dtype = dense ? about.dtype : nameOf((await file.settle(() => file.document.values(tensor, 0n, 0), context)).data);
  const endianness = dense ? about.endianness : 'little';
  const elements = dense ? about.elements : undefined;
  const sums = new Statistics(dtype, endianness, elements);
  try {
    const label = 'Statistics';
    if (dense) {
      await scan(file, tensor, context, label, (bytes) => sums.push(bytes));
    } else if (access === 'rows') {
      await rowElements(file, tensor, context, label, (data) => sums.push(bytesOf(data)));
    } else {
      await entries(file, tensor, context, (data) => sums.push(bytesOf(data)));
    }
    const summary = sums.summary();
    const { min, max } = summary;
    const bins = min < max ? sums.steps(min, max, BINS) : new Float64Array();
    return { summary, magnitudes: trimmed(sums.magnitudes()), bins, quantiles: sums.quantiles(SHARES) };
  } finally {
    sums.free();
  }
}

function trimmed(all: Float64Array): StatisticsResult['magnitudes'] {
  const negative = all.subarray(0, MAGNITUDES);
  const positive = all.subarray(MAGNITUDES, 2 * MAGNITUDES);
  let first = 0;
  let end = MAGNITUDES;
  while (first < end && negative[first] === 0 && positive[first] === 0) {
    first++;
  }
  while (end > first && negative[end - 1] === 0 && positive[end - 1] === 0) {
    end--;
  }
  return { first, negative: negative.slice(first, end), positive: positive.slice(first, end) };
}

export interface Picture {
  height: number;
  width: number;
  mean: Float32Array;
  min: Float32Array;
  max: Float32Array;
  bad: Uint32Array;
}

export async function heatmap(
  context: Context,
  id: number,
  tensor: number,
  rowAxis: number,
  columnAxis: number,
  fixed: BigUint64Array,
  height: number,
  width: number,
  options: { window: bigint[]; scales: boolean },
): Promise<Picture> {
  const file = session(id);
  const { Heatmap } = await computing();
  const { dtype, endianness, shape } = await details(file, tensor, context);
  const map = new Heatmap(dtype, endianness, shape, rowAxis, columnAxis, fixed, height, width, options);
  try {
    await scanBytes(file, tensor, map.firstByte, map.lastByte, context, 'Heat map', (bytes) => map.push(bytes));
    return {
      height: map.height,
      width: map.width,
      mean: map.mean(),
      min: map.min(),
      max: map.max(),
      bad: map.bad(),
    };
  } finally {
    map.free();
  }
}

/** Loads the compute module before it is needed. */
export async function prepareComputing(): Promise<void> {
  await computing().catch(() => undefined);
}

export interface BlockResult extends Block {
  /** Byte range of the block. */
  at: bigint;
  len: number;
  /** Number of blocks of the tensor. */
  blocks: number;
}

/** One block of a quantised tensor with its scales and codes. */
export async function block(context: Context, id: number, tensor: number, number: number): Promise<BlockResult> {
  const file = session(id);
  const library = await computing();
  const { dtype, endianness, stored } = await details(file, tensor, context);
  const [, len] = library.unit(dtype);
  const page = await file.settle(() => file.document.chunks(tensor, 0, 2), context);
  if (page.total !== 1n || file.word(page.encoding[0]) !== 'raw') {
    throw new Error('the blocks of this tensor are not stored contiguously');
  }
  const at = page.offset[0] + BigInt(number) * BigInt(len);
  const bytes = await file.read(at, len, context.signal);
  return { ...library.block(dtype, endianness as 'little' | 'big', bytes), at, len, blocks: Number(stored) / len };
}

/** The result of comparing a tensor's stored bytes with the file's checksum. */
export type Verified = 'right' | 'wrong' | 'unknown' | 'none';

/** Compares the stored bytes with the checksum in the file; compressed data is decoded too. */
export async function verify(context: Context, id: number, tensor: number): Promise<Verified> {
  const file = session(id);
  const { checksum } = await details(file, tensor, context);
  const check = checksum === undefined ? undefined : checksumOf(checksum);
  await scan(file, tensor, context, 'Checksum', () => undefined, (stored) => check?.sum.push(stored));
  if (checksum === undefined) {
    return 'none';
  }
  return check === undefined ? 'unknown' : check.sum.finish() === check.expected ? 'right' : 'wrong';
}

/** Pairs the tensors of two files: by name, then by known naming schemes. */
export async function pairs({ signal }: Context, a: number, b: number, rename?: Rename) {
  const { compare, ggufNames } = await computing();
  const first = session(a);
  const second = session(b);
  const table = compare(first.document.digest(), second.document.digest());
  const describe = (file: Session, index: number) => {
    const row = index === 0xffffffff ? undefined : file.document.rows(index, index + 1, 'index', {});
    if (row === undefined || row.index.length === 0) {
      return undefined;
    }
    return {
      index,
      name: row.names.text,
      dtype: file.word(row.dtype[0]),
      layout: file.word(row.layout[0]),
      shape: row.dims,
      stored: row.stored[0],
      elements: row.elements[0],
    };
  };
  const all = Array.from(table.a, (_, i) => ({
    a: describe(first, table.a[i]),
    b: describe(second, table.b[i]),
    differs: table.differs[i],
  }));
  const left = all.filter((pair) => pair.b === undefined);
  const right = all.filter((pair) => pair.a === undefined);
  const name = ({ a, b }: (typeof all)[number]) => (a ?? b)?.name ?? '';
  const names = left.map(name);
  const found = matched(names, right.map(name), ggufNames, rename && (await renamed(names, rename, signal)));
  const gone = new Set([...found.values()].map((j) => right[j]));
  for (const [i, j] of found) {
    left[i].b = right[j].b;
    left[i].differs = differences(left[i].a!, right[j].b!);
  }
  return all.filter((pair) => !gone.has(pair));
}

type Side = { dtype: string; layout: string; shape: BigUint64Array; stored: bigint };

/** The differences as the bits of `Pairs`. */
function differences(a: Side, b: Side): number {
  const shapes = a.shape.length === b.shape.length && a.shape.every((extent, i) => extent === b.shape[i]);
  return Number(a.dtype !== b.dtype) + 2 * Number(!shapes) + 4 * Number(a.stored !== b.stored) + 8 * Number(a.layout !== b.layout);
}

export type Pair = Awaited<ReturnType<typeof pairs>>[number];

/** A side waits while it is more than this many elements ahead of the other. */
const STEP = 4 << 20;

/** Bits per element, including its share of the block's scales. */
function width({ bytes, elements, dtype }: Tensor): number {
  return bytes === undefined || elements === 0n ? bitsOf(dtype) : (8 * Number(bytes)) / Number(elements);
}

export interface DifferenceResult extends DifferenceSummary {
  /** Whether the rows of heads were compared in GGUF's order. */
  reordered: boolean;
}

/** The heads of an attention tensor whose rows GGUF orders differently from `transformers`. */
async function headsOf(files: [Session, Session], sides: [Tensor, Tensor], context: Context) {
  const gguf = sides.findIndex(({ name }) => name.startsWith('blk.'));
  const which = /\.attn_([qk])\.(?:weight|bias)$/.exec(sides[gguf]?.name ?? '')?.[1];
  if (which === undefined || sides[1 - gguf].name.startsWith('blk.')) {
    return undefined;
  }
  const { shape, elements } = sides[gguf];
  const count = (key: string) => number(files[gguf], `.attention.${key}`, context);
  const heads = (which === 'k' ? await count('head_count_kv') : undefined) ?? (await count('head_count'));
  const rows = Number(shape[0] ?? 0n) / (heads ?? 0);
  const row = Number(elements / (shape[0] || 1n));
  const most = 4 << 20;
  return Number.isInteger(rows) && rows > 0 && rows % 2 === 0 && row * rows <= most ? { side: (1 - gguf) as 0 | 1, row, rows } : undefined;
}

/** The first number in the metadata whose key ends with `ending`. */
async function number(file: Session, ending: string, context: Context): Promise<number | undefined> {
  const { document } = file;
  const table = await file.settle(() => document.metadata(0, document.metadataCount), context);
  const at = [...table.keys].findIndex((key) => key.endsWith(ending));
  const value = at < 0 ? NaN : Number([...table.previews][at]);
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

/** What was read of a file before. */
export interface Read {
  source: Source;
  details: ReadonlyMap<number, Tensor>;
}

/** Compares values, streaming both sides in parallel. */
export async function difference(
  context: Context,
  a: number,
  tensorA: number,
  b: number,
  tensorB: number,
  [readA, readB]: readonly [Read?, Read?] = [],
): Promise<DifferenceResult> {
  const { Difference } = await computing();
  const [first, second] = [session(a), session(b)];
  const [left, right] = await Promise.all([
    readA?.details.get(tensorA) ?? details(first, tensorA, context),
    readB?.details.get(tensorB) ?? details(second, tensorB, context),
  ]);
  if (accessOf(left) !== 'dense' || accessOf(right) !== 'dense') {
    throw new Error('only dense numeric tensors can be compared');
  }
  if (left.elements !== right.elements || left.status === 'broken' || right.status === 'broken') {
    throw new Error('the tensors differ in size, or one of them is broken');
  }
  const heads = await headsOf([first, second], [left, right], context);
  const types = [left.dtype, left.endianness, right.dtype, right.endianness] as const;
  const sums = [new Difference(...types, left.elements)];
  if (heads !== undefined) {
    sums.push(new Difference(...types, left.elements, heads));
  }
  const balance = new Balance();
  const side = (file: Session, source: Source, about: Tensor, which: 0 | 1, bits: number) =>
    pull(file, source, about, context, async (bytes) => {
      await balance.turn(which);
      sums.forEach((one) => (which === 0 ? one.pushA(bytes) : one.pushB(bytes)));
      balance.add(which, (bytes.length * 8) / bits);
    }).finally(() => balance.end(which));
  try {
    await Promise.all([
      side(first, readA?.source ?? first.source, left, 0, width(left)),
      side(second, readB?.source ?? second.source, right, 1, width(right)),
    ]);
    // Some converters reorder rows: use the order with the smaller difference.
    const [plain, reordered] = sums.map((one) => one.summary());
    if ([plain, reordered].some((one) => one !== undefined && one.count !== left.elements)) {
      throw new Error(`only ${plain.count} of ${left.elements} values could be compared`);
    }
    return reordered !== undefined && reordered.relativeRms < plain.relativeRms
      ? { ...reordered, reordered: true }
      : { ...plain, reordered: false };
  } finally {
    sums.forEach((one) => one.free());
  }
}

/** Like `scan`, for a consumer that applies back pressure. */
async function pull(
  file: Session,
  source: Source,
  { index: tensor, stored, offset, encoding, chunks, checksum }: Tensor,
  context: Context,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  let passed = 0;
  if (encoding === 'raw' && chunks === 1n && checksum === undefined && offset !== undefined) {
    // No decoder is needed, and no copy.
    for await (const bytes of source.pieces(offset, stored, context.signal)) {
      passed += bytes.length;
      context.progress({ label: 'Comparing', done: passed / (Number(stored) || 1) });
      await take(bytes);
    }
    return;
  }
  const page = await file.settle(() => file.document.chunks(tensor, 0, 1), context);
  for (let i = 0; BigInt(i) < page.total; i++) {
    const decoder = await file.settle(() => file.document.decoder(tensor, i), context);
    try {
      for await (const bytes of source.pieces(decoder.offset, decoder.stored, context.signal)) {
        passed += bytes.length;
        context.progress({ label: 'Comparing', done: passed / (Number(stored) || 1) });
        // Small files may decode to large ones: pieces wait for the other side.
        const decoded: Uint8Array[] = [];
        decoder.push(bytes, (piece) => decoded.push(piece.slice()));
        for (const piece of decoded) {
          await take(piece);
        }
      }
      decoder.finish();
    } finally {
      decoder.free();
    }
  }
}

/** Keeps either of two streams from getting far ahead of the other. */
class Balance {
  readonly #done: [number, number] = [0, 0];
  readonly #ended: [boolean, boolean] = [false, false];
  #wake: (() => void)[] = [];

  async turn(which: 0 | 1): Promise<void> {
    const other = which === 0 ? 1 : 0;
    while (this.#done[which] > this.#done[other] + STEP && !this.#ended[other]) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  add(which: 0 | 1, elements: number): void {
    this.#done[which] += elements;
    this.#rouse();
  }

  end(which: 0 | 1): void {
    this.#ended[which] = true;
    this.#rouse();
  }

  #rouse(): void {
    const wake = this.#wake;
    this.#wake = [];
    wake.forEach((resolve) => resolve());
  }
}
