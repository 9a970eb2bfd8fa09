/** Files that tests make for themselves. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Entry {
  dtype: string;
  data: ArrayBufferView;
  shape?: number[];
  /** Where its data begins, if not where that of the tensor before ends. */
  from?: number;
}

/** A safetensors file with one tensor of each entry. */
export function safetensors(tensors: Record<string, Entry>): Buffer {
  let at = 0;
  const parts: Buffer[] = [];
  const entries = Object.entries(tensors).map(([name, { dtype, data, shape, from = at }]) => {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength).subarray(at - from);
    parts.push(bytes);
    at += bytes.length;
    return [name, { dtype, shape: shape ?? [(data as Uint8Array).length], data_offsets: [from, at] }];
  });
  const text = JSON.stringify(Object.fromEntries(entries));
  const header = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, ...parts]);
}

/** A folder of its own with these files. */
export function folder(files: Record<string, Buffer | string>): string {
  const path = mkdtempSync(join(tmpdir(), 'weighbridge-'));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(path, name), content);
  }
  return path;
}

/** Writes files into a folder of their own. */
export function written(files: Record<string, Buffer | string>): string[] {
  const path = folder(files);
  return Object.keys(files).map((name) => join(path, name));
}

/** A tensor of GGUF: `type` is 0 for F32, 2 for Q4_0; `shape` as the page shows it. */
interface Block {
  type: number;
  shape: number[];
  data: Buffer;
}

/** A GGUF file of version 3 with these keys: texts, and numbers as u32. */
export function gguf(keys: Record<string, string | number>, tensors: Record<string, Block>): Buffer {
  const u32 = (n: number) => Buffer.from(Uint32Array.of(n).buffer);
  const u64 = (n: number) => Buffer.from(BigUint64Array.of(BigInt(n)).buffer);
  const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
  const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);
  const head = [Buffer.from('GGUF'), u32(3), u64(Object.keys(tensors).length), u64(Object.keys(keys).length)];
  for (const [key, value] of Object.entries(keys)) {
    head.push(text(key), ...(typeof value === 'string' ? [u32(8), text(value)] : [u32(4), u32(value)]));
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
