/** The members of a DDUF file, a zip archive in which nothing is compressed: files of a folder. */

import { ARCHIVE } from './names.ts';
import type { Given } from './picker.ts';

/** Length of the record at the end, and of the longest comment after it. */
const END = 22;
const COMMENT = 0xffff;
/** Maximum number of members, and of bytes of their directory. */
const MOST = 10_000;
const DIRECTORY = 16 << 20;
/** Stands for a number that is in the field for large archives. */
const LARGE = 0xffff_ffff;

interface Member {
  name: string;
  method: number;
  encrypted: boolean;
  size: number;
  /** Where its local header is. */
  at: number;
}

/**
 * Adds to each DDUF file its members: slices of it, in a folder of its name. Nothing is copied. A file
 * that is no such archive stays alone.
 */
export async function withMembers(list: readonly Given[]): Promise<Given[]> {
  const all = await Promise.all(list.map(async (given) => [given, ...(ARCHIVE.test(given.file.name) ? await members(given) : [])]));
  return all.flat();
}

async function members({ file, folder }: Given): Promise<Given[]> {
  const given: Given[] = [];
  const seen = new Set<string>();
  for (const member of await directory(file)) {
    const { name, method, encrypted, size, at } = member;
    const parts = name.split('/');
    const isInside = parts.length <= 2 && parts.every((part) => part !== '' && part !== '.' && part !== '..');
    const data = await start(file, at);
    if (!isInside || seen.has(name) || method !== 0 || encrypted || data === undefined || data + size > file.size) {
      continue;
    }
    seen.add(name);
    const own = parts.pop()!;
    given.push({ file: new File([file.slice(data, data + size)], own, { lastModified: file.lastModified }), folder: [folder, file.name, ...parts].filter((part) => part !== undefined).join('/') });
  }
  return given;
}

/** The offset of a member's data, after its local header. */
async function start(file: File, at: number): Promise<number | undefined> {
  const head = await view(file, at, at + 30);
  return head?.getUint32(0, true) === 0x0403_4b50 ? at + 30 + head.getUint16(26, true) + head.getUint16(28, true) : undefined;
}

/** The entries of the directory; none if it cannot be read. */
async function directory(file: File): Promise<Member[]> {
  const place = await placeOf(file);
  const bytes = place === undefined || place.len > DIRECTORY ? undefined : await view(file, place.at, place.at + place.len);
  const found: Member[] = [];
  for (let at = 0; bytes !== undefined && found.length < MOST && at + 46 <= bytes.byteLength && bytes.getUint32(at, true) === 0x0201_4b50; ) {
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.getUint16(at + field, true));
    const next = at + 46 + name + extra + comment;
    if (next > bytes.byteLength) {
      break;
    }
    const text = new TextDecoder().decode(new Uint8Array(bytes.buffer, at + 46, name));
    const [stored, size, offset] = large(bytes, at, at + 46 + name, extra);
    if (!text.endsWith('/') && stored === size) {
      found.push({ name: text, method: bytes.getUint16(at + 10, true), encrypted: (bytes.getUint16(at + 8, true) & 1) !== 0, size, at: offset });
    }
    at = next;
  }
  return found;
}

/** Stored size, size and offset of an entry, those of large archives included. */
function large(bytes: DataView, at: number, extra: number, len: number): [number, number, number] {
  let [stored, size, offset] = [20, 24, 42].map((field) => bytes.getUint32(at + field, true));
  for (let field = extra; field + 4 <= extra + len; field += 4 + bytes.getUint16(field + 2, true)) {
    if (bytes.getUint16(field, true) !== 1) {
      continue;
    }
    const end = Math.min(field + 4 + bytes.getUint16(field + 2, true), extra + len);
    let number = field + 4;
    const next = (old: number) => {
      const is = old === LARGE && number + 8 <= end;
      number += is ? 8 : 0;
      return is ? Number(bytes.getBigUint64(number - 8, true)) : old;
    };
    [size, stored, offset] = [next(size), next(stored), next(offset)];
  }
  return [stored, size, offset];
}

/** Where the directory is. */
async function placeOf(file: File): Promise<{ at: number; len: number } | undefined> {
  const from = Math.max(0, file.size - END - COMMENT);
  const tail = await view(file, from, file.size);
  for (let at = (tail?.byteLength ?? 0) - END; tail !== undefined && at >= 0; at--) {
    if (tail.getUint32(at, true) !== 0x0605_4b50) {
      continue;
    }
    const [len, start] = [tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
    const before = await view(file, from + at - 20, from + at);
    if (before?.getUint32(0, true) !== 0x0706_4b50) {
      return { at: start, len };
    }
    // The record of a large archive.
    const record = Number(before.getBigUint64(8, true));
    const long = await view(file, record, record + 56);
    const is = long?.getUint32(0, true) === 0x0606_4b50;
    return is ? { at: Number(long!.getBigUint64(48, true)), len: Number(long!.getBigUint64(40, true)) } : undefined;
  }
  return undefined;
}

/** Bytes of a file; `undefined` if it does not have them. */
async function view(file: File, from: number, to: number): Promise<DataView | undefined> {
  return from < 0 || from > to || to > file.size ? undefined : new DataView(await file.slice(from, to).arrayBuffer());
}
