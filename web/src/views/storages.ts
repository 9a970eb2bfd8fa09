/** The storages of a checkpoint, and the tensors that are views of each. */

import type { OpenFile } from '../file.ts';
import { button, h } from '../ui/dom.ts';
import { count, size } from '../ui/format.ts';
import type { Storages } from '../worker/pickles.ts';

export class StoragesView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;

  constructor(file: OpenFile, { rows, total }: Storages) {
    this.#file = file;
    const head = ['Key', 'Byte', 'Size', 'Used', 'Tensors'].map((label) => h('th', { scope: 'col' }, label));
    this.element = h(
      'div',
      { class: 'scroll imports storages', tabindex: '0' },
      h('p', { class: 'muted' }, 'Tensors are views of storages. Those that several tensors share, or that have unused bytes, come first.'),
      h('table', { 'aria-label': 'Storages' }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows.map((row) => this.#row(row)))),
      total > rows.length && h('p', { class: 'muted' }, `and ${count(total - rows.length)} more`),
    );
  }

  #row({ key, offset, size: all, used, names, more }: Storages['rows'][number]): HTMLElement {
    const jump = button(String(offset), () => this.#file.reveal(offset, 1n), { class: 'link', title: `Show byte ${offset} in the hex view` });
    const tensors = names.map(({ tensor, name }) => button(name, () => this.#file.select(tensor), { class: 'link' }));
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('bdi', {}, key)),
      h('td', { class: 'number' }, jump),
      h('td', { class: 'number' }, size(all)),
      h('td', { class: 'number' }, used === all ? 'all' : size(used)),
      h('td', { class: 'tensors' }, ...tensors, more > 0 && h('span', { class: 'muted' }, `and ${count(more)} more`)),
    );
  }
}
