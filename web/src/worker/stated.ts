/** What an index says of its model besides the list of files: the members of its `metadata`. */

import type { Metadata, MetaValue } from 'weighbridge';
import { visible } from '../ui/format.ts';
import type { Source } from './sources.ts';

export interface Stated {
  key: string;
  /** The type in JSON. */
  type: string;
  /** The value: a string as it is, otherwise as written. */
  text: string;
  at: bigint;
  len: bigint;
}

/** Bytes searched. All writers begin with the metadata. */
const SEARCHED = 1 << 20;
/** Maximum members, and characters of a value and of its preview. */
const MOST = 1000;
const LONGEST = 64 << 10;
const SHOWN = 256;

const TOKEN = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+)/sy;

/** The members of the last `metadata` of an index; each key counts once, with its last value. */
export async function statedBy(source: Source, signal?: AbortSignal): Promise<Stated[]> {
  const bytes = await source.read(0n, Math.min(Number(source.size), SEARCHED), signal);
  // One character for each byte, so that positions are offsets.
  const written = new TextDecoder('latin1').decode(bytes);
  const decoder = new TextDecoder();
  const text = (from: number, to: number) => decoder.decode(bytes.subarray(from, to));
  const found = new Map<string, Stated>();
  let depth = 0;
  let [from, to] = [0, 0];
  let isInside = false;
  let open: { key: string; at: number } | undefined;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(written); token !== null; token = TOKEN.exec(written)) {
    const mark = token[1];
    if (depth === 2 && open !== undefined && (mark === ',' || mark === '}')) {
      const value = open.at < 0 ? '' : text(open.at, to);
      if (parsed(value) !== undefined && found.size < MOST) {
        found.set(open.key, member(open.key, value, open.at, to));
      }
      open = undefined;
    }
    if (mark === ':' && depth === 1) {
      isInside = parsed(text(from, to)) === 'metadata';
      if (isInside) {
        found.clear();
      }
    } else if (mark === ':' && depth === 2 && isInside) {
      open = { key: String(parsed(text(from, to))), at: -1 };
    } else if (open?.at === -1) {
      open.at = TOKEN.lastIndex - mark.length;
    }
    depth += Number(mark === '{' || mark === '[') - Number(mark === '}' || mark === ']');
    [from, to] = [TOKEN.lastIndex - mark.length, TOKEN.lastIndex];
  }
  return [...found.values()];
}

function parsed(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

function member(key: string, written: string, from: number, to: number): Stated {
  const value = parsed(written);
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  return { key, type, text: typeof value === 'string' ? value : written, at: BigInt(from), len: BigInt(to - from) };
}

/** Rows of the metadata view; `first` is the number of the first one, and the index begins at `base`. */
export function statedRows(stated: readonly Stated[], first: number, base: bigint): Omit<Metadata, 'total' | 'keys' | 'types' | 'previews'> & Record<'keys' | 'types' | 'previews', string[]> {
  return {
    index: Uint32Array.from(stated, (_, i) => first + i),
    keys: stated.map(({ key }) => visible(key.slice(0, SHOWN))),
    types: stated.map(({ type }) => type),
    previews: stated.map(({ text }) => visible(text.slice(0, SHOWN)).replace(/\s+/g, ' ')),
    at: BigUint64Array.from(stated, ({ at }) => base + at),
    len: BigUint64Array.from(stated, ({ len }) => len),
  };
}

/** The value in full. */
export function statedValue({ key, type, text }: Stated): MetaValue {
  return { key, keyHex: undefined, type, dtype: type, text: text.slice(0, LONGEST), textHex: undefined, values: undefined, shape: undefined, truncated: text.length > LONGEST };
}
