/**
 * Weighbridge in WebAssembly: validates and indexes tensor files of any size
 * of which only the parts asked for are read.
 *
 * Offsets, lengths, extents and counts that a file may choose come as `bigint` and
 * `BigUint64Array`: they are never rounded to doubles. Where one is an argument, a whole
 * number will do.
 */

import type { Block, DifferenceConstructor, GaugeConstructor, HeatmapConstructor, Pairs, Sign, StatisticsConstructor } from './accumulators.d.ts';
import type { Document, DocumentOptions, Goal, JointDocument } from './document.d.ts';
import type { ModelSummary, SummaryOptions, Template, TemplatePiece, VocabularyConstructor } from './summary.d.ts';
import type { Format, Progress, Rule } from './tables.d.ts';

export type * from './accumulators.d.ts';
export type * from './document.d.ts';
export type * from './entry.d.ts';
export type * from './summary.d.ts';
export type * from './tables.d.ts';

/**
 * Which of the three WebAssembly modules. `base` is small: it reads safetensors and GGUF.
 * `full` reads all formats and decompresses (deflate, zlib, zstd). `compute` computes over
 * elements, whatever file they come from.
 */
export type Flavour = 'base' | 'full' | 'compute';

/** What `load` gives: the class of documents of one WebAssembly module. */
export interface Library {
  readonly flavour: 'base' | 'full';
  readonly Document: new (length: bigint | number, options?: DocumentOptions) => Document;
  /** The rules of a format (by name), or of none. */
  rules(format?: string): Rule[];
  /** The formats that this build reads. */
  formats(): Format[];
  /** Bytes of WebAssembly memory in use; it never shrinks. */
  memory(): number;
}

/** What reads every format. */
export interface FullLibrary extends Library {
  readonly flavour: 'full';
  readonly Document: new (length: bigint | number, options?: DocumentOptions) => JointDocument;
}

/** What computes. */
export interface ComputeLibrary {
  readonly flavour: 'compute';
  /** Bytes of WebAssembly memory in use; it never shrinks. */
  memory(): number;
  readonly Statistics: StatisticsConstructor;
  readonly Heatmap: HeatmapConstructor;
  readonly Difference: DifferenceConstructor;
  readonly Gauge: GaugeConstructor;
  /** What the elements of a block of a quantised type (ggml) are made of; empty for other types. */
  block(dtype: string, endianness: 'little' | 'big', bytes: Uint8Array): Block;
  /** The elements and bytes of a block, or of what else the data of a type can be cut into; zeros for others. */
  unit(dtype: string): number[];
  /** What may be noteworthy about weights, faults first. */
  readonly signs: readonly Sign[];
  /** What the signs of all tensors come to; `skipped` more have no statistics. */
  health(signs: Uint8Array, skipped: number): { text: string; faulty: boolean };
  /** Pairs the tensors of two `Document.digest()`s by name. */
  compare(a: Uint8Array, b: Uint8Array): Pairs;
  /** Names that a tensor of `transformers` may have in GGUF, likeliest first. */
  ggufNames(name: string): string[];
  /** What a model is, by the tensors of `Document.digest()`s, its metadata, its settings. */
  summarise(digests: readonly Uint8Array[], options?: SummaryOptions): ModelSummary;
  readonly Vocabulary: VocabularyConstructor;
  /** The names of the types of tokens, by their numbers. */
  readonly tokenKinds: readonly string[];
  /** What a chat template touches; it is read, and never rendered. */
  template(text: string): Template;
  /** Its pieces, to be shown: together they are its text. */
  templatePieces(text: string): TemplatePiece[];
}

/** Where the WebAssembly comes from, if not from beside this module. */
export type ModuleSource = URL | Response | BufferSource | WebAssembly.Module;

/**
 * Loads a module, once. In Node and in browsers it is found beside this file.
 * `full` and `compute` are only fetched when asked for, and refused where WebAssembly has no SIMD.
 */
export function load(flavour?: 'base', module?: ModuleSource): Promise<Library>;
export function load(flavour: 'full', module?: ModuleSource): Promise<FullLibrary>;
export function load(flavour: 'compute', module?: ModuleSource): Promise<ComputeLibrary>;
export function load(flavour: Flavour, module?: ModuleSource): Promise<Library | FullLibrary | ComputeLibrary>;

/** A file, to be read in pieces. */
export interface ByteSource {
  readonly size: bigint | number;
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
  /** The module to try first; `full` if absent in Node, where nothing is downloaded, and `base` elsewhere. */
  module?: 'base' | 'full';
  signal?: AbortSignal;
  /** Called between reads. */
  progress?: (progress: Progress) => void;
}

/**
 * Opens a file. A file that is refused opens too: `document.refused` says so,
 * its findings say why, and its verdict says what it is instead. What the module `base` does not
 * open, or opens in part, comes from `full`, which is loaded then.
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

/** Why a method throws. `rule` and `offset` are there when a rule of the format is broken. */
export interface WeighbridgeError extends Error {
  name: 'WeighbridgeError';
  rule?: string;
  offset?: bigint;
}
