/** The parts of the file in file order, as a table: the accessible counterpart of the strip. */

import type { OpenFile } from '../file.ts';
import { h, setText } from '../ui/dom.ts';
import { exactSize, size } from '../ui/format.ts';
import { Grid } from '../ui/grid.ts';
import { Blocks } from '../ui/virtual.ts';
import type { Part } from '../worker/tables.ts';

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
  readonly #grid: Grid;
  readonly #blocks: Blocks<Part>;
  /** Whether to open the active part as soon as it has been fetched. */
  #waiting = false;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#blocks = new Blocks(
      async (from, to) => (await file.api.layout(file.id, from, to)).parts,
      () => {
        this.#grid.list.redraw();
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
    this.#grid = new Grid({
      name: 'layout-table',
      label: 'Parts of the file',
      columns: [
        { label: 'Offset', kind: 'offset number' },
        { label: 'Bytes', kind: 'stored number' },
        { label: 'Part', kind: 'part' },
        { label: 'Belongs to', kind: 'name' },
        { label: 'Note', kind: 'note' },
      ],
      inside: ({ kind }) => (kind === 'part' ? [h('span', { class: 'swatch', 'aria-hidden': 'true' }), h('span', {})] : kind === 'name' ? [h('bdi', {})] : []),
      draw: (row, index) => this.#draw(row, index),
      shown: (from, to) => this.#blocks.want(from, to),
      moved: forget,
      entered: () => this.#act(),
      clicked: () => this.#act(),
    });
    this.element = this.#grid.element;
    file.validated.on(() => void this.#refresh());
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    if (this.#file.depth === 'index') {
      return;
    }
    const { total } = await this.#file.api.layout(this.#file.id, 0, 0);
    this.#blocks.clear();
    this.#grid.count = total;
    this.#grid.active = Math.max(0, this.#grid.active);
  }

  #draw(element: HTMLElement, index: number): void {
    const part = this.#blocks.get(index);
    element.dataset.part = part?.part ?? '';
    element.setAttribute('aria-selected', 'false');
    const [offset, bytes, what, of, note] = element.children;
    setText(offset, part === undefined ? '' : this.#file.hex(part.at));
    setText(bytes, part === undefined ? '' : size(part.len));
    bytes.setAttribute('title', part === undefined ? '' : exactSize(part.len));
    setText(what.lastElementChild!, part === undefined ? '' : this.#file.partWord(part.part, part.at));
    what.setAttribute('title', what.lastElementChild!.textContent ?? '');
    setText(of.firstElementChild!, part === undefined ? '' : partName(part));
    note.setAttribute('title', part !== undefined && part.overlap > 0n ? shared(part) : '');
    setText(note, part !== undefined && part.overlap > 0n ? shared(part) : part?.part === 'gap' ? 'unused' : part === undefined ? '' : (this.#file.partAt(part.at)?.name ?? ''));
  }

  #act(): void {
    const part = this.#blocks.get(this.#grid.active);
    this.#waiting = part === undefined;
    if (part?.kind === 'tensor' && part.entry !== undefined) {
      this.#file.select(part.entry);
    } else if (part !== undefined) {
      this.#file.reveal(part.at, part.len);
    }
  }
}
