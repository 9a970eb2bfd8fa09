// Accumulators over streamed data.

import { failure, unpack } from './unpack.js';

const MOST = 0xffff_ffff_ffff_ffffn;

/** The accumulators of one WebAssembly module. */
export function accumulators(glue) {
  const numbers = (raw, dtype) => {
    if (raw === undefined) {
      throw failure(`${dtype} elements are not numeric, or the slice does not exist`);
    }
    return raw;
  };

  class Statistics {
    #raw;

    constructor(dtype, endianness = 'little', elements = MOST) {
      this.#raw = numbers(glue.RawStatistics.of(dtype, endianness === 'big', elements), dtype);
    }

    free() {
      this.#raw.free();
    }

    push(bytes) {
      this.#raw.push(bytes);
    }

    summary() {
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

    magnitudes() {
      return this.#raw.magnitudes();
    }

    steps(lo, hi, bins) {
      return this.#raw.steps(lo, hi, bins);
    }

    quantiles(shares) {
      return this.#raw.quantiles(Float64Array.from(shares));
    }
  }

  class Heatmap {
    #raw;
    #cells;

    constructor(dtype, endianness, shape, rowAxis, columnAxis, fixed, height, width, options = {}) {
      const big = endianness === 'big';
      const { RawHeatmap } = glue;
      const window = BigUint64Array.from(options.window ?? []);
      const raw = RawHeatmap.of(dtype, big, shape, rowAxis, columnAxis, fixed, height, width, window, options.scales ?? false);
      this.#raw = numbers(raw, dtype);
      const [from, to, rows, columns, firstByte, lastByte] = raw.size();
      this.from = from;
      this.to = to;
      this.firstByte = firstByte;
      this.lastByte = lastByte;
      this.height = Number(rows);
      this.width = Number(columns);
    }

    free() {
      this.#raw.free();
    }

    push(bytes) {
      this.#cells = undefined;
      this.#raw.push(bytes);
    }

    #all() {
      return (this.#cells ??= unpack(this.#raw.cells(), (fields) => ({
        mean: fields.column(Float32Array),
        min: fields.column(Float32Array),
        max: fields.column(Float32Array),
        bad: fields.column(Uint32Array),
      })));
    }

    mean() {
      return this.#all().mean;
    }

    min() {
      return this.#all().min;
    }

    max() {
      return this.#all().max;
    }

    bad() {
      return this.#all().bad;
    }
  }

  class Difference {
    #raw;

    constructor(dtypeA, endiannessA, dtypeB, endiannessB, elements = MOST, heads) {
      const big = [endiannessA === 'big', endiannessB === 'big'];
      const raw = glue.RawDifference.of(dtypeA, big[0], dtypeB, big[1], elements);
      this.#raw = numbers(raw, `${dtypeA} or ${dtypeB}`);
      if (heads !== undefined) {
        this.#raw = this.#raw.reordered(heads.side, heads.row, heads.rows);
        if (this.#raw === undefined) {
          throw failure('the heads have an odd number of rows, or too many elements');
        }
      }
    }

    free() {
      this.#raw.free();
    }

    pushA(bytes) {
      this.#raw.push(0, bytes);
    }

    pushB(bytes) {
      this.#raw.push(1, bytes);
    }

    summary() {
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

  class Gauge {
    #raw;

    constructor(dtype, { endianness = 'little', elements = MOST, rows = 0n, seed = 0n } = {}) {
      const big = endianness === 'big';
      this.#raw = numbers(glue.RawGauge.of(dtype, big, elements, rows, seed), dtype);
    }

    free() {
      this.#raw.free();
    }

    push(bytes) {
      this.#raw.push(bytes);
    }

    weights() {
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
      }));
    }
  }

  const signs = unpack(glue.rawSigns(), (fields) =>
    Array.from(fields.texts(), (row, i) => {
      const [name, level] = row.split('\t');
      return { name, fault: level === 'fault', bit: 1 << i };
    }),
  );

  const health = (bits, skipped) =>
    unpack(glue.rawHealth(bits, skipped), (fields) => ({ text: fields.text(), faulty: fields.flag() }));

  const compare = (a, b) =>
    unpack(glue.rawCompare(a, b), (fields) => ({
      a: fields.column(Uint32Array),
      b: fields.column(Uint32Array),
      differs: fields.column(Uint8Array),
    }));

  const block = (dtype, endianness, bytes) =>
    unpack(glue.rawBlock(dtype, endianness === 'big', bytes), (fields) => ({
      scale: fields.column(Float32Array),
      quant: fields.column(Float32Array),
      min: fields.column(Float32Array),
      value: fields.column(Float32Array),
    }));

  const unit = (dtype) => Array.from(glue.rawUnit(dtype).subarray(0, 2));

  const ggufNames = (name) => glue.rawGgufNames(name).split('\n').filter((line) => line !== '');

  return { Statistics, Heatmap, Difference, Gauge, block, unit, compare, ggufNames, signs, health };
}
