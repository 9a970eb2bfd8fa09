// Writes NumPy's .npy files, as `weighbridge extract` does.

import { failure, unpack } from './unpack.js';

const MOST = 0xffff_ffff_ffff_ffffn;

/** Types that NumPy has: letter and bytes of an element. */
const COPIED = {
  i8: ['i', 1],
  u8: ['u', 1],
  i16: ['i', 2],
  u16: ['u', 2],
  i32: ['i', 4],
  u32: ['u', 4],
  i64: ['i', 8],
  u64: ['u', 8],
  f16: ['f', 2],
  f32: ['f', 4],
  f64: ['f', 8],
};

/** Types that are written as another: NumPy's name, bytes of an element, the array. */
const WIDENED = {
  bool: ['|b1', 1, Uint8Array],
  bf16: ['<f4', 2, Float32Array],
  f8e5m2: ['<f4', 1, Float32Array],
  f8e4m3: ['<f4', 1, Float32Array],
  i4: ['|i1', 1, Int8Array],
  i2: ['|i1', 1, Int8Array],
  i1: ['|i1', 1, Int8Array],
  t2: ['|i1', 1, Int8Array],
  t1: ['|i1', 1, Int8Array],
  u4: ['|u1', 1, Uint8Array],
  u2: ['|u1', 1, Uint8Array],
  u1: ['|u1', 1, Uint8Array],
};

/** Magic, version, length and text, padded to 64 bytes. */
function header(descr, shape) {
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const padded = (prefix) => Math.ceil((prefix + text.length + 1) / 64) * 64;
  const long = padded(10) - 10 > 0xffff;
  const prefix = long ? 12 : 10;
  const total = padded(prefix);
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, long ? 2 : 1, 0]);
  const view = new DataView(bytes.buffer);
  if (long) {
    view.setUint32(8, total - prefix, true);
  } else {
    view.setUint16(8, total - prefix, true);
  }
  bytes.set(new TextEncoder().encode(text), prefix);
  bytes[total - 1] = 0x0a;
  return bytes;
}

export function npy(glue, tensor) {
  const { dtype, endianness, elements, layout } = tensor;
  const big = endianness === 'big';
  if (layout === 'coo' || layout === 'csr' || layout === 'sparse') {
    throw failure(`NumPy has no arrays in ${layout} layout`);
  }
  const copied = COPIED[dtype];
  const widened = WIDENED[dtype];
  if (copied === undefined && widened === undefined) {
    throw failure(`NumPy has no type for ${dtype} data`);
  }
  const width = copied?.[1] ?? widened[1];
  const mark = width === 1 ? '|' : big ? '>' : '<';
  const descr = copied === undefined ? widened[0] : `${mark}${copied[0]}${width}`;
  // Where the extents are not in the file, the elements are written as a row.
  const known = Array.from(tensor.shape).every((extent) => extent !== MOST);
  const shape = known ? Array.from(tensor.shape) : [elements];
  let left = elements;
  let carry = new Uint8Array(0);
  let done = [];

  const convert = (bytes) => {
    const packed = glue.rawElements(dtype, big, bytes, left);
    const numbers = unpack(packed, (fields) => fields.numbers());
    left -= BigInt(numbers.length);
    if (dtype === 'bool') {
      // NumPy expects 0 or 1, so other bytes are not passed on.
      return Uint8Array.from(numbers, (value) => Math.min(value, 1));
    }
    const array = widened[2].from(numbers);
    return new Uint8Array(array.buffer);
  };

  const copy = (bytes) => {
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
    header: () => header(descr, shape),
    push(bytes) {
      let all = bytes;
      if (carry.length > 0) {
        all = new Uint8Array(carry.length + bytes.length);
        all.set(carry);
        all.set(bytes, carry.length);
      }
      const whole = all.length - (all.length % width);
      carry = all.slice(whole);
      const piece = all.subarray(0, whole);
      done.push(copied === undefined ? convert(piece) : copy(piece));
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
