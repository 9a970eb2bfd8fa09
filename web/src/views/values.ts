/** The values of a slice, read as they become visible. */

import type { OpenFile } from '../file.ts';
import { showWhole } from '../ui/copy.ts';
import { button, h, setText } from '../ui/dom.ts';
import { count, fit } from '../ui/format.ts';
import { VirtualList } from '../ui/virtual.ts';
import type { TensorDetails } from '../worker/tables.ts';
import { SliceControls, type Slice } from './slice.ts';

const ROW = 22;
/** Pixels of a column, of its padding, and of a character (style/panel.css). */
const COLUMN = 92;
const PADDING = 12;
const CHARACTER = 7.3;
/** Pixels of the position column. */
const POSITION = 72;
/** Rows per read. */
const BLOCK = 64;
/** Maximum number of entries shown of a sparse tensor. */
const ENTRIES = 1 << 16;
const VARIABLE = 0xffffffffffffffffn;

/** What of a tensor decides how its values are shown. */
type Shown = Pick<TensorDetails, 'index' | 'shape' | 'elements' | 'layout' | 'dtype' | 'hasItems' | 'fields'>;
/** Reads values on a grid, in steps of elements. */
export type ReadGrid = (from: bigint, rows: number, rowStep: bigint, columns: number, columnStep: bigint) => Promise<string[]>;

export class ValuesView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #tensor: Shown;
  readonly #grid: ReadGrid;
  readonly #list: VirtualList;
  readonly #controls: SliceControls;
  readonly #head = h('div', { role: 'row', class: 'value-row' });
  readonly #range = h('span', { class: 'mono' });
  readonly #pager = h(
    'div',
    { class: 'toolbar pager', hidden: true },
    button('◂', () => this.#turn(-1), { 'aria-label': 'Previous columns' }),
    this.#range,
    button('▸', () => this.#turn(1), { 'aria-label': 'Next columns' }),
  );
  /** Shown while values are missing because they could not be read. */
  readonly #unread = h(
    'p',
    { class: 'note', hidden: true },
    'Some values have not been read. ',
    button('Try again', () => this.#again(), { class: 'link' }),
  );
  /** Replaced by a new map when other values are shown. */
  #blocks = new Map<number, string[] | undefined>();
  /** Each row shows one stored element in full: text, vectors, sparse layouts. */
  readonly #whole: boolean;
  /** Each row shows a record, and each column one of these fields; empty if elements are no records. */
  readonly #fields: readonly string[];
  #slice: Slice;
  #columns = 0;
  /** Number of characters that fit into a cell. */
  #room = 10;
  /** First visible column. */
  #first = 0n;
  /** Elements per row when a list of numbers is wrapped. */
  #wrap = 1n;
  /** Number of entries of a sparse tensor, once counted. */
  #entries: bigint | undefined;

  /** `grid` replaces the elements of the file. */
  constructor(file: OpenFile, tensor: Shown, grid?: ReadGrid) {
    this.#grid = grid ?? ((...where) => file.api.grid(file.id, tensor.index, ...where));
    this.#file = file;
    this.#tensor = tensor;
    this.#whole = file.isTable || (tensor.layout !== 'row-major' && tensor.layout !== 'column-major') || tensor.shape.includes(VARIABLE) || tensor.dtype === 'text' || (tensor.hasItems && tensor.fields.length === 0 && tensor.shape.length < 2);
    this.#fields = tensor.fields;
    this.#controls = new SliceControls(this.#whole || this.#isRecord ? new BigUint64Array() : tensor.shape, (slice) => {
      this.#slice = slice;
      this.#first = 0n;
      this.#reset();
    });
    this.#slice = this.#controls.slice;
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () => h('div', { role: 'row', class: 'value-row' }),
        draw: (row, index) => this.#draw(row, index),
      },
      { role: 'rowgroup' },
    );
    this.element = h(
      'div',
      { class: 'values' },
      this.#controls.element,
      this.#unread,
      h(
        'div',
        { class: 'grid value-grid', role: 'table', tabindex: '0', 'aria-label': 'Values' },
        h('div', { role: 'rowgroup', class: 'grid-head' }, this.#head),
        this.#list.element,
      ),
      this.#pager,
    );
    if (tensor.layout === 'coo' || tensor.layout === 'csr') {
      void this.#countEntries();
    }
    this.element.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(([entry]) => this.#fit(entry.contentRect.width)).observe(this.element);
  }

  get #isRecord(): boolean {
    return this.#fields.length > 0;
  }

  get #flat(): boolean {
    return this.#whole || this.#isRecord || this.#tensor.shape.length < 2;
  }

  /** Only the data tells how many entries a sparse tensor has. */
  async #countEntries(): Promise<void> {
    const { id, api } = this.#file;
    const entries = await api.values(id, this.#tensor.index, 0n, ENTRIES).catch(() => undefined);
    if (entries !== undefined) {
      this.#entries = BigInt(entries.length);
      this.#reset();
    }
  }

  get #rows(): bigint {
    if (this.#entries !== undefined) {
      return this.#entries;
    }
    const { elements, shape } = this.#tensor;
    if (this.#whole) {
      return (this.#file.isTable ? shape[0] : undefined) ?? elements;
    }
    return this.#flat ? (elements + this.#wrap - 1n) / this.#wrap : this.#slice.rows;
  }

  /** Shows as many columns as fit. */
  #fit(width: number): void {
    const columns = this.#whole ? 1 : Math.max(1, Math.floor((width - POSITION) / COLUMN));
    // A scrollbar takes some of the width.
    const room = Math.max(10, Math.floor((this.#whole ? width - POSITION - 2 * PADDING - 16 : COLUMN - PADDING) / CHARACTER));
    if (room !== this.#room) {
      this.#room = room;
      this.#list.redraw();
    }
    if (width > 0 && columns !== this.#columns) {
      this.#columns = columns;
      // Lists are wrapped at a power of two where possible.
      this.#wrap = this.#isRecord ? 1n : BigInt(columns >= 16 ? 16 : columns >= 8 ? 8 : columns >= 4 ? 4 : columns);
      this.#reset();
    }
  }

  /** Number of columns that pages show in turn; 0 if there are no pages. */
  get #turned(): bigint {
    return this.#isRecord ? BigInt(this.#fields.length) : this.#flat ? 0n : this.#slice.columns;
  }

  get #shown(): number {
    if (this.#whole) {
      return 1;
    }
    const all = this.#isRecord ? this.#turned - this.#first : this.#flat ? (this.#wrap < this.#tensor.elements ? this.#wrap : this.#tensor.elements) : this.#slice.columns - this.#first;
    return Number(all < BigInt(this.#columns) ? all : BigInt(this.#columns));
  }

  #again(): void {
    this.element.querySelector<HTMLElement>('.value-grid')!.focus();
    this.#reset();
  }

  #reset(): void {
    this.#blocks = new Map();
    this.#unread.hidden = true;
    this.#head.replaceChildren(
      h('div', { role: 'columnheader', class: 'value-at' }, this.#flat && !this.#isRecord ? 'from' : 'row'),
      ...Array.from({ length: this.#shown }, (_, i) => this.#heading(i)),
    );
    const total = this.#turned;
    this.#pager.hidden = total <= BigInt(this.#columns);
    setText(this.#range, `columns ${count(this.#first)}–${count(this.#first + BigInt(this.#shown) - 1n)} of ${count(total)}`);
    this.#list.count = Number(this.#rows);
  }

  #heading(column: number): HTMLElement {
    if (this.#isRecord) {
      const name = this.#fields[Number(this.#first) + column];
      return h('div', { role: 'columnheader', class: 'value', title: name }, h('bdi', {}, name));
    }
    const text = this.#whole ? 'value' : `${this.#flat ? '+' : ''}${count(this.#first + BigInt(column))}`;
    return h('div', { role: 'columnheader', class: this.#whole ? 'value whole' : 'value' }, text);
  }

  #turn(by: number): void {
    const step = BigInt(this.#columns) * BigInt(by);
    const last = this.#turned - BigInt(this.#columns);
    const next = this.#first + step;
    this.#first = next < 0n ? 0n : next > last ? (last < 0n ? 0n : last) : next;
    this.#reset();
  }

  #key(event: KeyboardEvent): void {
    if (this.#turned > 0n && (event.key === 'ArrowRight' || event.key === 'ArrowLeft') && (event.target as HTMLElement).classList.contains('value-grid')) {
      event.preventDefault();
      this.#turn(event.key === 'ArrowRight' ? 1 : -1);
    }
    const { page, first, count: rows } = this.#list;
    const to = { ArrowDown: first + 1, ArrowUp: first - 1, PageDown: first + page, PageUp: first - page, Home: 0, End: rows - 1 }[event.key];
    if (to !== undefined && (event.target as HTMLElement).classList.contains('value-grid')) {
      event.preventDefault();
      const going = to > first ? Math.min(rows - 1, to + page - 1) : Math.max(0, to);
      this.#list.scrollTo(going);
    }
  }

  #draw(row: HTMLElement, index: number): void {
    const shown = this.#shown;
    while (row.children.length < shown + 1) {
      row.append(h('div', { role: row.children.length === 0 ? 'rowheader' : 'cell' }));
    }
    while (row.children.length > shown + 1) {
      row.lastElementChild!.remove();
    }
    const at = this.#flat && !this.#whole ? BigInt(index) * this.#wrap : BigInt(index);
    row.setAttribute('aria-rowindex', String(index + 2));
    row.children[0].className = 'value-at';
    setText(row.children[0], count(at));
    const block = Math.floor(index / BLOCK);
    const values = this.#block(block);
    const [width, first] = this.#isRecord ? [this.#fields.length, Number(this.#first)] : [shown, 0];
    const { dtype, hasItems } = this.#tensor;
    for (let i = 0; i < shown; i++) {
      const cell = row.children[i + 1];
      const text = values?.[(index % BLOCK) * width + first + i] ?? '';
      cell.className = this.#whole ? 'value whole' : /^-?(nan|infinity)/i.test(text) ? 'value special' : 'value';
      showWhole(cell, dtype === 'text' || hasItems ? text : fit(text, this.#room), text);
    }
  }

  /** The values of a block of `BLOCK` rows; fetched if missing. */
  #block(block: number): string[] | undefined {
    const blocks = this.#blocks;
    if (!blocks.has(block)) {
      blocks.set(block, undefined);
      const start = block * BLOCK;
      const rows = Math.min(BLOCK, Number(this.#rows) - start);
      const shown = this.#shown;
      const { id, api } = this.#file;
      const { index } = this.#tensor;
      const { from, rowStep, columnStep } = this.#slice;
      const fetched =
        this.#flat
          ? api.values(id, index, BigInt(start) * (this.#whole ? 1n : this.#wrap), this.#isRecord ? rows : rows * shown)
          : this.#grid(from + BigInt(start) * rowStep + this.#first * columnStep, rows, rowStep, shown, columnStep);
      fetched.then(
        (values) => {
          blocks.set(block, values);
          if (blocks.size > 48) {
            blocks.delete(blocks.keys().next().value!);
          }
          if (blocks === this.#blocks) {
            this.#unread.hidden = true;
          }
          this.#list.redraw();
        },
        (error: Error) => {
          blocks.delete(block);
          if (blocks === this.#blocks) {
            this.#unread.hidden = false;
          }
          if (!this.#file.closing.signal.aborted) {
            this.#file.tasks.fail(`Reading values: ${error.message}`);
          }
        },
      );
    }
    return blocks.get(block);
  }
}
