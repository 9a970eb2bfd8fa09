/** Decoders and accumulators for streamed data. */

import type { Sink } from './index.d.ts';

/** Decodes the stored bytes of one chunk. */
export interface Decoder {
  free(): void;
  readonly offset: bigint;
  /** Total number of stored bytes. */
  readonly stored: bigint;
  readonly decoded: bigint | undefined;
  readonly encoding: string;
  /**
   * Adds the next stored bytes, in order. Returns the decoded bytes, or passes them to `take` in
   * pieces of at most 1 MiB. A small file may decode to a large one: without `take`, a call that
   * decodes more than 256 MiB throws. Throws if the data is corrupt.
   */
  push(bytes: Uint8Array, take?: (decoded: Uint8Array) => void): Uint8Array;
  /** Call this after the last byte: throws if data is missing or the checksum is wrong. */
  finish(): ChunkReport;
}

export interface ChunkReport {
  decoded: bigint;
  /** `undefined` if the file has no checksum. */
  checksum: 'right' | 'wrong' | 'unknown' | undefined;
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

export interface StatisticsConstructor {
  new (dtype: string, endianness?: 'little' | 'big', elements?: bigint): Statistics;
}

/** Computes statistics of elements that arrive in pieces of any length. */
export interface Statistics extends Sink {
  free(): void;
  /** Adds the next decoded bytes, in order. */
  push(bytes: Uint8Array): void;
  summary(): Summary;
  /**
   * Histogram of all elements so far by magnitude: bin `i` holds elements with 2^(i - 1075) <= |x|
   * < 2^(i - 1074). Negative elements come first: bins 0..2100, then 2100..4200.
   */
  magnitudes(): Float64Array;
  /**
   * Histogram of all elements so far in `bins` equal steps from `lo` to `hi`. Elements wider than
   * 16 bits are known to one part in 128, doubles to one in 16.
   */
  steps(lo: number, hi: number, bins: number): Float64Array;
  /**
   * Quantiles of the finite elements at these shares, with the precision of `steps`; NaN if there
   * are no finite elements.
   */
  quantiles(shares: number[]): Float64Array;
}

export interface HeatmapConstructor {
  /**
   * `shape` is in storage order; `rowAxis` and `columnAxis` span the slice, and `fixed` holds the
   * position on every other axis (its values for those two are ignored). Passing the same axis
   * twice gives a single row. The picture has at most `height` × `width` cells.
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
      /** The drawn part of the slice: first row, end of the rows, first column, end of the columns. */
      window?: readonly bigint[];
      /** Draws the scales of blocks instead of the elements. */
      scales?: boolean;
    },
  ): Heatmap;
}

/** The elements of one block: each `value` is `scale * quant + min`. */
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
  /** First element to push, which starts at a byte boundary, and the end, exclusive. */
  readonly from: bigint;
  readonly to: bigint;
  /** Range of the decoded bytes of these elements. */
  readonly firstByte: bigint;
  readonly lastByte: bigint;
  readonly height: number;
  readonly width: number;
  /** Adds decoded bytes, in order, starting at element `from`. */
  push(bytes: Uint8Array): void;
  /** Mean, minimum and maximum of each cell, row by row; NaN for cells without a finite element. */
  mean(): Float32Array;
  min(): Float32Array;
  max(): Float32Array;
  /** Number of non-finite elements in each cell. */
  bad(): Uint32Array;
}

/** A noteworthy property of a tensor's elements. */
export interface Sign {
  /** `nan`, `infinite`, `zero`, `constant`, `zero-rows`, `outlier`, `duplicate`. */
  name: string;
  /** Whether it makes the weights unusable; the other signs are only worth a look. */
  fault: boolean;
  bit: number;
}

export interface GaugeConstructor {
  new (
    dtype: string,
    options?: {
      endianness?: 'little' | 'big';
      elements?: bigint;
      /** Extent of the first axis, if that is the slowest of several. */
      rows?: bigint;
      /** Digests are comparable if they use the same seed. */
      seed?: bigint;
    },
  ): Gauge;
}

/** Measures streamed weights: faster than `Statistics`, without a histogram. */
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
}

/** The tensors of two files, matched by name. */
export interface Pairs {
  /** Positions in the first and the second file; 0xFFFFFFFF if the tensor is missing there. */
  a: Uint32Array;
  b: Uint32Array;
  /** Bits of what differs: 1 type, 2 shape, 4 number of stored bytes, 8 layout or encoding. */
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
     * Reorders the rows of each head of side 0 or 1 as GGUF does for Llama's `attn_q` and `attn_k`:
     * `row` elements per row, `rows` rows per head. Positions are those of the other side.
     */
    heads?: { side: 0 | 1; row: number; rows: number },
  ): Difference;
}

/** Compares the elements of two tensors, which may have different types. */
export interface Difference {
  free(): void;
  /** Adds the next decoded bytes of either side; the sides need not advance at the same pace. */
  pushA(bytes: Uint8Array): void;
  pushB(bytes: Uint8Array): void;
  summary(): DifferenceSummary;
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

/** Writes a .npy file. */
export interface Npy extends Sink {
  free(): void;
  /** The bytes before the data. */
  header(): Uint8Array;
  /** Converts decoded bytes to those of the file; `take` returns the result. */
  push(bytes: Uint8Array): void;
  take(): Uint8Array;
}
