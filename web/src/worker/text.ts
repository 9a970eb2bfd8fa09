/** Formats values from the packed tables as text. */

import type { Values } from 'weighbridge';

/** Marks a missing offset or extent. */
export const NOWHERE = 0xffffffffffffffffn;

/** Extents in human-readable form. */
export function shapeText(dims: Iterable<bigint>): string {
  const parts = Array.from(dims, (dim) => (dim === NOWHERE ? 'var' : String(dim)));
  return parts.length === 0 ? 'scalar' : parts.join(' × ');
}

/** A key with the text it stands for. Key 0 is a missing value. */
function keyText(key: number, keys: string[]): string {
  const text = keys[key - 1];
  return key === 0 ? '(missing)' : text === undefined ? String(key) : `${key} ${text}`;
}

/** One text per row: the elements of a vector are joined, sparse ones with their positions. */
export function valueList(values: Values, keys?: string[]): string[] {
  const { data, width, missing, ends, indices, lengths, coordinates } = values;
  const texts = values.texts && [...values.texts];
  const digits = DIGITS[values.dtype] ?? (data instanceof Float32Array ? 9 : 17);
  const absent = new Set(missing);
  const element = (i: number): string => {
    if (absent.has(i)) {
      return '(missing)';
    }
    if (texts !== undefined) {
      return texts[i];
    }
    if (keys !== undefined) {
      return keyText(Number(data[i]), keys);
    }
    const time = TIMES[values.dtype]?.(BigInt(data[i * width]), Number(data[i * width + 1]));
    if (time !== undefined) {
      return time;
    }
    const numbers = Array.from({ length: width }, (_, k) => number(data[i * width + k], digits));
    return width === 1 ? numbers[0] : `(${numbers.join(', ')})`;
  };
  if (ends === undefined || indices === undefined || lengths === undefined) {
    const count = texts === undefined ? data.length / width : texts.length;
    const rank = (coordinates?.length ?? 0) / count;
    const place = (i: number) => (coordinates === undefined ? '' : `[${coordinates.subarray(i * rank, (i + 1) * rank).join(', ')}] `);
    return Array.from({ length: count }, (_, i) => `${place(i)}${element(i)}`);
  }
  return Array.from(ends, (end, row) => {
    const start = row === 0 ? 0 : ends[row - 1];
    const sparse = end - start < lengths[row];
    const parts: string[] = [];
    // Show no more elements of a row than anyone can read.
    const last = Math.min(end, start + 256);
    for (let i = start; i < last; i++) {
      parts.push(sparse ? `${indices[i]}: ${element(i)}` : element(i));
    }
    if (last < end) {
      parts.push(`… ${end - last} more`);
    }
    const list = parts.join(', ');
    return sparse ? `{${list}} of ${lengths[row]}` : `[${list}]`;
  });
}

/** Ticks of 100 ns. */
const SECOND = 10_000_000n;
const DAY = 86_400n * SECOND;
/** Ticks from 0001-01-01 to 1970-01-01. */
const EPOCH = 719_162n * DAY;
/** Ticks from 0001-01-01 to the end of 9999. */
const TIME_END = 3_652_059n * DAY;

/**
 * Formats the times of data views; `undefined` for ticks out of range. For local times, `minutes`
 * is the offset.
 */
const TIMES: Record<string, (ticks: bigint, minutes: number) => string | undefined> = {
  timespan: (ticks) => {
    const size = ticks < 0n ? -ticks : ticks;
    const days = size / DAY;
    return `${ticks < 0n ? '-' : ''}${days === 0n ? '' : `${days}.`}${clock(size % DAY)}`;
  },
  datetime: dateTime,
  datetimeoffset: (ticks, minutes) => {
    const local = dateTime(ticks);
    const size = Math.abs(minutes);
    return local && `${local} ${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  },
};

function dateTime(ticks: bigint): string | undefined {
  if (ticks < 0n || ticks >= TIME_END) {
    return undefined;
  }
  const days = new Date(Number((ticks - EPOCH - (ticks % DAY)) / 10_000n)).toISOString();
  return `${days.slice(0, 10)} ${clock(ticks % DAY)}`;
}

/** A time of day, with fractions of a second only if present. */
function clock(ticks: bigint): string {
  const seconds = Number(ticks / SECOND);
  const rest = String(ticks % SECOND).padStart(7, '0').replace(/0+$/, '');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${rest === '' ? '' : `.${rest}`}`;
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}

/** Decimal digits that distinguish any two numbers of a type. */
const DIGITS: Record<string, number> = { bf16: 4, f16: 5, f8e5m2: 3, f8e4m3: 3 };

/** The shortest text that identifies a number within its type. */
export function number(value: number | bigint, digits: number): string {
  if (typeof value === 'bigint') {
    return String(value);
  }
  if (!Number.isFinite(value) || Number.isInteger(value)) {
    return Object.is(value, -0) ? '-0' : String(value);
  }
  if (digits > 9) {
    return String(value);
  }
  for (let fewer = 6; fewer < digits; fewer++) {
    const short = Number(value.toPrecision(fewer));
    if (Math.fround(short) === value) {
      return String(short);
    }
  }
  return String(Number(value.toPrecision(digits)));
}

/** The layer number in a name, with the text before and after it. */
const LAYER = /^(.*?(?:^|[./_-]))(\d+)(?=[./_-]|$)(.*)$/s;

/** The layer in a name, and the name with `#` in its place. */
export function layerOf(name: string): { kind: string; layer: number } | undefined {
  const [, before, layer, after] = LAYER.exec(name) ?? [];
  return layer === undefined ? undefined : { kind: `${before}#${after}`, layer: Number(layer) };
}
