/** The index of a checkpoint in shards, against those of its files that are open. */

import type { Context } from './rpc.ts';
import { session } from './session.ts';

/** Entries that are fetched at a time. */
const BLOCK = 4096;

/** Differences that are listed; more are counted. */
const MOST = 1000;

export interface ShardFault {
  kind: 'missing' | 'surplus' | 'elsewhere';
  tensor: string;
  file: string;
}

export interface Shard {
  name: string;
  /** Tensors that the index lists for it. */
  listed: number;
  /** Those of them that it has; `undefined` while the file is not open. */
  found: number | undefined;
}

export interface ShardReport {
  shards: Shard[];
  faults: ShardFault[];
  /** Differences in all. */
  total: number;
}

/**
 * Compares an index with open files; `files` are their numbers. Names are
 * compared as they are shown.
 */
export async function shards(context: Context, id: number, files: number[]): Promise<ShardReport> {
  const listed = await list(context, id);
  const report: ShardReport = { shards: [], faults: [], total: 0 };
  const fault = (kind: ShardFault['kind'], tensor: string, file: string): void => {
    report.total += 1;
    if (report.faults.length < MOST) {
      report.faults.push({ kind, tensor, file });
    }
  };
  const byName = new Map<string, Shard>();
  for (const file of listed.values()) {
    const shard = byName.get(file) ?? { name: file, listed: 0, found: undefined };
    shard.listed += 1;
    byName.set(file, shard);
  }
  report.shards = [...byName.values()];
  const seen = new Set<string>();
  for (const number of files) {
    const { source, document } = session(number);
    const shard = byName.get(source.name);
    // Of two files of one name the first counts.
    if (shard === undefined || shard.found !== undefined) {
      continue;
    }
    shard.found = 0;
    for (let from = 0; from < document.tensorCount; from += BLOCK) {
      context.signal.throwIfAborted();
      const { names } = document.rows(from, from + BLOCK, 'index', {});
      for (const tensor of names) {
        const file = listed.get(tensor);
        if (file === shard.name && !seen.has(tensor)) {
          shard.found += 1;
          seen.add(tensor);
        } else {
          fault(file === undefined ? 'surplus' : 'elsewhere', tensor, shard.name);
        }
      }
    }
  }
  for (const [tensor, file] of listed) {
    if (byName.get(file)?.found !== undefined && !seen.has(tensor)) {
      fault('missing', tensor, file);
    }
  }
  return report;
}

/** Names of tensors and of their files; of two of one name the last counts. */
async function list(context: Context, id: number): Promise<Map<string, string>> {
  const file = session(id);
  const listed = new Map<string, string>();
  for (let from = 0; from < file.document.metadataCount; from += BLOCK) {
    const table = await file.settle(() => file.document.metadata(from, from + BLOCK), context);
    const previews = [...table.previews];
    [...table.keys].forEach((tensor, i) => listed.set(tensor, previews[i]));
  }
  return listed;
}
