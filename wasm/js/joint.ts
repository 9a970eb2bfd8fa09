// Several files as one.

import type * as full from './full.js';
import { Conversion, type ConversionOptions } from './conversion.js';
import { Document, forget, insides } from './document.js';
import type { Profile } from './tables.js';
import { unpack } from './unpack.js';

/** Where a name stands that a pickle imports. */
const STANDING = ['listed', 'plain data', 'not listed'] as const;

/** A name that a pickle imports. */
export interface Global {
  /** Module and attribute, joined by a dot. */
  name: string;
  /** Offset of the first import, or of the compressed member that has it. */
  offset: bigint;
  /** Whether loading the pickle calls it. */
  called: boolean;
  /** `torch.load(weights_only=True)` allows `listed` names; `plain data` makes nothing else. */
  standing: (typeof STANDING)[number];
  /** The number of the pickle that imports it first. */
  pickle: number;
  /** Offset of the import among operations: in a compressed pickle, it counts decoded bytes. */
  place: bigint;
}

/** A pickle of the file. */
export interface Pickle {
  /** The member of an archive that it is; empty for the file. */
  name: string;
  /** Its bytes in the file; of a compressed pickle, the whole stream. */
  offset: bigint;
  length: bigint;
  compressed: boolean;
}

/** An operation of a pickle. Nothing performs it. */
export interface Operation {
  /** Its number, from 0. */
  number: bigint;
  offset: bigint;
  /** Its name in Python's `pickletools`; empty if no operation has its byte. */
  name: string;
  argument: string;
  /** What is wrong with it; empty if nothing is. */
  fault: string;
}

/** What a pickle has. */
export interface Code {
  /** Keys that lead to what each of `globals()` makes; empty for the object as a whole, `undefined` for names of other pickles and those that the object does not have. */
  paths: (string | undefined)[];
  operations: Operation[];
}

/** Bytes that tensors of a checkpoint are views of. */
export interface Storage {
  key: string;
  offset: bigint;
  /** Bytes in the file, and when they are decoded. */
  stored: bigint;
  size: bigint;
  /** Bytes between the first and the last element of a tensor. */
  used: bigint;
  /** The numbers of its tensors. */
  tensors: Uint32Array;
}

/**
 * A document of the full module, which may cover several files: the document of an index of shards,
 * or an empty one (of length 0) for the parts of a split GGUF. It then lists the tensors of all
 * files as if the files followed each other: offsets in a file that begins at `base` are increased
 * by `base`.
 */
export class JointDocument extends Document {
  /** The code of a word in the tables of this document. */
  code(word: string): number {
    return insides(this).raw.code(word);
  }

  /**
   * What the pickles of the file import, each name once, in the order of the file. Empty before the
   * goal `structure`, and for files without pickles.
   */
  globals(): Global[] {
    return unpack(insides(this).raw.globals(), (fields) => {
      const names = [...fields.texts()];
      const [offsets, called, standing] = [fields.column(BigUint64Array), fields.column(Uint8Array), fields.column(Uint8Array)];
      const [pickles, places] = [fields.column(Uint32Array), fields.column(BigUint64Array)];
      return names.map((name, i) => ({
        name,
        offset: offsets[i]!,
        called: called[i] === 1,
        standing: STANDING[standing[i]!]!,
        pickle: pickles[i]!,
        place: places[i]!,
      }));
    });
  }

  /** The pickles of the file, at most 1,000. */
  pickles(): Pickle[] {
    return unpack(insides(this).raw.pickles(), (fields) => {
      const names = [...fields.texts()];
      const [offsets, lengths, compressed] = [fields.column(BigUint64Array), fields.column(BigUint64Array), fields.column(Uint8Array)];
      return names.map((name, i) => ({ name, offset: offsets[i]!, length: lengths[i]!, compressed: compressed[i] === 1 }));
    });
  }

  /**
   * Reads a pickle, by its number, from its bytes in the file: where its imports lead, and the
   * operations around offsets in ascending order, with `count` before and after each.
   */
  pickle(number: number, stored: Uint8Array, offsets: readonly bigint[], count: number): Code {
    return unpack(insides(this).raw.pickle(number, stored, new BigUint64Array(offsets), count), (fields) => {
      const paths = [...fields.texts()];
      const has = fields.column(Uint8Array);
      const [numbers, places] = [fields.column(BigUint64Array), fields.column(BigUint64Array)];
      const [names, args, faults] = [[...fields.texts()], [...fields.texts()], [...fields.texts()]];
      return {
        paths: paths.map((path, i) => (has[i] === 1 ? path : undefined)),
        operations: names.map((name, i) => ({ number: numbers[i]!, offset: places[i]!, name, argument: args[i]!, fault: faults[i]! })),
      };
    });
  }

  /** The storages of a checkpoint of PyTorch; none for other formats. */
  storages(): Storage[] {
    return unpack(insides(this).raw.storages(), (fields) => {
      const keys = [...fields.texts()];
      const [offsets, stored, size, used] = [fields.column(BigUint64Array), fields.column(BigUint64Array), fields.column(BigUint64Array), fields.column(BigUint64Array)];
      const [ends, tensors] = [fields.column(Uint32Array), fields.column(Uint32Array)];
      return keys.map((key, i) => ({
        key,
        offset: offsets[i]!,
        stored: stored[i]!,
        size: size[i]!,
        used: used[i]!,
        tensors: tensors.slice(i === 0 ? 0 : ends[i - 1], ends[i]),
      }));
    });
  }

  #saving: { raw: full.RawSaving; asked: string } | undefined;

  /**
   * Plans a safetensors file of all tensors; `undefined` if bytes are missing. Throws if the file is
   * invalid, unless `force` is set. Only the structure is checked, unless the goal `payloads` is
   * reached. Quantised elements and columns are left out. Free the result.
   */
  conversion({ force = false, profile = 'strict' }: ConversionOptions = {}): Conversion | undefined {
    if (!this.advance('structure')) {
      return undefined;
    }
    const asked = `${force} ${profile}`;
    if (this.#saving?.asked !== asked) {
      this.#saving?.raw.free();
      // Only the module of every format has it.
      const { RawSaving } = insides(this).glue as unknown as typeof full;
      this.#saving = { raw: new RawSaving(force), asked };
    }
    const { raw } = this.#saving;
    if (!raw.plan(insides(this).raw, profile === 'lenient')) {
      return undefined;
    }
    this.#saving = undefined;
    return new Conversion(raw, insides(this).raw);
  }

  /**
   * The paths of the files that the tensors of the model name, relative to its folder, each once;
   * `undefined` if bytes are missing. Empty for formats that keep all data in the file itself. No path
   * leads out of the folder, as far as its text says: the others break a rule, and are left out.
   */
  otherFiles(): string[] | undefined {
    return unpack(insides(this).raw.otherFiles(), (fields) => [...fields.texts()]);
  }

  /**
   * Appends the files that `otherFiles` has returned, in its order, and begins again: call `advance`
   * next. Each file begins at its `base`, behind the model and all files before it, and offsets in it
   * are increased by that. `undefined` stands for a file that is missing.
   */
  attach(files: readonly ({ base: bigint; length: bigint } | undefined)[]): void {
    const column = (of: 'base' | 'length') => BigUint64Array.from(files, (file) => file?.[of] ?? 0n);
    insides(this).raw.attach(column('base'), column('length'));
    const ends = files.map((file) => (file === undefined ? 0n : file.base + file.length));
    forget(this, ends.reduce((last, end) => (end > last ? end : last), this.length));
  }

  /** Adds the tensors of a file that has reached the goal `index`. */
  join(part: JointDocument, base: bigint): void {
    forget(this);
    insides(this).raw.join(insides(part).raw, base);
  }

  /**
   * The files that an index lists, with the number of tensors listed for each and how many of those
   * the file has; `undefined` if bytes are missing.
   */
  listed(): { names: string[]; listed: Uint32Array; found: Uint32Array } | undefined {
    return unpack(insides(this).raw.listed(insides(this).seed), (fields) => ({
      names: [...fields.texts()],
      listed: fields.column(Uint32Array),
      found: fields.column(Uint32Array),
    }));
  }

  /**
   * Starts collecting the findings of all files and comparing the files. Call `addPart` or
   * `addAbsent` for each file in order, then `end`. After that, `findings`, `verdict` and `layout`
   * cover all files. `false` if bytes are missing.
   */
  begin(profile: Profile): boolean {
    return insides(this).raw.begin(profile === 'lenient', insides(this).seed);
  }

  /** Adds a file by its number from 0, with the positions of its first tensor and metadata entry among all. */
  addPart(part: JointDocument, number: number, name: string, base: bigint, first: number, firstEntry: number): void {
    insides(this).raw.addPart(insides(part).raw, number, name, base, first, firstEntry);
  }

  /** Records a file that is missing or, if `missing` is false, cannot be read. */
  addAbsent(number: number, missing: boolean): void {
    insides(this).raw.addAbsent(number, missing);
  }

  /** Compares the contents of all files. `false` if bytes are missing. */
  end(): boolean {
    forget(this);
    return insides(this).raw.end();
  }
}
