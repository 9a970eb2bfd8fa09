// The summary of a model, its vocabulary and its chat template.

import type * as raw from './summary.js';
import type { Summaries } from './glue.js';
import type { SummaryLibrary } from './index.js';
import { unpack, type Unpack } from './unpack.js';

/** Parameters and stored bytes of some tensors. */
export interface Share {
  tensors: bigint;
  /** Trained elements: packed ones count one by one, scales and tables do not count. */
  parameters: bigint;
  bytes: bigint;
}

/** A known fact about a model. */
export interface Fact {
  name: string;
  /** NaN and infinities are strings; a list has one item per block. */
  value: unknown;
  from: 'metadata' | 'config' | 'names' | 'shapes' | 'computed';
  /** The key in the metadata or the settings; empty for computed facts. */
  key: string;
}

export interface ModelSummary {
  facts: Fact[];
  /** Tensors with data. */
  all: Share;
  /** Tensors without data: computed when the model runs, or stored elsewhere. `bytes` is the memory for them. */
  withoutData: Share;
  /** Parameters used per token, if the model chooses among experts. */
  active: bigint | undefined;
  /** Elements that are not parameters. */
  others: bigint;
  dtypes: (Share & { name: string })[];
  parts: (Share & { name: string })[];
  /** `parts` holds parameter counts, in the order of `parts` above. */
  blocks: (Share & { stack: string; number: bigint; parts: bigint[] })[];
  /** Layers grouped by what they keep per position; empty if unknown, or if no layer has a cache. */
  cache: { layers: bigint; elements: bigint; window: bigint | undefined }[];
  /** Layers with a state of fixed size, and its bytes in f32 if known. */
  state: { layers: bigint; bytes: bigint | undefined } | undefined;
  /** Assumptions about the cache. */
  assumes: string[];
  /** Why the cache size is unknown. */
  noCache: string | undefined;
  /** Inconsistencies. */
  notes: string[];
}

/** A setting: a string, a number, a Boolean, or a list of these. */
export type Setting = string | number | bigint | boolean | (string | number | bigint | boolean | null)[];

export interface SummaryOptions {
  metadata?: (readonly [string, Setting])[];
  /** Settings of a `config.json`; names of nested objects are joined by dots. */
  config?: (readonly [string, Setting])[];
  /** Number of tokens in the tokenizer. */
  tokens?: number | bigint;
}

export interface Token {
  id: number;
  /** Readable: spaces are `␣`, line ends `\n`, and invisible characters are escaped. */
  text: string;
  /** The text stored in the file. */
  raw: string;
  /** Index into `tokenKinds`; 0 if the token has no type. */
  kind: number;
  /** NaN if the token has no score. */
  score: number;
}

/** The variables, functions and output of a chat template. */
export interface Template {
  variables: string[];
  functions: string[];
  filters: string[];
  roles: string[];
  /** Special tokens and tags that the template writes. */
  markers: string[];
  /** Constructs that no chat needs and attacks use. */
  warnings: { line: number; text: string; why: string }[];
}

export interface TemplatePiece {
  kind: 'text' | 'comment' | 'delimiter' | 'keyword' | 'string' | 'code' | 'warning';
  text: string;
}

const NONE = 0xffff_ffff_ffff_ffffn;

/** A value as passed to WebAssembly: its kind, a text, and the numbers in it. */
function crossing(value: Setting): [number, string, Float64Array] {
  if (typeof value === 'string') {
    return [0, value, new Float64Array()];
  }
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return [3, value.join('\n'), new Float64Array()];
  }
  const text = String(value);
  const floats = Float64Array.from(text.split(','), (item) => Number(item === '' ? NaN : item));
  return [Array.isArray(value) ? 2 : 1, text, floats];
}

function shares(fields: Unpack): Share[] {
  const tensors = fields.column(BigUint64Array);
  const parameters = fields.column(BigUint64Array);
  const bytes = fields.column(BigUint64Array);
  return Array.from(tensors, (count, i) => ({ tensors: count, parameters: parameters[i]!, bytes: bytes[i]! }));
}

function named(fields: Unpack): ModelSummary['parts'] {
  const names = [...fields.texts()];
  return shares(fields).map((share, i) => ({ name: names[i]!, ...share }));
}

function summary(fields: Unpack): ModelSummary {
  const names = [...fields.texts()];
  const values = [...fields.texts()];
  const from = [...fields.texts()] as Fact['from'][];
  const keys = [...fields.texts()];
  const facts = names.map((name, i) => ({ name, value: JSON.parse(values[i]!) as unknown, from: from[i]!, key: keys[i]! }));
  const [all, withoutData] = shares(fields) as [Share, Share];
  const active = fields.optional();
  const others = fields.u64();
  const dtypes = named(fields);
  const parts = named(fields);
  const stacks = [...fields.texts()];
  const numbers = fields.column(BigUint64Array);
  const of = shares(fields);
  const columns = parts.map(() => fields.column(BigUint64Array));
  const blocks = stacks.map((stack, i) => ({ stack, number: numbers[i]!, ...of[i]!, parts: columns.map((column) => column[i]!) }));
  const layers = fields.column(BigUint64Array);
  const elements = fields.column(BigUint64Array);
  const windows = fields.column(BigUint64Array);
  const cache = Array.from(layers, (count, i) => ({
    layers: count,
    elements: elements[i]!,
    window: windows[i] === NONE ? undefined : windows[i],
  }));
  const stateLayers = fields.optional();
  const stateBytes = fields.optional();
  const state = stateLayers === undefined ? undefined : { layers: stateLayers, bytes: stateBytes };
  const assumes = [...fields.texts()];
  const noCache = fields.optionalText();
  const notes = [...fields.texts()];
  return { facts, all, withoutData, active, others, dtypes, parts, blocks, cache, state, assumes, noCache, notes };
}

function tokens(fields: Unpack): Token[] {
  const ids = fields.column(Uint32Array);
  const texts = [...fields.texts()];
  const stored = [...fields.texts()];
  const kinds = fields.column(Uint8Array);
  const scores = fields.column(Float32Array);
  return Array.from(ids, (id, i) => ({ id, text: texts[i]!, raw: stored[i]!, kind: kinds[i]!, score: scores[i]! }));
}

/** The tokens of a GGUF file, built from its arrays as their bytes stream in. */
export class Vocabulary {
  readonly #raw: raw.RawVocabulary;

  /** @internal */
  constructor(glue: Summaries, endianness: 'little' | 'big', model: string, count: number | bigint) {
    this.#raw = new glue.RawVocabulary(endianness === 'big', model, BigInt(count));
  }

  free(): void {
    this.#raw.free();
  }

  /** Adds the next bytes of an array, after its header of 12 bytes. */
  push(what: 'tokens' | 'kinds' | 'scores', bytes: Uint8Array): void {
    this.#raw.push(['tokens', 'kinds', 'scores'].indexOf(what), bytes);
  }

  get count(): number {
    return this.#raw.count();
  }

  /** Whether some tokens did not fit. */
  get cut(): boolean {
    return this.#raw.isCut();
  }

  /** Number of tokens of each type. */
  kinds(): Uint32Array {
    return this.#raw.kinds();
  }

  /** Searches for a text or an id, among tokens of one type unless `kind` is 0. Returns the number of hits. */
  search(text: string, kind = 0): number {
    return this.#raw.search(text, kind);
  }

  /** Hits `from..to` of the last search. */
  found(from: number, to: number): Token[] {
    return unpack(this.#raw.found(from, to), tokens);
  }

  tokens(ids: readonly number[]): Token[] {
    return unpack(this.#raw.tokens(Uint32Array.from(ids)), tokens);
  }
}

/**
 * What the module `summary` offers.
 *
 * @internal
 */
export function summaries(glue: Summaries): Omit<SummaryLibrary, 'flavour' | 'memory'> {
  const summarise = (digests: readonly Uint8Array[], { metadata = [], config = [], tokens }: SummaryOptions = {}): ModelSummary => {
    const raw = new glue.RawSummariser();
    metadata.forEach(([key, value]) => raw.metadata(key, ...crossing(value)));
    config.forEach(([key, value]) => raw.config(key, ...crossing(value)));
    if (tokens !== undefined) {
      raw.tokens(BigInt(tokens));
    }
    digests.forEach((digest) => raw.tensors(digest));
    return unpack(raw.finish(), summary);
  };

  const template = (text: string): Template =>
    unpack(glue.rawTemplate(text), (fields) => {
      const list = () => [...fields.texts()];
      // In the order of the file: an object is built from top to bottom.
      const found = { variables: list(), functions: list(), filters: list(), roles: list(), markers: list() };
      const lines = fields.column(Uint32Array);
      const texts = list();
      const whys = list();
      return { ...found, warnings: texts.map((text, i) => ({ line: lines[i]!, text, why: whys[i]! })) };
    });

  const templatePieces = (text: string): TemplatePiece[] =>
    unpack(glue.rawPieces(text), (fields) => {
      const kinds = [...fields.texts()] as TemplatePiece['kind'][];
      return [...fields.texts()].map((piece, i) => ({ kind: kinds[i]!, text: piece }));
    });

  const tokenKinds = ['', ...unpack(glue.rawTokenKinds(), (fields) => fields.texts())];

  return { Vocabulary: Vocabulary.bind(undefined, glue), summarise, template, templatePieces, tokenKinds };
}
