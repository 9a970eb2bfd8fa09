/** Orders that the page has made: by what was measured of the weights. */

import type { Filter, Sort } from 'weighbridge';
import { session, type Session } from './session.ts';
import { isWeightKey, measurements, type WeightKey } from './weights.ts';

/** A column of the table, with `-` before it for the other direction. */
export type Order = Sort | WeightKey | `-${WeightKey}`;

/** What each document has been given to sort by. */
const given = new WeakMap<Session, string>();

/** The order as the document knows it. */
export function sortOf(file: Session, order: Order): Sort {
  const key = order.replace('-', '');
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

/** The rank of a tensor in an order; -1 when it is filtered out. */
export function rankOf(_: unknown, id: number, tensor: number, order: Order, filter: Filter): number {
  const file = session(id);
  return file.document.rankOf(tensor, sortOf(file, order), filter);
}
