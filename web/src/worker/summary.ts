/** Summarises a model from its metadata, tensor names and shapes, and a `config.json`. */

import type { ModelSummary, Setting, Template, TemplatePiece, Token, Vocabulary } from 'weighbridge';
import { adapterOf, updates as updatesOf, type AdapterFacts, type Update } from './adapter.ts';
import { besideOf, readBeside, type Beside, type Code } from './beside.ts';
import { componentsOf, quantisedOf, type Component, type Quantised } from './components.ts';
import { bytesOf } from './elements.ts';
import type { Context } from './rpc.ts';
import { session, summarising, type Session } from './session.ts';
import { listTensors } from './tensors.ts';
import { written } from './tokenizer.ts';

/** Maximum metadata entries examined: models have fewer than a hundred. */
const MOST_ENTRIES = 4096;
/** Maximum characters of a value on a card; the metadata view shows it in full. */
const MOST_TEXT = 1 << 16;
/** Maximum bytes of a template examined. */
const MOST_TEMPLATE = 16 << 20;
/** Bytes before an array's items (type and count) and before a text (its length). */
const ARRAY_HEAD = 12n;
const TEXT_HEAD = 8n;

const TOKENIZER = 'tokenizer.ggml.';
const TEMPLATE = /^tokenizer\.chat_template(?:\.(.+))?$/;
/** A tokenizer's lists, which are read on demand. */
const LISTS = /^tokenizer\.ggml\.(?:tokens|merges|scores|token_type|precompiled_charsmap|added_tokens)$/;

interface Entry {
  index: number;
  key: string;
  type: string;
  at: bigint;
  len: bigint;
}

export interface CardEntry {
  key: string;
  text: string;
  /** Whether the text is truncated. */
  cut: boolean;
}

export interface TokenizerFacts {
  model: string;
  settings: (readonly [string, string])[];
  /** Roles of the special tokens, and their ids. */
  special: { role: string; id: number }[];
  tokens: number;
  merges: number;
  /** The file beside the weights that contains it, unless they do. */
  from?: string;
}

export interface ModelFacts {
  summary: ModelSummary;
  card: CardEntry[];
  tokenizer: TokenizerFacts | undefined;
  /** Negative indices are those of files beside the weights: `from` names them. */
  templates: { name: string; index: number; from?: string }[];
  generation: Beside['generation'];
  code: Code[];
  scripts: string[];
  adapter: AdapterFacts | undefined;
  components: Component[];
  quantised: Quantised[];
}

/** The entries of a file's metadata. */
async function entriesOf(file: Session, context: Context): Promise<Entry[]> {
  const { document } = file;
  const most = Math.min(document.metadataCount, MOST_ENTRIES);
  const table = await file.settle(() => document.metadata(0, most), context);
  const [keys, types] = [[...table.keys], [...table.types]];
  return Array.from(table.index, (index, i) => ({ index, key: keys[i], type: types[i], at: table.at[i], len: table.len[i] }));
}

/** The number of items of a list, parsed from its displayed type. */
function length({ type }: Entry): number {
  const found = /\[(\d+)\]$/.exec(type);
  return found === null ? 0 : Number(found[1]);
}

/** An f32 with its significant digits only. */
const rounded = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(7)) : value);

async function settingOf(file: Session, { index }: Entry, context: Context): Promise<Setting | undefined> {
  const { type, text, values, shape } = await file.settle(() => file.document.value(index), context);
  if (values !== undefined) {
    const { data, dtype } = values;
    const list = Array.from(data as ArrayLike<number | bigint>, (value) =>
      dtype === 'bool' ? value !== 0 : typeof value === 'number' && data instanceof Float32Array ? rounded(value) : value,
    );
    return shape === undefined ? list[0] : list;
  }
  if (type !== 'ndarray') {
    return text;
  }
  try {
    return JSON.parse(text ?? '[]') as Setting;
  } catch {
    return undefined;
  }
}

/** Flattens nested objects into dotted keys; lists that hold objects are flattened by index. */
function flat(value: unknown, prefix: string, out: (readonly [string, Setting])[], depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > 4) {
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    const key = prefix + name;
    if (Array.isArray(inner) ? inner.every((item) => typeof item !== 'object') : ['string', 'number', 'boolean'].includes(typeof inner)) {
      out.push([key, inner as Setting]);
    } else {
      flat(inner, `${key}.`, out, depth + 1);
    }
    if (out.length >= MOST_ENTRIES) {
      return;
    }
  }
}

/** The facts about a model; `config` is the text of a `config.json`, `files` lie beside the model. */
export async function model(context: Context, id: number, config?: string, files: readonly File[] = []): Promise<ModelFacts> {
  const file = session(id);
  const beside = await readBeside(file, files, config);
  const { summarise } = await summarising();
  const entries = await entriesOf(file, context);
  const metadata: (readonly [string, Setting])[] = [];
  for (const entry of entries.filter(({ key }) => !LISTS.test(key) && !TEMPLATE.test(key))) {
    const value = await settingOf(file, entry, context);
    if (value !== undefined) {
      metadata.push([entry.key, value]);
    }
  }
  const settings: (readonly [string, Setting])[] = [];
  if (config !== undefined) {
    flat(JSON.parse(config), '', settings);
  }
  const list = (name: string) => entries.find(({ key }) => key === TOKENIZER + name);
  const tokens = list('tokens');
  const count = tokens === undefined ? undefined : length(tokens);
  const summary = summarise([file.document.digest()], { metadata, config: settings, tokens: count });
  const merges = list('merges');
  const own = metadata.filter(([key]) => key.startsWith(TOKENIZER)).map(([key, value]) => [key.slice(TOKENIZER.length), value] as const);
  const special = own.flatMap(([key, value]) => {
    const role = /^(.+)_token_id$/.exec(key)?.[1];
    return role === undefined || typeof value === 'object' ? [] : [{ role, id: Number(value) }];
  });
  const tensors = await listTensors(file, context);
  const adapter = await adapterOf(file, new Map(metadata), context);
  trained.set(file, new Map(metadata));
  summary.notes.push(...(adapter?.notes ?? []));
  const rows = summary.facts.find(({ name }) => name === 'vocab_size')?.value;
  if (count === undefined && beside.tokenizer !== undefined && typeof rows === 'number' && beside.tokenizer.tokens > rows) {
    summary.notes.push(`the tokenizer has ${beside.tokenizer.tokens} tokens, but the model has a vocabulary of ${rows}`);
  }
  summary.notes.push(...beside.notes);
  return {
    summary,
    adapter,
    components: componentsOf(tensors),
    quantised: quantisedOf(tensors, new Map(settings)),
    generation: beside.generation,
    code: beside.code,
    scripts: beside.scripts,
    card: cardOf(file, metadata),
    tokenizer: count === undefined
      ? beside.tokenizer
      : {
          model: String(own.find(([key]) => key === 'model')?.[1] ?? ''),
          settings: own.filter(([key]) => !key.endsWith('_token_id')).map(([key, value]) => [key, String(value)] as const),
          special,
          tokens: count,
          merges: merges === undefined ? 0 : length(merges),
        },
    // The default template, which has no name, comes first.
    templates: entries
      .flatMap(({ key, index, type }) => {
        const found = TEMPLATE.exec(key);
        return found === null || type !== 'string' ? [] : [{ name: found[1] ?? '', index }];
      })
      .sort((a, b) => Number(b.name === '') - Number(a.name === ''))
      .concat(beside.templates.map(({ name, from }, i) => ({ name, from, index: -1 - i }))),
  };
}

/** Maximum bytes of a text that is read in full. */
const MOST_WHOLE = 4 << 20;

/** The whole text of an entry of JSON metadata; `undefined` if it is no text, or too long. */
export async function metaText(context: Context, id: number, key: string): Promise<string | undefined> {
  const file = session(id);
  const entry = (await entriesOf(file, context)).find((one) => one.key === key);
  if (entry === undefined || entry.len > MOST_WHOLE || entry.type !== 'string') {
    return undefined;
  }
  const { text, truncated } = await file.settle(() => file.document.value(entry.index), context);
  if (!truncated) {
    return text;
  }
  const written = new TextDecoder().decode(await file.read(entry.at, Number(entry.len), context.signal));
  return written.startsWith('"') ? (JSON.parse(written) as string) : (JSON.parse(`"${written}"`) as string);
}

/** The metadata of each summarised file. */
const trained = new WeakMap<Session, ReadonlyMap<string, unknown>>();

/** The updates of an adapter; `base` is the file that they change, if it is open. */
export async function updates(context: Context, id: number, base: number | undefined, measured: boolean): Promise<Update[]> {
  return await updatesOf(context, id, trained.get(session(id)) ?? new Map(), base, measured);
}

/** The descriptive metadata of a model. */
function cardOf(file: Session, metadata: (readonly [string, Setting])[]): CardEntry[] {
  const all = file.document.format === 'gguf' ? metadata.filter(([key]) => key.startsWith('general.')) : metadata;
  return all.map(([key, value]) => {
    const text = Array.isArray(value) ? value.join('\n') : String(value);
    return { key, text: text.slice(0, MOST_TEXT), cut: text.length >= MOST_TEXT };
  });
}

// ----------------------------------------------------------------- tokenizer

export type TokenList = 'tokens' | 'merges';

export interface Listed {
  count: number;
  /** The number of items according to the file. */
  declared: number;
  /** The number of tokens per type. */
  kinds: number[];
  names: readonly string[];
  scored: boolean;
}

const vocabularies = new WeakMap<Session, Map<TokenList, Promise<[Vocabulary, Listed]>>>();

/** Reads a list of texts once and caches it while the file is open. */
function listed(context: Context, id: number, what: TokenList): Promise<[Vocabulary, Listed]> {
  const file = session(id);
  const known = vocabularies.get(file) ?? new Map<TokenList, Promise<[Vocabulary, Listed]>>();
  vocabularies.set(file, known);
  const made = known.get(what) ?? read(file, what, context);
  known.set(what, made);
  made.catch(() => known.delete(what));
  return made;
}

async function read(file: Session, what: TokenList, context: Context): Promise<[Vocabulary, Listed]> {
  const { Vocabulary, tokenKinds } = await summarising();
  const beside = (lists: NonNullable<Beside['lists']>): [Vocabulary, Listed] => {
    const { kind, kinds, scores } = lists;
    const texts = lists[what];
    const vocabulary = new Vocabulary('little', what === 'tokens' ? kind : '', texts.length);
    for (const bytes of written(texts)) {
      vocabulary.push('tokens', bytes);
    }
    if (what === 'tokens') {
      vocabulary.push('kinds', bytesOf(kinds));
      vocabulary.push('scores', bytesOf(scores ?? new Float32Array()));
    }
    return [vocabulary, { count: vocabulary.count, declared: texts.length, kinds: [...vocabulary.kinds()], names: tokenKinds, scored: what === 'tokens' && scores !== undefined }];
  };
  const entries = await entriesOf(file, context);
  const list = (name: string) => entries.find(({ key }) => key === TOKENIZER + name);
  const found = list(what);
  const { lists } = (await besideOf(file)) ?? {};
  if (list('tokens') === undefined && lists !== undefined) {
    return beside(lists);
  }
  if (found === undefined) {
    throw new Error(`the file has no list of ${what}`);
  }
  const model = list('model');
  const kind = model === undefined ? '' : String(await settingOf(file, model, context));
  // The version is a small number, so its first byte tells the byte order.
  const version = await file.read(4n, 4, context.signal);
  const count = length(found);
  const vocabulary = new Vocabulary(version[0] === 0 ? 'big' : 'little', what === 'tokens' ? kind : '', count);
  const stream = async (entry: Entry, as: 'tokens' | 'kinds' | 'scores', most?: number) => {
    const len = most === undefined ? entry.len - ARRAY_HEAD : BigInt(most);
    for await (const bytes of file.source.pieces(entry.at + ARRAY_HEAD, len, context.signal)) {
      vocabulary.push(as, bytes);
      context.progress({ label: `Reading the ${what}`, done: undefined });
      if (as === 'tokens' && (vocabulary.count >= count || vocabulary.cut)) {
        return;
      }
    }
  };
  const numbers = (name: string, type: RegExp) => {
    const entry = list(name);
    return entry !== undefined && type.test(entry.type) ? entry : undefined;
  };
  await stream(found, 'tokens');
  const kinds = what === 'tokens' ? numbers('token_type', /^ndarray [iu]32 /) : undefined;
  const scores = what === 'tokens' ? numbers('scores', /^ndarray f32 /) : undefined;
  if (kinds !== undefined) {
    await stream(kinds, 'kinds', 4 * Math.min(length(kinds), vocabulary.count));
  }
  if (scores !== undefined) {
    await stream(scores, 'scores', 4 * Math.min(length(scores), vocabulary.count));
  }
  return [
    vocabulary,
    { count: vocabulary.count, declared: count, kinds: [...vocabulary.kinds()], names: tokenKinds, scored: scores !== undefined },
  ];
}

export async function vocabulary(context: Context, id: number, what: TokenList): Promise<Listed> {
  return (await listed(context, id, what))[1];
}

/** Searches for a text or an id; returns the number of matches. */
export async function findTokens(context: Context, id: number, what: TokenList, text: string, kind: number): Promise<number> {
  return (await listed(context, id, what))[0].search(text, kind);
}

/** The matches of the latest search. */
export async function foundTokens(context: Context, id: number, what: TokenList, from: number, to: number): Promise<Token[]> {
  return (await listed(context, id, what))[0].found(from, to);
}

export async function tokensOf(context: Context, id: number, ids: number[]): Promise<Token[]> {
  const [tokens, { count }] = await listed(context, id, 'tokens');
  return tokens.tokens(ids.filter((one) => one < count));
}

// ------------------------------------------------------------------ template

export interface TemplateFacts {
  found: Template;
  pieces: TemplatePiece[];
  /** Characters shown, and in total. */
  shown: number;
  length: number;
  /** Bytes that were not examined. */
  left: number;
}

/** A chat template: what it accesses, and its first `most` characters in pieces. */
export async function chatTemplate(context: Context, id: number, index: number, most: number): Promise<TemplateFacts> {
  const file = session(id);
  const { template, templatePieces } = await summarising();
  const beside = (await besideOf(file))?.templates[-1 - index];
  if (beside !== undefined) {
    const { text } = beside;
    return { found: template(text), pieces: templatePieces(text.slice(0, most)), shown: Math.min(most, text.length), length: text.length, left: 0 };
  }
  const { at, len } = (await entriesOf(file, context)).find((entry) => entry.index === index)!;
  const bytes = Number(len - TEXT_HEAD);
  const taken = Math.min(bytes, MOST_TEMPLATE);
  const text = new TextDecoder().decode(await file.read(at + TEXT_HEAD, taken, context.signal));
  const shown = text.slice(0, most);
  return { found: template(text), pieces: templatePieces(shown), shown: shown.length, length: text.length, left: bytes - taken };
}
