/**
 * Weighbridge in WebAssembly: validates and indexes tensor files of any size, reading only the
 * parts it needs.
 *
 * Offsets, lengths, extents and counts that a file may choose are `bigint` and `BigUint64Array`:
 * they are never rounded to doubles. As arguments, whole numbers are accepted too.
 */

import type { Block, Difference, Gauge, GaugeOptions, Heads, Heatmap, HeatmapOptions, Pairs, Sign, Sink, Statistics } from './accumulators.js';
import { lend } from './blocks.js';
import type { Conversion, ConversionOptions } from './conversion.js';
import { Document, type Reader } from './document.js';
import type { Compute, Reading, Summaries } from './glue.js';
import { JointDocument } from './joint.js';
import type { ModelSummary, SummaryOptions, Template, TemplatePiece, Vocabulary } from './models.js';
import type { DocumentOptions, Goal } from './options.js';
import type { Format, Progress, Rule } from './tables.js';
import { failure, learn, rulesOf, unpack, type Catalogue } from './unpack.js';

export type * from './accumulators.js';
export type { Conversion, ConversionOptions, LeftOut, Part, Tied } from './conversion.js';
export type { ChunkReport, Decoder } from './decoder.js';
export type { Document } from './document.js';
export type { Code, Global, JointDocument, Operation, Pickle, Storage } from './joint.js';
export type { DocumentOptions, Goal } from './options.js';
export type * from './entry.js';
export type * from './models.js';
export type { Npy } from './npy.js';
export type * from './kinds.js';
export type * from './tables.js';
export type { Texts, WeighbridgeError } from './unpack.js';

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
  /** The rules of a format (by name), or the general rules. */
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
  readonly Statistics: new (dtype: string, endianness?: 'little' | 'big', elements?: bigint) => Statistics;
  /**
   * `shape` is in storage order; `rowAxis` and `columnAxis` span the slice, and `fixed` holds the
   * position on every other axis (its values for those two are ignored). Passing the same axis
   * twice gives a single row. The picture has at most `height` × `width` cells.
   */
  readonly Heatmap: new (
    dtype: string,
    endianness: 'little' | 'big',
    shape: BigUint64Array,
    rowAxis: number,
    columnAxis: number,
    fixed: BigUint64Array,
    height: number,
    width: number,
    options?: HeatmapOptions,
  ) => Heatmap;
  readonly Difference: new (
    dtypeA: string,
    endiannessA: 'little' | 'big',
    dtypeB: string,
    endiannessB: 'little' | 'big',
    elements?: bigint,
    heads?: Heads,
  ) => Difference;
  readonly Gauge: new (dtype: string, options?: GaugeOptions) => Gauge;
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
  /** `model` is the kind of tokenizer, `count` the number of tokens: anything after those is not read. */
  readonly Vocabulary: new (endianness: 'little' | 'big', model: string, count: number | bigint) => Vocabulary;
  /** Names of the token types, indexed by their numbers. */
  readonly tokenKinds: readonly string[];
  /** Analyses a chat template, without ever rendering it. */
  template(text: string): Template;
  /** Splits a chat template into pieces for display; joined, they are its text. */
  templatePieces(text: string): TemplatePiece[];
}

/** Where to load the WebAssembly from, if not from beside this module. */
export type ModuleSource = URL | Response | BufferSource | WebAssembly.Module;

const libraries = new Map<Flavour, Promise<Loaded>>();

const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

type Loaded = Library | FullLibrary | ComputeLibrary | SummaryLibrary;

/** Location of each WebAssembly module and its glue code, written so that bundlers find both. */
const MODULES = {
  base: { url: () => new URL('./base_bg.wasm', import.meta.url), glue: () => import('./base.js') },
  full: { url: () => new URL('./full_bg.wasm', import.meta.url), glue: () => import('./full.js') },
  compute: { url: () => new URL('./compute_bg.wasm', import.meta.url), glue: () => import('./compute.js') },
  summary: { url: () => new URL('./summary_bg.wasm', import.meta.url), glue: () => import('./summary.js') },
};

/** The modules that use vectors. */
const FAST: readonly Flavour[] = ['full', 'compute'];

async function wasmOf(url: URL): Promise<ModuleSource> {
  if (inNode && url.protocol === 'file:') {
    const { readFile } = await import(/* @vite-ignore */ 'node:fs/promises');
    return readFile(url);
  }
  return url;
}

// A module with a function that returns a vector.
const VECTORS = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
);

async function start(flavour: Flavour, module: ModuleSource | undefined): Promise<Loaded> {
  if (FAST.includes(flavour) && !WebAssembly.validate(VECTORS)) {
    throw failure('this WebAssembly engine has no SIMD, which statistics, elements in blocks, and all formats except safetensors and GGUF require');
  }
  const [glue, memory] = await fetched(flavour, module).catch((cause: Error) => {
    // Too little memory is no failed download.
    throw cause instanceof RangeError ? cause : failure(`the module ${flavour} could not be loaded: ${cause.message}`, { module: flavour, cause });
  });
  return Object.freeze({ flavour, ...(await offered(flavour, glue)), memory: () => memory.buffer.byteLength }) as Loaded;
}

/** The glue code and the memory of a module. */
async function fetched(flavour: Flavour, module: ModuleSource | undefined): Promise<[unknown, WebAssembly.Memory]> {
  const { url, glue: loaded } = MODULES[flavour];
  const [glue, rules] = await Promise.all([loaded(), flavour === 'full' ? import('./every-rule.js') : undefined]);
  learn(rules?.default as Catalogue | undefined);
  const { memory } = await glue.default({ module_or_path: module ?? (await wasmOf(url())) });
  return [glue, memory];
}

/** The classes and functions of one module. */
async function offered(flavour: Flavour, glue: unknown): Promise<object> {
  switch (flavour) {
    case 'compute':
      lend(glue as Compute);
      return (await import('./accumulators.js')).accumulators(glue as Compute);
    case 'summary':
      return (await import('./models.js')).summaries(glue as Summaries);
    default:
      return reading(flavour, glue as Reading);
  }
}

/** Those of a module that reads files. */
function reading(flavour: 'base' | 'full', glue: Reading): Omit<Library, 'flavour' | 'memory'> {
  const formats = (): Format[] =>
    Array.from(unpack(glue.rawFormats(), (fields) => fields.texts()), (row) => {
      const [name = '', title = '', ...extensions] = row.split('\t');
      return { name, title, extensions };
    });
  const reader: Reader = { ...glue, formats };
  const Made = flavour === 'full' ? JointDocument : Document;
  return { Document: Made.bind(undefined, reader), rules: rulesOf, formats };
}

/**
 * Loads a module, once. In Node and in browsers it is found beside this file. All but `base` are
 * fetched only on request; `full` and `compute` are refused if WebAssembly has no SIMD.
 */
export function load(flavour?: 'base', module?: ModuleSource): Promise<Library>;
export function load(flavour: 'full', module?: ModuleSource): Promise<FullLibrary>;
export function load(flavour: 'compute', module?: ModuleSource): Promise<ComputeLibrary>;
export function load(flavour: 'summary', module?: ModuleSource): Promise<SummaryLibrary>;
export function load(flavour: Flavour, module?: ModuleSource): Promise<Library | FullLibrary | ComputeLibrary | SummaryLibrary>;
export function load(flavour: Flavour = 'base', module?: ModuleSource): Promise<Loaded> {
  if (!Object.hasOwn(MODULES, flavour)) {
    return Promise.reject(failure(`unknown module ${flavour}`));
  }
  let library = libraries.get(flavour);
  if (library === undefined) {
    library = start(flavour, module);
    libraries.set(flavour, library);
    // A failed download may be retried.
    library.catch(() => libraries.delete(flavour));
  }
  return library;
}

/** A file that is read in pieces. */
export interface ByteSource {
  readonly size: bigint | number;
  /** Reads `len` bytes from `at`. Returning fewer is an error of the source. */
  read(at: bigint, len: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** A `Blob` or `File` as a source. */
export function fromBlob(blob: Blob): ByteSource {
  return {
    size: BigInt(blob.size),
    async read(at, len) {
      const start = Number(at);
      return new Uint8Array(await blob.slice(start, start + len).arrayBuffer());
    },
  };
}

/** Bytes in memory as a source. */
export function fromBytes(bytes: Uint8Array): ByteSource {
  return {
    size: BigInt(bytes.length),
    async read(at, len) {
      const start = Number(at);
      return bytes.subarray(start, start + len);
    },
  };
}

async function readExactly(source: ByteSource, at: bigint, len: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const bytes = await source.read(at, len, signal);
  signal?.throwIfAborted();
  if (bytes.length < len) {
    throw failure(`received ${bytes.length} bytes at offset ${at}, expected ${len}`, { offset: at });
  }
  return bytes;
}

/** Provides what the document is waiting for: a module, or bytes. */
async function supply(document: Document, source: ByteSource, signal: AbortSignal | undefined): Promise<void> {
  if (document.requires !== undefined) {
    await load(document.requires);
    return;
  }
  const need = document.need();
  if (need.length === 0) {
    throw failure('the document is not waiting for any bytes');
  }
  const reads: Promise<Uint8Array>[] = [];
  for (let i = 0; i < need.length; i += 2) {
    reads.push(readExactly(source, need[i]!, Number(need[i + 1]), signal));
  }
  const pieces = await Promise.all(reads);
  pieces.forEach((bytes, i) => document.supply(need[2 * i]!, bytes));
}

/** How to drive a document. */
export interface Driving {
  signal?: AbortSignal;
  /** Called between reads. */
  progress?: (progress: Progress) => void;
}

/**
 * Calls `call` until no bytes are missing. Between calls it reads what `document` needs from
 * `source`, and loads a module that `document` requires.
 */
export async function settle<T>(
  document: Document,
  source: ByteSource,
  call: () => T | undefined,
  { signal, progress }: Driving = {},
): Promise<T> {
  for (;;) {
    const result = call();
    if (result !== undefined && result !== false) {
      return result;
    }
    signal?.throwIfAborted();
    await supply(document, source, signal);
    progress?.(document.progress());
  }
}

async function openIn(library: Library, source: ByteSource, goal: Goal, options: DocumentOptions, driving: Driving): Promise<Document> {
  const document = new library.Document(source.size, options);
  try {
    await settle(document, source, () => document.advance(goal) || document.needsFull, driving);
    return document;
  } catch (error) {
    document.free();
    throw error;
  }
}

export interface OpenOptions extends DocumentOptions, Driving {
  /** How far to go before the promise resolves; `structure` by default. */
  goal?: Goal;
  /** The module to try first. The default is `full` in Node, where nothing is downloaded, and `base` elsewhere. */
  module?: 'base' | 'full';
}

/**
 * Opens a file. A file that is refused opens too: `document.refused` is set, its findings say why,
 * and its verdict says what it is instead. If `base` cannot open the file, or `full` lists it
 * faster, `open` loads `full`.
 */
export async function open(
  source: ByteSource,
  { goal = 'structure', signal, progress, module = inNode ? 'full' : 'base', ...options }: OpenOptions = {},
): Promise<Document> {
  const driving = { signal, progress };
  const first = (await load(module)) as Library;
  if (module === 'base' && (options.format === undefined || first.formats().some(({ name }) => name === options.format))) {
    const document = await openIn(first, source, goal, options, driving);
    if (!document.refused && !document.needsFull) {
      return document;
    }
    document.free();
  }
  return openIn(await load('full'), source, goal, options, driving);
}

/**
 * Streams the data of a tensor, chunk by chunk, into `sinks`, decoding compressed chunks. Memory
 * use stays constant.
 */
export async function stream(
  document: Document,
  source: ByteSource,
  tensor: number,
  sinks: readonly Sink[],
  { signal, progress, piece = 4 << 20 }: { signal?: AbortSignal; progress?: (done: bigint, total: bigint) => void; piece?: number } = {},
): Promise<void> {
  const take = (bytes: Uint8Array) => sinks.forEach((sink) => sink.push(bytes));
  const driving = { signal };
  const { stored } = await settle(document, source, () => document.tensor(tensor), driving);
  let done = 0n;
  for (let i = 0, total = 1n; BigInt(i) < total; i++) {
    ({ total } = await settle(document, source, () => document.chunks(tensor, i, i + 1), driving));
    if (total === 0n) {
      return;
    }
    const decoder = await settle(document, source, () => document.decoder(tensor, i), driving);
    try {
      const end = decoder.offset + decoder.stored;
      for (let at = decoder.offset; at < end; at += BigInt(piece)) {
        const len = Math.min(piece, Number(end - at));
        decoder.push(await readExactly(source, at, len, signal), take);
        done += BigInt(len);
        progress?.(done, stored);
      }
      decoder.finish();
    } finally {
      decoder.free();
    }
  }
}

/**
 * Writes a document of the full module as a safetensors file: calls `take` with its bytes, in order,
 * and waits for each call. Memory use stays constant. Throws before the first byte if tensors would
 * be left out, unless `force` is set. Returns the conversion, whose lists say what is not in the file.
 */
export async function convert(
  document: JointDocument,
  source: ByteSource,
  take: (bytes: Uint8Array) => void | Promise<void>,
  {
    signal,
    progress,
    piece = 4 << 20,
    ...options
  }: ConversionOptions & { signal?: AbortSignal; progress?: (done: bigint, total: bigint) => void; piece?: number } = {},
): Promise<Conversion> {
  const driving = { signal };
  const conversion = await settle(document, source, () => document.conversion(options), driving);
  let done = 0n;
  const give = async (bytes: Uint8Array) => {
    signal?.throwIfAborted();
    await take(bytes);
    done += BigInt(bytes.length);
    progress?.(done, conversion.length);
  };
  try {
    const [first] = conversion.leftOut;
    if (first !== undefined && !options.force) {
      throw failure(`"${first.name}": ${first.why}`);
    }
    for (;;) {
      const part = await settle(document, source, () => conversion.next(), driving);
      if (part.kind === 'done') {
        break;
      }
      if (part.kind === 'bytes') {
        await give(part.bytes);
        continue;
      }
      const end = part.offset + part.length;
      for (let at = part.offset; at < end; at += BigInt(piece)) {
        await give(await readExactly(source, at, Math.min(piece, Number(end - at)), signal));
      }
    }
    if (done !== conversion.length) {
      throw failure('the file changed while it was read');
    }
    return conversion;
  } finally {
    conversion.free();
  }
}
