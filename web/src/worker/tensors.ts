/** The names and shapes of all tensors of a file. */

import type { Context } from './rpc.ts';
import type { Session } from './session.ts';

/** Rows per request. */
const PAGE = 8192;

export interface Tensors {
  names: string[];
  shapes: bigint[][];
  dtypes: string[];
  elements: bigint[];
  stored: bigint[];
}

const listed = new WeakMap<Session, Tensors>();

/** Lists all tensors, once. */
export async function listTensors(file: Session, context: Context): Promise<Tensors> {
  const known = listed.get(file);
  // A set may have grown since.
  if (known?.names.length === file.document.tensorCount) {
    return known;
  }
  const all: Tensors = { names: [], shapes: [], dtypes: [], elements: [], stored: [] };
  for (let from = 0; from < file.document.tensorCount; from += PAGE) {
    context.signal.throwIfAborted();
    const table = file.document.rows(from, from + PAGE, 'index', {});
    const { dims, dimEnds } = table;
    let start = 0;
    let i = 0;
    for (const name of table.names) {
      all.names.push(name);
      all.shapes.push([...dims.subarray(start, dimEnds[i])]);
      all.dtypes.push(file.word(table.dtype[i]));
      all.elements.push(table.elements[i]);
      all.stored.push(table.stored[i]);
      start = dimEnds[i++];
    }
    if (i === 0) {
      break;
    }
  }
  listed.set(file, all);
  return all;
}
