/** A data view as a table with the rows of the file. */

import type { OpenFile } from '../file.ts';
import { showWhole } from '../ui/copy.ts';
import { button, h, setText } from '../ui/dom.ts';
import { count, fit } from '../ui/format.ts';
import { VirtualList } from '../ui/virtual.ts';
import type { Row } from '../worker/tables.ts';

const ROW = 24;
const BLOCK = 64;
/** Columns per page. */
const COLUMNS = 12;

export class RowsView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list: VirtualList;
  readonly #head = h('div', { role: 'row', class: 'grid-row data-row' });
  readonly #range = h('span', { class: 'mono' });
  readonly #pager = h(
    'div',
    { class: 'toolbar pager', hidden: true },
    button('◂', () => this.#turn(-COLUMNS), { 'aria-label': 'Previous columns' }),
    this.#range,
    button('▸', () => this.#turn(COLUMNS), { 'aria-label': 'Next columns' }),
  );
  readonly #blocks = new Map<string, string[] | undefined>();
  #columns: Row[] = [];
  #first = 0;
  /** The first column shown. */
  #shown = 0;
  #total = 0;
  /** Number of characters that fit into a cell. */
  #room = 12;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () => h('div', { role: 'row', class: 'grid-row data-row' }),
        draw: (row, index) => this.#draw(row, index),
      },
      { role: 'rowgroup' },
    );
    this.element = h(
      'div',
      { class: 'rows-view' },
      h(
        'div',
        { class: 'grid data-grid', role: 'table', 'aria-label': 'Rows' },
        h('div', { role: 'rowgroup', class: 'grid-head' }, this.#head),
        this.#list.element,
      ),
      this.#pager,
    );
    new ResizeObserver(() => this.#fit()).observe(this.element);
    void this.#load();
  }

  /** Cells share the width, but are at least 110 pixels wide (style/panel.css). */
  #fit(): void {
    const width = Math.max(110, (this.element.clientWidth - 80) / Math.max(1, this.#columns.length));
    const room = Math.floor((width - 18) / 7.8);
    if (room !== this.#room) {
      this.#room = room;
      this.#list.redraw();
    }
  }

  #turn(by: number): void {
    this.#first = Math.max(0, Math.min(this.#first + by, this.#total - 1));
    void this.#load();
  }

  /** Shows the columns from `#first` on, if they can be read. */
  async #load(): Promise<void> {
    const file = this.#file;
    const first = this.#first;
    const page = await file.tasks.run(
      'Reading columns',
      (options) => file.client.with(options).rows(file.id, first, first + COLUMNS, 'index', {}),
      file.closing.signal,
    );
    // Another page may have been asked for by now.
    if (first !== this.#first) {
      return;
    }
    if (page === undefined) {
      this.#first = this.#shown;
      return;
    }
    const { total, rows } = page;
    this.#shown = first;
    this.#total = total;
    this.#columns = rows;
    this.#head.replaceChildren(
      h('div', { role: 'columnheader', class: 'cell row-number' }, 'Row'),
      ...rows.map((column) =>
        h('div', { role: 'columnheader', class: 'cell' }, h('bdi', { title: column.name }, column.name), h('span', { class: 'muted mono' }, ` ${column.dtype}`)),
      ),
    );
    this.element.style.setProperty('--columns', String(rows.length));
    this.#pager.hidden = total <= COLUMNS;
    setText(this.#range, `columns ${count(first + 1)}–${count(first + rows.length)} of ${count(total)}`);
    this.#fit();
    const column = rows.find(({ shape }) => shape !== 'scalar');
    this.#list.count = column === undefined ? 0 : Number(column.shape.split(' × ')[0]);
  }

  #draw(row: HTMLElement, index: number): void {
    const columns = this.#columns;
    while (row.children.length < columns.length + 1) {
      row.append(h('div', { role: row.children.length === 0 ? 'rowheader' : 'cell', class: row.children.length === 0 ? 'cell row-number' : 'cell' }, h('bdi', {})));
    }
    while (row.children.length > columns.length + 1) {
      row.lastElementChild!.remove();
    }
    row.setAttribute('aria-rowindex', String(index + 2));
    setText(row.children[0].firstElementChild!, count(index));
    columns.forEach((column, i) => {
      const cell = row.children[i + 1];
      const text = column.status === 'sound' ? this.#value(column, index) : column.status;
      showWhole(cell, column.dtype === 'text' || column.dtype.startsWith('key') ? text : fit(text, this.#room), text);
    });
  }

  #value(column: Row, index: number): string {
    const block = Math.floor(index / BLOCK);
    const key = `${column.index}/${block}`;
    if (!this.#blocks.has(key)) {
      this.#blocks.set(key, undefined);
      const start = block * BLOCK;
      this.#file.api.values(this.#file.id, column.index, BigInt(start), Math.min(BLOCK, this.#list.count - start)).then(
        (values) => {
          this.#blocks.set(key, values);
          if (this.#blocks.size > 40 * COLUMNS) {
            this.#blocks.delete(this.#blocks.keys().next().value!);
          }
          this.#list.redraw();
        },
        (error: Error) => {
          this.#blocks.delete(key);
          if (!this.#file.closing.signal.aborted) {
            this.#file.tasks.fail(`Column ${column.name}: ${error.message}`);
          }
        },
      );
    }
    return this.#blocks.get(key)?.[index % BLOCK] ?? '';
  }
}
