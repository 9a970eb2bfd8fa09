// Unpacks what `src/pack.rs` packs.

import known from './rules.js';

/** Formats by number, with their rules. */
const catalogue = { ...known };

/** Adds the rules of more formats. */
export function learn(more) {
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
export function jsonFloat(value) {
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

/** Reads fields in the order they were written. */
export class Unpack {
  #view;
  #at = 0;

  constructor(bytes) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #align(width) {
    this.#at = Math.ceil(this.#at / width) * width;
  }

  u32() {
    this.#align(4);
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  flag() {
    return this.u32() !== 0;
  }

  u64() {
    this.#align(8);
    this.#at += 8;
    return this.#view.getBigUint64(this.#at - 8, true);
  }

  f64() {
    this.#align(8);
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  optional() {
    const there = this.flag();
    const value = this.u64();
    return there ? value : undefined;
  }

  /** A column: a typed array over the same buffer. */
  column(type) {
    const length = this.u32();
    this.#align(type.BYTES_PER_ELEMENT);
    const array = new type(this.#view.buffer, this.#view.byteOffset + this.#at, length);
    this.#at += array.byteLength;
    return array;
  }

  text() {
    return utf8.decode(this.column(Uint8Array));
  }

  optionalText() {
    const there = this.flag();
    const text = this.text();
    return there ? text : undefined;
  }

  texts() {
    return new Texts(this.text(), this.column(Uint32Array));
  }

  numbers() {
    return this.column(NUMBERS[this.u32()]);
  }

  optionalNumbers() {
    return this.flag() ? this.numbers() : undefined;
  }
}

/** Strings joined into one, which is sliced on access. */
export class Texts {
  constructor(text, ends) {
    this.text = text;
    this.ends = ends;
  }

  static of(strings) {
    let end = 0;
    return new Texts(strings.join(''), Uint32Array.from(strings, (text) => (end += text.length)));
  }

  get length() {
    return this.ends.length;
  }

  at(index) {
    const i = index < 0 ? index + this.length : index;
    return i in this.ends ? this.text.slice(i === 0 ? 0 : this.ends[i - 1], this.ends[i]) : undefined;
  }

  *[Symbol.iterator]() {
    let from = 0;
    for (const end of this.ends) {
      yield this.text.slice(from, end);
      from = end;
    }
  }
}

/** A rule by its code: 5 bits format, 2 bits severity, 9 bits number. */
export function ruleOf(code) {
  const rules = catalogue[code >> 11]?.rules;
  return rule(rules?.[(code & 0x1ff) - 1] ?? ['NO-RULE', 'fatal', 'silent', '', ''], code);
}

/** The id of a rule; the WebAssembly module calls this for its errors. */
export function ruleId(code) {
  return ruleOf(code).id;
}

function rule([id, severity, basis, message, spec, why], code) {
  return { code, id, severity, basis, message, spec, why };
}

/** The rules of a format, or those that belong to no format. */
export function rulesOf(name) {
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
function version(number) {
  return [48n, 32n, 16n, 0n].map((shift) => (number >> shift) & 0xffffn).join('.');
}

/** A finding's number in the form its message uses; `undefined` if the message has no numbers. */
export function number(message, name, value) {
  const is = (form) => message.includes(`{${name}:${form}}`);
  if (is('v')) {
    return version(value);
  }
  const bits = is('i32') ? 32 : is('i') ? 64 : undefined;
  const signed = bits === undefined ? value : BigInt.asIntN(bits, value);
  return message.includes('{') ? signed : undefined;
}

/** The message of a finding with its values filled in. `code` is that of its rule. */
export function sentence(code, expected, found, part) {
  const { message } = ruleOf(code);
  const types = catalogue[code >> 11]?.types ?? [];
  const less = (a, b) => (a > b ? a - b : 0n);
  const values = {
    found,
    expected,
    missing: less(expected, found),
    surplus: less(found, expected),
    part,
    'found:#x': `0x${found.toString(16)}`,
    'expected:#x': `0x${expected.toString(16)}`,
    'found:i': BigInt.asIntN(64, found),
    'found:i32': BigInt.asIntN(32, found),
    'found:t': types[found] ?? found,
    'expected:t': types[expected] ?? expected,
    'found:v': version(found),
    'expected:v': version(expected),
  };
  // Each match is the text before a field, and the field; the number decides
  // singular or plural of the text that follows.
  let number = 0n;
  return message.replace(/([^{}]*)(?:\{([^{}]*)\})?/g, (whole, text, field) => {
    const before = agreeing(text, number);
    const value = values[field];
    // Hexadecimal and signed numbers, types and versions do not count anything.
    number = field?.includes(':') ? 0n : BigInt(value ?? 0);
    return field === undefined ? before : before + (value ?? `{${field}}`);
  });
}

const NOUNS = {
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
  tensors: 'tensor',
  tokens: 'token',
  values: 'value',
};
const VERBS = {
  are: 'is',
  belong: 'belongs',
  do: 'does',
  follow: 'follows',
  lie: 'lies',
  take: 'takes',
};

/** The text after a number, in the singular after 1, as in `plural.rs` of the core. */
function agreeing(text, number) {
  if (number !== 1n) {
    return text;
  }
  const [, clause, rest] = /^([^,;:()]*)(.*)$/s.exec(text);
  let counted = false;
  const words = clause.split(' ').map((word, i) => {
    const noun = (i === 1 || i === 2) && !counted && NOUNS[word];
    const verb = (i === 1 || counted) && VERBS[word];
    counted ||= Boolean(noun);
    return noun || verb || word;
  });
  return words.join(' ') + rest;
}

/** An error of this package. */
export function failure(message, fields = {}) {
  const error = new Error(message);
  error.name = 'WeighbridgeError';
  return Object.assign(error, fields);
}

/** Applies `read` to a packed result; `undefined` if there is none. */
export function unpack(bytes, read) {
  return bytes && read(new Unpack(bytes));
}
