/** One block of a quantised tensor: its scales, its codes, its values. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, pair, segmented } from '../ui/dom.ts';
import { count, range, real, short } from '../ui/format.ts';
import type { BlockResult } from '../worker/jobs.ts';
import type { TensorDetails } from '../worker/tables.ts';
import { position } from './statistics.ts';

/** Elements per table row. */
const ROW = 16;

export class BlockView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #tensor: TensorDetails;
  readonly #signal: AbortSignal;
  readonly #number = h('input', { type: 'number', min: 0, value: 0, class: 'position', 'aria-label': 'Block', onchange: () => void this.#load(Math.trunc(Number(this.#number.value))) });
  readonly #body = h('div', {});
  #block: BlockResult | undefined;
  #at = 0;
  /** The block asked for last. */
  #wanted = 0;
  #what: 'quant' | 'value' = 'quant';

  constructor(file: OpenFile, tensor: TensorDetails, signal: AbortSignal) {
    this.#file = file;
    this.#tensor = tensor;
    this.#signal = signal;
    const what = segmented(
      'Elements as',
      [
        ['quant', 'Codes'],
        ['value', 'Values'],
      ] as const,
      this.#what,
      (choice) => {
        this.#what = choice;
        this.#draw();
      },
    );
    this.element = h(
      'div',
      { class: 'blocks' },
      h(
        'div',
        { class: 'toolbar' },
        h('label', {}, 'Block ', this.#number),
        button('Previous', () => void this.#load(this.#wanted - 1)),
        button('Next', () => void this.#load(this.#wanted + 1)),
        what,
      ),
      this.#body,
    );
    void this.#load(0);
  }

  async #load(to: number): Promise<void> {
    const most = (this.#block?.blocks ?? 1) - 1;
    const at = Math.max(0, Math.min(to || 0, most));
    this.#wanted = at;
    const block = await this.#file.tasks.run(
      'Reading a block',
      (options) => this.#file.client.with(options).block(this.#file.id, this.#tensor.index, at),
      this.#signal,
    );
    if (at !== this.#wanted) {
      return;
    }
    if (block === undefined) {
      this.#wanted = this.#at;
      if (this.#block === undefined && !this.#signal.aborted) {
        fill(this.#body, h('p', { class: 'empty' }, 'The block has not been read. ', button('Try again', () => void this.#load(at), { class: 'link' })));
      }
    } else {
      [this.#block, this.#at] = [block, at];
      this.#number.max = String(block.blocks - 1);
      this.#draw();
    }
    this.#number.value = String(this.#at);
  }

  #draw(): void {
    const block = this.#block;
    if (block === undefined) {
      return;
    }
    const { at, len, blocks, scale, min, quant, value } = block;
    const size = scale.length;
    const first = BigInt(this.#at) * BigInt(size);
    const least = min.some((one) => one !== 0);
    // Merge neighbours with the same scale and minimum.
    const parts: number[] = [];
    for (let i = 0; i < size; i++) {
      if (i === 0 || !Object.is(scale[i], scale[i - 1]) || !Object.is(min[i], min[i - 1])) {
        parts.push(i);
      }
    }
    const head = (...labels: string[]) => h('thead', {}, h('tr', {}, ...labels.map((label) => h('th', { scope: 'col' }, label))));
    const number = (x: number) => h('td', { class: 'mono', 'data-full': String(x) }, real(x + 0));
    fill(
      this.#body,
      h(
        'dl',
        { class: 'facts-list' },
        pair('Block', `${count(this.#at)} of ${count(blocks)}, ${count(size)} elements in ${len} bytes`),
        pair('Bytes', button(range(at, len), () => this.#file.reveal(at, BigInt(len)), { class: 'link mono' })),
        pair('Elements', h('span', { class: 'mono' }, `${position(first, this.#tensor)} to ${position(first + BigInt(size - 1), this.#tensor)}`)),
        pair('Value', h('span', { class: 'mono' }, least ? 'scale × code + min' : 'scale × code')),
      ),
      h(
        'table',
        { class: 'plain scales', 'aria-label': 'Scales' },
        head('Elements', 'Scale', ...(least ? ['Min'] : [])),
        h(
          'tbody',
          {},
          ...parts.map((i, part) => {
            const end = (parts[part + 1] ?? size) - 1;
            return h('tr', {}, h('th', { scope: 'row', class: 'mono' }, i === end ? String(i) : `${i}–${end}`), number(scale[i]), least && number(min[i]));
          }),
        ),
      ),
      h(
        'div',
        { class: 'block-codes', tabindex: '0', role: 'region', 'aria-label': this.#what === 'quant' ? 'Codes of the block' : 'Values of the block' },
        h(
          'table',
          { class: 'plain codes' },
          h('thead', {}, h('tr', {}, h('td', {}), ...Array.from({ length: Math.min(ROW, size) }, (_, i) => h('th', { scope: 'col' }, `+${i}`)))),
          h(
            'tbody',
            {},
            ...Array.from({ length: Math.ceil(size / ROW) }, (_, row) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row' }, String(row * ROW)),
                ...Array.from(quant.subarray(row * ROW, (row + 1) * ROW), (code, i) => {
                  const element = value[row * ROW + i];
                  const told = `${real(code)} decodes to ${real(element)}`;
                  return h('td', { title: told }, this.#what === 'quant' ? String(code) : short(element + 0));
                }),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
