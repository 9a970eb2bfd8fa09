// Decodes the stored bytes of one chunk.

import { failure } from './unpack.js';

/** Maximum number of bytes that one `push` returns without a callback. */
const MOST = 256 << 20;

const VERDICTS = ['wrong', 'right', 'unknown'];

export function decoders() {
  class Decoder {
    #raw;
    #hasher;
    #passed = 0n;

    /** `make` creates the decoder; `hasher` checks the checksum, if there is one. */
    constructor(chunk, make, hasher) {
      Object.assign(this, chunk);
      this.#hasher = hasher;
      if (chunk.encoding !== 'raw') {
        this.#raw = make();
        if (this.#raw === undefined) {
          throw failure(`no decoder for ${chunk.encoding}`, { offset: chunk.offset });
        }
      }
    }

    free() {
      this.#raw?.free();
      this.#hasher?.free();
    }

    #checksum() {
      return this.#hasher && VERDICTS[this.#hasher.verdict()];
    }

    push(bytes, take) {
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

    finish() {
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
  return (chunk, make, hasher) => new Decoder(chunk, make, hasher);
}
