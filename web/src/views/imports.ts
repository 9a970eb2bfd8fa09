/** What the pickles of a file import, with a mark for what no loader should allow. */

import type { Global } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { button, h } from '../ui/dom.ts';

/** What each standing means, and the severity whose colour it has. */
const STANDING: Record<Global['standing'], readonly [string, string]> = {
  'not listed': ['fatal', 'Not on the list of torch.load: loading the file would run or import it.'],
  'plain data': ['lint', 'Not on the list of torch.load, but known to make nothing but data.'],
  listed: ['ok', 'On the list of torch.load(weights_only=True).'],
};

export class ImportsView {
  readonly element: HTMLElement;

  constructor(file: OpenFile, globals: readonly Global[]) {
    const ranks = Object.keys(STANDING);
    // The dangerous ones first; otherwise in the order of the file.
    const sorted = [...globals].sort((a, b) => ranks.indexOf(a.standing) - ranks.indexOf(b.standing));
    const head = ['Name', 'Standing', 'Loading the file', 'Offset'].map((label) => h('th', { scope: 'col' }, label));
    this.element = h(
      'div',
      { class: 'scroll imports', tabindex: '0' },
      h('p', { class: 'muted' }, 'A pickle is a program. These are the names that it imports. This page runs none of them.'),
      h('table', { 'aria-label': 'What the pickle imports' }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...sorted.map((global) => this.#row(file, global)))),
    );
  }

  #row(file: OpenFile, { name, offset, called, standing }: Global): HTMLElement {
    const [colour, meaning] = STANDING[standing];
    const jump = button(String(offset), () => file.reveal(offset, 1n), { class: 'link', title: `Show byte ${offset} in the hex view` });
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('bdi', {}, name)),
      h('td', { class: `standing ${colour}`, title: meaning }, standing),
      h('td', {}, called ? 'calls it' : 'imports it'),
      h('td', { class: 'number' }, jump),
    );
  }
}
