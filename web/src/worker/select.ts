/** Orders and filters that the page knows and a document does not. */

import type { Filter, Rows, Sort } from 'weighbridge';
import { parseQuery, type Term } from '../search.ts';
import { Endless, expressed } from './expression.ts';
import type { Context } from './rpc.ts';
import { session, type Session } from './session.ts';
import { isWeightKey, measurements, type WeightKey } from './weights.ts';

/** A column of the table, with `-` before it for the other direction. */
export type Order = Sort | WeightKey | `-${WeightKey}` | 'file' | '-file';

/** What is shown: as a document has it, and what people search for. */
export interface Choice extends Omit<Filter, 'only' | 'text'> {
  query?: string;
  /** The tensors of one file of a set: the first, and how many. */
  within?: readonly [number, number];
}

/** What each document has been given to sort by. */
const given = new WeakMap<Session, string>();

/** The order as the document knows it. */
export function sortOf(file: Session, order: Order): Sort {
  const key = order.replace('-', '');
  if (key === 'file') {
    // Tensors are listed file by file.
    return order.startsWith('-') ? '-index' : 'index';
  }
  if (!isWeightKey(key)) {
    return order as Sort;
  }
  const found = measurements(file);
  const stamp = `${key} ${found?.version ?? 0}`;
  if (given.get(file) !== stamp) {
    file.document.give(found?.columns[key] ?? new Float64Array());
    given.set(file, stamp);
  }
  return order.startsWith('-') ? '-given' : 'given';
}

/** What was found last, and for what. */
const found = new WeakMap<Session, { stamp: string; only: Uint32Array }>();

/** For each document, what became of the expressions that were tried last, by name. */
const tried = new WeakMap<Session, Map<string, (boolean | string)[] | Endless>>();

/** The filter as the document knows it. */
export async function filterOf(file: Session, choice: Choice, { signal }: Context): Promise<Filter> {
  const { expressions } = parseQuery(choice.query ?? '');
  const last = tried.get(file);
  const results = new Map<string, (boolean | string)[] | Endless>();
  for (const { source, flags } of expressions) {
    const key = `${flags}/${source}`;
    let result = last?.get(key);
    if (result === undefined) {
      const { names } = list(file);
      result = await expressed({ source, flags, names }, signal).catch((error: unknown) => {
        if (error instanceof Endless) {
          return error;
        }
        throw error;
      });
    }
    results.set(key, result);
    if (result instanceof Endless) {
      tried.set(file, results);
      throw result;
    }
  }
  if (expressions.length > 0) {
    tried.set(file, results);
  }
  return filtered(file, choice);
}

function filtered(file: Session, { query = '', within, ...rest }: Choice): Filter {
  const { terms, word } = parseQuery(query);
  const filter = word === undefined ? rest : { ...rest, text: word };
  if (terms.length === 0 && within === undefined) {
    return filter;
  }
  const measured = measurements(file);
  // Findings and signs may have been added since.
  const stamp = `${query}\n${within} ${measured?.version ?? 0} ${file.document.findingCount}`;
  let last = found.get(file);
  if (last?.stamp !== stamp) {
    last = { stamp, only: search(file, terms, within) };
    found.set(file, last);
  }
  return { ...filter, only: last.only };
}

/** All tensors as they are searched, listed once, and again when there are more findings. */
const listed = new WeakMap<Session, { names: string[]; table: Rows; findings: number }>();

function list(file: Session) {
  const { document } = file;
  let all = listed.get(file);
  if (all?.findings !== document.findingCount) {
    const table = document.rows(0, document.tensorCount);
    all = { names: [...table.names], table, findings: document.findingCount };
    listed.set(file, all);
  }
  return all;
}

/** Lists what a search will look at, before it is written. */
export function prepareSearch(_: unknown, id: number): void {
  list(session(id));
}

function search(file: Session, terms: Term[], [first, count]: readonly [number, number] = [0, Infinity]): Uint32Array {
  const { names, table } = list(file);
  const measured = measurements(file);
  const bits = new Map(measured?.library.signs.map(({ name, bit }) => [name, bit]));
  let i = first;
  const has = (what: string) => (what === 'findings' ? table.findings[i] > 0 : ((measured?.signs[i] ?? 0) & (bits.get(what) ?? 0)) !== 0);
  const rows: number[] = [];
  for (; i < Math.min(names.length, first + count); i++) {
    const subject = {
      name: names[i],
      dtype: file.word(table.dtype[i]),
      dims: table.dims.subarray(i === 0 ? 0 : table.dimEnds[i - 1], table.dimEnds[i]),
      stored: table.stored[i],
      has,
      matches: ({ source, flags }: RegExp) => (tried.get(file)!.get(`${flags}/${source}`) as boolean[])[i],
    };
    if (terms.every((term) => term(subject))) {
      rows.push(i);
    }
  }
  return Uint32Array.from(rows);
}

/** The rank of a tensor in an order; -1 when it is filtered out. */
export async function rankOf(context: Context, id: number, tensor: number, order: Order, choice: Choice): Promise<number> {
  const file = session(id);
  const filter = await filterOf(file, choice, context);
  return file.document.rankOf(tensor, sortOf(file, order), filter);
}
