// Decodes the stored bytes of one chunk.

import type * as full from './full.js';
import { failure } from './unpack.js';

/** Maximum number of bytes that one `push` returns without a callback. */
const MOST = 256 << 20;

const VERDICTS = ['wrong', 'right', 'unknown'] as const;

export interface ChunkReport {
  decoded: bigint;
  /** `undefined` if the file has no checksum. */
  checksum: (typeof VERDICTS)[number] | undefined;
}

/** What a decoder knows of its chunk. */
export interface ChunkFacts {
  readonly offset: bigint;
  readonly stored: bigint;
  readonly decoded: bigint | undefined;
  readonly encoding: string;
}

/** Decodes the stored bytes of one chunk. */
export class Decoder implements ChunkFacts {
  readonly offset: bigint;
  /** Total number of stored bytes. */
  readonly stored: bigint;
  readonly decoded: bigint | undefined;
  readonly encoding: string;
  readonly #raw: full.RawDecoder | undefined;
  readonly #hasher: full.RawHasher | undefined;
  #passed = 0n;

  /**
   * `make` creates the decoder; `hasher` checks the checksum, if there is one.
   *
   * @internal
   */
  constructor(chunk: ChunkFacts, make: () => full.RawDecoder | undefined, hasher: full.RawHasher | undefined) {
    this.offset = chunk.offset;
    this.stored = chunk.stored;
    this.decoded = chunk.decoded;
    this.encoding = chunk.encoding;
    this.#hasher = hasher;
    if (chunk.encoding !== 'raw') {
      this.#raw = make();
      if (this.#raw === undefined) {
        throw failure(`no decoder for ${chunk.encoding}`, { offset: chunk.offset });
      }
    }
  }

  free(): void {
    this.#raw?.free();
    this.#hasher?.free();
  }

  #checksum(): ChunkReport['checksum'] {
    return this.#hasher && VERDICTS[this.#hasher.verdict()];
  }

  /**
   * Adds the next stored bytes, in order. Returns the decoded bytes, or passes them to `take` in
   * pieces of at most 1 MiB. A small file may decode to a large one: without `take`, a call that
   * decodes more than 256 MiB throws. Throws if the data is corrupt.
   */
  push(bytes: Uint8Array, take?: (decoded: Uint8Array) => void): Uint8Array {
    this.#hasher?.push(bytes);
    if (this.#raw === undefined) {
      this.#passed += BigInt(bytes.length);
      take?.(bytes);
      return take === undefined ? bytes : new Uint8Array(0);
    }
    // Room for usual compression ratios, so that each decoded byte is copied only once.
    const left = this.decoded === undefined ? Infinity : Number(this.decoded - this.#raw.decoded());
    let all = new Uint8Array(take === undefined ? Math.min(left, 4 * bytes.length, MOST) : 0);
    let total = 0;
    this.#raw.give(bytes);
    for (let length = this.#raw.next(); length > 0; length = this.#raw.next()) {
      if (take !== undefined) {
        const piece = new Uint8Array(length);
        this.#raw.put(piece, 0);
        take(piece);
        continue;
      }
      const end = total + length;
      if (end > MOST) {
        throw failure('decoded data is too large for one array: pass `push` a callback');
      }
      if (end > all.length) {
        const more = new Uint8Array(Math.max(end, Math.min(2 * all.length, MOST)));
        more.set(all);
        all = more;
      }
      this.#raw.put(all, total);
      total = end;
    }
    return total === all.length ? all : all.slice(0, total);
  }

  /** Call this after the last byte: throws if data is missing or the checksum is wrong. */
  finish(): ChunkReport {
    if (this.#raw === undefined) {
      if (this.#passed !== this.stored) {
        throw failure('the data is cut off', { offset: this.offset });
      }
      return { decoded: this.#passed, checksum: this.#checksum() };
    }
    this.#raw.next();
    if (!this.#raw.done()) {
      throw failure('the stream is cut off', { offset: this.offset });
    }
    return { decoded: this.#raw.decoded(), checksum: this.#checksum() };
  }
}
