/** What reads payloads: statistics, pictures, comparisons, checksums. */

import type { DifferenceSummary, Summary } from 'weighbridge';
import { accessOf } from '../storage.ts';
import { checksumOf } from './checksum.ts';
import { bytesOf, entries, nameOf, rowElements } from './elements.ts';
import type { Context } from './rpc.ts';
import { bitsOf, details, scan, scanBytes } from './scan.ts';
import { computing, session, type Session } from './session.ts';

/** Audits as far as `goal`; calls in between let the page go on. */
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
      });
    },
  );
}

export interface StatisticsResult {
  summary: Summary;
  /** Elements by magnitude, without the empty ends. */
  magnitudes: { first: number; negative: Float64Array; positive: Float64Array };
  /** Equal steps from the least to the greatest finite element; empty when there are none. */
  bins: Float64Array;
}

/** Bins of a magnitude histogram on either side of zero. */
const MAGNITUDES = 2100;
const BINS = 128;

export async function statistics(context: Context, id: number, tensor: number): Promise<StatisticsResult> {
  const file = session(id);
  const { Statistics } = await computing();
  const about = await details(file, tensor, context);
  const access = accessOf(about);
  if (access === undefined) {
    throw new Error(`there are no statistics for ${about.dtype} in ${about.layout} layout`);
  }
  // What has to be taken apart comes in the type that it has in memory.
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
    return { summary, magnitudes: trimmed(sums.magnitudes()), bins };
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
): Promise<Picture> {
  const file = session(id);
  const { Heatmap } = await computing();
  const { dtype, endianness, shape } = await details(file, tensor, context);
  const map = new Heatmap(dtype, endianness, shape, rowAxis, columnAxis, fixed, height, width);
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

/** What a tensor's stored bytes come to. */
export type Verified = 'right' | 'wrong' | 'unknown' | 'none';

/** The stored bytes against the checksum that the file has for them; compressed ones are decoded too. */
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

export async function pairs(_: Context, a: number, b: number) {
  const { compare } = await computing();
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
  return Array.from(table.a, (_, i) => ({
    a: describe(first, table.a[i]),
    b: describe(second, table.b[i]),
    differs: table.differs[i],
  }));
}

export type Pair = Awaited<ReturnType<typeof pairs>>[number];

/** Pieces of one side wait until the other has as many elements: at most this many bytes. */
const STEP = 4 << 20;

/** Compares values. Both are streamed side by side. */
export async function difference(
  context: Context,
  a: number,
  tensorA: number,
  b: number,
  tensorB: number,
): Promise<DifferenceSummary> {
  const { Difference } = await computing();
  const [first, second] = [session(a), session(b)];
  const [left, right] = await Promise.all([
    details(first, tensorA, context),
    details(second, tensorB, context),
  ]);
  if (accessOf(left) !== 'dense' || accessOf(right) !== 'dense') {
    throw new Error('only dense tensors of numbers can be compared');
  }
  const sums = new Difference(left.dtype, left.endianness, right.dtype, right.endianness);
  const balance = new Balance();
  const side = (file: Session, tensor: number, which: 0 | 1, bits: number) =>
    pull(file, tensor, context, async (bytes) => {
      await balance.turn(which);
      if (which === 0) {
        sums.pushA(bytes);
      } else {
        sums.pushB(bytes);
      }
      balance.add(which, (bytes.length * 8) / bits);
    }).finally(() => balance.end(which));
  try {
    await Promise.all([
      side(first, tensorA, 0, bitsOf(left.dtype)),
      side(second, tensorB, 1, bitsOf(right.dtype)),
    ]);
    return sums.summary();
  } finally {
    sums.free();
  }
}

/** As `scan`, for a consumer that makes the stream wait. */
async function pull(
  file: Session,
  tensor: number,
  context: Context,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const { stored } = await details(file, tensor, context);
  let passed = 0;
  const page = await file.settle(() => file.document.chunks(tensor, 0, 1), context);
  for (let i = 0; BigInt(i) < page.total; i++) {
    const decoder = await file.settle(() => file.document.decoder(tensor, i), context);
    try {
      for await (const bytes of file.source.pieces(decoder.offset, decoder.stored, context.signal)) {
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

/** Lets neither of two streams get ahead of the other by much. */
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
