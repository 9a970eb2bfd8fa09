/** Which two axes of a tensor are shown, and the position on the others. */

import { h } from '../ui/dom.ts';
import { count } from '../ui/format.ts';

/** A two-dimensional slice of a tensor in row-major order. */
export interface Slice {
  /** Axes, or -1 if there is none. */
  rowAxis: number;
  columnAxis: number;
  fixed: BigUint64Array;
  rows: bigint;
  columns: bigint;
  /** Strides in elements. */
  rowStep: bigint;
  columnStep: bigint;
  /** Index of the first element. */
  from: bigint;
}

/** The two longest axes in their order; of equal ones the last. */
export function longestAxes(shape: BigUint64Array): [number, number] {
  const [one, other] = Array.from(shape, Number)
    .map((extent, axis) => ({ extent, axis }))
    .sort((a, b) => b.extent - a.extent || b.axis - a.axis)
    .map(({ axis }) => axis);
  return [Math.min(one, other), Math.max(one, other)];
}

export class SliceControls {
  readonly element: HTMLElement;
  readonly #shape: bigint[];
  readonly #fixed: BigUint64Array;
  readonly #onchange: (slice: Slice) => void;
  readonly #rows: HTMLSelectElement;
  readonly #columns: HTMLSelectElement;
  /** The position on each axis; those of the two axes shown are hidden. */
  readonly #positions: HTMLElement[];
  #rowAxis: number;
  #columnAxis: number;

  /** Starts with the last two axes, or with these. */
  constructor(shape: BigUint64Array, onchange: (slice: Slice) => void, [rowAxis, columnAxis] = [shape.length - 2, shape.length - 1]) {
    this.#shape = Array.from(shape);
    this.#fixed = new BigUint64Array(shape.length);
    this.#onchange = onchange;
    this.#rowAxis = rowAxis;
    this.#columnAxis = columnAxis;
    // Choosing the other's axis swaps the two.
    this.#rows = this.#axes('Rows', (axis) => this.#choose(axis, axis === this.#columnAxis ? this.#rowAxis : this.#columnAxis));
    this.#columns = this.#axes('Columns', (axis) => this.#choose(axis === this.#rowAxis ? this.#columnAxis : this.#rowAxis, axis));
    this.#positions = this.#shape.map((extent, axis) => this.#position(extent, axis));
    this.element = h(
      'div',
      { class: 'toolbar slice', role: 'group', 'aria-label': 'Slice', hidden: shape.length < 2 },
      h('label', {}, 'Rows', this.#rows),
      h('label', {}, 'Columns', this.#columns),
      ...this.#positions,
    );
    this.#show();
  }

  get slice(): Slice {
    const strides: bigint[] = [];
    let stride = 1n;
    for (let axis = this.#shape.length - 1; axis >= 0; axis--) {
      strides[axis] = stride;
      stride *= this.#shape[axis];
    }
    let from = 0n;
    this.#shape.forEach((_, axis) => {
      if (axis !== this.#rowAxis && axis !== this.#columnAxis) {
        from += this.#fixed[axis] * strides[axis];
      }
    });
    const at = (axis: number) => ({
      extent: axis < 0 ? 1n : this.#shape[axis],
      step: axis < 0 ? 0n : strides[axis],
    });
    const row = at(this.#rowAxis);
    const column = at(this.#columnAxis);
    return {
      rowAxis: this.#rowAxis,
      columnAxis: this.#columnAxis,
      fixed: this.#fixed,
      rows: row.extent,
      columns: column.extent,
      rowStep: row.step,
      columnStep: column.step,
      from,
    };
  }

  #axes(label: string, choose: (axis: number) => void): HTMLSelectElement {
    return h(
      'select',
      { 'aria-label': label, onchange: (event: Event) => choose(Number((event.target as HTMLSelectElement).value)) },
      ...this.#shape.map((extent, axis) => h('option', { value: axis }, `axis ${axis} (${count(extent)})`)),
    );
  }

  #position(extent: bigint, axis: number): HTMLElement {
    const last = extent === 0n ? 0n : extent - 1n;
    return h(
      'label',
      {},
      `Axis ${axis}`,
      h('input', {
        type: 'number',
        'aria-label': `Axis ${axis}`,
        min: 0,
        max: last,
        value: 0,
        class: 'position',
        onchange: (event: Event) => {
          const input = event.target as HTMLInputElement;
          const value = /^\d+$/.test(input.value) ? BigInt(input.value) : 0n;
          this.#fixed[axis] = value < last ? value : last;
          input.value = String(this.#fixed[axis]);
          this.#onchange(this.slice);
        },
      }),
    );
  }

  #choose(rowAxis: number, columnAxis: number): void {
    [this.#rowAxis, this.#columnAxis] = [rowAxis, columnAxis];
    this.#show();
    this.#onchange(this.slice);
  }

  #show(): void {
    this.#rows.value = String(this.#rowAxis);
    this.#columns.value = String(this.#columnAxis);
    this.#positions.forEach((position, axis) => {
      position.hidden = axis === this.#rowAxis || axis === this.#columnAxis;
    });
  }
}
