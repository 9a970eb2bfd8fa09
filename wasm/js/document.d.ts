/** A file: its index, and the windows of it that are in memory. */

import type { Decoder, Npy } from './accumulators.d.ts';
import type { Chunks, Metadata, MetaValue, Tensor, Values } from './entry.d.ts';
import type { Filter, Findings, Groups, Layout, Profile, Progress, Rows, Rule, Sort, Texts, Totals, Verdict } from './tables.d.ts';

/**
 * How far to go: `index` reads the header and all entries; `structure` also
 * proves what can be proved without payloads, and finds the layout; `payloads`
 * also reads the data (checksums, decompression, value rules).
 */
export type Goal = 'index' | 'structure' | 'payloads';

export interface DocumentOptions {
  /** Opens as this format, whatever the content looks like. */
  format?: string;
  /** The name of the file: a known extension decides if the content does not. */
  name?: string;
  /** Bytes of the file to keep, 16 MiB if absent; what is needed at once may exceed it. */
  budget?: number;
  /** Requests are rounded outwards to multiples of this power of two; 64 KiB if absent. */
  granule?: number;
}

/**
 * A file: its index, and the windows of it that are in memory.
 *
 * A method whose result may be `undefined` for want of bytes says so. Then
 * `need()` is not empty: supply those ranges and call again (`settle` does).
 * All methods that list entries work from the index in WebAssembly memory and
 * lack nothing.
 */
export interface Document {
  /** Releases the memory; the document is dead afterwards. */
  free(): void;

  readonly length: bigint;
  /** `true` once the goal is reached, or cannot be because the file is refused. `false`: see `need()`. */
  advance(goal: Goal): boolean;
  /** Missing ranges: pairs of offset and length, ascending and apart from each other. */
  need(): BigUint64Array;
  /** Adds a window. It may be longer or shorter than what was asked for; bytes beyond the end are ignored. */
  supply(at: bigint | number, bytes: Uint8Array): void;
  /** Where `advance` stands. */
  progress(): Progress;

  /** The format's name in reports, such as `oinf`; `undefined` before it is known. */
  readonly format: string | undefined;
  /** What people call it, such as `OINF`. */
  readonly title: string | undefined;
  readonly version: string | undefined;
  /** Whether the file could not be opened. */
  readonly refused: boolean;
  /** Whether it was refused because no format of this module recognises it. */
  readonly unknown: boolean;
  /** Whether the lists of entries end early because they do not fit into memory. */
  readonly cut: boolean;
  /** Whether the module `full` shows more of this file, or the same sooner; `open` loads it then. */
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

  /** Rows `from..to` of those that pass `filter`, in the order of `sort`. The last order is kept. */
  rows(from: number, to: number, sort?: Sort, filter?: Filter): Rows;
  /** Numbers of all tensors, for the order `given`; those of NaN come last. */
  give(numbers: Float64Array): void;
  /** The rank of a tensor in that order; -1 when it is filtered out. */
  rankOf(tensor: number, sort?: Sort, filter?: Filter): number;
  /** The next level of the tree below a prefix: groups and tensors. */
  groups(prefix: string, filter?: Filter): Groups;
  /** Totals by element type. */
  totals(filter?: Filter): Totals;
  /** The first tensor with this name; -1 when there is none. */
  find(name: string): number;
  /** The name of an entry, safe to show; `kind` is a word of `Findings` or `Layout`. Empty for the file. */
  entryName(kind: string, entry: number): string;
  /** Where that entry is in the list of tensors or metadata; -1 when it is in neither. */
  positionOf(kind: string, entry: number): number;

  /** All about one tensor; `undefined` lacks bytes. */
  tensor(index: number): Tensor | undefined;
  /** Its pieces `from..to`; `undefined` lacks bytes. */
  chunks(index: number, from: number, to: number): Chunks | undefined;
  /** Its own metadata (attributes, annotations); `undefined` lacks bytes. */
  attributes(index: number): Metadata | undefined;
  /** Entries `from..to` of the file's metadata, with a preview of each value; `undefined` lacks bytes. */
  metadata(from: number, to: number): Metadata | undefined;
  /** The value of a metadata entry in full; `undefined` lacks bytes. */
  value(index: number): MetaValue | undefined;
  /** The value of a tensor's own metadata entry; `undefined` lacks bytes. */
  attributeValue(tensor: number, index: number): MetaValue | undefined;

  /**
   * Elements (rows, for columns) `from..from + count` of a tensor in storage
   * order, fewer at its end; `undefined` lacks bytes. Of sparse tensors these are
   * entries. Compressed data is decoded up to there and kept, up to 64 MiB.
   */
  values(index: number, from: bigint | number, count: number): Values | undefined;
  /**
   * A table of elements: `rows` × `columns` of them, the first at `from`, with
   * the given distances in elements. `undefined` lacks bytes.
   */
  grid(
    index: number,
    from: bigint | number,
    rows: number,
    rowStep: bigint | number,
    columns: number,
    columnStep: bigint | number,
  ): Values | undefined;
  /** The texts that the keys 1, 2, … of a column stand for; `undefined` lacks bytes, an empty list means none. */
  keyValues(index: number): Texts | undefined;

  /** Parts `from..to` of the file in file order, with gaps between them. Needs the goal `structure`. */
  layout(from: number, to: number): Layout;
  /** The part that holds the byte at `at`; -1 when it is past the end. */
  locate(at: bigint | number): number;
  /**
   * `columns` equal columns over `len` bytes from `at`: which parts each touches,
   * as bits: 1 header, 2 table, 4 metadata, 8 payload, 16 quantization, 32 tail,
   * 64 gap, 128 overlap, 256 a finding's first byte.
   */
  strip(at: bigint | number, len: bigint | number, columns: number): Uint16Array;

  /** Decodes a chunk, piece by piece. It needs the document no more. `undefined` lacks bytes. */
  decoder(index: number, chunk: number): Decoder | undefined;
  /**
   * What turns elements of a tensor into a .npy file; throws where there is no
   * such file. In a dense layout the decoded bytes are the elements; of a column
   * (layout `blocks`) they are what `values` gives, row after row.
   */
  npy(index: number): Npy;
  /** Names, types, shapes and sizes for `compare`. */
  digest(): Uint8Array<ArrayBuffer>;
}

/**
 * A document of the full module, which may be one of several files: that of an index of shards,
 * or an empty one (of length 0) for the parts of a split GGUF. It then lists the tensors of all
 * files, as if these followed each other: offsets in a file that begins at `base` are `base` more.
 */
export interface JointDocument extends Document {
  /** The code of a word in the tables of this document. */
  code(word: string): number;

  /** Adds the tensors of a file whose goal `index` is reached. */
  join(part: JointDocument, base: bigint): void;
  /**
   * The files that an index lists, how many tensors it lists for each, and how many of them that
   * has; `undefined` lacks bytes.
   */
  listed(): { names: string[]; listed: Uint32Array; found: Uint32Array } | undefined;
  /**
   * Begins to collect what was found in all files and to compare them. Next come `addPart` or
   * `addAbsent` for each in order, and `end`. Then `findings`, `verdict` and `layout` are those
   * of all. `false` lacks bytes.
   */
  begin(profile: Profile): boolean;
  /** A file that is there, by its number from 0, with its first tensor and metadata entry among all. */
  addPart(part: JointDocument, number: number, name: string, base: bigint, first: number, firstEntry: number): void;
  /** A file that is missing, or else cannot be read. */
  addAbsent(number: number, missing: boolean): void;
  /** Compares what all files together have. `false` lacks bytes. */
  end(): boolean;
}
