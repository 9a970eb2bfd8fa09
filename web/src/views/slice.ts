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

export class SliceControls {
  readonly element: HTMLElement;
  readonly #shape: bigint[];
  readonly #fixed: BigUint64Array;
  readonly #onchange: (slice: Slice) => void;
  #rowAxis: number;
  #columnAxis: number;

  constructor(shape: BigUint64Array, onchange: (slice: Slice) => void) {
    this.#shape = Array.from(shape);
    this.#fixed = new BigUint64Array(shape.length);
    this.#onchange = onchange;
    this.#rowAxis = shape.length - 2;
    this.#columnAxis = shape.length - 1;
    this.element = h('div', { class: 'toolbar slice', role: 'group', 'aria-label': 'Slice' });
    this.#build();
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

  #build(): void {
    const rank = this.#shape.length;
    this.element.hidden = rank < 2;
    if (rank < 2) {
      return;
    }
    const axes = (label: string, current: number, set: (axis: number) => void) =>
      h(
        'label',
        {},
        label,
        h(
          'select',
          { 'aria-label': label, onchange: (event: Event) => set(Number((event.target as HTMLSelectElement).value)) },
          ...this.#shape.map((extent, axis) => h('option', { value: axis, selected: axis === current }, `axis ${axis} (${count(extent)})`)),
        ),
      );
    const choose = (row: boolean) => (axis: number) => {
      // Choosing the other's axis swaps the two.
      if (row) {
        this.#columnAxis = axis === this.#columnAxis ? this.#rowAxis : this.#columnAxis;
        this.#rowAxis = axis;
      } else {
        this.#rowAxis = axis === this.#rowAxis ? this.#columnAxis : this.#rowAxis;
        this.#columnAxis = axis;
      }
      this.#build();
      this.#onchange(this.slice);
    };
    this.element.replaceChildren(
      axes('Rows', this.#rowAxis, choose(true)),
      axes('Columns', this.#columnAxis, choose(false)),
      ...this.#shape.flatMap((extent, axis) =>
        axis === this.#rowAxis || axis === this.#columnAxis
          ? []
          : [
              h(
                'label',
                {},
                `Axis ${axis}`,
                h('input', {
                  type: 'number',
                  'aria-label': `Axis ${axis}`,
                  min: 0,
                  max: extent === 0n ? 0n : extent - 1n,
                  value: this.#fixed[axis],
                  class: 'position',
                  onchange: (event: Event) => {
                    const input = event.target as HTMLInputElement;
                    const value = /^\d+$/.test(input.value) ? BigInt(input.value) : 0n;
                    this.#fixed[axis] = value < extent ? value : extent === 0n ? 0n : extent - 1n;
                    input.value = String(this.#fixed[axis]);
                    this.#onchange(this.slice);
                  },
                }),
              ),
            ],
      ),
    );
  }
}
