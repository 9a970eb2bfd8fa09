/** Builds files for the tests. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

interface Entry {
  dtype: string;
  data: ArrayBufferView;
  shape?: number[];
  /** Start of its data, if not directly after the previous tensor's. */
  from?: number;
}

/** A safetensors file with one tensor per entry. */
export function safetensors(tensors: Record<string, Entry>, metadata?: Record<string, string>): Buffer {
  let at = 0;
  const parts: Buffer[] = [];
  const entries = Object.entries(tensors).map(([name, { dtype, data, shape, from = at }]) => {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength).subarray(at - from);
    parts.push(bytes);
    at += bytes.length;
    return [name, { dtype, shape: shape ?? [(data as Uint8Array).length], data_offsets: [from, at] }];
  });
  const text = JSON.stringify({ ...(metadata && { __metadata__: metadata }), ...Object.fromEntries(entries) });
  const header = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, ...parts]);
}

/** The folders of the current test. */
const folders: string[] = [];

/** Creates a folder with these files, which may be in folders of it; it is removed after the test. */
export function folder(files: Record<string, Buffer | string>): string {
  const path = mkdtempSync(join(tmpdir(), 'weighbridge-'));
  folders.push(path);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
}

/** Removes the folders of the current test. */
export function removeFolders(): void {
  folders.splice(0).forEach((path) => rmSync(path, { recursive: true }));
}

/** Writes files into a new folder and returns their paths; they are removed after the test. */
export function written(files: Record<string, Buffer | string>): string[] {
  const path = folder(files);
  return Object.keys(files).map((name) => join(path, name));
}

/**
 * A GGUF value: text, whole number (u32), other number (f32), or a list of these; or an explicit
 * type.
 */
type Value = string | number | boolean | string[] | boolean[] | Float32Array | Int32Array | { u16: number } | { i32: number };

/** A GGUF tensor: `type` is 0 for F32, 2 for Q4_0, 8 for Q8_0; `shape` is in the page's order. */
interface Block {
  type: number;
  shape: number[];
  data: Buffer;
}

/** Concatenated texts, each prefixed with its length. */
function texts(all: string[]): Buffer {
  const out = Buffer.alloc(all.reduce((sum, text) => sum + 8 + Buffer.byteLength(text), 0));
  let at = 0;
  for (const text of all) {
    out.writeUInt32LE(Buffer.byteLength(text), at);
    at += 8 + out.write(text, at + 8);
  }
  return out;
}

/** A GGUF file of version 3 with these keys and tensors. */
export function gguf(keys: Record<string, Value>, tensors: Record<string, Block>): Buffer {
  const u32 = (n: number) => Buffer.from(Uint32Array.of(n).buffer);
  const u64 = (n: number) => Buffer.from(BigUint64Array.of(BigInt(n)).buffer);
  const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
  const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);
  const list = (type: number, length: number, items: Buffer) => [u32(9), u32(type), u64(length), items];
  const bytes = (data: ArrayBufferView) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const encoded = (value: Value): Buffer[] => {
    if (typeof value === 'string') {
      return [u32(8), text(value)];
    }
    if (typeof value === 'number') {
      return Number.isInteger(value) ? [u32(4), u32(value)] : [u32(6), bytes(Float32Array.of(value))];
    }
    if (typeof value === 'boolean') {
      return [u32(7), Buffer.of(Number(value))];
    }
    if (Array.isArray(value)) {
      return typeof value[0] === 'boolean'
        ? list(7, value.length, Buffer.from(value.map(Number)))
        : list(8, value.length, texts(value as string[]));
    }
    if ('u16' in value) {
      return [u32(2), bytes(Uint16Array.of(value.u16))];
    }
    if ('i32' in value) {
      return [u32(5), u32(value.i32)];
    }
    return list(value instanceof Float32Array ? 6 : 5, value.length, bytes(value));
  };
  const head: Buffer[] = [Buffer.from('GGUF'), u32(3), u64(Object.keys(tensors).length), u64(Object.keys(keys).length)];
  for (const [key, value] of Object.entries(keys)) {
    head.push(text(key), ...encoded(value));
  }
  const data: Buffer[] = [];
  let at = 0;
  for (const [name, tensor] of Object.entries(tensors)) {
    head.push(text(name), u32(tensor.shape.length), ...[...tensor.shape].reverse().map(u64), u32(tensor.type), u64(at));
    data.push(padded(tensor.data));
    at += data.at(-1)!.length;
  }
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

/** A field of a Protocol Buffers message: a number, or the bytes of a text or message. */
function field(number: number, value: number | string | Buffer): Buffer {
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n % 128) + 128, ...varint(Math.floor(n / 128))]);
  if (typeof value === 'number') {
    return Buffer.from([...varint(number * 8), ...varint(value)]);
  }
  const bytes = Buffer.from(value as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

/** A zip archive of these members, stored as they are and without checksums, whatever `method` says. */
export function stored(members: Record<string, Buffer | string>, method = 0): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(members)) {
    const data = Buffer.from(content as Buffer);
    // Version, flags, method, time, date, checksum, both sizes, lengths of name and extra field.
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), fields, place, Buffer.from(name));
    parts.push(Buffer.from('PK\x03\x04'), fields, Buffer.from(name), data);
    at += 30 + name.length + data.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(members).length, 4);
  end.writeUInt16LE(Object.keys(members).length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06'), end]);
}

/** An ONNX model of vectors of type f32, whose data is in other files: path, offset and number of elements of each. */
export function onnx(tensors: Record<string, { location: string; offset: number; elements: number }>): Buffer {
  const pair = (key: string, value: string) => field(13, Buffer.concat([field(1, key), field(2, value)]));
  const graph = Object.entries(tensors).map(([name, { location, offset, elements }]) =>
    field(5, Buffer.concat([field(1, elements), field(2, 1), field(8, name), pair('location', location), pair('offset', String(offset)), pair('length', String(4 * elements)), field(14, 1)])),
  );
  const opset = Buffer.concat([field(1, ''), field(2, 21)]);
  return Buffer.concat([field(1, 10), field(7, Buffer.concat([...graph, field(2, 'graph')])), field(8, opset)]);
}
