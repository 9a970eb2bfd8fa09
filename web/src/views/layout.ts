/** The parts of the file in file order, as a table: the accessible counterpart of the strip. */

import type { OpenFile } from '../file.ts';
import { h, setText, uniqueId } from '../ui/dom.ts';
import { exactSize, size } from '../ui/format.ts';
import { Blocks, VirtualList } from '../ui/virtual.ts';
import type { Part } from '../worker/tables.ts';

const ROW = 24;

/** The name of the entry a part belongs to. */
export function partName({ label, kind, entry }: Part): string {
  return label !== '' ? label : entry === undefined || kind === 'file' ? '' : `${kind} ${entry}`;
}

/** What an overlap is shared with. */
export function shared({ overlap, partner }: Part): string {
  return `${size(overlap)} shared with ${partner}`;
}

export class LayoutView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list: VirtualList;
  readonly #blocks: Blocks<Part>;
  readonly #prefix = uniqueId('part');
  #active = 0;
  /** Whether to open the active part as soon as it has been fetched. */
  #waiting = false;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#blocks = new Blocks(
      async (from, to) => (await file.api.layout(file.id, from, to)).parts,
      () => {
        this.#list.redraw();
        if (this.#waiting) {
          this.#act();
        }
      },
    );
    const forget = () => {
      this.#waiting = false;
    };
    file.selected.on(forget);
    file.revealed.on(forget);
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () =>
          h(
            'div',
            { role: 'row', class: 'grid-row' },
            h('div', { role: 'gridcell', class: 'cell offset number' }),
            h('div', { role: 'gridcell', class: 'cell stored number' }),
            h('div', { role: 'gridcell', class: 'cell part' }, h('span', { class: 'swatch', 'aria-hidden': 'true' }), h('span', {})),
            h('div', { role: 'gridcell', class: 'cell name' }, h('bdi', {})),
            h('div', { role: 'gridcell', class: 'cell note' }),
          ),
        draw: (row, index) => this.#draw(row, index),
        shown: (from, to) => this.#blocks.want(from, to),
      },
      { role: 'rowgroup' },
    );
    const head = [
      ['Offset', 'offset number'],
      ['Bytes', 'stored number'],
      ['Part', 'part'],
      ['Belongs to', 'name'],
      ['Note', 'note'],
    ].map(([label, kind]) => h('div', { role: 'columnheader', class: `cell ${kind}` }, label));
    this.element = h(
      'div',
      { class: 'grid layout-table', role: 'grid', tabindex: '0', 'aria-label': 'Parts of the file', 'aria-readonly': 'true' },
      h('div', { role: 'rowgroup', class: 'grid-head' }, h('div', { role: 'row', class: 'grid-row' }, ...head)),
      this.#list.element,
    );
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.#list.element.addEventListener('click', (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
      if (row !== null) {
        this.#move(Number(row.dataset.rank));
        this.#act();
      }
    });
    file.validated.on(() => void this.#refresh());
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    if (this.#file.depth === 'index') {
      return;
    }
    const { total } = await this.#file.api.layout(this.#file.id, 0, 0);
    this.#blocks.clear();
    this.element.setAttribute('aria-rowcount', String(total + 1));
    this.#list.count = total;
  }

  #draw(element: HTMLElement, index: number): void {
    const part = this.#blocks.get(index);
    element.id = `${this.#prefix}-${index}`;
    element.dataset.rank = String(index);
    element.dataset.part = part?.part ?? '';
    element.setAttribute('aria-rowindex', String(index + 2));
    element.setAttribute('aria-selected', 'false');
    element.classList.toggle('active', index === this.#active);
    const [offset, bytes, what, of, note] = element.children;
    setText(offset, part === undefined ? '' : this.#file.hex(part.at));
    setText(bytes, part === undefined ? '' : size(part.len));
    bytes.setAttribute('title', part === undefined ? '' : exactSize(part.len));
    setText(what.lastElementChild!, part?.part ?? '');
    setText(of.firstElementChild!, part === undefined ? '' : partName(part));
    note.setAttribute('title', part !== undefined && part.overlap > 0n ? shared(part) : '');
    setText(note, part !== undefined && part.overlap > 0n ? shared(part) : part?.part === 'gap' ? 'unused' : part === undefined ? '' : (this.#file.partAt(part.at)?.name ?? ''));
  }

  #move(index: number): void {
    this.#active = Math.max(0, Math.min(index, this.#list.count - 1));
    this.#waiting = false;
    this.#list.scrollTo(this.#active);
    this.#list.redraw();
    this.element.setAttribute('aria-activedescendant', `${this.#prefix}-${this.#active}`);
  }

  #act(): void {
    const part = this.#blocks.get(this.#active);
    this.#waiting = part === undefined;
    if (part?.kind === 'tensor' && part.entry !== undefined) {
      this.#file.select(part.entry);
    } else if (part !== undefined) {
      this.#file.reveal(part.at, part.len);
    }
  }

  #key(event: KeyboardEvent): void {
    const { page } = this.#list;
    const to = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      PageDown: this.#active + page,
      PageUp: this.#active - page,
      Home: 0,
      End: this.#list.count - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.#move(to);
    } else if (event.key === 'Enter') {
      this.#act();
    }
  }
}
