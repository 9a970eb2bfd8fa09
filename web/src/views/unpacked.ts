/** The weights behind a packed tensor, decoded with the scales in other tensors. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, pair } from '../ui/dom.ts';
import { count, real } from '../ui/format.ts';
import type { TensorDetails } from '../worker/tables.ts';
import type { Unpacked } from '../worker/unpacked.ts';
import { ValuesView } from './values.ts';

/** `what` is the matrix, or why it cannot be decoded. */
export function unpackedView(file: OpenFile, tensor: TensorDetails, what: Unpacked | string): HTMLElement {
  if (typeof what === 'string') {
    return h('p', { class: 'empty' }, what);
  }
  const { layout, rows, columns, order } = what;
  const { client, id, tasks, config, closing } = file;
  const place = h('div', { class: 'actions', role: 'status' });
  const compute = async () => {
    const found = await tasks.run('Decoding', (options) => client.with(options).unpackedStatistics(id, tensor.index, config), closing.signal);
    if (found !== undefined) {
      const { min, max, mean, deviation, norm, zeros, broken } = found;
      const facts = [['Minimum', real(min)], ['Maximum', real(max)], ['Mean', real(mean)], ['Standard deviation', real(deviation)], ['Norm (L2)', real(norm)], ['Zeros', count(zeros)], ['NaN or infinite', count(broken)]] as const;
      fill(place, h('dl', { class: 'facts-list' }, ...facts.map(([label, text]) => pair(label, h('span', { class: 'mono' }, text)))));
    }
  };
  fill(place, button('Statistics of the decoded weights', () => void compute()));
  const matrix = { index: tensor.index, shape: BigUint64Array.of(BigInt(rows), BigInt(columns)), elements: BigInt(rows) * BigInt(columns), layout: 'row-major', dtype: 'f32', hasItems: false, fields: [] };
  const values = new ValuesView(file, matrix, (...where) => file.api.unpackedGrid(id, tensor.index, config, ...where));
  return h('div', { class: 'unpacked' }, h('p', { class: 'note' }, `${layout}: ${count(rows)} × ${count(columns)}, ${order}. Decoded with the scales beside this tensor.`), place, values.element);
}
