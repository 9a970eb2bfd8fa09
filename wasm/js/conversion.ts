// A document as a safetensors file, with the bytes that `weighbridge convert` writes.

import type * as full from './full.js';
import { unpack, type Texts } from './unpack.js';

/** A tensor or a metadata entry that is not in the file. */
export interface LeftOut {
  name: string;
  why: string;
}

/** A second name of the same elements: they are written once, and the metadata has the other name. */
export interface Tied {
  name: string;
  kept: string;
}

/** The next part of the file: bytes, a range of the document's file to be copied as it is, or `done`. */
export type Part =
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'copy'; offset: bigint; length: bigint }
  | { kind: 'done' };

export interface ConversionOptions {
  /** Convert an invalid file too, without its faulty tensors. */
  force?: boolean;
  /** What counts as invalid; `strict` by default. */
  profile?: 'strict' | 'lenient';
}

function pairs<T>(names: Texts, others: Texts, make: (name: string, other: string) => T): T[] {
  return Array.from(names, (name, i) => make(name, others.at(i) ?? ''));
}

/** A safetensors file of the tensors of a document, which is made part by part. */
export class Conversion {
  readonly #raw: full.RawSaving;
  readonly #document: full.RawDocument;
  /** The length of the file. */
  readonly length: bigint;
  /** The number of tensors in it. */
  readonly tensors: number;
  /** The tensors that are not in it. Without `--force` the command refuses to write it if there are any. */
  readonly leftOut: LeftOut[];
  /** The metadata that is not in it: only texts are. */
  readonly metadataLeftOut: LeftOut[];
  readonly tied: Tied[];

  /** @internal */
  constructor(raw: full.RawSaving, document: full.RawDocument) {
    this.#raw = raw;
    this.#document = document;
    const facts = unpack(raw.facts(), (fields) => {
      const [length, tensors] = [fields.u64(), fields.u32()];
      const left = () => pairs(fields.texts(), fields.texts(), (name, why) => ({ name, why }));
      const [leftOut, metadataLeftOut] = [left(), left()];
      const tied = pairs(fields.texts(), fields.texts(), (name, kept) => ({ name, kept }));
      return { length, tensors, leftOut, metadataLeftOut, tied };
    });
    this.length = facts.length;
    this.tensors = facts.tensors;
    this.leftOut = facts.leftOut;
    this.metadataLeftOut = facts.metadataLeftOut;
    this.tied = facts.tied;
  }

  /** The next part, in order; `undefined` if bytes of the document are missing. */
  next(): Part | undefined {
    return unpack(this.#raw.next(this.#document), (fields): Part => {
      switch (fields.u32()) {
        case 0:
          return { kind: 'bytes', bytes: fields.column(Uint8Array) };
        case 1:
          return { kind: 'copy', offset: fields.u64(), length: fields.u64() };
        default:
          return { kind: 'done' };
      }
    });
  }

  /** Frees the memory; the document stays. */
  free(): void {
    this.#raw.free();
  }
}
