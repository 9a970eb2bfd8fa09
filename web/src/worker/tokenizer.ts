/** A `tokenizer.json` as the lists that GGUF has: tokens, merges, kinds, scores. */

import type { TokenizerFacts } from './summary.ts';

/** Ids above this are left out: no model has as many tokens. */
const MOST_TOKENS = 1 << 22;
/** Maximum number of special tokens that are named without a role. */
const SOME = 12;
/** Kinds of tokens, by GGUF's numbers. */
const [NORMAL, UNKNOWN, CONTROL, ADDED, UNUSED, BYTE] = [1, 2, 3, 4, 5, 6];

/** A list of a tokenizer, as its bytes in GGUF. */
export interface TokenLists {
  /** `gpt2` if tokens stand for bytes. */
  kind: string;
  tokens: string[];
  merges: string[];
  kinds: Int32Array;
  scores: Float32Array | undefined;
}

type Json = { readonly [key: string]: unknown };

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const isId = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0 && (value as number) < MOST_TOKENS;

/** The types of a step and of the steps in it: `Split, ByteLevel`. */
function types(step: unknown, depth = 0): string[] {
  if (!isObject(step) || depth > 4) {
    return [];
  }
  const inner = ['pretokenizers', 'normalizers', 'decoders', 'processors'].flatMap((key) => (Array.isArray(step[key]) ? (step[key] as unknown[]).slice(0, 16) : []));
  return inner.length > 0 ? inner.flatMap((one) => types(one, depth + 1)) : [text(step.type) ?? '?'];
}

/** The tokens with their ids and scores. */
function* vocabulary(vocab: unknown): Generator<readonly [id: number, token: string, score?: number]> {
  if (Array.isArray(vocab)) {
    for (let id = 0; id < vocab.length; id++) {
      const [token, score] = Array.isArray(vocab[id]) ? (vocab[id] as unknown[]) : [];
      if (typeof token === 'string' && isId(id)) {
        yield [id, token, typeof score === 'number' ? score : NaN];
      }
    }
  } else if (isObject(vocab)) {
    for (const [token, id] of Object.entries(vocab)) {
      if (isId(id)) {
        yield [id, token];
      }
    }
  }
}

/** The lists of a tokenizer; `undefined` if this is none. */
export function listsOf(json: unknown): TokenLists | undefined {
  const model = isObject(json) && isObject(json.model) ? json.model : undefined;
  if (model === undefined || !isObject(json)) {
    return undefined;
  }
  const tokens: string[] = [];
  const kinds: number[] = [];
  const scores: number[] = [];
  const bytes = model.byte_fallback === true;
  for (const [id, token, score = NaN] of vocabulary(model.vocab)) {
    tokens[id] = token;
    scores[id] = score;
    kinds[id] = bytes && /^<0x[\dA-F]{2}>$/.test(token) ? BYTE : token === model.unk_token || id === model.unk_id ? UNKNOWN : NORMAL;
  }
  for (const added of Array.isArray(json.added_tokens) ? json.added_tokens : []) {
    if (isObject(added) && isId(added.id) && typeof added.content === 'string') {
      tokens[added.id] = added.content;
      kinds[added.id] = kinds[added.id] === UNKNOWN ? UNKNOWN : added.special === true ? CONTROL : ADDED;
    }
  }
  const merges = Array.isArray(model.merges) ? model.merges.map((merge) => (Array.isArray(merge) ? merge.join(' ') : String(merge))) : [];
  const isByteLevel = [json.pre_tokenizer, json.decoder].some((step) => types(step).includes('ByteLevel'));
  return {
    kind: isByteLevel ? 'gpt2' : '',
    // Ids may have gaps.
    tokens: Array.from(tokens, (token) => token ?? ''),
    merges,
    kinds: Int32Array.from(tokens, (_, id) => kinds[id] ?? UNUSED),
    scores: Array.isArray(model.vocab) ? Float32Array.from(tokens, (_, id) => scores[id] ?? NaN) : undefined,
  };
}

/** Settings that say how a tokenizer is used, besides its steps. */
const USED = ['tokenizer_class', 'model_max_length', 'add_bos_token', 'add_eos_token', 'padding_side'];

/** What to say about a tokenizer; `config` is the `tokenizer_config.json` beside it. */
export function factsOf(json: unknown, lists: TokenLists, config: unknown): TokenizerFacts {
  const { model, ...steps } = json as Json;
  const settings: [string, string][] = [];
  for (const [label, key] of [['normalizer', 'normalizer'], ['pre-tokenizer', 'pre_tokenizer'], ['decoder', 'decoder']]) {
    const list = types(steps[key]);
    if (list.length > 0) {
      settings.push([label, list.join(', ')]);
    }
  }
  const ids = new Map(lists.tokens.map((token, id) => [token, id]));
  const special: TokenizerFacts['special'] = [];
  if (isObject(config)) {
    settings.push(...USED.flatMap((key): [string, string][] => (['string', 'number', 'boolean'].includes(typeof config[key]) ? [[key, String(config[key])]] : [])));
    for (const [key, value] of Object.entries(config)) {
      const id = ids.get(text(isObject(value) ? value.content : value) ?? '');
      if (/^\w+_token$/.test(key) && id !== undefined) {
        special.push({ role: key.slice(0, -'_token'.length), id });
      }
    }
  }
  if (special.length === 0) {
    special.push(...Array.from(lists.kinds.keys()).filter((id) => lists.kinds[id] === CONTROL).slice(0, SOME).map((id) => ({ role: 'special', id })));
  }
  return { model: text((model as Json).type) ?? 'unknown', settings, special, tokens: lists.tokens.length, merges: lists.merges.length, from: 'tokenizer.json' };
}

/** Texts as GGUF stores an array of them, in pieces. */
export function* written(texts: readonly string[]): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const together = 4096;
  for (let from = 0; from < texts.length; from += together) {
    const parts = texts.slice(from, from + together).map((one) => encoder.encode(one));
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + 8 + part.length, 0));
    const view = new DataView(bytes.buffer);
    let at = 0;
    for (const part of parts) {
      view.setUint32(at, part.length, true);
      bytes.set(part, at + 8);
      at += 8 + part.length;
    }
    yield bytes;
  }
}
