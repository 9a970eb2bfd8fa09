/** Decoders and accumulators: they take data that streams by. */

import type { Sink } from './index.d.ts';

/** Decodes the stored bytes of one chunk. */
export interface Decoder {
  free(): void;
  readonly offset: bigint;
  /** Stored bytes in all. */
  readonly stored: bigint;
  readonly decoded: bigint | undefined;
  readonly encoding: string;
  /**
   * The next stored bytes, in order. Decoded bytes are given back, or handed to
   * `take` in pieces of at most 1 MiB: a small file may decode to a large one, so
   * that without `take` more than 256 MiB at once throw. Throws when the data is
   * broken.
   */
  push(bytes: Uint8Array, take?: (decoded: Uint8Array) => void): Uint8Array;
  /** Call this after the last byte: throws when something is missing or the checksum is wrong. */
  finish(): ChunkReport;
}

export interface ChunkReport {
  decoded: bigint;
  /** `undefined` when the file has none. */
  checksum: 'right' | 'wrong' | 'unknown' | undefined;
}

export interface Summary {
  count: bigint;
  /** Of the finite elements; NaN when there are none. */
  min: number;
  max: number;
  mean: number;
  deviation: number;
  zeros: bigint;
  subnormals: bigint;
  nans: bigint;
  infinities: bigint;
  /** Element position; `undefined` when there is none. */
  firstNan: bigint | undefined;
  firstInfinity: bigint | undefined;
}

export interface StatisticsConstructor {
  new (dtype: string, endianness?: 'little' | 'big', elements?: bigint): Statistics;
}

/** Sums up elements that come in pieces of any length. */
export interface Statistics extends Sink {
  free(): void;
  /** The next decoded bytes, in order. */
  push(bytes: Uint8Array): void;
  summary(): Summary;
  /**
   * Counts of what was pushed by magnitude: bin `i` holds elements with
   * 2^(i - 1075) <= |x| < 2^(i - 1074), negative ones before positive ones: bins
   * 0..2100, then 2100..4200.
   */
  magnitudes(): Float64Array;
  /**
   * Counts of what was pushed in `bins` equal steps from `lo` to `hi`. Elements of more
   * than 16 bits are known to one part in 128, doubles to one in 16.
   */
  steps(lo: number, hi: number, bins: number): Float64Array;
  /**
   * What these shares of the finite elements are below, as nearly as `steps` knows them; NaN
   * where there are none.
   */
  quantiles(shares: number[]): Float64Array;
}

export interface HeatmapConstructor {
  /**
   * `shape` in storage order; `rowAxis` and `columnAxis` span the slice, `fixed`
   * holds the position on every other axis (what it holds for those two is not
   * looked at). The same axis twice gives a single row. The picture has at most
   * `height` × `width` cells.
   */
  new (
    dtype: string,
    endianness: 'little' | 'big',
    shape: BigUint64Array,
    rowAxis: number,
    columnAxis: number,
    fixed: BigUint64Array,
    height: number,
    width: number,
    options?: {
      /** First row, row after the last, first column, column after the last: what is drawn of the slice. */
      window?: readonly bigint[];
      /** Draws the scales of blocks in place of the elements. */
      scales?: boolean;
    },
  ): Heatmap;
}

/** The elements of one block: each is `scale * quant + min`, and that is its value. */
export interface Block {
  scale: Float32Array;
  quant: Float32Array;
  /** Zero for types without a minimum. */
  min: Float32Array;
  value: Float32Array;
}

/** Averages a two-dimensional slice of a dense tensor into cells. */
export interface Heatmap extends Sink {
  free(): void;
  /** First element that is pushed, at the start of a byte, and one past the last. */
  readonly from: bigint;
  readonly to: bigint;
  /** Where the decoded bytes of these elements begin, and where they end. */
  readonly firstByte: bigint;
  readonly lastByte: bigint;
  readonly height: number;
  readonly width: number;
  /** Decoded bytes from element `from` on, in order. */
  push(bytes: Uint8Array): void;
  /** Mean, least and greatest of each cell, row by row; NaN where no finite element is. */
  mean(): Float32Array;
  min(): Float32Array;
  max(): Float32Array;
  /** Elements of each cell that are not finite. */
  bad(): Uint32Array;
}

/** Something noteworthy about the elements of a tensor. */
export interface Sign {
  /** `nan`, `infinite`, `zero`, `constant`, `zero-rows`, `outlier`, `duplicate`. */
  name: string;
  /** Whether no model computes anything sensible with it; the others are worth a look. */
  fault: boolean;
  bit: number;
}

export interface GaugeConstructor {
  new (
    dtype: string,
    options?: {
      endianness?: 'little' | 'big';
      elements?: bigint;
      /** Extent of the first axis, where that is the slowest of several. */
      rows?: bigint;
      /** Digests are comparable where it is the same. */
      seed?: bigint;
    },
  ): Gauge;
}

/** Measures weights that stream by: faster than `Statistics`, without a histogram. */
export interface Gauge extends Sink {
  free(): void;
  push(bytes: Uint8Array): void;
  weights(): Weights;
}

export interface Weights {
  count: number;
  zeros: number;
  nans: number;
  infinities: number;
  /** Rows that were looked at, and those of them that are all zeros. */
  rows: number;
  zeroRows: number;
  firstNan: bigint | undefined;
  firstInfinity: bigint | undefined;
  /** Of the finite elements; NaN when there are none. */
  min: number;
  max: number;
  mean: number;
  deviation: number;
  /** Standard deviations from the mean to the farthest element; NaN where there is no spread. */
  outlier: number;
  /** Bits of `signs`. */
  signs: number;
  /** Equal for equal tensors; `undefined` where all elements are equal, which says nothing. */
  digest: string | undefined;
}

/** Tensors of two files, by name. */
export interface Pairs {
  /** Positions in the first and the second file; 0xFFFFFFFF when it is missing there. */
  a: Uint32Array;
  b: Uint32Array;
  /** Bits: 1 the type differs, 2 the shape, 4 the number of stored bytes, 8 layout or encoding. */
  differs: Uint8Array;
}

export interface DifferenceConstructor {
  new (
    dtypeA: string,
    endiannessA: 'little' | 'big',
    dtypeB: string,
    endiannessB: 'little' | 'big',
    elements?: bigint,
    /**
     * Puts the rows of each head of side 0 or 1 into the order of GGUF's `attn_q` and `attn_k`
     * of Llama: `row` elements a row, `rows` rows a head. Positions are those of the other side.
     */
    heads?: { side: 0 | 1; row: number; rows: number },
  ): Difference;
}

/** Compares the elements of two tensors, whatever their types. */
export interface Difference {
  free(): void;
  /** The next decoded bytes of either; the number of elements may differ from call to call. */
  pushA(bytes: Uint8Array): void;
  pushB(bytes: Uint8Array): void;
  summary(): DifferenceSummary;
}

export interface DifferenceSummary {
  /** Pairs that were compared. */
  count: bigint;
  /** Pairs whose values differ; two NaNs are equal. */
  different: bigint;
  /** Pairs in which both values are finite. */
  finite: bigint;
  /** Pairs with a NaN in the first, or in the second, only. */
  nanA: bigint;
  nanB: bigint;
  /** Position of the first of these. */
  nanAt: bigint | undefined;
  /** The greatest difference; pairs with a NaN are left out. */
  maxAbs: number;
  /** Its position. */
  maxAt: bigint | undefined;
  /** Of the finite pairs; NaN when either side of them is all zero. */
  cosine: number;
  /** Root of the sum of squared differences over that of the squares of the first. */
  relativeRms: number;
  /**
   * Finite pairs that differ: `magnitudes[i]` are those with
   * 2^(power + i) <= |a - b| < 2^(power + i + 1). Empty ends are left out.
   */
  power: number;
  magnitudes: BigUint64Array;
}

/** Writes a .npy file. */
export interface Npy extends Sink {
  free(): void;
  /** What comes before the data. */
  header(): Uint8Array;
  /** Turns decoded bytes into those of the file; the result is taken with `take`. */
  push(bytes: Uint8Array): void;
  take(): Uint8Array;
}
