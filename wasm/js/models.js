// The summary of a model, its vocabulary and its chat template.

import { unpack } from './unpack.js';

const NONE = 0xffff_ffff_ffff_ffffn;

/** A value as passed to WebAssembly: its kind, a text, and the numbers in it. */
function crossing(value) {
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

function shares(fields) {
  const [tensors, parameters, bytes] = [0, 1, 2].map(() => fields.column(BigUint64Array));
  return Array.from(tensors, (count, i) => ({ tensors: count, parameters: parameters[i], bytes: bytes[i] }));
}

function named(fields) {
  const names = [...fields.texts()];
  return shares(fields).map((share, i) => ({ name: names[i], ...share }));
}

function summary(fields) {
  const [names, values, from, keys] = [0, 1, 2, 3].map(() => [...fields.texts()]);
  const facts = names.map((name, i) => ({ name, value: JSON.parse(values[i]), from: from[i], key: keys[i] }));
  const [all] = shares(fields);
  const active = fields.optional();
  const others = fields.u64();
  const dtypes = named(fields);
  const parts = named(fields);
  const stacks = [...fields.texts()];
  const numbers = fields.column(BigUint64Array);
  const of = shares(fields);
  const columns = parts.map(() => fields.column(BigUint64Array));
  const blocks = stacks.map((stack, i) => ({ stack, number: numbers[i], ...of[i], parts: columns.map((column) => column[i]) }));
  const [layers, elements, windows] = [0, 1, 2].map(() => fields.column(BigUint64Array));
  const cache = Array.from(layers, (count, i) => ({
    layers: count,
    elements: elements[i],
    window: windows[i] === NONE ? undefined : windows[i],
  }));
  const stateLayers = fields.optional();
  const stateBytes = fields.optional();
  const state = stateLayers === undefined ? undefined : { layers: stateLayers, bytes: stateBytes };
  const assumes = [...fields.texts()];
  const noCache = fields.optionalText();
  const notes = [...fields.texts()];
  return { facts, all, active, others, dtypes, parts, blocks, cache, state, assumes, noCache, notes };
}

function tokens(fields) {
  const ids = fields.column(Uint32Array);
  const [texts, raw] = [0, 1].map(() => [...fields.texts()]);
  const kinds = fields.column(Uint8Array);
  const scores = fields.column(Float32Array);
  return Array.from(ids, (id, i) => ({ id, text: texts[i], raw: raw[i], kind: kinds[i], score: scores[i] }));
}

/** The summary functions of one WebAssembly module. */
export function summaries(glue) {
  class Vocabulary {
    #raw;

    constructor(endianness, model, count) {
      this.#raw = new glue.RawVocabulary(endianness === 'big', model, BigInt(count));
    }

    free() {
      this.#raw.free();
    }

    push(what, bytes) {
      this.#raw.push(['tokens', 'kinds', 'scores'].indexOf(what), bytes);
    }

    get count() {
      return this.#raw.count();
    }

    get cut() {
      return this.#raw.isCut();
    }

    kinds() {
      return this.#raw.kinds();
    }

    search(text, kind = 0) {
      return this.#raw.search(text, kind);
    }

    found(from, to) {
      return unpack(this.#raw.found(from, to), tokens);
    }

    tokens(ids) {
      return unpack(this.#raw.tokens(Uint32Array.from(ids)), tokens);
    }
  }

  const summarise = (digests, { metadata = [], config = [], tokens } = {}) => {
    const raw = new glue.RawSummariser();
    metadata.forEach(([key, value]) => raw.metadata(key, ...crossing(value)));
    config.forEach(([key, value]) => raw.config(key, ...crossing(value)));
    if (tokens !== undefined) {
      raw.tokens(BigInt(tokens));
    }
    digests.forEach((digest) => raw.tensors(digest));
    return unpack(raw.finish(), summary);
  };

  const template = (text) =>
    unpack(glue.rawTemplate(text), (fields) => {
      const [variables, functions, filters, roles, markers] = [0, 1, 2, 3, 4].map(() => [...fields.texts()]);
      const lines = fields.column(Uint32Array);
      const [texts, whys] = [0, 1].map(() => [...fields.texts()]);
      const warnings = texts.map((found, i) => ({ line: lines[i], text: found, why: whys[i] }));
      return { variables, functions, filters, roles, markers, warnings };
    });

  const templatePieces = (text) =>
    unpack(glue.rawPieces(text), (fields) => {
      const [kinds, texts] = [0, 1].map(() => [...fields.texts()]);
      return texts.map((piece, i) => ({ kind: kinds[i], text: piece }));
    });

  const tokenKinds = ['', ...unpack(glue.rawTokenKinds(), (fields) => fields.texts())];

  return { Vocabulary, summarise, template, templatePieces, tokenKinds };
}
