/** Formats numbers for people. */

const GROUPED = new Intl.NumberFormat('en-GB');
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

export function count(value: number | bigint): string {
  return GROUPED.format(value);
}

/** `1 tensor`, `2 tensors`. */
export function counted(value: number | bigint, noun: string, plural = `${noun}s`): string {
  return `${count(value)} ${BigInt(value) === 1n ? noun : plural}`;
}

/** A size in the unit that leaves one to four digits. */
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

/** The rounded and the exact size, where the last byte matters. */
export function exactSize(bytes: bigint): string {
  return bytes < 1024n ? `${bytes} B` : `${size(bytes)} (${count(bytes)} B)`;
}

export function hex(offset: bigint): string {
  return `0x${offset.toString(16).toUpperCase()}`;
}

/** A byte range; the end is exclusive. */
export function range(at: bigint, len: bigint | number): string {
  return BigInt(len) === 0n ? `at ${hex(at)}` : `${hex(at)}–${hex(at + BigInt(len))}`;
}

/** A statistic with seven significant digits and no trailing zeros. */
export function real(value: number): string {
  if (Number.isNaN(value)) {
    return '–';
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? '∞' : '-∞';
  }
  // Keep the ASCII hyphen that programs parse as a minus: numbers get copied.
  return String(Number(value.toPrecision(7)));
}

/** An element in a statistic: integers in full, as far as a double represents them. */
export function element(value: number, dtype: string): string {
  if (!/^(?:[iut]\d+|bool|bitset)$/.test(dtype) || !Number.isInteger(value)) {
    return real(value);
  }
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : `≈ ${real(value)}`;
}

/** A short number, for axes. */
export function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Two numbers with as many digits as it takes to tell them apart, three at least. */
export function apart(low: number, high: number): [string, string] {
  for (let digits = 3; digits < 17; digits++) {
    const [one, other] = [low, high].map((value) => String(Number(value.toPrecision(digits))));
    if (one !== other) {
      return [one, other];
    }
  }
  return [String(low), String(high)];
}

/** Parses `10 MiB`, `3k`, `4096`; `undefined` if invalid. */
export function parseSize(text: string): bigint | undefined {
  const match = /^\s*([\d.]+)\s*([kmgt]?)(i?b)?\s*$/i.exec(text);
  if (match === null || Number.isNaN(Number(match[1]))) {
    return undefined;
  }
  const power = ' kmgt'.indexOf(match[2].toLowerCase() || ' ');
  return BigInt(Math.round(Number(match[1]) * 1024 ** power));
}

/** Parses an offset in decimal or, after `0x`, in hexadecimal. */
export function parseOffset(text: string): bigint | undefined {
  const plain = text.trim().replaceAll(/[\s,_]/g, '');
  return /^(0x[\da-f]+|\d+)$/i.test(plain) ? BigInt(plain) : undefined;
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Shortens a value to `room` characters: a number loses digits and a list loses elements, but a
 * number is never cut. Text is left for CSS to cut off.
 */
export function fit(text: string, room: number): string {
  if (text.length <= room) {
    return text;
  }
  if (NUMBER.test(text)) {
    const value = Number(text);
    for (let digits = Math.min(17, room); digits > 0; digits--) {
      for (const written of [value.toPrecision(digits), value.toExponential(digits - 1)]) {
        // Drop trailing zeros and the plus sign of an exponent.
        const short = written.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '').replace('e+', 'e');
        if (short.length <= room) {
          return short;
        }
      }
    }
    return text;
  }
  if (/^[[({]/.test(text)) {
    const end = text.lastIndexOf(', ', room - 3);
    return end > 0 ? `${text.slice(0, end)}, …` : text;
  }
  return text;
}

/** A parameter count as people say it: 7.24 B. */
export function parameters(value: bigint): string {
  const units = ['', ' K', ' M', ' B', ' T'];
  let power = 0;
  let number = Number(value);
  while (number >= 1000 && power < units.length - 1) {
    number /= 1000;
    power++;
  }
  // 999.6 would round to 1000.
  if (number >= 999.5 && power > 0 && power < units.length - 1) {
    number /= 1000;
    power++;
  }
  return power === 0 ? String(value) : `${number.toPrecision(3)}${units[power]}`;
}

/** Makes control and direction characters visible; newlines and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (char) => `\\u{${char.charCodeAt(0).toString(16)}}`,
  );
}
