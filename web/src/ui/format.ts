/** Numbers as people read them. */

const GROUPED = new Intl.NumberFormat('en-GB');
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

export function count(value: number | bigint): string {
  return GROUPED.format(value);
}

/** `1 tensor`, `2 tensors`. */
export function counted(value: number | bigint, noun: string): string {
  return `${count(value)} ${noun}${BigInt(value) === 1n ? '' : 's'}`;
}

/** Bytes in the unit that leaves one to four digits. */
export function size(bytes: bigint | number): string {
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** Both: for where the last byte matters. */
export function exactSize(bytes: bigint): string {
  return bytes < 1024n ? `${bytes} B` : `${size(bytes)} (${count(bytes)} B)`;
}

export function hex(offset: bigint): string {
  return `0x${offset.toString(16).toUpperCase()}`;
}

/** A range of bytes, its end not included. */
export function range(at: bigint, len: bigint | number): string {
  return BigInt(len) === 0n ? `at ${hex(at)}` : `${hex(at)}–${hex(at + BigInt(len))}`;
}

/** A statistic: seven significant digits, without a tail of zeros. */
export function real(value: number): string {
  if (Number.isNaN(value)) {
    return '–';
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? '∞' : '−∞';
  }
  const text = String(Number(value.toPrecision(7)));
  return text.replace('-', '−').replace('e−', 'e−');
}

/** An element as a statistic has it: integers in full, as far as a double holds them. */
export function element(value: number, dtype: string): string {
  if (!/^(?:[iut]\d+|bool|bitset)$/.test(dtype) || !Number.isInteger(value)) {
    return real(value);
  }
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value).replace('-', '−') : `≈ ${real(value)}`;
}

/** A short one, for axes. */
export function short(value: number): string {
  return String(Number(value.toPrecision(3))).replace(/^-/, '−');
}

/** `10 MiB`, `3k`, `4096`; `undefined` for what is none. */
export function parseSize(text: string): bigint | undefined {
  const match = /^\s*([\d.]+)\s*([kmgt]?)(i?b)?\s*$/i.exec(text);
  if (match === null || Number.isNaN(Number(match[1]))) {
    return undefined;
  }
  const power = ' kmgt'.indexOf(match[2].toLowerCase() || ' ');
  return BigInt(Math.round(Number(match[1]) * 1024 ** power));
}

/** An offset in decimal or, after `0x`, in hexadecimal. */
export function parseOffset(text: string): bigint | undefined {
  const plain = text.trim().replaceAll(/[\s,_]/g, '');
  return /^(0x[\da-f]+|\d+)$/i.test(plain) ? BigInt(plain) : undefined;
}
