/** The visible area of a table. */

export interface Area {
  top: number;
  left: number;
  rows: number;
  columns: number;
}

/** Minimum number of visible rows or columns, unless the table has fewer. */
const LEAST = 8;

export class Viewport {
  readonly whole: Area;
  /** Replaced by a new object on every change. */
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

  /**
   * Zooms around a point given as fractions of the area (factor 0: shows all). Returns whether
   * anything changed.
   */
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

  /** Moves by a number of rows and columns. Returns whether anything changed. */
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
