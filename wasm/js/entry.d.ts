/** What is known of a single entry: a tensor, its chunks, metadata, values. */

import type { Texts } from './tables.d.ts';

export interface Tensor {
  index: number;
  /** Decoded; bytes that are not UTF-8 are replaced. */
  name: string;
  /** Safe to show. */
  label: string;
  /** The bytes of the name, in hexadecimal, when they are not UTF-8. */
  nameHex: string | undefined;
  /** Its number, where the format has numbers for names. */
  id: bigint | undefined;
  dtype: string;
  /** The file's own spelling or number, where the type is unknown. */
  dtypeRaw: string | undefined;
  status: 'sound' | 'unsupported' | 'broken';
  layout: string;
  encoding: string;
  endianness: 'little' | 'big';
  /** 2^64 - 1 stands for a variable length. */
  shape: BigUint64Array;
  /** Where the extents stand in a table that is not in the file. */
  shapeTableIndex: bigint | undefined;
  elements: bigint;
  /** Bytes after decoding, where the type has a fixed width. */
  bytes: bigint | undefined;
  /** Stored bytes of all chunks. */
  stored: bigint;
  /** Of the first chunk; `undefined` when there is none. */
  offset: bigint | undefined;
  chunks: bigint;
  /** Offset of its entry in the index. */
  at: bigint;
  /** The codec with its parameters (data views). */
  codec: string | undefined;
  checksum: string | undefined;
  quantization: Quantization | undefined;
}

export interface Quantization {
  kind: string;
  /** Parameters by name, in the order of the file. */
  parameters: { name: string; value: number | bigint | string | Values }[];
}

export interface Chunks {
  total: bigint;
  offset: BigUint64Array;
  stored: BigUint64Array;
  /** 2^64 - 1 when nothing tells. */
  decoded: BigUint64Array;
  row: BigUint64Array;
  elements: BigUint64Array;
  /** Codes of `words()`. */
  encoding: Uint16Array;
}

export interface Metadata {
  total: number;
  /** Positions, for `value` and `attributeValue`. */
  index: Uint32Array;
  /** Keys, safe to show. */
  keys: Texts;
  /** Types of the values. */
  types: Texts;
  /** Values, safe to show, cut after 256 characters. */
  previews: Texts;
  /** Where the values are stored. */
  at: BigUint64Array;
  len: BigUint64Array;
}

export interface MetaValue {
  /** Decoded; bytes that are not UTF-8 are replaced. */
  key: string;
  /** The bytes of the key, in hexadecimal, when they are not UTF-8. */
  keyHex: string | undefined;
  /** `string`, `sizevar`, `bitset`, `ndarray`, `cbor` or the name of an element type. */
  type: string;
  /** Type of its elements; the same as `type` where it is no array. */
  dtype: string;
  /** Text, or JSON of a `cbor` value; it may hold characters that change how what surrounds it is shown. */
  text: string | undefined;
  /** The bytes of the text, in hexadecimal, when they are not UTF-8. */
  textHex: string | undefined;
  /** Elements of a scalar or an array; bits of a bitset. */
  values: Values | undefined;
  shape: BigUint64Array | undefined;
  /** Whether more follows than is given here (64 KiB). */
  truncated: boolean;
}

/** Elements as the narrowest array that holds them without loss. */
export type Numbers =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Uint8Array;

export interface Values {
  dtype: string;
  /** Elements; for vectors those of all rows. 0 for a missing one. Empty for text. */
  data: Numbers;
  /** Numbers that make up an element: 2 for local times (ticks, minutes) and row ids (low, high). */
  width: number;
  /** Elements that are missing, ascending. */
  missing: Uint32Array;
  /** Texts of a text column; empty for a missing one. */
  texts: Texts | undefined;
  /** For rows that are vectors: elements up to the end of each row. */
  ends: Uint32Array | undefined;
  /** For rows that are vectors: the place of each element in its row. */
  indices: Uint32Array | undefined;
  /** For rows that are vectors: their lengths. A row with fewer elements is sparse. */
  lengths: Uint32Array | undefined;
  /**
   * For sparse tensors, of which `data` holds the entries: the coordinates of
   * each, one number an axis. Those of a broken tensor may lie outside of its shape.
   */
  coordinates: BigUint64Array | undefined;
}
