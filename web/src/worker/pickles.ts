/** The operations of a pickle, and the storages of a checkpoint. */

import type { Code } from 'weighbridge';
import type { Context } from './rpc.ts';
import { session } from './session.ts';

/** Longest pickle that is read for its operations. */
const LONGEST = 64n << 20n;
/** Operations before and after an offset. */
const AROUND = 8;
/** Most storages that are listed, and most tensors of each. */
const STORAGES = 1000;
const TENSORS = 4;

/** Reads a pickle: the paths of its imports, and the operations around an offset. */
export async function code(context: Context, id: number, number: number, offsets: bigint[]): Promise<Code | undefined> {
  const file = session(id);
  const pickle = file.document.pickles?.()[number];
  if (pickle === undefined || pickle.length > LONGEST) {
    return undefined;
  }
  const stored = await file.read(pickle.offset, Number(pickle.length), context.signal);
  return file.document.pickle?.(number, stored, offsets, AROUND);
}

/** The storages of a checkpoint. Shared storages, and ones with unused bytes, come first. */
export async function storages(context: Context, id: number) {
  const file = session(id);
  const all = file.document.storages?.() ?? [];
  const plain = (one: (typeof all)[number]) => Number(one.tensors.length === 1 && one.used === one.size);
  const listed = [...all].sort((a, b) => plain(a) - plain(b)).slice(0, STORAGES);
  const rows = [];
  for (const { key, offset, size, used, tensors } of listed) {
    const names = [];
    for (const tensor of tensors.slice(0, TENSORS)) {
      const { name } = await file.settle(() => file.document.tensor(tensor), context);
      names.push({ tensor, name });
    }
    rows.push({ key, offset, size, used, names, more: tensors.length - names.length });
  }
  return { total: all.length, rows };
}

export type Storages = Awaited<ReturnType<typeof storages>>;
