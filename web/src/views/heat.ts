/** A two-dimensional slice as a picture. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, segmented, setText } from '../ui/dom.ts';
import { count, element, real, short, size } from '../ui/format.ts';
import { bitsOf } from '../worker/scan.ts';
import type { Picture } from '../worker/jobs.ts';
import { accessOf } from '../storage.ts';
import type { TensorDetails } from '../worker/tables.ts';
import { heatColour, type Scale } from './colour.ts';
import { SliceControls, type Slice } from './slice.ts';

/** Cells of the picture in each direction; more are averaged. */
const CELLS = 512;
/** Slices up to this size are read without being asked for. */
const SMALL = 64n << 20n;

type Mode = 'mean' | 'min' | 'max';

export class HeatView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #tensor: TensorDetails;
  readonly #signal: AbortSignal;
  readonly #canvas = h('canvas', {
    class: 'heat-canvas',
    tabindex: '0',
    role: 'img',
    'aria-label': 'Heat map. Arrow keys move over the cells.',
  });
  readonly #scale = h('canvas', { class: 'heat-scale', 'aria-hidden': 'true', width: 256, height: 1 });
  readonly #low = h('span', { class: 'mono' });
  readonly #high = h('span', { class: 'mono' });
  readonly #readout = h('p', { class: 'readout mono', 'aria-live': 'polite' });
  readonly #stage = h('div', { class: 'heat-stage' });
  readonly #controls: SliceControls;
  #picture: Picture | undefined;
  #slice: Slice;
  #mode: Mode = 'mean';
  #row = 0;
  #column = 0;

  constructor(file: OpenFile, tensor: TensorDetails, signal: AbortSignal) {
    this.#file = file;
    this.#tensor = tensor;
    this.#signal = signal;
    this.#controls = new SliceControls(tensor.shape, (slice) => {
      this.#slice = slice;
      void this.#load();
    });
    this.#slice = this.#controls.slice;
    const mode = segmented(
      'Cell',
      [
        ['mean', 'Mean'],
        ['min', 'Min'],
        ['max', 'Max'],
      ] as const,
      'mean',
      (choice) => {
        this.#mode = choice;
        this.#draw();
      },
    );
    const why = accessOf(tensor) === undefined
      ? `${tensor.dtype} has no heat map.`
      : tensor.shape.length < 2
        ? 'A heat map needs two axes. The values are in the next tab.'
        : tensor.layout !== 'row-major' || tensor.elements === 0n
          ? 'Only dense tensors that are not empty have a heat map.'
          : undefined;
    if (why !== undefined) {
      this.element = h('p', { class: 'empty' }, why);
      return;
    }
    this.#controls.element.append(mode);
    this.element = h(
      'div',
      { class: 'heat' },
      this.#controls.element,
      this.#stage,
      this.#readout,
    );
    this.#canvas.addEventListener('pointermove', (event) => this.#point(event));
    this.#canvas.addEventListener('keydown', (event) => this.#key(event));
    const bytes = (this.#slice.rows * this.#slice.columns * BigInt(bitsOf(tensor.dtype))) / 8n;
    if (bytes > SMALL || file.info.remote) {
      fill(this.#stage, h('p', { class: 'empty' }, `${size(bytes)} will be read. `, button('Draw', () => void this.#load(), { class: 'primary' })));
    } else {
      void this.#load();
    }
  }

  async #load(): Promise<void> {
    const { rowAxis, columnAxis, fixed } = this.#slice;
    const picture = await this.#file.tasks.run(
      'Heat map',
      (options) =>
        this.#file.client.with(options).heatmap(this.#file.id, this.#tensor.index, rowAxis, columnAxis, fixed, CELLS, CELLS),
      this.#signal,
    );
    if (picture === undefined) {
      if (!this.#signal.aborted) {
        fill(this.#stage, h('p', { class: 'empty' }, 'Not drawn. ', button('Draw', () => void this.#load())));
      }
      return;
    }
    this.#picture = picture;
    this.#row = Math.min(this.#row, picture.height - 1);
    this.#column = Math.min(this.#column, picture.width - 1);
    fill(
      this.#stage,
      h('div', { class: 'heat-frame' }, this.#canvas),
      h('div', { class: 'heat-key' }, this.#low, this.#scale, this.#high),
    );
    this.#draw();
    this.#read();
  }

  get #cells(): Float32Array {
    return this.#picture![this.#mode];
  }

  #draw(): void {
    const picture = this.#picture;
    if (picture === undefined) {
      return;
    }
    const { height, width, bad } = picture;
    const cells = this.#cells;
    let least = Infinity;
    let greatest = -Infinity;
    for (const value of cells) {
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    // Around zero, both sides get the same scale, so that zero is the middle.
    const bound = Math.max(Math.abs(least), Math.abs(greatest));
    const scale: Scale = least < 0 && greatest > 0 ? { lo: -bound, hi: bound, two: true } : { lo: least, hi: greatest, two: false };
    this.#canvas.width = width;
    this.#canvas.height = height;
    // Square cells, as long as there is room.
    this.#canvas.style.aspectRatio = `${width} / ${height}`;
    this.#canvas.style.width = `min(100%, ${((56 * width) / height).toFixed(2)}vh)`;
    const paint = this.#canvas.getContext('2d')!;
    const image = paint.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < cells.length; i++) {
      pixels[i] = bad[i] > 0 || Number.isNaN(cells[i]) ? 0xffb000ff : heatColour(cells[i], scale);
    }
    paint.putImageData(image, 0, 0);
    const key = this.#scale.getContext('2d')!;
    const strip = key.createImageData(256, 1);
    const steps = new Uint32Array(strip.data.buffer);
    for (let i = 0; i < 256; i++) {
      steps[i] = heatColour(scale.lo + ((scale.hi - scale.lo) * i) / 255, scale);
    }
    key.putImageData(strip, 0, 0);
    setText(this.#low, Number.isFinite(scale.lo) ? short(scale.lo) : '–');
    setText(this.#high, Number.isFinite(scale.hi) ? short(scale.hi) : '–');
    this.#read();
  }

  #point(event: PointerEvent): void {
    const picture = this.#picture;
    if (picture === undefined) {
      return;
    }
    const box = this.#canvas.getBoundingClientRect();
    this.#row = clamp(Math.floor(((event.clientY - box.top) / box.height) * picture.height), picture.height);
    this.#column = clamp(Math.floor(((event.clientX - box.left) / box.width) * picture.width), picture.width);
    this.#read();
  }

  #key(event: KeyboardEvent): void {
    const picture = this.#picture;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (picture === undefined || step === undefined) {
      return;
    }
    event.preventDefault();
    const far = event.shiftKey ? 16 : 1;
    this.#row = clamp(this.#row + step[0] * far, picture.height);
    this.#column = clamp(this.#column + step[1] * far, picture.width);
    this.#read();
  }

  /** What the cell under the cursor stands for. */
  #read(): void {
    const picture = this.#picture;
    if (picture === undefined) {
      return;
    }
    const { height, width, mean, min, max, bad } = picture;
    const i = this.#row * width + this.#column;
    const span = (at: number, cells: number, extent: bigint) => {
      const from = (BigInt(at) * extent) / BigInt(cells);
      const to = (BigInt(at + 1) * extent) / BigInt(cells);
      return to - from <= 1n ? count(from) : `${count(from)}–${count(to - 1n)}`;
    };
    const { rows, columns } = this.#slice;
    const where = `[${span(this.#row, height, rows)}, ${span(this.#column, width, columns)}]`;
    const single = BigInt(height) === rows && BigInt(width) === columns;
    const value = single ? element(mean[i], this.#tensor.dtype) : `mean ${real(mean[i])}, ${element(min[i], this.#tensor.dtype)} to ${element(max[i], this.#tensor.dtype)}`;
    setText(this.#readout, `${where} ${value}${bad[i] > 0 ? `, ${count(bad[i])} not finite` : ''}`);
  }
}

function clamp(value: number, length: number): number {
  return Math.max(0, Math.min(value, length - 1));
}
