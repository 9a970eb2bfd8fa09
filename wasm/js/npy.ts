// Writes NumPy's .npy files, as `weighbridge extract` does.

import type { Sink } from './accumulators.js';
import type { Tensor } from './entry.js';
import type { Compute, Reading } from './glue.js';
import { failure, unpack } from './unpack.js';

/** Writes a .npy file. */
export interface Npy extends Sink {
  free(): void;
  /** The bytes before the data. */
  header(): Uint8Array;
  /** Converts decoded bytes to those of the file; `take` returns the result. */
  push(bytes: Uint8Array): void;
  take(): Uint8Array;
}

const MOST = 0xffff_ffff_ffff_ffffn;

/** Maximum number of axes of a NumPy array. */
const MOST_AXES = 64;

/** Types that NumPy has, and their letters there. */
const COPIED: Readonly<Record<string, string>> = {
  i8: 'i',
  u8: 'u',
  i16: 'i',
  u16: 'u',
  i32: 'i',
  u32: 'u',
  i64: 'i',
  u64: 'u',
  f16: 'f',
  f32: 'f',
  f64: 'f',
  c64: 'c',
  c128: 'c',
};

/** NumPy type and array for elements of a type that NumPy does not have. */
function widened(dtype: string): [string, typeof Uint8Array | typeof Int8Array | typeof Float32Array] {
  if (dtype === 'bool') {
    return ['|b1', Uint8Array];
  }
  if (/^u[124]$/.test(dtype)) {
    return ['|u1', Uint8Array];
  }
  return /^[it][124]$/.test(dtype) ? ['|i1', Int8Array] : ['<f4', Float32Array];
}

/** Magic, version, length and text, padded to a multiple of 64 bytes. `descr` is a Python literal. */
function header(descr: string, shape: readonly bigint[], fortran: boolean): Uint8Array {
  if (shape.length > MOST_AXES) {
    throw failure(`it has ${shape.length} dimensions, but NumPy arrays have at most ${MOST_AXES}`);
  }
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const dictionary = `{'descr': ${descr}, 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': ${tuple}, }`;
  const text = new TextEncoder().encode(dictionary);
  // Names of fields need not be ASCII in version 3.
  const ascii = text.length === dictionary.length;
  const padded = (prefix: number) => Math.ceil((prefix + text.length + 1) / 64) * 64;
  const long = !ascii || padded(10) - 10 > 0xffff;
  const prefix = long ? 12 : 10;
  const total = padded(prefix);
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, !ascii ? 3 : long ? 2 : 1, 0]);
  const view = new DataView(bytes.buffer);
  if (long) {
    view.setUint32(8, total - prefix, true);
  } else {
    view.setUint16(8, total - prefix, true);
  }
  bytes.set(text, prefix);
  bytes[total - 1] = 0x0a;
  return bytes;
}

/**
 * Converts the elements of `tensor`, with the module that decodes them.
 *
 * @internal
 */
export function npy(glue: Compute | Reading, tensor: Tensor): Npy {
  const { dtype, endianness, elements, layout, descr: given } = tensor;
  const big = endianness === 'big';
  if (layout === 'coo' || layout === 'csr' || layout === 'sparse') {
    throw failure(`NumPy has no arrays in ${layout} layout`);
  }
  const copied = Object.hasOwn(COPIED, dtype) ? COPIED[dtype] : undefined;
  // Bytes of a unit: an element, a group of packed elements, or a block.
  const [, unit, numeric] = glue.rawUnit(dtype) as unknown as [number, number, number];
  const width = given === undefined ? unit : elements === 0n ? 0 : Number((tensor.bytes ?? 0n) / elements);
  if (given === undefined && copied === undefined && !numeric) {
    throw failure(`NumPy has no type for ${dtype} data`);
  }
  const [wide, Elements] = widened(dtype);
  const mark = width === 1 ? '|' : big ? '>' : '<';
  const isCopied = given !== undefined || copied !== undefined;
  const descr = given ?? (copied === undefined ? `'${wide}'` : `'${mark}${copied}${width}'`);
  // If the file does not store the extents, the array has one axis.
  const known = Array.from(tensor.shape).every((extent) => extent !== MOST);
  const shape = known ? Array.from(tensor.shape) : [elements];
  let left = elements;
  let carry = new Uint8Array(0);
  let done: Uint8Array[] = [];

  const convert = (bytes: Uint8Array): Uint8Array => {
    const packed = glue.rawElements(dtype, big, bytes, left);
    const numbers = unpack(packed, (fields) => fields.numbers());
    left -= BigInt(numbers.length);
    if (dtype === 'bool') {
      // NumPy expects 0 or 1, so larger values become 1.
      return Uint8Array.from(numbers as Uint8Array, (value) => Math.min(value, 1));
    }
    const array = Elements.from(numbers as Float32Array);
    return new Uint8Array(array.buffer);
  };

  const copy = (bytes: Uint8Array): Uint8Array => {
    const most = left * BigInt(width);
    const piece = BigInt(bytes.length) > most ? bytes.slice(0, Number(most)) : bytes.slice();
    left -= BigInt(piece.length / width);
    return piece;
  };

  return {
    free() {
      carry = new Uint8Array(0);
      done = [];
    },
    // The first axis is the fastest in column-major layout.
    header: () => header(descr, shape, known && layout === 'column-major' && shape.length > 1),
    push(bytes) {
      if (width === 0) {
        return;
      }
      let all = bytes;
      if (carry.length > 0) {
        all = new Uint8Array(carry.length + bytes.length);
        all.set(carry);
        all.set(bytes, carry.length);
      }
      const whole = all.length - (all.length % width);
      carry = all.slice(whole);
      const piece = all.subarray(0, whole);
      done.push(isCopied ? copy(piece) : convert(piece));
    },
    take() {
      const bytes = new Uint8Array(done.reduce((sum, piece) => sum + piece.length, 0));
      let at = 0;
      for (const piece of done) {
        bytes.set(piece, at);
        at += piece.length;
      }
      done = [];
      return bytes;
    },
  };
}
