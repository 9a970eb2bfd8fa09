/** Measurements of a file's weights, by tensor. */

import type { ComputeLibrary, Weights } from 'weighbridge';
import type { Session } from './session.ts';

/** The measurements of a tensor, in column order. */
export const NUMBERS = ['min', 'max', 'mean', 'deviation', 'zeros', 'nans', 'infinities', 'rows', 'zeroRows', 'outlier'] as const;

export type WeightKey = (typeof NUMBERS)[number];

export function isWeightKey(key: string): key is WeightKey {
  return (NUMBERS as readonly string[]).includes(key);
}

export class Measurements {
  readonly library: ComputeLibrary;
  /** Makes digests comparable within a file and hard to forge. */
  readonly seed = crypto.getRandomValues(new BigUint64Array(1))[0];
  readonly columns: Record<WeightKey, Float64Array>;
  readonly signs: Uint8Array;
  /** Whether each tensor was measured. */
  readonly known: Uint8Array;
  /** The lowest-numbered tensor with each digest. */
  readonly #first = new Map<string, number>();
  readonly #digests = new Map<number, string>();
  /** Positions of the first NaN and the first infinity. */
  readonly firsts = new Map<number, { nan: bigint | undefined; infinity: bigint | undefined }>();
  /** Runs of whole pages that cut tensors. */
  readonly holes = new Map<number, NonNullable<Weights['hole']>>();
  /** Why tensors were skipped. */
  readonly skipped = new Map<number, string>();
  measured = 0;
  /** Incremented with every result. */
  version = 0;
  readonly #duplicate: number;
  /** The bits of signs that are faults. */
  readonly faults: number;

  constructor(library: ComputeLibrary, tensors: number) {
    this.library = library;
    this.columns = Object.fromEntries(NUMBERS.map((key) => [key, new Float64Array(tensors).fill(NaN)])) as Record<WeightKey, Float64Array>;
    this.signs = new Uint8Array(tensors);
    this.known = new Uint8Array(tensors);
    this.#duplicate = library.signs.find(({ name }) => name === 'duplicate')!.bit;
    this.faults = library.signs.reduce((bits, { fault, bit }) => (fault ? bits | bit : bits), 0);
  }

  add(tensor: number, weights: Weights): void {
    // A worker of a cancelled sweep may still answer.
    if (this.known[tensor] === 1) {
      return;
    }
    for (const key of NUMBERS) {
      this.columns[key][tensor] = weights[key];
    }
    this.signs[tensor] = weights.signs;
    this.known[tensor] = 1;
    this.measured++;
    this.version++;
    if (weights.firstNan !== undefined || weights.firstInfinity !== undefined) {
      this.firsts.set(tensor, { nan: weights.firstNan, infinity: weights.firstInfinity });
    }
    if (weights.hole !== undefined) {
      this.holes.set(tensor, weights.hole);
    }
    if (weights.digest !== undefined) {
      this.#pair(tensor, weights.digest);
    }
  }

  /**
   * Marks duplicates. Of equal tensors the lowest-numbered is not one, in whatever order they are
   * measured.
   */
  #pair(tensor: number, digest: string): void {
    const first = this.#first.get(digest);
    this.#digests.set(tensor, digest);
    this.#first.set(digest, Math.min(first ?? tensor, tensor));
    if (first !== undefined) {
      this.signs[Math.max(first, tensor)] |= this.#duplicate;
    }
  }

  /** The lowest-numbered tensor with the same elements, if it is another one. */
  twin(tensor: number): number | undefined {
    const first = this.#first.get(this.#digests.get(tensor) ?? '');
    return first === tensor ? undefined : first;
  }

  /** The measurements of a tensor. */
  of(tensor: number): Record<WeightKey, number> & { signs: string[]; fault: boolean } {
    const bits = this.signs[tensor];
    return {
      ...(Object.fromEntries(NUMBERS.map((key) => [key, this.columns[key][tensor]])) as Record<WeightKey, number>),
      signs: this.namesOf(bits),
      fault: (bits & this.faults) !== 0,
    };
  }

  skip(tensor: number, why: string): void {
    this.skipped.set(tensor, why);
    this.version++;
  }

  /** Whether a tensor needs no further work. */
  has(tensor: number): boolean {
    return this.known[tensor] === 1 || this.skipped.has(tensor);
  }

  /** The names of signs, faults first. */
  namesOf(bits: number): string[] {
    return this.library.signs.filter(({ bit }) => (bits & bit) !== 0).map(({ name }) => name);
  }

  /** The verdict in full, and in brief where there is little room. */
  health(): { text: string; brief: string; faulty: boolean; suspicious: number; skipped: number } {
    const signs = this.signs.filter((_, tensor) => this.known[tensor] === 1);
    const skipped = this.skipped.size;
    const { text: said, faulty } = this.library.health(signs, skipped);
    const text = this.measured + skipped === 0 ? 'none scanned yet' : said;
    const suspicious = signs.filter((bits) => bits !== 0).length;
    const notes = signs.filter((bits) => bits !== 0 && (bits & this.faults) === 0).length;
    const looks = notes === 0 ? '' : `${notes.toLocaleString('en-GB')} ${faulty ? 'more' : notes === 1 ? 'tensor' : 'tensors'} worth a look`;
    const worst = faulty ? this.library.health(signs.map((bits) => bits & this.faults), 0).text : '';
    const left = skipped === 0 ? '' : `; ${skipped.toLocaleString('en-GB')} not scanned`;
    const brief = suspicious === 0 ? text : [worst, looks].filter((part) => part !== '').join(', ') + left;
    return { text, brief, faulty, suspicious, skipped };
  }
}

const all = new WeakMap<Session, Measurements>();

/** The measurements so far; `undefined` before the first sweep. */
export function measurements(file: Session): Measurements | undefined {
  return all.get(file);
}

/** The measurements, created if there are none. */
export function begin(file: Session, library: ComputeLibrary): Measurements {
  const found = all.get(file) ?? new Measurements(library, file.document.tensorCount);
  all.set(file, found);
  return found;
}
