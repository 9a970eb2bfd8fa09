/** What a model is: its summary, its vocabulary, its chat template. */

/** Parameters and stored bytes of some tensors. */
export interface Share {
  tensors: bigint;
  /** Elements that are trained: packed ones taken apart, without scales and tables. */
  parameters: bigint;
  bytes: bigint;
}

/** Something that is known of a model. */
export interface Fact {
  name: string;
  /** NaN and infinities are texts; a list has an item for each block. */
  value: unknown;
  from: 'metadata' | 'config' | 'names' | 'shapes' | 'computed';
  /** The key of the metadata or of the settings; empty for what is worked out. */
  key: string;
}

export interface ModelSummary {
  facts: Fact[];
  all: Share;
  /** Parameters that a token passes, where experts are chosen from. */
  active: bigint | undefined;
  /** Elements that are no parameters. */
  others: bigint;
  dtypes: (Share & { name: string })[];
  parts: (Share & { name: string })[];
  /** `parts` are parameters, in the order of the parts above. */
  blocks: (Share & { stack: string; number: bigint; parts: bigint[] })[];
  /** Layers by what they keep for each position; empty if that is not known, or if none does. */
  cache: { layers: bigint; elements: bigint; window: bigint | undefined }[];
  /** Layers that keep a state, and its bytes in f32 for any length, if they are known. */
  state: { layers: bigint; bytes: bigint | undefined } | undefined;
  /** What is assumed of the cache. */
  assumes: string[];
  /** Why nothing is known of the cache. */
  noCache: string | undefined;
  /** What does not fit together. */
  notes: string[];
}

/** A setting: a text, a number, a truth value, or a list of these. */
export type Setting = string | number | bigint | boolean | (string | number | bigint | boolean | null)[];

export interface SummaryOptions {
  metadata?: (readonly [string, Setting])[];
  /** Of a `config.json`; names of objects in objects are joined by dots. */
  config?: (readonly [string, Setting])[];
  /** How many tokens the tokenizer has. */
  tokens?: number | bigint;
}

export interface Token {
  id: number;
  /** Readable: spaces are `␣`, line ends `\n`, what cannot be seen is escaped. */
  text: string;
  /** As it is in the file. */
  raw: string;
  /** Its type, see `tokenKinds`; 0 if there is none. */
  kind: number;
  /** NaN if there is none. */
  score: number;
}

export interface VocabularyConstructor {
  /** `model` is the kind of tokenizer, `count` the number of tokens: what follows is not read. */
  new (endianness: 'little' | 'big', model: string, count: number | bigint): Vocabulary;
}

/** The tokens of a GGUF file, made of its arrays as their bytes stream by. */
export interface Vocabulary {
  free(): void;
  /** The next bytes of an array, after its head of 12 bytes. */
  push(what: 'tokens' | 'kinds' | 'scores', bytes: Uint8Array): void;
  readonly count: number;
  /** Whether not all tokens fit. */
  readonly cut: boolean;
  /** How many tokens there are of each type. */
  kinds(): Uint32Array;
  /** Looks for a text or an id, among tokens of a type unless it is 0; how many there are. */
  search(text: string, kind?: number): number;
  /** Tokens `from..to` of those that were found last. */
  found(from: number, to: number): Token[];
  tokens(ids: readonly number[]): Token[];
}

/** What a chat template touches. */
export interface Template {
  variables: string[];
  functions: string[];
  filters: string[];
  roles: string[];
  /** Special tokens and tags that it writes. */
  markers: string[];
  /** What no chat needs and attacks do. */
  warnings: { line: number; text: string; why: string }[];
}

export interface TemplatePiece {
  kind: 'text' | 'comment' | 'delimiter' | 'keyword' | 'string' | 'code' | 'warning';
  text: string;
}
