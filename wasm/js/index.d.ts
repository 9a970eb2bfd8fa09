/**
 * Weighbridge in WebAssembly: validates and indexes tensor files of any size
 * of which only the parts asked for are read.
 *
 * Offsets, lengths, extents and counts that a file may choose are `bigint` and
 * `BigUint64Array`: they are never rounded to doubles.
 */

// ---------------------------------------------------------------- loading

/**
 * Which of the two WebAssembly modules. `base` is small: it reads the formats
 * whose data is always stored as it is. `full` reads all formats, decompresses
 * (deflate, zlib, zstd) and computes.
 */
export type Flavour = 'base' | 'full';

/** What `load` gives: the classes of one WebAssembly module. */
export interface Library {
  readonly flavour: Flavour;
  readonly Document: new (length: bigint, options?: DocumentOptions) => Document;
  /** The rules of a format (by name), or of none. */
  rules(format?: string): Rule[];
  /** The formats that this build reads. */
  formats(): Format[];
  /** Bytes of WebAssembly memory in use; it never shrinks. */
  memory(): number;
}

/** What the full module has beside that. */
export interface FullLibrary extends Library {
  readonly flavour: 'full';
  readonly Statistics: StatisticsConstructor;
  readonly Heatmap: HeatmapConstructor;
  readonly Difference: DifferenceConstructor;
  /** Pairs the tensors of two `Document.digest()`s by name. */
  compare(a: Uint8Array, b: Uint8Array): Pairs;
}

/** Where the WebAssembly comes from, if not from beside this module. */
export type ModuleSource = URL | Response | BufferSource | WebAssembly.Module;

/**
 * Loads a module, once. In Node and in browsers it is found beside this file.
 * `full` is only fetched when asked for.
 */
export function load(flavour?: 'base', module?: ModuleSource): Promise<Library>;
export function load(flavour: 'full', module?: ModuleSource): Promise<FullLibrary>;
export function load(flavour: Flavour, module?: ModuleSource): Promise<Library | FullLibrary>;

/** A file, to be read in pieces. */
export interface ByteSource {
  readonly size: bigint;
  /** `len` bytes from `at`. Fewer are an error of the source. */
  read(at: bigint, len: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** A `Blob` or `File` as a source. */
export function fromBlob(blob: Blob): ByteSource;
/** Bytes in memory as a source. */
export function fromBytes(bytes: Uint8Array): ByteSource;

export interface OpenOptions extends DocumentOptions {
  /** How far to go before the promise resolves; `structure` if absent. */
  goal?: Goal;
  signal?: AbortSignal;
  /** Called between reads. */
  progress?: (progress: Progress) => void;
}

/**
 * Opens a file. A file that is refused opens too: `document.refused` tells, and
 * its findings say why. When the base module does not know the format, the full
 * one is loaded and the document comes from there.
 */
export function open(source: ByteSource, options?: OpenOptions): Promise<Document>;

/**
 * Calls `call` until it no longer lacks bytes, and reads from `source` what
 * `document` needs in between.
 */
export function settle<T>(
  document: Document,
  source: ByteSource,
  call: () => T | undefined,
  options?: { signal?: AbortSignal; progress?: (progress: Progress) => void },
): Promise<T>;

/**
 * Streams the data of a tensor, chunk by chunk, into `sinks`; chunks that are
 * compressed are decoded on the way. Memory stays flat.
 */
export function stream(
  document: Document,
  source: ByteSource,
  tensor: number,
  sinks: readonly Sink[],
  options?: { signal?: AbortSignal; progress?: (done: bigint, total: bigint) => void; piece?: number },
): Promise<void>;

/** What takes decoded bytes in order. */
export interface Sink {
  push(bytes: Uint8Array): void;
}

// ---------------------------------------------------------------- document

/**
 * How far to go: `index` reads the header and all entries; `structure` also
 * proves what can be proved without payloads, and finds the layout; `payloads`
 * also reads the data (checksums, decompression, value rules).
 */
export type Goal = 'index' | 'structure' | 'payloads';

export interface DocumentOptions {
  /** Opens as this format, whatever the content looks like. */
  format?: string;
  /** A known extension decides if the content does not. Without the dot. */
  extension?: string;
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
  /** Ranges that are lacking: pairs of offset and length, ascending and apart from each other. */
  need(): BigUint64Array;
  /** Adds a window. It may be longer or shorter than what was asked for; bytes beyond the end are ignored. */
  supply(at: bigint, bytes: Uint8Array): void;
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
  readonly tensorCount: number;
  readonly metadataCount: number;
  readonly findingCount: number;

  /** Texts for the codes in `Rows`, `Findings` and `Layout`. The list only ever grows. */
  words(): string[];
  verdict(profile?: Profile): Verdict;
  /** Findings `from..to` in file order. */
  findings(from: number, to: number): Findings;
  /** The rule with this code (`Findings.rule`). */
  rule(code: number): Rule;

  /** Rows `from..to` of those that pass `filter`, in the order of `sort`. The last order is kept. */
  rows(from: number, to: number, sort?: Sort, filter?: Filter): Rows;
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
   * order, fewer at its end; `undefined` lacks bytes. Compressed data is decoded
   * up to there and kept, as far as the budget goes.
   */
  values(index: number, from: bigint, count: number): Values | undefined;
  /**
   * A table of elements: `rows` × `columns` of them, the first at `from`, with
   * the given distances in elements. `undefined` lacks bytes.
   */
  grid(index: number, from: bigint, rows: number, rowStep: bigint, columns: number, columnStep: bigint): Values | undefined;
  /** The texts that the keys 1, 2, … of a column stand for; `undefined` lacks bytes, an empty list means none. */
  keyValues(index: number): Texts | undefined;

  /** Parts `from..to` of the file in file order, with gaps between them. Needs the goal `structure`. */
  layout(from: number, to: number): Layout;
  /** The part that holds the byte at `at`; -1 when it is behind the end. */
  locate(at: bigint): number;
  /**
   * `columns` equal columns over `len` bytes from `at`: which parts each touches,
   * as bits: 1 header, 2 table, 4 metadata, 8 payload, 16 quantization, 32 tail,
   * 64 gap, 128 overlap, 256 a finding's first byte.
   */
  strip(at: bigint, len: bigint, columns: number): Uint16Array;

  /** Decodes a chunk, piece by piece. It needs the document no more. `undefined` lacks bytes. */
  decoder(index: number, chunk: number): Decoder | undefined;
  /** What turns the decoded bytes of a tensor into a .npy file; throws where there is no such file. */
  npy(index: number): Npy;
  /** Names, types, shapes and sizes for `compare`. */
  digest(): Uint8Array<ArrayBuffer>;
}

export type Profile = 'strict' | 'lenient';
export type Severity = 'unchecked' | 'lint' | 'violation' | 'fatal';

export interface Progress {
  /** What is being done. */
  stage: string;
  /** Entries of the stage that were passed. */
  entries: number;
  /** Bytes that were supplied so far. */
  supplied: bigint;
}

export interface Verdict {
  valid: boolean;
  worst: Severity | undefined;
  fatal: number;
  violation: number;
  lint: number;
  unchecked: number;
  /** What was checked: `structure`, `payloads`. */
  checked: Goal[];
  /** Findings beyond the first 100,000 are counted, not kept. */
  dropped: number;
}

export interface Rule {
  code: number;
  id: string;
  severity: Severity;
  basis: 'stated' | 'implied' | 'silent';
  /** What is wrong, with `{found}`, `{expected}` and the like for the values. */
  message: string;
  /** The rule, with the section of the specification. */
  spec: string;
}

export interface Format {
  name: string;
  title: string;
  extensions: string[];
}

/** Strings, one after the other: string `i` is `text.slice(ends[i - 1] ?? 0, ends[i])`. */
export interface Texts {
  text: string;
  ends: Uint32Array;
}

export interface Findings {
  total: number;
  rule: Uint16Array;
  /** Codes of `words()`. */
  severity: Uint16Array;
  /** Codes of `words()`: file, tensor, metadata, sizevar, attribute. */
  kind: Uint16Array;
  entry: Uint32Array;
  /** 0xFFFFFFFF when the entry as a whole is meant. */
  part: Uint32Array;
  at: BigUint64Array;
  /** 0xFFFFFFFF stands for that many bytes or more. */
  len: Uint32Array;
  expected: BigUint64Array;
  found: BigUint64Array;
  /** Plain sentences. */
  messages: Texts;
  /** Names of the entries, safe to show; empty for the file. */
  names: Texts;
}

/** A column, with `-` before it for the other direction. */
export type Sort = SortKey | `-${SortKey}`;
export type SortKey = 'index' | 'name' | 'dtype' | 'elements' | 'stored' | 'offset' | 'rank' | 'findings';

export interface Filter {
  /** Part of the name, upper and lower case alike (ASCII). */
  text?: string;
  /** Start of the name. */
  prefix?: string;
  /** Names of element types; any of them. */
  dtypes?: string[];
  /** Least and most stored bytes. */
  least?: bigint;
  most?: bigint;
  /** Only tensors that findings are about. */
  faulty?: boolean;
}

export interface Rows {
  /** Rows that pass the filter. */
  total: number;
  /** Position in the index of the file. */
  index: Uint32Array;
  /** Names, safe to show, cut after 256 characters with `…`. */
  names: Texts;
  /** Codes of `words()`. */
  dtype: Uint16Array;
  status: Uint16Array;
  layout: Uint16Array;
  encoding: Uint16Array;
  elements: BigUint64Array;
  /** Stored bytes of all chunks. */
  stored: BigUint64Array;
  /** Of the first chunk; 2^64 - 1 when there is none. */
  offset: BigUint64Array;
  /** Extents of all rows; row `i` has `dims.slice(dimEnds[i - 1] ?? 0, dimEnds[i])`. 2^64 - 1 stands for a variable length. */
  dims: BigUint64Array;
  dimEnds: Uint32Array;
  chunks: BigUint64Array;
  /** How many findings are about the row. */
  findings: Uint32Array;
}

export interface Groups {
  /** The part of the name up to and with the next separator (`.` or `/`), safe to show. */
  names: Texts;
  /** The same as it is, to be put behind the prefix for the next level. */
  keys: Texts;
  /** Tensors below; 1 for a tensor itself. */
  count: Uint32Array;
  stored: BigUint64Array;
  /** The tensor, where the name ends here; else 0xFFFFFFFF. */
  index: Uint32Array;
  findings: Uint32Array;
}

export interface Totals {
  /** Codes of `words()`. */
  dtype: Uint16Array;
  count: Uint32Array;
  elements: BigUint64Array;
  stored: BigUint64Array;
}

export interface Tensor {
  index: number;
  /** Decoded; bytes that are not UTF-8 are replaced. */
  name: string;
  /** Safe to show. */
  label: string;
  /** The bytes of the name, in hexadecimal, when they are not UTF-8. */
  nameHex: string | undefined;
  /** Its number, where the format has numbers for names. */
  id: bigint | undefined;
  dtype: string;
  /** The file's own spelling or number, where the type is unknown. */
  dtypeRaw: string | undefined;
  status: 'sound' | 'unsupported' | 'broken';
  layout: string;
  encoding: string;
  endianness: 'little' | 'big';
  /** 2^64 - 1 stands for a variable length. */
  shape: BigUint64Array;
  /** Where the extents stand in a table that is not in the file. */
  shapeTableIndex: bigint | undefined;
  elements: bigint;
  /** Bytes after decoding, where the type has a fixed width. */
  bytes: bigint | undefined;
  /** Stored bytes of all chunks. */
  stored: bigint;
  /** Of the first chunk; `undefined` when there is none. */
  offset: bigint | undefined;
  chunks: bigint;
  /** Offset of its entry in the index. */
  at: bigint;
  /** The codec with its parameters (data views). */
  codec: string | undefined;
  checksum: string | undefined;
  quantization: Quantization | undefined;
}

export interface Quantization {
  kind: string;
  /** Parameters by name, in the order of the file. */
  parameters: { name: string; value: number | bigint | string | Values }[];
}

export interface Chunks {
  total: bigint;
  offset: BigUint64Array;
  stored: BigUint64Array;
  /** 2^64 - 1 when nothing tells. */
  decoded: BigUint64Array;
  row: BigUint64Array;
  elements: BigUint64Array;
  /** Codes of `words()`. */
  encoding: Uint16Array;
}

export interface Metadata {
  total: number;
  /** Positions, for `value` and `attributeValue`. */
  index: Uint32Array;
  /** Keys, safe to show. */
  keys: Texts;
  /** Types of the values. */
  types: Texts;
  /** Values, safe to show, cut after 256 characters. */
  previews: Texts;
  /** Where the values are stored. */
  at: BigUint64Array;
  len: BigUint64Array;
}

export interface MetaValue {
  /** Decoded; bytes that are not UTF-8 are replaced. */
  key: string;
  /** The bytes of the key, in hexadecimal, when they are not UTF-8. */
  keyHex: string | undefined;
  /** `string`, `sizevar`, `bitset`, `ndarray`, `cbor` or the name of an element type. */
  type: string;
  /** Text; it may hold characters that change how what surrounds it is shown. */
  text: string | undefined;
  /** The bytes of the text, in hexadecimal, when they are not UTF-8. */
  textHex: string | undefined;
  /** Elements of a scalar or an array; bits of a bitset. */
  values: Values | undefined;
  shape: BigUint64Array | undefined;
  /** Whether more follows than is given here (64 KiB). */
  truncated: boolean;
}

/** Elements as the narrowest array that holds them without loss. */
export type Numbers =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Uint8Array;

export interface Values {
  dtype: string;
  /** Elements; for vectors those of all rows. Empty for text. */
  data: Numbers;
  /** Texts of a text column. */
  texts: Texts | undefined;
  /** For rows that are vectors: where each row ends in `data` (or in `texts`). */
  ends: Uint32Array | undefined;
  /** For sparse rows: the position of each element in its row. */
  indices: Uint32Array | undefined;
  /** For rows that are vectors: their lengths. */
  lengths: Uint32Array | undefined;
}

export interface Layout {
  total: number;
  /** Codes of `words()`: header, table, metadata, payload, quantization, tail, gap. */
  part: Uint16Array;
  at: BigUint64Array;
  len: BigUint64Array;
  /** Codes of `words()`: what the entry is. */
  kind: Uint16Array;
  entry: Uint32Array;
  /** Bytes that an earlier part holds too. */
  overlap: BigUint64Array;
}

// ------------------------------------------------------------- accumulators

/** Decodes the stored bytes of one chunk. */
export interface Decoder {
  free(): void;
  readonly offset: bigint;
  /** Stored bytes in all. */
  readonly stored: bigint;
  readonly decoded: bigint | undefined;
  readonly encoding: string;
  /**
   * The next stored bytes, in order. Decoded bytes are given back, or handed to
   * `take` in pieces of at most 1 MiB: a small file may decode to a large one, so
   * that without `take` more than 256 MiB at once throw. Throws when the data is
   * broken.
   */
  push(bytes: Uint8Array, take?: (decoded: Uint8Array) => void): Uint8Array;
  /** To be called behind the last byte: throws when something is missing or the checksum is wrong. */
  finish(): ChunkReport;
}

export interface ChunkReport {
  decoded: bigint;
  /** `undefined` when the file has none. */
  checksum: 'right' | 'wrong' | 'unknown' | undefined;
}

export interface Summary {
  count: bigint;
  /** Of the finite elements; NaN when there are none. */
  min: number;
  max: number;
  mean: number;
  deviation: number;
  zeros: bigint;
  subnormals: bigint;
  nans: bigint;
  infinities: bigint;
  /** Element position; `undefined` when there is none. */
  firstNan: bigint | undefined;
  firstInfinity: bigint | undefined;
}

export interface StatisticsConstructor {
  new (dtype: string, endianness?: 'little' | 'big', elements?: bigint): Statistics;
}

/** Sums up elements that come in pieces of any length. */
export interface Statistics extends Sink {
  free(): void;
  /** The next decoded bytes, in order. */
  push(bytes: Uint8Array): void;
  summary(): Summary;
  /**
   * Counts finite elements in `bins` equal steps between `lo` and `hi`, over
   * what is pushed from now on, instead of by magnitude. A first pass gives the
   * limits.
   */
  histogram(lo: number, hi: number, bins: number): void;
  /**
   * Counts by magnitude: bin `i` holds elements with 2^(i - 1075) <= |x| <
   * 2^(i - 1074), negative ones before positive ones: bins 0..2100, then
   * 2100..4200. Empty once `histogram` was called.
   */
  magnitudes(): Float64Array;
  /** Counts of `histogram`; empty when it was not asked for. */
  bins(): Float64Array;
}

export interface HeatmapConstructor {
  /**
   * `shape` in storage order; `rowAxis` and `columnAxis` span the slice, `fixed`
   * holds the position on every other axis (what it holds for those two is not
   * looked at). The same axis twice gives a single row. The picture has at most
   * `height` × `width` cells.
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
  ): Heatmap;
}

/** Averages a two-dimensional slice of a dense tensor into cells. */
export interface Heatmap extends Sink {
  free(): void;
  /** First element that is pushed, at the start of a byte, and one behind the last. */
  readonly from: bigint;
  readonly to: bigint;
  readonly height: number;
  readonly width: number;
  /** Decoded bytes from element `from` on, in order. */
  push(bytes: Uint8Array): void;
  /** Mean, least and greatest of each cell, row by row; NaN where no finite element is. */
  mean(): Float32Array;
  min(): Float32Array;
  max(): Float32Array;
  /** Elements of each cell that are not finite. */
  bad(): Uint32Array;
}

/** Tensors of two files, by name. */
export interface Pairs {
  /** Positions in the first and the second file; 0xFFFFFFFF when it is missing there. */
  a: Uint32Array;
  b: Uint32Array;
  /** Bits: 1 the type differs, 2 the shape, 4 the number of stored bytes, 8 layout or encoding. */
  differs: Uint8Array;
}

export interface DifferenceConstructor {
  new (
    dtypeA: string,
    endiannessA: 'little' | 'big',
    dtypeB: string,
    endiannessB: 'little' | 'big',
    elements?: bigint,
  ): Difference;
}

/** Compares the elements of two tensors, whatever their types. */
export interface Difference {
  free(): void;
  /** The next decoded bytes of either; the number of elements may differ from call to call. */
  pushA(bytes: Uint8Array): void;
  pushB(bytes: Uint8Array): void;
  summary(): DifferenceSummary;
}

export interface DifferenceSummary {
  /** Pairs that were compared. */
  count: bigint;
  /** Pairs whose values differ; two NaNs are equal. */
  different: bigint;
  maxAbs: number;
  /** Position of the greatest difference. */
  maxAt: bigint | undefined;
  /** NaN when either is all zero. */
  cosine: number;
}

/** Writes a .npy file. */
export interface Npy extends Sink {
  free(): void;
  /** What comes before the data. */
  header(): Uint8Array;
  /** Turns decoded bytes into those of the file; the result is taken with `take`. */
  push(bytes: Uint8Array): void;
  take(): Uint8Array;
}

// ------------------------------------------------------------------ errors

/** Why a method throws. `rule` and `offset` are there when a rule of the format is broken. */
export interface WeighbridgeError extends Error {
  name: 'WeighbridgeError';
  rule?: string;
  offset?: bigint;
  entry?: string;
}
