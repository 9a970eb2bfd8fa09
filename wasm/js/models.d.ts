/** The summary of a model, its vocabulary and its chat template. */

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
  all: Share;
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

export interface VocabularyConstructor {
  /** `model` is the kind of tokenizer, `count` the number of tokens: anything after those is not read. */
  new (endianness: 'little' | 'big', model: string, count: number | bigint): Vocabulary;
}

/** The tokens of a GGUF file, built from its arrays as their bytes stream in. */
export interface Vocabulary {
  free(): void;
  /** Adds the next bytes of an array, after its header of 12 bytes. */
  push(what: 'tokens' | 'kinds' | 'scores', bytes: Uint8Array): void;
  readonly count: number;
  /** Whether some tokens did not fit. */
  readonly cut: boolean;
  /** Number of tokens of each type. */
  kinds(): Uint32Array;
  /** Searches for a text or an id, among tokens of one type unless `kind` is 0. Returns the number of hits. */
  search(text: string, kind?: number): number;
  /** Hits `from..to` of the last search. */
  found(from: number, to: number): Token[];
  tokens(ids: readonly number[]): Token[];
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
