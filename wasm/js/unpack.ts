// Unpacks what `src/pack.rs` packs.

import known from './rules.js';
import type { Numbers } from './entry.js';
import type { Rule, Severity } from './tables.js';

/** Fields of a rule: id, severity, basis, message, specification, reason. */
type RuleRow = readonly [string, Severity, Rule['basis'], string, string, string?];

/** A format with its rules, and the names of its types by number. */
interface Catalogued {
  readonly name: string;
  readonly rules: readonly RuleRow[];
  readonly types: readonly string[];
}

export type Catalogue = Readonly<Record<string, Catalogued>>;

/** Formats by number, with their rules. */
const catalogue: Record<string, Catalogued> = { ...(known as Catalogue) };

/** Adds the rules of more formats. */
export function learn(more: Catalogue | undefined): void {
  Object.assign(catalogue, more);
}

const utf8 = new TextDecoder();

const NUMBERS = [
  Float32Array,
  Float64Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  BigUint64Array,
  Uint8Array,
];

/** A float as the command's JSON has it: with a point or an exponent, or as a string. */
export function jsonFloat(value: number): string {
  if (!Number.isFinite(value)) {
    return `"${value}"`;
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential();
  }
  const digits = Object.is(value, -0) ? '-0' : String(value);
  return digits.includes('.') ? digits : `${digits}.0`;
}

/** A typed array, as a column is. */
interface Column<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
}

/** Reads fields in the order they were written. */
export class Unpack {
  readonly #view: DataView<ArrayBuffer>;
  #at = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #align(width: number): void {
    this.#at = Math.ceil(this.#at / width) * width;
  }

  u32(): number {
    this.#align(4);
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  flag(): boolean {
    return this.u32() !== 0;
  }

  u64(): bigint {
    this.#align(8);
    this.#at += 8;
    return this.#view.getBigUint64(this.#at - 8, true);
  }

  f64(): number {
    this.#align(8);
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  optional(): bigint | undefined {
    const there = this.flag();
    const value = this.u64();
    return there ? value : undefined;
  }

  /** A column: a typed array over the same buffer. */
  column<T extends ArrayBufferView>(type: Column<T>): T {
    const length = this.u32();
    this.#align(type.BYTES_PER_ELEMENT);
    const array = new type(this.#view.buffer, this.#view.byteOffset + this.#at, length);
    this.#at += array.byteLength;
    return array;
  }

  text(): string {
    return utf8.decode(this.column(Uint8Array));
  }

  optionalText(): string | undefined {
    const there = this.flag();
    const text = this.text();
    return there ? text : undefined;
  }

  texts(): Texts {
    return new Texts(this.text(), this.column(Uint32Array));
  }

  numbers(): Numbers {
    return this.column<Numbers>(NUMBERS[this.u32()]!);
  }

  optionalNumbers(): Numbers | undefined {
    return this.flag() ? this.numbers() : undefined;
  }
}

/** Strings, read one at a time: `for (const name of names)`, `[...names]`, `names.at(0)`. */
export class Texts implements Iterable<string> {
  /** All strings joined: string `i` is `text.slice(ends[i - 1] ?? 0, ends[i])`. */
  readonly text: string;
  readonly ends: Uint32Array;

  constructor(text: string, ends: Uint32Array) {
    this.text = text;
    this.ends = ends;
  }

  static of(strings: readonly string[]): Texts {
    let end = 0;
    return new Texts(strings.join(''), Uint32Array.from(strings, (text) => (end += text.length)));
  }

  get length(): number {
    return this.ends.length;
  }

  /** As for an array: negative indices count from the end. */
  at(index: number): string | undefined {
    const i = index < 0 ? index + this.length : index;
    return i in this.ends ? this.text.slice(i === 0 ? 0 : this.ends[i - 1], this.ends[i]) : undefined;
  }

  *[Symbol.iterator](): Iterator<string> {
    let from = 0;
    for (const end of this.ends) {
      yield this.text.slice(from, end);
      from = end;
    }
  }
}

/** A rule by its code: 5 bits format, 2 bits severity, 9 bits number. */
export function ruleOf(code: number): Rule {
  const rules = catalogue[code >> 11]?.rules;
  return rule(rules?.[(code & 0x1ff) - 1] ?? ['NO-RULE', 'fatal', 'silent', '', ''], code);
}

/** The id of a rule; the WebAssembly module calls this for its errors. */
export function ruleId(code: number): string {
  return ruleOf(code).id;
}

function rule([id, severity, basis, message, spec, why]: RuleRow, code: number): Rule {
  return { code, id, severity, basis, message, spec, why };
}

/** The rules of a format, or the general rules. */
export function rulesOf(name?: string): Rule[] {
  const found = Object.entries(catalogue).find(([, format]) => format.name === (name ?? ''));
  if (found === undefined) {
    throw failure(`unknown format ${name}`);
  }
  const severities = ['unchecked', 'lint', 'violation', 'fatal'];
  return found[1].rules.map((fields, i) => {
    const code = (Number(found[0]) << 11) | (severities.indexOf(fields[1]) << 9) | (i + 1);
    return rule(fields, code);
  });
}

/** A version of four parts packed into one number. */
function version(number: bigint): string {
  return [48n, 32n, 16n, 0n].map((shift) => (number >> shift) & 0xffffn).join('.');
}

/** A finding's number in the form its message uses; `undefined` if the message has no numbers. */
export function number(message: string, name: string, value: bigint): bigint | string | undefined {
  const is = (form: string) => message.includes(`{${name}:${form}}`);
  if (is('v')) {
    return version(value);
  }
  const bits = is('i32') ? 32 : is('i') ? 64 : undefined;
  const signed = bits === undefined ? value : BigInt.asIntN(bits, value);
  return message.includes('{') && !message.includes('{quoted}') ? signed : undefined;
}

/** The message of a finding with its values filled in. `code` is that of its rule, `quoted` the text that it quotes. */
export function sentence(code: number, expected: bigint, found: bigint, part: number, quoted: string): string {
  const template = ruleOf(code).message;
  const message = quoted === '' ? template.replace('{quoted} ', '') : template;
  const types = catalogue[code >> 11]?.types ?? [];
  const less = (a: bigint, b: bigint) => (a > b ? a - b : 0n);
  const values: Record<string, bigint | number | string> = {
    found,
    expected,
    missing: less(expected, found),
    surplus: less(found, expected),
    part,
    quoted: `"${quoted}"`,
    'found:#x': `0x${found.toString(16)}`,
    'expected:#x': `0x${expected.toString(16)}`,
    'found:i': BigInt.asIntN(64, found),
    'found:i32': BigInt.asIntN(32, found),
    'found:t': types[Number(found)] ?? found,
    'expected:t': types[Number(expected)] ?? expected,
    'found:v': version(found),
    'expected:v': version(expected),
  };
  // Each match is the text before a field, and the field; the number decides
  // singular or plural of the text that follows.
  let number = 0n;
  return message.replace(/([^{}]*)(?:\{([^{}]*)\})?/g, (_whole, text: string, field: string | undefined) => {
    const before = agreeing(text, number);
    const value = field === undefined ? undefined : values[field];
    // Hexadecimal and signed numbers, types and versions do not count anything.
    number = field === 'quoted' || field?.includes(':') ? 0n : BigInt(value ?? 0);
    return field === undefined ? before : before + (value ?? `{${field}}`);
  });
}

const NOUNS: Readonly<Record<string, string>> = {
  bits: 'bit',
  blocks: 'block',
  bytes: 'byte',
  dimensions: 'dimension',
  elements: 'element',
  entries: 'entry',
  experts: 'expert',
  heads: 'head',
  items: 'item',
  keys: 'key',
  levels: 'level',
  members: 'member',
  minutes: 'minute',
  names: 'name',
  points: 'point',
  rows: 'row',
  scales: 'scale',
  slots: 'slot',
  subgraphs: 'subgraph',
  tensors: 'tensor',
  texts: 'text',
  tokens: 'token',
  values: 'value',
};
const VERBS: Readonly<Record<string, string>> = {
  are: 'is',
  belong: 'belongs',
  do: 'does',
  follow: 'follows',
  lie: 'lies',
  take: 'takes',
};

/** The text after a number, in the singular after 1, as in `plural.rs` of the core. */
function agreeing(text: string, number: bigint): string {
  if (number !== 1n) {
    return text;
  }
  const [, clause = '', rest = ''] = /^([^,;:()]*)(.*)$/s.exec(text) ?? [];
  let counted = false;
  const words = clause.split(' ').map((word, i) => {
    const noun = (i === 1 || i === 2) && !counted && NOUNS[word];
    const verb = (i === 1 || counted) && VERBS[word];
    counted ||= Boolean(noun);
    return noun || verb || word;
  });
  return words.join(' ') + rest;
}

/**
 * The error that methods throw. `rule` and `offset` are set if the file breaks a rule of its format,
 * `module` if a module could not be loaded.
 */
export interface WeighbridgeError extends Error {
  name: 'WeighbridgeError';
  rule?: string;
  offset?: bigint;
  module?: 'base' | 'full' | 'compute' | 'summary';
}

/** An error of this package. */
export function failure(message: string, fields: Omit<Partial<WeighbridgeError>, 'name'> = {}): WeighbridgeError {
  return Object.assign(new Error(message), { name: 'WeighbridgeError' as const }, fields);
}

/** Applies `read` to a packed result; `undefined` if there is none. */
export function unpack<T>(bytes: Uint8Array, read: (fields: Unpack) => T): T;
export function unpack<T>(bytes: Uint8Array | undefined, read: (fields: Unpack) => T): T | undefined;
export function unpack<T>(bytes: Uint8Array | undefined, read: (fields: Unpack) => T): T | undefined {
  return bytes && read(new Unpack(bytes as Uint8Array<ArrayBuffer>));
}
