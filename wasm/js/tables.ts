/** Tables of many entries, and verdicts. Offsets and extents are `BigUint64Array`. */

import type { DiagnosisKind } from './kinds.js';
import type { Goal } from './options.js';
import type { Texts } from './unpack.js';

export type Profile = 'strict' | 'lenient';
export type Severity = 'unchecked' | 'lint' | 'violation' | 'fatal';

export interface Progress {
  /** Name of the current stage. */
  stage: string;
  /** Number of entries of the stage that are done. */
  entries: number;
  /** Bytes supplied so far. */
  supplied: bigint;
}

export interface Verdict {
  /** Covers only what was checked; `unsupported` for a format or version that is not read here. */
  verdict: 'valid' | 'invalid' | 'unsupported';
  /** Whether the verdict is `valid`. */
  valid: boolean;
  /** What the file is instead, if not what it should be: another format, an error page, a truncated download. */
  diagnosis: string | undefined;
  /** The kind of the diagnosis: what can be done about the file. */
  diagnosisKind: DiagnosisKind | undefined;
  /** Minimum number of missing bytes, if the file is truncated. */
  missing: bigint | undefined;
  /** A sentence: checks that were left out because they need other files. */
  leftOut: string | undefined;
  worst: Severity | undefined;
  fatal: number;
  violation: number;
  lint: number;
  unchecked: number;
  /** What was checked: `structure`, `payloads`. */
  checked: Goal[];
  /**
   * Findings that are counted but not kept: those beyond the first 1,000 of a rule, and those
   * beyond 10,000 in total, except for the first 10 of each further rule.
   */
  dropped: number;
  /** The same per rule, for each rule with findings that are not kept. */
  notListed: { rule: string; count: number }[];
  /** Whether rules apply to any tensor's data, so that checking payloads is useful; known after `structure`. */
  checkable: boolean;
}

export interface Rule {
  code: number;
  id: string;
  severity: Severity;
  basis: 'stated' | 'implied' | 'silent';
  /** The message, with placeholders such as `{found}` and `{expected}` for the values. */
  message: string;
  /** The rule, with the section of the specification. */
  spec: string;
  /** The reason for the rule or its severity, where the specification leaves it open. */
  why: string | undefined;
}

export interface Format {
  name: string;
  title: string;
  extensions: string[];
}

export interface Findings {
  total: number;
  rule: Uint16Array;
  /** Codes of `words()`. */
  severity: Uint16Array;
  /** Codes of `words()`: file, tensor, metadata, sizevar, attribute. */
  kind: Uint16Array;
  entry: Uint32Array;
  /** 0xFFFFFFFF if the finding is about the whole entry. */
  part: Uint32Array;
  at: BigUint64Array;
  /** 0xFFFFFFFF means that many bytes or more. */
  len: Uint32Array;
  expected: BigUint64Array;
  found: BigUint64Array;
  /** As shown in the messages: signed, or the text of a version; `undefined` if a message has no numbers. */
  numbers: { expected: bigint | string | undefined; found: bigint | string | undefined }[];
  /** Plain sentences. */
  messages: Texts;
  /** Names of the entries, safe to show; empty for the file. */
  names: Texts;
}

/** A column; a leading `-` reverses the order. */
export type Sort = SortKey | `-${SortKey}`;
export type SortKey = 'index' | 'name' | 'dtype' | 'elements' | 'stored' | 'offset' | 'rank' | 'findings' | 'given';

export interface Filter {
  /** Part of the name, case-insensitive (ASCII). */
  text?: string;
  /** Start of the name. */
  prefix?: string;
  /** Names of element types; a tensor passes if it has any of them. */
  dtypes?: string[];
  /** Minimum and maximum of the stored bytes. */
  least?: bigint | number;
  most?: bigint | number;
  /** Only tensors with findings. */
  faulty?: boolean;
  /** Only these tensors. To change the list, pass a new array. */
  only?: Uint32Array;
}

export interface Rows {
  /** Number of rows that pass the filter. */
  total: number;
  /** Position in the file's index. */
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
  /** Offset of the first chunk; 2^64 - 1 if there is none. */
  offset: BigUint64Array;
  /** Extents; row `i` has `dims.slice(dimEnds[i - 1] ?? 0, dimEnds[i])`. 2^64 - 1 means a variable length. */
  dims: BigUint64Array;
  dimEnds: Uint32Array;
  chunks: BigUint64Array;
  /** Number of findings about each row. */
  findings: Uint32Array;
  /** 1 if elements are stored most significant byte first. */
  big: Uint8Array;
}

export interface Groups {
  /**
   * The part of the name up to and including the next separator (`.` or `/`), or a later one that
   * all names below share; the rest of the name if there is only one. Safe to show.
   */
  names: Texts;
  /** The same, unescaped, to append to the prefix for the next level. */
  keys: Texts;
  /** Number of tensors below; 1 for a tensor itself. */
  count: Uint32Array;
  stored: BigUint64Array;
  /** The tensor, if the name ends here; otherwise 0xFFFFFFFF. */
  index: Uint32Array;
  findings: Uint32Array;
  /** Of tensors with data. */
  elements: BigUint64Array;
  /** Codes of `words()`; 0xFFFF if types differ. */
  dtype: Uint16Array;
  /** The first tensor below. */
  first: Uint32Array;
  /** 1 if the separator at the end lies in a key of the path, and does not end one. */
  inKey: Uint8Array;
}

export interface Totals {
  /** Codes of `words()`. */
  dtype: Uint16Array;
  count: Uint32Array;
  /** Of tensors with data. */
  elements: BigUint64Array;
  stored: BigUint64Array;
  /** Numbers of tensors with elements but without data, such as activations. */
  withoutData: Uint32Array;
}

export interface Layout {
  total: number;
  /** Codes of `words()`: header, table, metadata, payload, quantization, tail, gap. */
  part: Uint16Array;
  at: BigUint64Array;
  len: BigUint64Array;
  /** Codes of `words()`: the kind of the entry. */
  kind: Uint16Array;
  entry: Uint32Array;
  /** Bytes shared with an earlier part. */
  overlap: BigUint64Array;
  /** That earlier part, as `part`, `kind` and `entry` above; `partner` is 0xFFFFFFFF if nothing is shared. */
  partnerPart: Uint16Array;
  partnerKind: Uint16Array;
  partner: Uint32Array;
}
