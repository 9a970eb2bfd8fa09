/** What people write to find tensors, taken apart: the page checks it, the worker looks for it. */

import { parseSize } from './ui/format.ts';

/** What a tensor is searched by. */
export interface Subject {
  name: string;
  dtype: string;
  dims: ArrayLike<bigint>;
  stored: bigint;
  /** Whether it has findings, or a sign of this name. */
  has(what: string): boolean;
  /** Whether its name matches this expression. */
  matches(expression: RegExp): boolean;
}

export type Term = (subject: Subject) => boolean;

export interface Query {
  terms: Term[];
  /** Regular expressions among them. */
  expressions: RegExp[];
  /** A single word, which needs no more than the names. */
  word?: string;
  /** What is wrong with it. */
  fault?: string;
}

/** Words, and `/…/` with spaces in it. */
const PARTS = /\/(?:\\.|[^/\\])+\/i?(?=\s|$)|\S+/g;

/** All terms must be true of a tensor. */
export function parseQuery(text: string): Query {
  const parts = text.trim().match(PARTS) ?? [];
  if (parts.length === 1 && !/[*?/:]/.test(parts[0])) {
    return { terms: [], expressions: [], word: parts[0] };
  }
  const expressions: RegExp[] = [];
  try {
    return { terms: parts.map((part) => term(part, expressions)), expressions };
  } catch (error) {
    return { terms: [], expressions: [], fault: (error as Error).message };
  }
}

function term(part: string, expressions: RegExp[]): Term {
  const pattern = /^\/(.+)\/(i?)$/s.exec(part);
  if (pattern !== null) {
    let compiled: RegExp;
    try {
      compiled = new RegExp(pattern[1], pattern[2]);
    } catch {
      throw new Error(`${part} is no regular expression`);
    }
    expressions.push(compiled);
    return (subject) => subject.matches(compiled);
  }
  const [, key, value] = /^(dtype|type|shape|size|has):(.+)$/i.exec(part) ?? [];
  switch (key?.toLowerCase()) {
    case 'dtype':
    case 'type': {
      const any = value.split(',').map(glob);
      return ({ dtype }) => any.some((one) => one.test(dtype));
    }
    case 'shape':
      return shape(value);
    case 'size':
      return sizes(value);
    case 'has':
      return (subject) => subject.has(value.toLowerCase());
  }
  if (/[*?]/.test(part)) {
    const whole = glob(part);
    return ({ name }) => whole.test(name);
  }
  const word = part.toLowerCase();
  return ({ name }) => name.toLowerCase().includes(word);
}

/** `*` stands for anything, `?` for one character; capitals do not matter. */
function glob(text: string): RegExp {
  const escaped = text.replace(/[.+^${}()|[\]\\/]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'isu');
}

/** `4096x11008`; `*` for any extent. */
function shape(value: string): Term {
  const extents = value.replace(/^\[|\]$/g, '').split(/[x×,]/i);
  if (extents.some((extent) => !/^(?:\d+|\*)$/.test(extent))) {
    throw new Error(`shape:${value} is no shape: write shape:64x128, or shape:64x* for any`);
  }
  const wanted = extents.map((extent) => (extent === '*' ? undefined : BigInt(extent)));
  return ({ dims }) => dims.length === wanted.length && wanted.every((extent, i) => extent === undefined || extent === dims[i]);
}

/** `>1MB`, `<=64k`, `1MB..1GB`. */
function sizes(value: string): Term {
  const [, sign, text] = /^(>=|<=|>|<|=)?(.+)$/.exec(value)!;
  const [least, most] = text.includes('..') && sign === undefined ? text.split('..', 2).map(parseSize) : [parseSize(text), parseSize(text)];
  if (least === undefined || most === undefined) {
    throw new Error(`size:${value} is no size: write size:>1MB, size:<=64k or size:1MB..1GB`);
  }
  switch (sign) {
    case '>':
      return ({ stored }) => stored > least;
    case '>=':
      return ({ stored }) => stored >= least;
    case '<':
      return ({ stored }) => stored < least;
    case '<=':
      return ({ stored }) => stored <= least;
    default:
      return ({ stored }) => stored >= least && stored <= most;
  }
}
