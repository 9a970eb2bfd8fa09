/** Orders and filters that the page has in addition to the document's. */

import type { Filter, Rows, Sort } from 'weighbridge';
import { Hits, matching, parseQuery, type Subject, type Term } from '../search.ts';
import { Endless, prepareExpressions, expressed, type Outcome } from './expression.ts';
import type { Context } from './rpc.ts';
import { session, type Session } from './session.ts';
import { isWeightKey, measurements, type WeightKey } from './weights.ts';

/** A column of the table, prefixed with `-` for the opposite direction. */
export type Order = Sort | WeightKey | `-${WeightKey}` | 'file' | '-file';

/** The selection: the document's filter plus the user's query. */
export interface Choice extends Omit<Filter, 'only' | 'text'> {
  query?: string;
  /** The tensors of one file of a set: first index and count. */
  within?: readonly [number, number];
}

/** The column that each document has been given to sort by. */
const given = new WeakMap<Session, string>();

/** Translates an order for the document. */
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

/** The latest search result per document. */
const found = new WeakMap<Session, Hits>();

/** The results of the latest regular expressions per document. */
const tried = new WeakMap<Session, Map<string, Outcome | Endless>>();

/** Translates a filter for the document. */
export async function filterOf(file: Session, choice: Choice, { signal }: Context): Promise<Filter> {
  const { query = '' } = choice;
  const { expressions } = parseQuery(query);
  if (/(?:^|\s)\//.test(query)) {
    // The user may be typing a regular expression.
    prepareExpressions(list(file).names);
  }
  const last = tried.get(file);
  const results = new Map<string, Outcome | Endless>();
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
  // Findings and signs may have been added since.
  const stamp = `${within} ${measurements(file)?.version ?? 0} ${file.document.findingCount}`;
  const hits = found.get(file) ?? new Hits();
  found.set(file, hits);
  const all = () => spanned(file, within);
  const only = hits.of(query, stamp, (among) => (terms.length === 0 ? all()! : search(file, terms, among ?? all())));
  return { ...filter, only };
}

/** The positions of the tensors of one file of a set. */
function spanned({ document }: Session, within: Choice['within']): Uint32Array | undefined {
  if (within === undefined) {
    return undefined;
  }
  const [first, count] = within;
  return Uint32Array.from({ length: Math.max(0, Math.min(count, document.tensorCount - first)) }, (_, i) => first + i);
}

/** The searchable properties of all tensors; rebuilt when the number of findings changes. */
const listed = new WeakMap<Session, { names: string[]; lower: string[]; table: Rows; findings: number }>();

function list(file: Session) {
  const { document } = file;
  let all = listed.get(file);
  if (all?.findings !== document.findingCount) {
    const table = document.rows(0, document.tensorCount);
    const names = all?.names ?? [...table.names];
    // Most names are in lower case already; those are not copied.
    all = { names, lower: all?.lower ?? names.map((name) => name.toLowerCase()), table, findings: document.findingCount };
    listed.set(file, all);
  }
  return all;
}

/** Builds the list for a search before the user types one. */
export function prepareSearch(_: unknown, id: number): void {
  list(session(id));
}

/** Searches some or all tensors. Properties that no term asks for are not computed. */
function search(file: Session, terms: Term[], among: Uint32Array | undefined): Uint32Array {
  const { names, lower, table } = list(file);
  const measured = measurements(file);
  const bits = new Map(measured?.library.signs.map(({ name, bit }) => [name, bit]));
  let i = 0;
  const subject: Subject = {
    get name() {
      return names[i];
    },
    get lower() {
      return lower[i];
    },
    get dtype() {
      return file.word(table.dtype[i]);
    },
    get dims() {
      return table.dims.subarray(i === 0 ? 0 : table.dimEnds[i - 1], table.dimEnds[i]);
    },
    get stored() {
      return table.stored[i];
    },
    has: (what) => (what === 'findings' ? table.findings[i] > 0 : ((measured?.signs[i] ?? 0) & (bits.get(what) ?? 0)) !== 0),
    matches: ({ source, flags }) => (tried.get(file)!.get(`${flags}/${source}`) as Uint8Array)[i] === 1,
  };
  return matching(terms, subject, (at) => (i = at), names.length, among);
}

/** The rank of a tensor in an order; -1 if filtered out. */
export async function rankOf(context: Context, id: number, tensor: number, order: Order, choice: Choice): Promise<number> {
  const file = session(id);
  const filter = await filterOf(file, choice, context);
  return file.document.rankOf(tensor, sortOf(file, order), filter);
}
