/** The part of a table that is looked at. */

export interface Area {
  top: number;
  left: number;
  rows: number;
  columns: number;
}

/** Rows or columns that are seen at least, as far as there are so many. */
const LEAST = 8;

export class Viewport {
  readonly whole: Area;
  /** Another object whenever it is another part. */
  area: Area;

  constructor(rows: bigint, columns: bigint) {
    this.whole = { top: 0, left: 0, rows: Number(rows), columns: Number(columns) };
    this.area = this.whole;
  }

  get isWhole(): boolean {
    return this.area.rows === this.whole.rows && this.area.columns === this.whole.columns;
  }

  /** First row, row after the last, first column, column after the last. */
  get window(): bigint[] {
    const { top, left, rows, columns } = this.area;
    return [top, top + rows, left, left + columns].map(BigInt);
  }

  /** Looks nearer (0: at all); the place at these shares of the part stays. Says whether anything changes. */
  zoom(factor: number, x: number, y: number): boolean {
    const { whole, area } = this;
    const nearer = factor > 1;
    if (nearer && Math.max(area.rows, area.columns) <= LEAST) {
      return false;
    }
    const scaled = (now: number, all: number) => (factor === 0 ? all : Math.max(1, Math.min(all, nearer ? Math.floor(now / factor) : Math.ceil(now / factor))));
    const [rows, columns] = [scaled(area.rows, whole.rows), scaled(area.columns, whole.columns)];
    return this.#move(area.top + Math.round((area.rows - rows) * y), area.left + Math.round((area.columns - columns) * x), rows, columns);
  }

  /** Moves by so many rows and columns. Says whether anything changes. */
  pan(rows: number, columns: number): boolean {
    const { area } = this;
    return this.#move(area.top + rows, area.left + columns, area.rows, area.columns);
  }

  #move(top: number, left: number, rows: number, columns: number): boolean {
    const { whole, area } = this;
    const next = {
      top: Math.max(0, Math.min(top, whole.rows - rows)),
      left: Math.max(0, Math.min(left, whole.columns - columns)),
      rows,
      columns,
    };
    if (next.top === area.top && next.left === area.left && rows === area.rows && columns === area.columns) {
      return false;
    }
    this.area = next;
    return true;
  }
}
