/** Details of a single entry: a tensor, its chunks, metadata, values. */

import type { Texts } from './unpack.js';

export interface Tensor {
  index: number;
  /** Decoded; bytes that are not UTF-8 are replaced. */
  name: string;
  /** Safe to show. */
  label: string;
  /** The bytes of the name in hexadecimal, if they are not UTF-8. */
  nameHex: string | undefined;
  /** The tensor's number, if the format uses numbers instead of names. */
  id: bigint | undefined;
  dtype: string;
  /** The file's own spelling or number, if the type is unknown. */
  dtypeRaw: string | undefined;
  status: 'sound' | 'unsupported' | 'broken';
  layout: string;
  encoding: string;
  endianness: 'little' | 'big';
  /** 2^64 - 1 means a variable length. */
  shape: BigUint64Array;
  /** Index of the shape in a table that is not in the file. */
  shapeTableIndex: bigint | undefined;
  elements: bigint;
  /** Bytes after decoding, if the type has a fixed width. */
  bytes: bigint | undefined;
  /** Stored bytes of all chunks. */
  stored: bigint;
  /** Offset of the first chunk; `undefined` if there is none. */
  offset: bigint | undefined;
  chunks: bigint;
  /** Offset of the tensor's entry in the index. */
  at: bigint;
  /** The codec with its parameters (data views). */
  codec: string | undefined;
  checksum: string | undefined;
  /** NumPy's `descr`, if only the header of the array says what its elements are: text, dates, records. */
  descr: string | undefined;
  /** The names of a record's fields, safe to show. `values` returns a text for each of them. */
  fields: string[];
  /** Whether elements with a `descr` have values that can be shown. */
  hasItems: boolean;
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
  /** 2^64 - 1 if unknown. */
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
  /** Position of each value in the file. */
  at: BigUint64Array;
  len: BigUint64Array;
}

export interface MetaValue {
  /** Decoded; bytes that are not UTF-8 are replaced. */
  key: string;
  /** The bytes of the key in hexadecimal, if they are not UTF-8. */
  keyHex: string | undefined;
  /** `string`, `sizevar`, `subgraph`, `bitset`, `ndarray`, `cbor` or the name of an element type. */
  type: string;
  /** Type of the elements; the same as `type` if the value is not an array. */
  dtype: string;
  /** Text, or the JSON of a `cbor` value. It may contain characters that change how the surrounding text is shown. */
  text: string | undefined;
  /** The bytes of the text in hexadecimal, if they are not UTF-8. */
  textHex: string | undefined;
  /** Elements of a scalar or an array; bits of a bitset. */
  values: Values | undefined;
  shape: BigUint64Array | undefined;
  /** Whether the value continues beyond the 64 KiB given here. */
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
  /** Elements; for vectors, those of all rows. 0 if missing. Empty for text. */
  data: Numbers;
  /** Numbers per element: 2 for local times (ticks, minutes) and row ids (low, high). */
  width: number;
  /** Positions of missing elements, ascending. */
  missing: Uint32Array;
  /** Texts of a text column; an empty text if missing. Elements of NumPy arrays that are no numbers. */
  texts: Texts | undefined;
  /** For rows that are vectors: end of each row in the elements. */
  ends: Uint32Array | undefined;
  /** For rows that are vectors: the index of each element within its row. */
  indices: Uint32Array | undefined;
  /** For rows that are vectors: their lengths. A row with fewer elements is sparse. */
  lengths: Uint32Array | undefined;
  /**
   * For sparse tensors, where `data` holds the stored entries: the coordinates of each, one number
   * per axis. Those of a broken tensor may lie outside its shape.
   */
  coordinates: BigUint64Array | undefined;
}
