/** A sortable table of tensors that renders only the visible rows. */

import type { OpenFile } from '../file.ts';
import { shardNumber } from '../names.ts';
import { debounce, h, icon, setText } from '../ui/dom.ts';
import { showWhole } from '../ui/copy.ts';
import { count, counted, exactSize, fit, hex, real, size } from '../ui/format.ts';
import { Grid, type Column } from '../ui/grid.ts';
import { setName } from '../ui/middle.ts';
import { Blocks } from '../ui/virtual.ts';
import type { Choice, Order } from '../worker/select.ts';
import type { Row } from '../worker/tables.ts';

/** A column to sort by. */
type Key = Exclude<Order, `-${string}`>;

/** Which columns follow name, type and shape: storage or measurements. */
export type Columns = 'storage' | 'weights';

const COLUMNS: readonly Column<Key>[] = [
  { key: 'name', label: 'Name', kind: 'name' },
  { key: 'dtype', label: 'Type', kind: 'dtype' },
  { label: 'Shape', kind: 'shape' },
  { key: 'elements', label: 'Elements', kind: 'storage elements number' },
  { key: 'stored', label: 'Stored', kind: 'storage stored number' },
  { key: 'offset', label: 'Offset', kind: 'storage offset number' },
  { label: 'Encoding', kind: 'storage encoding' },
  { key: 'min', label: 'Min', kind: 'weights min number' },
  { key: 'max', label: 'Max', kind: 'weights max number' },
  { key: 'mean', label: 'Mean', kind: 'weights mean number' },
  { key: 'deviation', label: 'Std', kind: 'weights std number' },
  { key: 'outlier', label: 'Outlier', kind: 'weights outlier number' },
  { key: 'zeros', label: 'Zeros', kind: 'weights zeros number' },
  { key: 'nans', label: 'NaN', kind: 'weights nan number' },
  { label: 'Signs', kind: 'weights signs' },
];

/** Maximum characters of a number in a column. */
const ROOM = 8;

export class TensorTable {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #grid: Grid<Key>;
  readonly #blocks: Blocks<Row>;
  readonly #settle = debounce(60, () => this.#choose());
  #sort: Order = 'index';
  #columns: Columns = 'storage';
  #filter: Choice = {};
  /** The user's latest move until it selects a tensor, which is unknown while its row is being fetched. */
  #pending: { tensor: number | undefined } | undefined;
  /** Width of the name column in characters; it only grows. */
  #widest = 24;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#blocks = new Blocks(
      async (from, to) => (await file.api.rows(file.id, from, to, this.#sort, this.#filter)).rows,
      () => {
        this.#grid.list.redraw();
        this.#resolve();
      },
    );
    // For multi-file models, the file column replaces the encoding column.
    const several: Column<Key> = { key: 'file', label: 'File', kind: 'storage encoding' };
    this.#grid = new Grid<Key>({
      name: 'tensor-table',
      label: file.isTable ? 'Columns' : 'Tensors',
      columns: file.parts === undefined ? COLUMNS : COLUMNS.map((column) => (column.label === 'Encoding' ? several : column)),
      inside: ({ kind }) => (kind === 'name' ? [h('bdi', {}), icon('violation')] : []),
      draw: (row, rank) => this.#draw(row, rank),
      shown: (from, to) => this.#blocks.want(from, to),
      moved: (rank) => this.#moved(rank),
      // Only moves by keys follow each other quickly.
      entered: (rank) => {
        this.#moved(rank);
        this.#choose();
      },
      clicked: () => this.#choose(),
      pressed: (key) => {
        if (key === 'Escape') {
          this.#pending = undefined;
        }
        return false;
      },
      sort: (key) => this.#sortBy(key),
    });
    this.element = this.#grid.element;
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
    const hidden = columns === 'storage' ? 'weights' : 'storage';
    if (COLUMNS.some(({ key, kind }) => key === this.#sort.replace('-', '') && kind.startsWith(hidden))) {
      // The sorted column is no longer shown.
      this.#order('index');
    }
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
    const from = Math.floor(this.#grid.list.first / Blocks.SIZE);
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
    this.#widest = Math.min(72, rows.reduce((widest, row) => Math.max(widest, row.name.length), this.#widest));
    this.element.style.setProperty('--name', String(this.#widest));
    this.#grid.count = total;
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
      this.#grid.active = rank;
      if (scroll) {
        this.#grid.list.scrollTo(rank);
      }
    }
    this.#grid.list.redraw();
  }

  #draw(element: HTMLElement, rank: number): void {
    const row = this.#blocks.get(rank);
    const chosen = row !== undefined && row.index === this.#file.tensor;
    element.setAttribute('aria-selected', String(chosen));
    const [name, dtype, shape, elements, stored, offset, encoding, ...measured] = element.children;
    setName(name.firstElementChild!, row?.name ?? '');
    name.firstElementChild!.setAttribute('title', row?.name ?? '');
    const blank = row !== undefined && row.name.trim() === '';
    name.classList.toggle('unnamed', blank);
    name.setAttribute('data-said', blank ? (row.name === '' ? '(empty name)' : `(${counted(row.name.length, 'space')})`) : '');
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
    setText(encoding, row === undefined ? '' : row.status !== 'sound' ? row.status : file === undefined ? row.encoding : shardNumber(file));
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
    const bare = sort === 'index' ? undefined : (sort.replace('-', '') as Key);
    this.#grid.order(bare, sort.startsWith('-') ? 'descending' : 'ascending');
    void this.refresh(this.#filter, true);
  }

  #moved(rank: number): void {
    this.#pending = { tensor: this.#blocks.get(rank)?.index };
    this.#settle();
  }

  /** Finds the tensor of a row that was moved to before it had been fetched. */
  #resolve(): void {
    if (this.#pending === undefined || this.#pending.tensor !== undefined) {
      return;
    }
    if (this.#grid.active < this.#grid.count) {
      this.#pending.tensor = this.#blocks.get(this.#grid.active)?.index;
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
      this.#grid.list.redraw();
    }
  }
}
