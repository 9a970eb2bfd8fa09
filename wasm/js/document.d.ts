/** A file: its index, and the windows of it in memory. */

import type { Decoder, Npy } from './accumulators.d.ts';
import type { Chunks, Metadata, MetaValue, Tensor, Values } from './entry.d.ts';
import type { Filter, Findings, Groups, Layout, Profile, Progress, Rows, Rule, Sort, Texts, Totals, Verdict } from './tables.d.ts';

/**
 * How far to go: `index` reads the header and all entries; `structure` also checks everything that
 * can be checked without payloads, and determines the layout; `payloads` also reads the data
 * (checksums, decompression, value rules).
 */
export type Goal = 'index' | 'structure' | 'payloads';

export interface DocumentOptions {
  /** Opens the file as this format, whatever the content looks like. */
  format?: string;
  /** The file name: a known extension decides if the content does not. */
  name?: string;
  /** Bytes of the file to keep, 16 MiB by default; a single call that needs more may exceed it. */
  budget?: number;
  /** Requests are rounded outwards to multiples of this power of two; 64 KiB by default. */
  granule?: number;
}

/**
 * A file: its index, and the windows of it in memory.
 *
 * A method that returns `undefined` or `false` when bytes are missing says so. Then `need()` is not
 * empty: supply those ranges and call again (`settle` does this). All methods that list entries use
 * the index in WebAssembly memory and never need bytes. Elements of block types such as `q4_k` need
 * the module `compute` too: `requires` says so until it is loaded.
 */
export interface Document {
  /** Frees the memory; the document must not be used afterwards. */
  free(): void;

  readonly length: bigint;
  /** `true` once the goal is reached, or cannot be because the file is refused. If `false`, see `need()`. */
  advance(goal: Goal): boolean;
  /** Missing ranges: pairs of offset and length, ascending and separate. */
  need(): BigUint64Array;
  /** The module that the last call needs, if it is not loaded. */
  readonly requires: 'compute' | undefined;
  /** Adds a window. It may be longer or shorter than requested; bytes beyond the end are ignored. */
  supply(at: bigint | number, bytes: Uint8Array): void;
  /** The current state of `advance`. */
  progress(): Progress;

  /** The format's short name, such as `oinf`; `undefined` before it is known. */
  readonly format: string | undefined;
  /** The format's usual name, such as `OINF`. */
  readonly title: string | undefined;
  readonly version: string | undefined;
  /** Whether the file could not be opened. */
  readonly refused: boolean;
  /** Whether it was refused because this module does not recognise the format. */
  readonly unknown: boolean;
  /** Whether the lists of entries are cut off because they do not fit into memory. */
  readonly cut: boolean;
  /** Whether the module `full` lists this file faster; `open` then loads it. */
  readonly needsFull: boolean;
  readonly tensorCount: number;
  readonly metadataCount: number;
  readonly findingCount: number;

  /** Texts for the codes in `Rows`, `Findings` and `Layout`: one array, which grows with each table. */
  words(): string[];
  verdict(profile?: Profile): Verdict;
  /** Findings `from..to` in file order. */
  findings(from: number, to: number): Findings;
  /** The rule with this code (`Findings.rule`). */
  rule(code: number): Rule;

  /** Rows `from..to` of those that pass `filter`, in the order of `sort`. The last order is cached. */
  rows(from: number, to: number, sort?: Sort, filter?: Filter): Rows;
  /** Sets a number per tensor for the order `given`; tensors with NaN come last. */
  give(numbers: Float64Array): void;
  /** The position of a tensor in that order; -1 if it is filtered out. */
  rankOf(tensor: number, sort?: Sort, filter?: Filter): number;
  /** The next level of the tree below a prefix: groups and tensors. */
  groups(prefix: string, filter?: Filter): Groups;
  /** Totals by element type. */
  totals(filter?: Filter): Totals;
  /** The first tensor with this name; -1 if there is none. */
  find(name: string): number;
  /** The name of an entry, safe to show; `kind` is a word of `Findings` or `Layout`. Empty for the file. */
  entryName(kind: string, entry: number): string;
  /** The position of that entry in the list of tensors or metadata; -1 if it is in neither. */
  positionOf(kind: string, entry: number): number;

  /** Details of one tensor; `undefined` if bytes are missing. */
  tensor(index: number): Tensor | undefined;
  /** Chunks `from..to` of a tensor; `undefined` if bytes are missing. */
  chunks(index: number, from: number, to: number): Chunks | undefined;
  /** A tensor's own metadata (attributes, annotations); `undefined` if bytes are missing. */
  attributes(index: number): Metadata | undefined;
  /** Entries `from..to` of the file's metadata, with a preview of each value; `undefined` if bytes are missing. */
  metadata(from: number, to: number): Metadata | undefined;
  /** A metadata entry with its full value; `undefined` if bytes are missing. */
  value(index: number): MetaValue | undefined;
  /** An entry of a tensor's own metadata with its full value; `undefined` if bytes are missing. */
  attributeValue(tensor: number, index: number): MetaValue | undefined;

  /**
   * Elements (for columns, rows) `from..from + count` of a tensor in storage order, fewer at its
   * end; `undefined` if bytes are missing. For sparse tensors these are the stored entries.
   * Compressed data is decoded up to there and kept, up to 64 MiB.
   */
  values(index: number, from: bigint | number, count: number): Values | undefined;
  /**
   * A table of `rows` × `columns` elements, the first at `from`; the steps are distances in
   * elements. `undefined` if bytes are missing.
   */
  grid(
    index: number,
    from: bigint | number,
    rows: number,
    rowStep: bigint | number,
    columns: number,
    columnStep: bigint | number,
  ): Values | undefined;
  /** The texts for the keys 1, 2, … of a column, empty if it has none; `undefined` if bytes are missing. */
  keyValues(index: number): Texts | undefined;

  /** Parts `from..to` of the file in file order, including the gaps. Requires the goal `structure`. */
  layout(from: number, to: number): Layout;
  /** The part that contains the byte at `at`; -1 past the end. */
  locate(at: bigint | number): number;
  /**
   * Divides `len` bytes from `at` into `columns` equal columns, and returns the parts that each one
   * touches, as bits: 1 header, 2 table, 4 metadata, 8 payload, 16 quantization, 32 tail, 64 gap,
   * 128 overlap, 256 the first byte of a finding.
   */
  strip(at: bigint | number, len: bigint | number, columns: number): Uint16Array;

  /** A decoder for one chunk, which does not need the document afterwards. `undefined` if bytes are missing. */
  decoder(index: number, chunk: number): Decoder | undefined;
  /**
   * Converts the elements of a tensor to a .npy file; throws if NumPy cannot represent them. In a
   * dense layout the decoded bytes are the elements; for a column (layout `blocks`) they are what
   * `values` returns, row after row. `undefined` if a module is missing.
   */
  npy(index: number): Npy | undefined;
  /** Names, types, shapes and sizes, for `compare`. */
  digest(): Uint8Array<ArrayBuffer>;
}

/**
 * A document of the full module, which may cover several files: the document of an index of shards,
 * or an empty one (of length 0) for the parts of a split GGUF. It then lists the tensors of all
 * files as if the files followed each other: offsets in a file that begins at `base` are increased
 * by `base`.
 */
export interface JointDocument extends Document {
  /** The code of a word in the tables of this document. */
  code(word: string): number;

  /** Adds the tensors of a file that has reached the goal `index`. */
  join(part: JointDocument, base: bigint): void;
  /**
   * The files that an index lists, with the number of tensors listed for each and how many of those
   * the file has; `undefined` if bytes are missing.
   */
  listed(): { names: string[]; listed: Uint32Array; found: Uint32Array } | undefined;
  /**
   * Starts collecting the findings of all files and comparing the files. Call `addPart` or
   * `addAbsent` for each file in order, then `end`. After that, `findings`, `verdict` and `layout`
   * cover all files. `false` if bytes are missing.
   */
  begin(profile: Profile): boolean;
  /** Adds a file by its number from 0, with the positions of its first tensor and metadata entry among all. */
  addPart(part: JointDocument, number: number, name: string, base: bigint, first: number, firstEntry: number): void;
  /** Records a file that is missing or, if `missing` is false, cannot be read. */
  addAbsent(number: number, missing: boolean): void;
  /** Compares the contents of all files. `false` if bytes are missing. */
  end(): boolean;
}
