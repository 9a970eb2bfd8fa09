/** A table that draws only its visible rows and has an active one: the keys, clicks and roles of all lists. */

import { h, uniqueId, type Child } from './dom.ts';
import { VirtualList } from './virtual.ts';

/** Height of a row, as in the styles (`--row`). */
const ROW = 24;

export interface Column<K extends string = string> {
  label: string;
  /** Classes of the column's cells. */
  kind: string;
  /** What the rows can be sorted by. */
  key?: K;
}

export interface GridOptions<K extends string> {
  /** Class and label of the whole. */
  name: string;
  label: string;
  /** Whether rows have levels and are opened and closed. */
  tree?: boolean;
  columns: readonly Column<K>[];
  /** What a cell of the column holds, if not just text. */
  inside?(column: Column<K>): Child[];
  draw(row: HTMLElement, index: number): void;
  /** Called when the visible rows change. */
  shown?(from: number, to: number): void;
  /** The user has moved to a row, with keys or by clicking it. */
  moved?(index: number): void;
  /** Enter on the active row. */
  entered?(index: number): void;
  /** A click, after `moved`. */
  clicked?(index: number): void;
  /** Any other key; returns whether it was used. */
  pressed?(key: string): boolean;
  /** Sorts by a column, or changes the direction. */
  sort?(key: K): void;
}

export class Grid<K extends string = string> {
  readonly element: HTMLElement;
  readonly list: VirtualList;
  readonly #options: GridOptions<K>;
  readonly #headers: readonly HTMLElement[];
  readonly #prefix = uniqueId('row');
  #active = -1;
  #order: K | undefined;

  constructor(options: GridOptions<K>) {
    this.#options = options;
    const { name, label, tree = false, columns, inside, shown, moved, clicked } = options;
    this.#headers = columns.map((column) => this.#header(column));
    this.list = new VirtualList(
      {
        rowHeight: ROW,
        make: () => h('div', { role: 'row', class: 'grid-row' }, ...columns.map((column) => h('div', { role: 'gridcell', class: `cell ${column.kind}` }, ...(inside?.(column) ?? [])))),
        draw: (row, index) => this.#draw(row, index),
        shown,
      },
      { class: `grid ${name}`, role: tree ? 'treegrid' : 'grid', 'aria-label': label, 'aria-readonly': 'true', 'aria-rowcount': '1' },
      h('div', { role: 'rowgroup', class: 'grid-head' }, h('div', { role: 'row', class: 'grid-row' }, ...this.#headers)),
    );
    this.element = this.list.element;
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.element.addEventListener('click', ({ target }) => {
      const row = (target as HTMLElement).closest<HTMLElement>('[data-rank]');
      if (row !== null) {
        const index = Number(row.dataset.rank);
        this.active = index;
        moved?.(index);
        clicked?.(index);
      }
    });
  }

  /** The active row; -1 if there is none. */
  get active(): number {
    return this.#active;
  }

  set active(index: number) {
    this.#active = Math.min(index, this.count - 1);
    if (this.#active < 0) {
      this.element.removeAttribute('aria-activedescendant');
    } else {
      this.element.setAttribute('aria-activedescendant', `${this.#prefix}-${this.#active}`);
    }
    this.list.redraw();
  }

  get count(): number {
    return this.list.count;
  }

  set count(count: number) {
    this.element.setAttribute('aria-rowcount', String(count + 1));
    this.list.count = count;
    if (this.#active >= count) {
      this.active = count - 1;
    }
  }

  /** Makes a row the active one and scrolls to it, as the keys do. */
  move(to: number): void {
    if (this.count > 0) {
      this.active = Math.max(0, Math.min(to, this.count - 1));
      this.list.scrollTo(this.#active);
      this.#options.moved?.(this.#active);
    }
  }

  /** Marks the column that the rows are sorted by. */
  order(key: K | undefined, direction: 'ascending' | 'descending' = 'ascending'): void {
    this.#order = key;
    this.#options.columns.forEach((column, i) => column.key !== undefined && this.#headers[i].setAttribute('aria-sort', column.key === key ? direction : 'none'));
  }

  #draw(row: HTMLElement, index: number): void {
    row.id = `${this.#prefix}-${index}`;
    row.dataset.rank = String(index);
    row.setAttribute('aria-rowindex', String(index + 2));
    row.setAttribute('aria-selected', String(index === this.#active));
    row.classList.toggle('active', index === this.#active);
    this.#options.draw(row, index);
  }

  #header({ label, kind, key }: Column<K>): HTMLElement {
    if (key === undefined) {
      return h('div', { role: 'columnheader', class: `cell ${kind}` }, label);
    }
    const button = h('button', { type: 'button', tabindex: '-1', onclick: () => this.#options.sort?.(key) }, label, h('span', { class: 'arrow', 'aria-hidden': 'true' }));
    return h('div', { role: 'columnheader', class: `cell ${kind}`, 'aria-sort': 'none' }, button);
  }

  #key(event: KeyboardEvent): void {
    // A button in the head has the focus once it was clicked.
    const onButton = (event.target as HTMLElement).matches('button') && (event.key === 'Enter' || event.key === ' ');
    if (!event.altKey && !event.ctrlKey && !event.metaKey && !onButton && this.#pressed(event.key)) {
      event.preventDefault();
    }
  }

  #pressed(key: string): boolean {
    const { entered, pressed, sort } = this.#options;
    if (pressed?.(key)) {
      return true;
    }
    const { page } = this.list;
    const at = this.#active;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, j: at + 1, k: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.count - 1 }[key];
    if (to !== undefined) {
      this.move(to);
    } else if (key === 'Enter' && entered !== undefined && at >= 0) {
      entered(at);
    } else if (sort !== undefined && (key === 's' || key === 'S')) {
      this.#sortNext(key === 'S');
    } else {
      return false;
    }
    return true;
  }

  /** Sorts by the next column that is shown, or in the other direction. */
  #sortNext(reverse: boolean): void {
    const keys = this.#options.columns.flatMap(({ key }, i) => (key !== undefined && this.#headers[i].checkVisibility() ? [key] : []));
    const at = keys.findIndex((key) => key === this.#order);
    const key = reverse && at >= 0 ? keys[at] : keys[(at + 1) % keys.length];
    if (key !== undefined) {
      this.#options.sort?.(key);
    }
  }
}
