/**
 * Weighbridge in WebAssembly: validates and indexes tensor files of any size, reading only the
 * parts it needs.
 *
 * Offsets, lengths, extents and counts that a file may choose are `bigint` and `BigUint64Array`:
 * they are never rounded to doubles. As arguments, whole numbers are accepted too.
 */

import type { Block, DifferenceConstructor, GaugeConstructor, HeatmapConstructor, Pairs, Sign, StatisticsConstructor } from './accumulators.d.ts';
import type { Document, DocumentOptions, Goal, JointDocument } from './document.d.ts';
import type { ModelSummary, SummaryOptions, Template, TemplatePiece, VocabularyConstructor } from './models.d.ts';
import type { Format, Progress, Rule } from './tables.d.ts';

export type * from './accumulators.d.ts';
export type * from './document.d.ts';
export type * from './entry.d.ts';
export type * from './models.d.ts';
export type * from './tables.d.ts';

/**
 * Names one of the four WebAssembly modules. `base` is small: it reads safetensors and GGUF.
 * `full` reads all formats and decompresses (deflate, zlib, zstd). `compute` computes over elements
 * of any format. `summary` describes models.
 */
export type Flavour = 'base' | 'full' | 'compute' | 'summary';

/** Result of `load`: the document class of one WebAssembly module. */
export interface Library {
  readonly flavour: 'base' | 'full';
  readonly Document: new (length: bigint | number, options?: DocumentOptions) => Document;
  /** The rules of a format (by name), or those that belong to no format. */
  rules(format?: string): Rule[];
  /** The formats that this module reads. */
  formats(): Format[];
  /** Bytes of WebAssembly memory in use; it never shrinks. */
  memory(): number;
}

/** The module that reads every format. */
export interface FullLibrary extends Library {
  readonly flavour: 'full';
  readonly Document: new (length: bigint | number, options?: DocumentOptions) => JointDocument;
}

/** The module that computes statistics, pictures and comparisons. */
export interface ComputeLibrary {
  readonly flavour: 'compute';
  /** Bytes of WebAssembly memory in use; it never shrinks. */
  memory(): number;
  readonly Statistics: StatisticsConstructor;
  readonly Heatmap: HeatmapConstructor;
  readonly Difference: DifferenceConstructor;
  readonly Gauge: GaugeConstructor;
  /** The components of each element in a block of a quantised type (ggml); empty for other types. */
  block(dtype: string, endianness: 'little' | 'big', bytes: Uint8Array): Block;
  /**
   * Elements and bytes of the smallest unit that the data of a type can be cut into, such as a
   * block; zeros if there is none.
   */
  unit(dtype: string): number[];
  /** The possible signs about weights, faults first. */
  readonly signs: readonly Sign[];
  /** Summarises the signs of all tensors; `skipped` is the number of further tensors without statistics. */
  health(signs: Uint8Array, skipped: number): { text: string; faulty: boolean };
  /** Matches the tensors of two `Document.digest()` results by name. */
  compare(a: Uint8Array, b: Uint8Array): Pairs;
  /** Possible GGUF names of a `transformers` tensor, most likely first. */
  ggufNames(name: string): string[];
}

/** The module that summarises models, with their vocabularies and chat templates. */
export interface SummaryLibrary {
  readonly flavour: 'summary';
  /** Bytes of WebAssembly memory in use; it never shrinks. */
  memory(): number;
  /** Summarises a model from the tensors of `Document.digest()` results, its metadata and its settings. */
  summarise(digests: readonly Uint8Array[], options?: SummaryOptions): ModelSummary;
  readonly Vocabulary: VocabularyConstructor;
  /** Names of the token types, indexed by their numbers. */
  readonly tokenKinds: readonly string[];
  /** Analyses a chat template, without ever rendering it. */
  template(text: string): Template;
  /** Splits a chat template into pieces for display; joined, they are its text. */
  templatePieces(text: string): TemplatePiece[];
}

/** Where to load the WebAssembly from, if not from beside this module. */
export type ModuleSource = URL | Response | BufferSource | WebAssembly.Module;

/**
 * Loads a module, once. In Node and in browsers it is found beside this file. All but `base` are
 * fetched only on request; `full` and `compute` are refused if WebAssembly has no SIMD.
 */
export function load(flavour?: 'base', module?: ModuleSource): Promise<Library>;
export function load(flavour: 'full', module?: ModuleSource): Promise<FullLibrary>;
export function load(flavour: 'compute', module?: ModuleSource): Promise<ComputeLibrary>;
export function load(flavour: 'summary', module?: ModuleSource): Promise<SummaryLibrary>;
export function load(flavour: Flavour, module?: ModuleSource): Promise<Library | FullLibrary | ComputeLibrary | SummaryLibrary>;

/** A file that is read in pieces. */
export interface ByteSource {
  readonly size: bigint | number;
  /** Reads `len` bytes from `at`. Returning fewer is an error of the source. */
  read(at: bigint, len: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** A `Blob` or `File` as a source. */
export function fromBlob(blob: Blob): ByteSource;
/** Bytes in memory as a source. */
export function fromBytes(bytes: Uint8Array): ByteSource;

export interface OpenOptions extends DocumentOptions {
  /** How far to go before the promise resolves; `structure` by default. */
  goal?: Goal;
  /** The module to try first. The default is `full` in Node, where nothing is downloaded, and `base` elsewhere. */
  module?: 'base' | 'full';
  signal?: AbortSignal;
  /** Called between reads. */
  progress?: (progress: Progress) => void;
}

/**
 * Opens a file. A file that is refused opens too: `document.refused` is set, its findings say why,
 * and its verdict says what it is instead. If `base` cannot open the file, or `full` lists it
 * faster, `open` loads `full`.
 */
export function open(source: ByteSource, options?: OpenOptions): Promise<Document>;

/**
 * Calls `call` until no bytes are missing. Between calls it reads what `document` needs from
 * `source`, and loads a module that `document` requires.
 */
export function settle<T>(
  document: Document,
  source: ByteSource,
  call: () => T | undefined,
  options?: { signal?: AbortSignal; progress?: (progress: Progress) => void },
): Promise<T>;

/**
 * Streams the data of a tensor, chunk by chunk, into `sinks`, decoding compressed chunks. Memory
 * use stays constant.
 */
export function stream(
  document: Document,
  source: ByteSource,
  tensor: number,
  sinks: readonly Sink[],
  options?: { signal?: AbortSignal; progress?: (done: bigint, total: bigint) => void; piece?: number },
): Promise<void>;

/** Takes decoded bytes in order. */
export interface Sink {
  push(bytes: Uint8Array): void;
}

/**
 * The error that methods throw. `rule` and `offset` are set if the file breaks a rule of its format,
 * `module` if a module could not be loaded.
 */
export interface WeighbridgeError extends Error {
  name: 'WeighbridgeError';
  rule?: string;
  offset?: bigint;
  module?: 'base' | 'full' | 'compute' | 'summary';
}
