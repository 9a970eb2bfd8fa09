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
