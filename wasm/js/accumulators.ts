// Accumulators over streamed data.

import type * as raw from './compute.js';
import type { Compute } from './glue.js';
import type { ComputeLibrary } from './index.js';
import { failure, unpack } from './unpack.js';

const MOST = 0xffff_ffff_ffff_ffffn;

/** Takes decoded bytes in order. */
export interface Sink {
  push(bytes: Uint8Array): void;
}

function numeric<T>(accumulator: T | undefined, dtype: string): T {
  if (accumulator === undefined) {
    throw failure(`${dtype} elements are not numeric, or the slice does not exist`);
  }
  return accumulator;
}

export interface Summary {
  count: bigint;
  /** Over the finite elements; NaN if there are none. */
  min: number;
  max: number;
  mean: number;
  deviation: number;
  zeros: bigint;
  subnormals: bigint;
  nans: bigint;
  infinities: bigint;
  /** Position of the element; `undefined` if there is none. */
  firstNan: bigint | undefined;
  firstInfinity: bigint | undefined;
}

/** Computes statistics of elements that arrive in pieces of any length. */
export class Statistics implements Sink {
  readonly #raw: raw.RawStatistics;

  /** @internal */
  constructor(glue: Compute, dtype: string, endianness: 'little' | 'big' = 'little', elements: bigint = MOST) {
    this.#raw = numeric(glue.RawStatistics.of(dtype, endianness === 'big', elements), dtype);
  }

  free(): void {
    this.#raw.free();
  }

  /** Adds the next decoded bytes, in order. */
  push(bytes: Uint8Array): void {
    this.#raw.push(bytes);
  }

  summary(): Summary {
    return unpack(this.#raw.summary(), (fields) => ({
      count: fields.u64(),
      zeros: fields.u64(),
      subnormals: fields.u64(),
      nans: fields.u64(),
      infinities: fields.u64(),
      firstNan: fields.optional(),
      firstInfinity: fields.optional(),
      min: fields.f64(),
      max: fields.f64(),
      mean: fields.f64(),
      deviation: fields.f64(),
    }));
  }

  /**
   * Histogram of all elements so far by magnitude: bin `i` holds elements with 2^(i - 1075) <= |x|
   * < 2^(i - 1074). Negative elements come first: bins 0..2100, then 2100..4200.
   */
  magnitudes(): Float64Array {
    return this.#raw.magnitudes();
  }

  /**
   * Histogram of all elements so far in `bins` equal steps from `lo` to `hi`. Elements wider than
   * 16 bits are known to one part in 128, doubles to one in 16.
   */
  steps(lo: number, hi: number, bins: number): Float64Array {
    return this.#raw.steps(lo, hi, bins);
  }

  /**
   * Quantiles of the finite elements at these shares, with the precision of `steps`; NaN if there
   * are no finite elements.
   */
  quantiles(shares: number[]): Float64Array {
    return this.#raw.quantiles(Float64Array.from(shares));
  }
}

export interface HeatmapOptions {
  /** The drawn part of the slice: first row, end of the rows, first column, end of the columns. */
  window?: readonly bigint[];
  /** Draws the scales of blocks instead of the elements. */
  scales?: boolean;
}

interface HeatmapCells {
  mean: Float32Array;
  min: Float32Array;
  max: Float32Array;
  bad: Uint32Array;
}

/** Averages a two-dimensional slice of a dense tensor into cells. */
export class Heatmap implements Sink {
  /** First element to push, which starts at a byte boundary, and the end, exclusive. */
  readonly from: bigint;
  readonly to: bigint;
  /** Range of the decoded bytes of these elements. */
  readonly firstByte: bigint;
  readonly lastByte: bigint;
  readonly height: number;
  readonly width: number;
  readonly #raw: raw.RawHeatmap;
  #cells: HeatmapCells | undefined;

  /** @internal */
  constructor(
    glue: Compute,
    dtype: string,
    endianness: 'little' | 'big',
    shape: BigUint64Array,
    rowAxis: number,
    columnAxis: number,
    fixed: BigUint64Array,
    height: number,
    width: number,
    options: HeatmapOptions = {},
  ) {
    const big = endianness === 'big';
    const { RawHeatmap } = glue;
    const window = BigUint64Array.from(options.window ?? []);
    const raw = RawHeatmap.of(dtype, big, shape, rowAxis, columnAxis, fixed, height, width, window, options.scales ?? false);
    this.#raw = numeric(raw, dtype);
    const [from, to, rows, columns, firstByte, lastByte] = this.#raw.size() as unknown as [bigint, bigint, bigint, bigint, bigint, bigint];
    this.from = from;
    this.to = to;
    this.firstByte = firstByte;
    this.lastByte = lastByte;
    this.height = Number(rows);
    this.width = Number(columns);
  }

  free(): void {
    this.#raw.free();
  }

  /** Adds decoded bytes, in order, starting at element `from`. */
  push(bytes: Uint8Array): void {
    this.#cells = undefined;
    this.#raw.push(bytes);
  }

  #all(): HeatmapCells {
    return (this.#cells ??= unpack(this.#raw.cells(), (fields) => ({
      mean: fields.column(Float32Array),
      min: fields.column(Float32Array),
      max: fields.column(Float32Array),
      bad: fields.column(Uint32Array),
    })));
  }

  /** Mean, minimum and maximum of each cell, row by row; NaN for cells without a finite element. */
  mean(): Float32Array {
    return this.#all().mean;
  }

  min(): Float32Array {
    return this.#all().min;
  }

  max(): Float32Array {
    return this.#all().max;
  }

  /** Number of non-finite elements in each cell. */
  bad(): Uint32Array {
    return this.#all().bad;
  }
}

export interface DifferenceSummary {
  /** Number of pairs compared. */
  count: bigint;
  /** Pairs whose values differ; two NaNs are equal. */
  different: bigint;
  /** Pairs in which both values are finite. */
  finite: bigint;
  /** Pairs with a NaN only in the first, or only in the second. */
  nanA: bigint;
  nanB: bigint;
  /** Position of the first such pair. */
  nanAt: bigint | undefined;
  /** The greatest difference, ignoring pairs with a NaN. */
  maxAbs: number;
  /** Position of that difference. */
  maxAt: bigint | undefined;
  /** Over the finite pairs; NaN if either side is all zero. */
  cosine: number;
  /** Root of the sum of squared differences, divided by that of the squares of the first side. */
  relativeRms: number;
  /**
   * Histogram of the finite pairs that differ: `magnitudes[i]` counts those with 2^(power + i) <=
   * |a - b| < 2^(power + i + 1). Empty bins at both ends are left out.
   */
  power: number;
  magnitudes: BigUint64Array;
}

/**
 * Reorders the rows of each head of side 0 or 1 as GGUF does for Llama's `attn_q` and `attn_k`:
 * `row` elements per row, `rows` rows per head. Positions are those of the other side.
 */
export interface Heads {
  side: 0 | 1;
  row: number;
  rows: number;
}

/** Compares the elements of two tensors, which may have different types. */
export class Difference {
  readonly #raw: raw.RawDifference;

  /** @internal */
  constructor(
    glue: Compute,
    dtypeA: string,
    endiannessA: 'little' | 'big',
    dtypeB: string,
    endiannessB: 'little' | 'big',
    elements: bigint = MOST,
    heads?: Heads,
  ) {
    const raw = glue.RawDifference.of(dtypeA, endiannessA === 'big', dtypeB, endiannessB === 'big', elements);
    const plain = numeric(raw, `${dtypeA} or ${dtypeB}`);
    const ordered = heads === undefined ? plain : plain.reordered(heads.side, heads.row, heads.rows);
    if (ordered === undefined) {
      throw failure('the heads have an odd number of rows, or too many elements');
    }
    this.#raw = ordered;
  }

  free(): void {
    this.#raw.free();
  }

  /** Adds the next decoded bytes of either side; the sides need not advance at the same pace. */
  pushA(bytes: Uint8Array): void {
    this.#raw.push(0, bytes);
  }

  pushB(bytes: Uint8Array): void {
    this.#raw.push(1, bytes);
  }

  summary(): DifferenceSummary {
    return unpack(this.#raw.summary(), (fields) => ({
      count: fields.u64(),
      different: fields.u64(),
      finite: fields.u64(),
      nanA: fields.u64(),
      nanB: fields.u64(),
      nanAt: fields.optional(),
      maxAt: fields.optional(),
      maxAbs: fields.f64(),
      cosine: fields.f64(),
      relativeRms: fields.f64(),
      power: fields.f64(),
      magnitudes: fields.column(BigUint64Array),
    }));
  }
}

/** A noteworthy property of a tensor's elements. */
export interface Sign {
  /** `nan`, `infinite`, `zero`, `constant`, `zero-rows`, `outlier`, `duplicate`, `cut`. */
  name: string;
  /** Whether it makes the weights unusable; the other signs are only worth a look. */
  fault: boolean;
  bit: number;
}

export interface Weights {
  count: number;
  zeros: number;
  nans: number;
  infinities: number;
  /** Number of rows examined, and how many of them are all zeros. */
  rows: number;
  zeroRows: number;
  firstNan: bigint | undefined;
  firstInfinity: bigint | undefined;
  /** Over the finite elements; NaN if there are none. */
  min: number;
  max: number;
  mean: number;
  deviation: number;
  /** Standard deviations from the mean to the farthest element; NaN if the deviation is zero. */
  outlier: number;
  /** Bits of `signs`. */
  signs: number;
  /** Equal for equal tensors; `undefined` if all elements are equal, since a match would mean nothing. */
  digest: string | undefined;
  /** The first run of whole pages that cuts the data, if its place was given: zeros, or copies of one page. */
  hole: { offset: bigint; len: bigint; zeros: boolean } | undefined;
}

export interface GaugeOptions {
  endianness?: 'little' | 'big';
  elements?: bigint;
  /** Extent of the first axis, if that is the slowest of several. */
  rows?: bigint;
  /** Digests are comparable if they use the same seed. */
  seed?: bigint;
  /** Where the data begins in its file, and the bytes of its rows: looks for pages of zeros that cut it. */
  place?: { offset: bigint; row: bigint };
}

function holed(offset: bigint | undefined, len: bigint, zeros: boolean): Weights['hole'] {
  return offset === undefined ? undefined : { offset, len, zeros };
}

/** Measures streamed weights: faster than `Statistics`, without a histogram. */
export class Gauge implements Sink {
  readonly #raw: raw.RawGauge;

  /** @internal */
  constructor(glue: Compute, dtype: string, { endianness = 'little', elements = MOST, rows = 0n, seed = 0n, place }: GaugeOptions = {}) {
    const big = endianness === 'big';
    const gauge = numeric(glue.RawGauge.of(dtype, big, elements, rows, seed), dtype);
    this.#raw = place === undefined ? gauge : gauge.placed(place.offset, place.row);
  }

  free(): void {
    this.#raw.free();
  }

  push(bytes: Uint8Array): void {
    this.#raw.push(bytes);
  }

  weights(): Weights {
    return unpack(this.#raw.weights(), (fields) => ({
      count: fields.f64(),
      zeros: fields.f64(),
      nans: fields.f64(),
      infinities: fields.f64(),
      rows: fields.f64(),
      zeroRows: fields.f64(),
      firstNan: fields.optional(),
      firstInfinity: fields.optional(),
      min: fields.f64(),
      max: fields.f64(),
      mean: fields.f64(),
      deviation: fields.f64(),
      outlier: fields.f64(),
      signs: fields.u32(),
      digest: fields.optionalText(),
      hole: holed(fields.optional(), fields.u64(), fields.flag()),
    }));
  }
}

/** The elements of one block: each `value` is `scale * quant + min`. */
export interface Block {
  scale: Float32Array;
  quant: Float32Array;
  /** Zero for types without a minimum. */
  min: Float32Array;
  value: Float32Array;
}

/** The tensors of two files, matched by name. */
export interface Pairs {
  /** Positions in the first and the second file; 0xFFFFFFFF if the tensor is missing there. */
  a: Uint32Array;
  b: Uint32Array;
  /** Bits of what differs: 1 type, 2 shape, 4 number of stored bytes, 8 layout or encoding. */
  differs: Uint8Array;
}

/**
 * What the module `compute` offers.
 *
 * @internal
 */
export function accumulators(glue: Compute): Omit<ComputeLibrary, 'flavour' | 'memory'> {
  const signs: readonly Sign[] = unpack(glue.rawSigns(), (fields) =>
    Array.from(fields.texts(), (row, i) => {
      const [name = '', level] = row.split('\t');
      return { name, fault: level === 'fault', bit: 1 << i };
    }),
  );

  const health = (bits: Uint8Array, skipped: number): { text: string; faulty: boolean } =>
    unpack(glue.rawHealth(bits, skipped), (fields) => ({ text: fields.text(), faulty: fields.flag() }));

  const compare = (a: Uint8Array, b: Uint8Array): Pairs =>
    unpack(glue.rawCompare(a, b), (fields) => ({
      a: fields.column(Uint32Array),
      b: fields.column(Uint32Array),
      differs: fields.column(Uint8Array),
    }));

  const block = (dtype: string, endianness: 'little' | 'big', bytes: Uint8Array): Block =>
    unpack(glue.rawBlock(dtype, endianness === 'big', bytes), (fields) => ({
      scale: fields.column(Float32Array),
      quant: fields.column(Float32Array),
      min: fields.column(Float32Array),
      value: fields.column(Float32Array),
    }));

  const unit = (dtype: string): number[] => Array.from(glue.rawUnit(dtype).subarray(0, 2));

  const ggufNames = (name: string): string[] => glue.rawGgufNames(name).split('\n').filter((line) => line !== '');

  return {
    Statistics: Statistics.bind(undefined, glue),
    Heatmap: Heatmap.bind(undefined, glue),
    Difference: Difference.bind(undefined, glue),
    Gauge: Gauge.bind(undefined, glue),
    block,
    unit,
    compare,
    ggufNames,
    signs,
    health,
  };
}
