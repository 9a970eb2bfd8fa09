/** A sortable table of tensors that renders only the visible rows. */

import type { OpenFile } from '../file.ts';
import { debounce, h, icon, setText, uniqueId } from '../ui/dom.ts';
import { showWhole } from '../ui/copy.ts';
import { count, counted, exactSize, fit, hex, real, size } from '../ui/format.ts';
import { setName } from '../ui/middle.ts';
import { Blocks, VirtualList } from '../ui/virtual.ts';
import type { Choice, Order } from '../worker/select.ts';
import type { Row } from '../worker/tables.ts';

/** A column to sort by. */
type Key = Exclude<Order, `-${string}`>;

/** Which columns follow name, type and shape: storage or measurements. */
export type Columns = 'storage' | 'weights';

const ROW = 24;

const COLUMNS: readonly (readonly [Key | undefined, string, string])[] = [
  ['name', 'Name', 'name'],
  ['dtype', 'Type', 'dtype'],
  [undefined, 'Shape', 'shape'],
  ['elements', 'Elements', 'storage elements number'],
  ['stored', 'Stored', 'storage stored number'],
  ['offset', 'Offset', 'storage offset number'],
  [undefined, 'Encoding', 'storage encoding'],
  ['min', 'Min', 'weights min number'],
  ['max', 'Max', 'weights max number'],
  ['mean', 'Mean', 'weights mean number'],
  ['deviation', 'Std', 'weights std number'],
  ['outlier', 'Outlier', 'weights outlier number'],
  ['zeros', 'Zeros', 'weights zeros number'],
  ['nans', 'NaN', 'weights nan number'],
  [undefined, 'Signs', 'weights signs'],
];

/** Maximum characters of a number in a column. */
const ROOM = 8;

export class TensorTable {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list: VirtualList;
  readonly #blocks: Blocks<Row>;
  /** For multi-file models, the file column replaces the encoding column. */
  readonly #all: typeof COLUMNS;
  readonly #headers: HTMLElement[];
  readonly #prefix = uniqueId('row');
  readonly #settle = debounce(60, () => this.#choose());
  #sort: Order = 'index';
  #columns: Columns = 'storage';
  #filter: Choice = {};
  #active = 0;
  /** The user's latest move until it selects a tensor, which is unknown while its row is being fetched. */
  #pending: { tensor: number | undefined } | undefined;
  /** Width of the name column in characters; it only grows. */
  #widest = 24;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#blocks = new Blocks(
      async (from, to) => (await file.api.rows(file.id, from, to, this.#sort, this.#filter)).rows,
      () => {
        this.#list.redraw();
        this.#resolve();
      },
    );
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () => this.#make(),
        draw: (row, index) => this.#draw(row, index),
        shown: (from, to) => this.#blocks.want(from, to),
      },
      { role: 'rowgroup' },
    );
    this.#all = file.parts === undefined ? COLUMNS : COLUMNS.map((column) => (column[1] === 'Encoding' ? (['file', 'File', column[2]] as const) : column));
    this.#headers = this.#all.map(([key, label, kind]) =>
      h(
        'div',
        { role: 'columnheader', class: `cell ${kind}`, 'aria-sort': key && 'none' },
        key === undefined
          ? label
          : h('button', { type: 'button', tabindex: '-1', onclick: () => this.#sortBy(key) }, label, h('span', { class: 'arrow', 'aria-hidden': 'true' })),
      ),
    );
    this.element = h(
      'div',
      { class: 'grid tensor-table', role: 'grid', tabindex: '0', 'aria-label': file.isTable ? 'Columns' : 'Tensors', 'aria-readonly': 'true' },
      h('div', { role: 'rowgroup', class: 'grid-head' }, h('div', { role: 'row', class: 'grid-row' }, ...this.#headers)),
      this.#list.element,
    );
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.#list.element.addEventListener('click', (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
      if (row !== null) {
        this.#move(Number(row.dataset.rank));
        // Only keys follow each other quickly.
        this.#choose();
      }
    });
  }

  focus(): void {
    this.element.focus();
  }

  get columns(): Columns {
    return this.#columns;
  }

  /** Selects the columns shown. */
  set columns(columns: Columns) {
    this.#columns = columns;
    this.element.dataset.columns = columns;
    const [key] = this.#sortable.find(([key]) => key === this.#sort.replace('-', '')) ?? [];
    if (key === undefined && this.#sort !== 'index') {
      // The sorted column is no longer shown.
      this.#order('index');
    }
  }

  /** The visible columns that can be sorted by. */
  get #sortable() {
    const hidden = this.#columns === 'storage' ? 'weights' : 'storage';
    return this.#all.filter(([key, , kind]) => key !== undefined && !kind.startsWith(hidden));
  }

  /** Marks the table as waiting for new rows. */
  expect(filter: Choice): void {
    this.#filter = filter;
    this.element.setAttribute('aria-busy', 'true');
  }

  /** Marks the table as waiting no longer, although there are no rows. */
  giveUp(): void {
    this.element.setAttribute('aria-busy', 'false');
  }

  async refresh(filter: Choice, scroll = false): Promise<void> {
    this.expect(filter);
    const sort = this.#sort;
    const from = Math.floor(this.#list.first / Blocks.SIZE);
    const { total, rows } = await this.#file.api.rows(
      this.#file.id,
      from * Blocks.SIZE,
      (from + 1) * Blocks.SIZE,
      sort,
      filter,
    );
    if (filter !== this.#filter || sort !== this.#sort || this.#file.closing.signal.aborted) {
      return;
    }
    // Only now, so that the old rows stay until the new ones arrive.
    this.#blocks.clear();
    this.#blocks.seed(from, rows);
    this.element.setAttribute('aria-rowcount', String(total + 1));
    this.#widest = Math.min(72, rows.reduce((widest, row) => Math.max(widest, row.name.length), this.#widest));
    this.element.style.setProperty('--name', String(this.#widest));
    this.#list.count = total;
    this.#resolve();
    this.element.setAttribute('aria-busy', 'false');
    performance.mark('rows');
    await this.#follow(scroll);
  }

  /** Marks the row of a tensor selected elsewhere. */
  follow(): Promise<void> {
    this.#pending = undefined;
    return this.#follow(true);
  }

  /** Marks the row of the selected tensor or, after a move, of the one about to be selected. */
  async #follow(scroll: boolean): Promise<void> {
    const pending = this.#pending;
    const tensor = pending === undefined ? this.#file.tensor : pending.tensor;
    if (tensor === undefined) {
      return;
    }
    const rank = await this.#file.api.rankOf(this.#file.id, tensor, this.#sort, this.#filter);
    if (pending !== this.#pending || (pending === undefined && tensor !== this.#file.tensor)) {
      return;
    }
    if (rank >= 0) {
      this.#active = rank;
      if (scroll) {
        this.#list.scrollTo(rank);
      }
    }
    this.#mark();
  }

  #make(): HTMLElement {
    const cells = COLUMNS.map(([, , kind]) => h('div', { role: 'gridcell', class: `cell ${kind}` }));
    cells[0].append(h('bdi', {}), icon('violation'));
    return h('div', { role: 'row', class: 'grid-row' }, ...cells);
  }

  #draw(element: HTMLElement, rank: number): void {
    const row = this.#blocks.get(rank);
    element.id = `${this.#prefix}-${rank}`;
    element.dataset.rank = String(rank);
    element.setAttribute('aria-rowindex', String(rank + 2));
    const chosen = row !== undefined && row.index === this.#file.tensor;
    element.setAttribute('aria-selected', String(chosen));
    element.classList.toggle('active', rank === this.#active);
    const [name, dtype, shape, elements, stored, offset, encoding, ...measured] = element.children;
    setName(name.firstElementChild!, row?.name ?? '');
    name.firstElementChild!.setAttribute('title', row?.name ?? '');
    name.classList.toggle('unnamed', row?.name === '');
    element.dataset.status = row?.status ?? '';
    element.classList.toggle('faulty', (row?.findings ?? 0) > 0);
    name.setAttribute('aria-description', row?.findings ? counted(row.findings, 'finding') : '');
    setText(dtype, row?.dtype ?? '');
    setText(shape, row?.shape ?? '');
    shape.setAttribute('title', row?.shape ?? '');
    setText(elements, row === undefined ? '' : count(row.elements));
    setText(stored, row === undefined ? '' : size(row.stored));
    stored.setAttribute('title', row === undefined ? '' : exactSize(row.stored));
    setText(offset, row?.offset === undefined ? '' : hex(row.offset));
    const { file } = row ?? {};
    setText(encoding, row === undefined ? '' : row.status !== 'sound' ? row.status : file === undefined ? row.encoding : (/\d+-of-\d+/.exec(file)?.[0] ?? file));
    encoding.setAttribute('title', file ?? '');
    this.#drawWeights(measured, row?.weights);
  }

  #drawWeights([min, max, mean, std, outlier, zeros, nan, signs]: Element[], weights: Row['weights']): void {
    for (const [cell, value] of [
      [min, weights?.min],
      [max, weights?.max],
      [mean, weights?.mean],
      [std, weights?.deviation],
    ] as const) {
      const known = value !== undefined && !Number.isNaN(value);
      const text = known ? real(value) : '';
      // Rounded once: seven digits rounded again may be wrong in the last.
      showWhole(cell, text.length > ROOM ? fit(String(value), ROOM) : text, known ? String(value) : '');
    }
    setText(outlier, weights === undefined || Number.isNaN(weights.outlier) ? '' : weights.outlier.toFixed(1));
    setText(zeros, weights === undefined || Number.isNaN(weights.zeros) ? '' : count(weights.zeros));
    setText(nan, weights === undefined ? '' : count(weights.nans));
    nan.classList.toggle('bad', (weights?.nans ?? 0) > 0);
    setText(signs, weights?.signs.join(' ') ?? '');
    signs.setAttribute('title', weights?.signs.join(' ') ?? '');
    signs.classList.toggle('bad', weights?.fault ?? false);
  }

  #sortBy(key: Key): void {
    this.#order(this.#sort === key ? `-${key}` : this.#sort === `-${key}` ? 'index' : key);
  }

  #order(sort: Order): void {
    this.#sort = sort;
    this.#all.forEach(([column], i) => {
      if (column !== undefined) {
        const direction = this.#sort === column ? 'ascending' : this.#sort === `-${column}` ? 'descending' : 'none';
        this.#headers[i].setAttribute('aria-sort', direction);
      }
    });
    void this.refresh(this.#filter, true);
  }

  #move(rank: number): void {
    this.#active = Math.max(0, Math.min(rank, this.#list.count - 1));
    this.#pending = { tensor: this.#blocks.get(this.#active)?.index };
    this.#list.scrollTo(this.#active);
    this.#mark();
    this.#settle();
  }

  #mark(): void {
    this.#list.redraw();
    this.element.setAttribute('aria-activedescendant', `${this.#prefix}-${this.#active}`);
  }

  /** Finds the tensor of a row that was moved to before it had been fetched. */
  #resolve(): void {
    if (this.#pending === undefined || this.#pending.tensor !== undefined) {
      return;
    }
    if (this.#active < this.#list.count) {
      this.#pending.tensor = this.#blocks.get(this.#active)?.index;
      this.#settle();
    } else {
      this.#pending = undefined;
    }
  }

  #choose(): void {
    const tensor = this.#pending?.tensor;
    if (tensor !== undefined && !this.#file.closing.signal.aborted) {
      this.#pending = undefined;
      this.#file.select(tensor);
      this.#list.redraw();
    }
  }

  #key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const sortable = this.#sortable;
    const { page } = this.#list;
    const to = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      j: this.#active + 1,
      k: this.#active - 1,
      PageDown: this.#active + page,
      PageUp: this.#active - page,
      Home: 0,
      End: this.#list.count - 1,
      Enter: this.#active,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.#move(to);
    } else if (event.key === 'Escape') {
      this.#pending = undefined;
    } else if (event.key === 's' || event.key === 'S') {
      // Next column to sort by, or the opposite direction.
      const bare = this.#sort.replace('-', '');
      const at = sortable.findIndex(([key]) => key === bare);
      this.#sortBy(event.key === 'S' && at >= 0 ? sortable[at][0]! : sortable[(at + 1) % sortable.length][0]!);
    }
  }
}
