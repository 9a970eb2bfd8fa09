/** Parses search queries for tensors. The page validates them, and the worker runs them. */

import { parseSize } from './ui/format.ts';

/** The properties of a tensor that a search looks at. */
export interface Subject {
  readonly name: string;
  /** Its name in lower case. */
  readonly lower: string;
  readonly dtype: string;
  readonly dims: ArrayLike<bigint>;
  readonly stored: bigint;
  /** Whether the tensor has findings or the given sign. */
  has(what: string): boolean;
  /** Whether its name matches this expression. */
  matches(expression: RegExp): boolean;
}

export type Term = (subject: Subject) => boolean;

export interface Query {
  terms: Term[];
  /** The regular expressions among the terms. */
  expressions: RegExp[];
  /** A single word, for which the names are enough. */
  word?: string;
  /** Why the query is invalid. */
  fault?: string;
}

/** Words, and `/…/`, which may contain spaces. */
const PARTS = /\/(?:\\.|[^/\\])+\/i?(?=\s|$)|\S+/g;
const EXPRESSION = /^\/(.+)\/(i?)$/s;
const KEYED = /^(dtype|type|shape|size|has):(.+)$/i;
const GLOB = /[*?]/;

/** Parses a query. A tensor matches if all terms match. */
export function parseQuery(text: string): Query {
  const parts = partsOf(text);
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

function partsOf(text: string): string[] {
  return text.trim().match(PARTS) ?? [];
}

/**
 * Whether `query` can only match what `before` matches, judging by the text: each term of `before`
 * is a term of `query` or part of a word in it.
 */
export function narrows(query: string, before: string): boolean {
  const parts = partsOf(query);
  const word = (part: string) => ([EXPRESSION, KEYED, GLOB].some((kind) => kind.test(part)) ? undefined : part.toLowerCase());
  return partsOf(before).every((other) => {
    const less = word(other);
    return parts.some((part) => part === other || (less !== undefined && word(part)?.includes(less)));
  });
}

/**
 * The positions below `count`, or those in `among`, whose tensor matches all terms. `go` moves
 * `subject` to a position.
 */
export function matching(terms: readonly Term[], subject: Subject, go: (i: number) => void, count: number, among?: Uint32Array): Uint32Array {
  const rows: number[] = [];
  const many = among?.length ?? count;
  for (let k = 0; k < many; k++) {
    const i = among === undefined ? k : among[k];
    go(i);
    if (terms.every((term) => term(subject))) {
      rows.push(i);
    }
  }
  return Uint32Array.from(rows);
}

/** The latest result. */
export class Hits {
  #query = '';
  #stamp: string | undefined;
  #rows: Uint32Array = new Uint32Array();

  /**
   * The matches for a query. `look` searches the given positions, or all of them; `stamp` changes
   * whenever the matches may.
   */
  of(query: string, stamp: string, look: (among?: Uint32Array) => Uint32Array): Uint32Array {
    if (stamp !== this.#stamp || query !== this.#query) {
      this.#rows = stamp === this.#stamp && narrows(query, this.#query) ? look(this.#rows) : look();
      this.#query = query;
      this.#stamp = stamp;
    }
    return this.#rows;
  }
}

function term(part: string, expressions: RegExp[]): Term {
  const pattern = EXPRESSION.exec(part);
  if (pattern !== null) {
    let compiled: RegExp;
    try {
      compiled = new RegExp(pattern[1], pattern[2]);
    } catch {
      throw new Error(`${part} is not a valid regular expression`);
    }
    expressions.push(compiled);
    return (subject) => subject.matches(compiled);
  }
  const [, key, value] = KEYED.exec(part) ?? [];
  switch (key?.toLowerCase()) {
    case 'dtype':
    case 'type': {
      const any = value.split(',').map(glob);
      return ({ dtype }) => any.some((one) => one(dtype.toLowerCase()));
    }
    case 'shape':
      return shape(value);
    case 'size':
      return sizes(value);
    case 'has':
      return (subject) => subject.has(value.toLowerCase());
  }
  if (GLOB.test(part)) {
    const whole = glob(part);
    return ({ lower }) => whole(lower);
  }
  const word = part.toLowerCase();
  return ({ lower }) => lower.includes(word);
}

/**
 * Whether a text in lower case matches: `*` is anything, `?` one character. As a regular expression,
 * several `*` would take for ever on a long name.
 */
function glob(text: string): (lower: string) => boolean {
  const pattern = text.toLowerCase();
  // What follows each `*` literally.
  const literals = pattern.split('').map((sign, i) => (sign === '*' ? /^[^*?]*/.exec(pattern.slice(i + 1))![0] : ''));
  return (lower) => {
    let [at, next] = [0, 0];
    // The last `*`, and the end of what it matches.
    let [star, end] = [-1, 0];
    while (at < lower.length) {
      const sign = pattern[next];
      if (sign === '?' || (sign !== '*' && sign === lower[at])) {
        at += sign === '?' && lower.codePointAt(at)! > 0xffff ? 2 : 1;
        next++;
        continue;
      }
      if (sign === '*') {
        if (next === pattern.length - 1) {
          return true;
        }
        [star, end] = [next, at - 1];
      } else if (star < 0) {
        return false;
      }
      end = lower.indexOf(literals[star], end + 1);
      if (end < 0) {
        return false;
      }
      [next, at] = [star + 1, end];
    }
    while (pattern[next] === '*') {
      next++;
    }
    return next === pattern.length;
  };
}

/** `4096x11008`; `*` matches any extent. */
function shape(value: string): Term {
  const extents = value.replace(/^\[|\]$/g, '').split(/[x×,]/i);
  if (extents.some((extent) => !/^(?:\d+|\*)$/.test(extent))) {
    throw new Error(`shape:${value} is not a valid shape: use shape:64x128, or shape:64x* to match any size`);
  }
  const wanted = extents.map((extent) => (extent === '*' ? undefined : BigInt(extent)));
  return ({ dims }) => dims.length === wanted.length && wanted.every((extent, i) => extent === undefined || extent === dims[i]);
}

/** `>1MB`, `<=64k`, `1MB..1GB`. */
function sizes(value: string): Term {
  const [, sign, text] = /^(>=|<=|>|<|=)?(.+)$/.exec(value)!;
  const [least, most] = text.includes('..') && sign === undefined ? text.split('..', 2).map(parseSize) : [parseSize(text), parseSize(text)];
  if (least === undefined || most === undefined) {
    throw new Error(`size:${value} is not a valid size: use size:>1MB, size:<=64k or size:1MB..1GB`);
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
