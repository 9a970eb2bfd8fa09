// Decodes the stored bytes of one chunk.

import { failure } from './unpack.js';

/** More than this from one `push` is handed out with a callback only. */
const MOST = 256 << 20;

const VERDICTS = ['wrong', 'right', 'unknown'];

export function decoders() {
  class Decoder {
    #raw;
    #hasher;
    #passed = 0n;

    /** `make` makes a decoder, `hasher` compares with the checksum if there is one. */
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
      const pieces = [];
      let total = 0;
      this.#raw.give(bytes);
      for (let piece = this.#raw.take(); piece.length > 0; piece = this.#raw.take()) {
        if (take !== undefined) {
          take(piece);
          continue;
        }
        total += piece.length;
        if (total > MOST) {
          throw failure('decoded data is too large for one array: give `push` a callback');
        }
        pieces.push(piece);
      }
      const all = new Uint8Array(total);
      let at = 0;
      for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
      }
      return all;
    }

    finish() {
      if (this.#raw === undefined) {
        if (this.#passed !== this.stored) {
          throw failure('the data is cut off', { offset: this.offset });
        }
        return { decoded: this.#passed, checksum: this.#checksum() };
      }
      this.#raw.take();
      if (!this.#raw.done()) {
        throw failure('the stream is cut off', { offset: this.offset });
      }
      return { decoded: this.#raw.decoded(), checksum: this.#checksum() };
    }
  }
  return (chunk, make, hasher) => new Decoder(chunk, make, hasher);
}
