/** Tables of many entries, and what a verdict says. Offsets and extents are `BigUint64Array`. */

import type { Goal } from './document.d.ts';

export type Profile = 'strict' | 'lenient';
export type Severity = 'unchecked' | 'lint' | 'violation' | 'fatal';

export interface Progress {
  /** What is being done. */
  stage: string;
  /** Entries of the stage that were passed. */
  entries: number;
  /** Bytes that were supplied so far. */
  supplied: bigint;
}

export interface Verdict {
  /** On what was checked; `unsupported` for a format or a generation that is not read here. */
  verdict: 'valid' | 'invalid' | 'unsupported';
  /** Whether it is `valid`. */
  valid: boolean;
  /** What the file is, where it is not what it should be: another format, an error page, the start of a download. */
  diagnosis: string | undefined;
  /** How many bytes are missing at least, where the file is the start of one. */
  missing: bigint | undefined;
  /** What only other files can tell, and was not looked at: a sentence. */
  leftOut: string | undefined;
  worst: Severity | undefined;
  fatal: number;
  violation: number;
  lint: number;
  unchecked: number;
  /** What was checked: `structure`, `payloads`. */
  checked: Goal[];
  /**
   * Findings that are counted, but not kept: those beyond the first 1,000 of a
   * rule, and beyond 10,000 in all but for the first 10 of each further rule.
   */
  dropped: number;
  /** The same for each rule of which some are not kept. */
  notListed: { rule: string; count: number }[];
  /** Whether the data of some tensor has rules, so that checking payloads says something: known once the structure is checked. */
  checkable: boolean;
}

export interface Rule {
  code: number;
  id: string;
  severity: Severity;
  basis: 'stated' | 'implied' | 'silent';
  /** What is wrong, with `{found}`, `{expected}` and the like for the values. */
  message: string;
  /** The rule, with the section of the specification. */
  spec: string;
}

export interface Format {
  name: string;
  title: string;
  extensions: string[];
}

/** Strings, to be read one by one: `for (const name of names)`, `[...names]`, `names.at(0)`. */
export interface Texts extends Iterable<string> {
  readonly length: number;
  /** As of an array: from the end if negative. */
  at(index: number): string | undefined;
  /** All strings in one: string `i` is `text.slice(ends[i - 1] ?? 0, ends[i])`. */
  readonly text: string;
  readonly ends: Uint32Array;
}

export interface Findings {
  total: number;
  rule: Uint16Array;
  /** Codes of `words()`. */
  severity: Uint16Array;
  /** Codes of `words()`: file, tensor, metadata, sizevar, attribute. */
  kind: Uint16Array;
  entry: Uint32Array;
  /** 0xFFFFFFFF when the entry as a whole is meant. */
  part: Uint32Array;
  at: BigUint64Array;
  /** 0xFFFFFFFF stands for that many bytes or more. */
  len: Uint32Array;
  expected: BigUint64Array;
  found: BigUint64Array;
  /** The same as the sentences have them: signed, or the text of a version; none where a sentence has no numbers. */
  numbers: { expected: bigint | string | undefined; found: bigint | string | undefined }[];
  /** Plain sentences. */
  messages: Texts;
  /** Names of the entries, safe to show; empty for the file. */
  names: Texts;
}

/** A column, with `-` before it for the other direction. */
export type Sort = SortKey | `-${SortKey}`;
export type SortKey = 'index' | 'name' | 'dtype' | 'elements' | 'stored' | 'offset' | 'rank' | 'findings' | 'given';

export interface Filter {
  /** Part of the name, upper and lower case alike (ASCII). */
  text?: string;
  /** Start of the name. */
  prefix?: string;
  /** Names of element types; any of them. */
  dtypes?: string[];
  /** Least and most stored bytes. */
  least?: bigint | number;
  most?: bigint | number;
  /** Only tensors that findings are about. */
  faulty?: boolean;
  /** Only these tensors. Another list is another object. */
  only?: Uint32Array;
}

export interface Rows {
  /** Rows that pass the filter. */
  total: number;
  /** Position in the index of the file. */
  index: Uint32Array;
  /** Names, safe to show, cut after 256 characters with `…`. */
  names: Texts;
  /** Codes of `words()`. */
  dtype: Uint16Array;
  status: Uint16Array;
  layout: Uint16Array;
  encoding: Uint16Array;
  elements: BigUint64Array;
  /** Stored bytes of all chunks. */
  stored: BigUint64Array;
  /** Of the first chunk; 2^64 - 1 when there is none. */
  offset: BigUint64Array;
  /** Extents of all rows; row `i` has `dims.slice(dimEnds[i - 1] ?? 0, dimEnds[i])`. 2^64 - 1 stands for a variable length. */
  dims: BigUint64Array;
  dimEnds: Uint32Array;
  chunks: BigUint64Array;
  /** How many findings are about the row. */
  findings: Uint32Array;
  /** 1 where elements are stored with the most significant byte first. */
  big: Uint8Array;
}

export interface Groups {
  /**
   * The part of the name up to and with the next separator (`.` or `/`), or a later one that
   * all below share; the rest of the name where only one is below. Safe to show.
   */
  names: Texts;
  /** The same as it is, to be appended to the prefix for the next level. */
  keys: Texts;
  /** Tensors below; 1 for a tensor itself. */
  count: Uint32Array;
  stored: BigUint64Array;
  /** The tensor, where the name ends here; else 0xFFFFFFFF. */
  index: Uint32Array;
  findings: Uint32Array;
  elements: BigUint64Array;
  /** Codes of `words()`; 0xFFFF where types differ. */
  dtype: Uint16Array;
}

export interface Totals {
  /** Codes of `words()`. */
  dtype: Uint16Array;
  count: Uint32Array;
  elements: BigUint64Array;
  stored: BigUint64Array;
}

export interface Layout {
  total: number;
  /** Codes of `words()`: header, table, metadata, payload, quantization, tail, gap. */
  part: Uint16Array;
  at: BigUint64Array;
  len: BigUint64Array;
  /** Codes of `words()`: what the entry is. */
  kind: Uint16Array;
  entry: Uint32Array;
  /** Bytes that an earlier part holds too. */
  overlap: BigUint64Array;
  /** That part, as `part`, `kind` and `entry` above; 0xFFFFFFFF in `partner` where nothing is shared. */
  partnerPart: Uint16Array;
  partnerKind: Uint16Array;
  partner: Uint32Array;
}
