/** The files of a multi-file model: which are present, and which tensors they lack. */

import type { OpenFile } from '../file.ts';
import { fill, h, icon, type Icon } from '../ui/dom.ts';
import { count, counted, size } from '../ui/format.ts';
import type { Part } from '../worker/joint.ts';

/** Maximum number listed; all are counted. */
const MOST = 1000;

export class FilesView {
  readonly element = h('div', { class: 'set scroll', tabindex: '0', role: 'region', 'aria-label': 'Files' });
  readonly #file: OpenFile;

  constructor(file: OpenFile) {
    this.#file = file;
    file.validated.on(() => this.#draw());
    this.#draw();
  }

  #draw(): void {
    const parts = this.#file.parts!;
    const indexed = parts.some(({ state }) => state === 'index');
    const of = (state: Part['state']) => parts.filter((part) => part.state === state).length;
    const [open, missing, unread, surplus] = (['open', 'missing', 'unread', 'surplus'] as const).map(of);
    const words = [
      `${count(open)} of ${counted(open + missing + unread, indexed ? 'shard' : parts[0].first === undefined ? 'file' : 'part')}`,
      missing > 0 && `${count(missing)} missing${this.#file.droppable ? `: drop ${missing === 1 ? 'it' : 'them'} here too` : ''}`,
      unread > 0 && `${count(unread)} unreadable`,
      surplus > 0 && `${count(surplus)} not in the index`,
    ];
    const heads = [['File', ''], ['Size', 'number'], ['Tensors', 'number'], ...(indexed ? [['Listed', 'number extra'], ['Found', 'number extra']] : []), ['State', '']];
    fill(
      this.element,
      h('p', { role: 'status' }, words.filter(Boolean).join(' · ')),
      h(
        'table',
        {},
        h('thead', {}, h('tr', {}, ...heads.map(([label, kind]) => h('th', { scope: 'col', class: kind }, label)))),
        h('tbody', {}, ...parts.slice(0, MOST).map((part) => row(part, indexed))),
      ),
    );
  }
}

function row(part: Part, indexed: boolean): HTMLElement {
  const { name, state, why, valid, tensors, listed, found } = part;
  const open = state === 'open';
  const number = (text: string, more = '') => h('td', { class: `number${more}` }, text);
  const isListed = indexed && state !== 'index' && state !== 'surplus';
  const [mark, words] = {
    index: [undefined, 'index'],
    open: !valid ? ['fatal', 'invalid'] : indexed && found < listed ? ['fatal', `${counted(listed - found, 'tensor')} missing`] : ['valid', 'open'],
    missing: ['fatal', 'missing'],
    unread: ['unchecked', `unreadable: ${why}`],
    surplus: ['lint', 'not in the index'],
  }[state] as [Icon | undefined, string];
  return h(
    'tr',
    { 'data-state': state },
    h('td', {}, h('bdi', {}, name)),
    number(open || state === 'index' ? size(part.size) : ''),
    number(open ? count(tensors) : ''),
    ...(indexed ? [number(isListed ? count(listed) : '', ' extra'), number(isListed && open ? count(found) : '', ' extra')] : []),
    h('td', {}, mark !== undefined && icon(mark), ` ${words}`),
  );
}
