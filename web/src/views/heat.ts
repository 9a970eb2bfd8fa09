/** A two-dimensional slice as a zoomable picture. */

import type { OpenFile } from '../file.ts';
import { button, debounce, fill, h, segmented, setText } from '../ui/dom.ts';
import { count, element, real, short, size } from '../ui/format.ts';
import { refill } from '../ui/redraw.ts';
import { bitsOf } from '../worker/scan.ts';
import type { Picture } from '../worker/jobs.ts';
import { accessOf, hasBlocks } from '../storage.ts';
import type { TensorDetails } from '../worker/tables.ts';
import { COLOURS, clipOf, paintCells, rangeOf, type Colours, type Scale } from './colour.ts';
import { SliceControls, longestAxes, type Slice } from './slice.ts';
import { statisticsOf } from './statistics.ts';
import { Viewport, type Area } from './viewport.ts';

/** Maximum cells of the picture in each direction; larger areas are averaged. */
const CELLS = 512;
/** Slices up to this size are read without asking. */
const SMALL = 64n << 20n;
/** Milliseconds without movement before the visible area is read again. */
const SETTLED = 120;

type Mode = 'mean' | 'min' | 'max';

/** A picture and the area of the slice it shows. */
interface Drawn {
  picture: Picture;
  area: Area;
  /** The rendered pixels. */
  pixels: HTMLCanvasElement;
}

export class HeatView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #tensor: TensorDetails;
  readonly #signal: AbortSignal;
  readonly #canvas = h('canvas', {
    class: 'heat-canvas',
    tabindex: '0',
    role: 'img',
    'aria-label': 'Heat map. Arrow keys move over the cells, + and - zoom, 0 shows all.',
  });
  readonly #scale = h('canvas', { class: 'heat-scale', 'aria-hidden': 'true', width: 256, height: 1 });
  readonly #low = h('span', { class: 'mono' });
  readonly #high = h('span', { class: 'mono' });
  readonly #readout = h('p', { class: 'readout mono', 'aria-live': 'polite' });
  readonly #part = h('span', { class: 'mono heat-part' });
  readonly #cell = h('span', { class: 'heat-part heat-cell' });
  readonly #stage = h('div', { class: 'heat-stage' });
  readonly #zoom = h('div', { class: 'heat-zoom' });
  readonly #choice = h(
    'select',
    { 'aria-label': 'Colours', onchange: () => void this.#recolour(this.#choice.value as Colours) },
    ...Object.entries(COLOURS).map(([value, label]) => h('option', { value }, label)),
  );
  readonly #controls: SliceControls;
  readonly #later = debounce(SETTLED, () => void this.#load());
  #viewport: Viewport;
  /** The picture of the whole slice, and the one of the visible area. */
  #whole: Drawn | undefined;
  #drawn: Drawn | undefined;
  #slice: Slice;
  #mode: Mode = 'mean';
  #scales = false;
  /** `undefined`: chosen to suit the values. */
  #colours: Colours | undefined;
  /** Quantiles of the elements, for clipping. */
  #quantiles: Float64Array | undefined;
  #loading = new AbortController();
  #row = 0;
  #column = 0;

  constructor(file: OpenFile, tensor: TensorDetails, signal: AbortSignal) {
    this.#file = file;
    this.#tensor = tensor;
    this.#signal = signal;
    const axes = tensor.shape.length < 2 ? undefined : longestAxes(tensor.shape);
    this.#controls = new SliceControls(
      tensor.shape,
      (slice) => {
        this.#slice = slice;
        this.#restart();
      },
      axes,
    );
    this.#slice = this.#controls.slice;
    this.#viewport = new Viewport(this.#slice.rows, this.#slice.columns);
    const why = accessOf(tensor) === undefined
      ? `Heat maps are not available for ${tensor.dtype}.`
      : tensor.shape.length < 2
        ? 'A heat map needs at least two axes. See the Values tab.'
        : tensor.layout !== 'row-major' || tensor.elements === 0n
          ? 'Heat maps are only available for dense, non-empty tensors.'
          : undefined;
    if (why !== undefined) {
      this.element = h('p', { class: 'empty' }, why);
      return;
    }
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
        this.#paint();
      },
    );
    const what = segmented(
      'Show',
      [
        ['values', 'Values'],
        ['scales', 'Scales'],
      ] as const,
      'values',
      (choice) => {
        this.#scales = choice === 'scales';
        this.#restart();
        // Values and scales are clipped in different ways.
        void this.#recolour(this.#colours);
      },
    );
    what.hidden = !hasBlocks(tensor);
    this.#controls.element.append(mode, what);
    fill(
      this.#zoom,
      button('Zoom in', () => this.#zoomBy(2)),
      button('Zoom out', () => this.#zoomBy(0.5)),
      button('Show all', () => this.#zoomBy(0)),
      this.#part,
      this.#cell,
    );
    this.element = h('div', { class: 'heat' }, this.#controls.element, this.#stage, this.#readout);
    this.#canvas.addEventListener('pointermove', (event) => this.#point(event));
    this.#canvas.addEventListener('pointerdown', (event) => this.#grab(event));
    this.#canvas.addEventListener('pointerup', () => (this.#held = undefined));
    this.#canvas.addEventListener('pointercancel', () => (this.#held = undefined));
    this.#canvas.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.#canvas.addEventListener('keydown', (event) => this.#key(event));
    void file.api.prepareComputing();
    const bytes = (this.#slice.rows * this.#slice.columns * BigInt(bitsOf(tensor.dtype))) / 8n;
    if (this.#file.pictures.get(this.#name()) === undefined && (bytes > SMALL || file.info.remote)) {
      fill(this.#stage, h('p', { class: 'empty' }, `${size(bytes)} will be read. `, button('Draw', () => void this.#load(), { class: 'primary' })));
    } else {
      void this.#load();
    }
  }

  /** The cache key of the picture to show. */
  #name(): string {
    const { rowAxis, columnAxis, fixed } = this.#slice;
    return [this.#tensor.index, rowAxis, columnAxis, ...fixed, this.#scales, ...this.#viewport.window].join();
  }

  /** Starts over with the whole slice, after the axes or the kind of values changed. */
  #restart(): void {
    this.#viewport = new Viewport(this.#slice.rows, this.#slice.columns);
    this.#whole = undefined;
    this.#drawn = undefined;
    void this.#load();
  }

  async #load(): Promise<void> {
    this.#loading.abort();
    const loading = new AbortController();
    this.#loading = loading;
    const { area, isWhole } = this.#viewport;
    const name = this.#name();
    const { rowAxis, columnAxis, fixed } = this.#slice;
    const options = { window: this.#viewport.window, scales: this.#scales };
    const { index } = this.#tensor;
    const picture =
      this.#file.pictures.get(name) ??
      (await this.#file.tasks.run(
        'Heat map',
        (calling) => this.#file.client.with(calling).heatmap(this.#file.id, index, rowAxis, columnAxis, fixed, CELLS, CELLS, options),
        AbortSignal.any([this.#signal, loading.signal]),
      ));
    if (loading.signal.aborted || this.#signal.aborted) {
      return;
    }
    if (picture === undefined) {
      if (this.#drawn === undefined) {
        refill(this.#stage, h('p', { class: 'empty' }, 'Not drawn. ', button('Draw', () => void this.#load())));
      }
      return;
    }
    if (this.#file.pictures.get(name) === undefined) {
      this.#file.pictures.set(name, picture);
    }
    this.#drawn = { picture, area, pixels: h('canvas', { width: picture.width, height: picture.height }) };
    if (isWhole) {
      this.#whole = this.#drawn;
    }
    this.#row = Math.min(this.#row, picture.height - 1);
    this.#column = Math.min(this.#column, picture.width - 1);
    if (!this.#canvas.isConnected) {
      refill(
        this.#stage,
        h('div', { class: 'heat-frame' }, this.#canvas),
        h('div', { class: 'heat-key' }, this.#low, this.#scale, this.#high, this.#choice),
        this.#zoom,
      );
    }
    this.#paint();
  }

  async #recolour(colours: Colours | undefined): Promise<void> {
    const before = this.#colours;
    this.#colours = colours;
    if (this.#missing(colours)) {
      this.#quantiles = (await statisticsOf(this.#file, this.#tensor.index, this.#signal))?.quantiles;
      if (this.#colours === colours && this.#missing(colours)) {
        this.#colours = before;
      }
    }
    this.#paint();
  }

  /** Whether these colours need the quantiles and they are not known. */
  #missing(colours: Colours | undefined): boolean {
    return !this.#scales && clipOf(colours) !== undefined && this.#quantiles === undefined;
  }

  /** The value range of the colours: that of the whole slice, whatever the zoom. */
  #range(): Scale & { colours: Colours } {
    const cells = (this.#whole ?? this.#drawn)!.picture[this.#mode];
    return rangeOf(cells, this.#missing(this.#colours) ? undefined : this.#colours, this.#scales ? undefined : this.#quantiles);
  }

  /** Colours the pictures. */
  #paint(): void {
    if (this.#drawn === undefined) {
      return;
    }
    const scale = this.#range();
    this.#choice.value = scale.colours;
    for (const one of new Set([this.#whole, this.#drawn])) {
      if (one !== undefined) {
        const { [this.#mode]: cells, bad } = one.picture;
        paintCells(one.pixels, cells, scale, bad);
      }
    }
    const { lo, hi } = scale;
    paintCells(this.#scale, Float64Array.from({ length: 256 }, (_, i) => lo + ((hi - lo) * i) / 255), scale);
    const clipped = clipOf(scale.colours) !== undefined;
    const end = (sign: string, value: number) => (Number.isFinite(value) ? `${clipped ? sign : ''}${short(value)}` : '–');
    setText(this.#low, end('≤ ', lo));
    setText(this.#high, end('≥ ', hi));
    this.#show();
  }

  /** Draws what is available of the visible area. */
  #show(): void {
    const { picture } = this.#drawn!;
    const { area, whole, isWhole } = this.#viewport;
    const [high, wide] = [Math.min(whole.rows, CELLS), Math.min(whole.columns, CELLS)];
    this.#canvas.width = picture.width;
    this.#canvas.height = picture.height;
    // All of the width, and as high as cells are wide while there is room; zooming does not change the frame.
    this.#canvas.style.aspectRatio = `${wide} / ${high}`;
    this.#canvas.toggleAttribute('data-near', !isWhole);
    const paint = this.#canvas.getContext('2d')!;
    paint.imageSmoothingEnabled = false;
    for (const one of new Set([this.#whole, this.#drawn])) {
      if (one !== undefined) {
        const [x, y] = [picture.width / area.columns, picture.height / area.rows];
        const { area: its, pixels } = one;
        paint.drawImage(pixels, (its.left - area.left) * x, (its.top - area.top) * y, its.columns * x, its.rows * y);
      }
    }
    const { top, left, rows, columns } = area;
    const span = (noun: string, from: number, len: number) => (len === 1 ? `${noun} ${count(from)}` : `${noun}s ${count(from)}–${count(from + len - 1)}`);
    setText(this.#part, isWhole ? '' : `${span('row', top, rows)}, ${span('column', left, columns)}`);
    const [down, across] = [rows / picture.height, columns / picture.width].map((each) => Number(each.toPrecision(3)));
    setText(this.#cell, down === 1 && across === 1 ? 'a cell is an element' : `a cell is ${count(down)} × ${count(across)} elements`);
    this.#read();
  }

  /**
   * Zooms around a point given as fractions of the picture, which stays in place; `factor` 0 shows
   * all.
   */
  #zoomBy(factor: number, x = 0.5, y = 0.5): boolean {
    if (!this.#viewport.zoom(factor, x, y)) {
      return false;
    }
    this.#moved();
    return true;
  }

  #moved(): void {
    // Draw a cached picture at once; read others after a pause.
    if (this.#file.pictures.get(this.#name()) !== undefined) {
      void this.#load();
      return;
    }
    if (this.#drawn !== undefined) {
      this.#show();
    }
    this.#later();
  }

  #wheel(event: WheelEvent): void {
    const box = this.#canvas.getBoundingClientRect();
    const pixels = event.deltaMode === 0 ? event.deltaY : event.deltaY * 40;
    const at = (share: number, cells: number) => clamp(Math.floor(share * cells), cells) / Math.max(1, cells - 1);
    const { width, height } = this.#canvas;
    const [x, y] = [at((event.clientX - box.left) / box.width, width), at((event.clientY - box.top) / box.height, height)];
    if (this.#zoomBy(2 ** (-pixels / 200), x, y) || !this.#viewport.isWhole) {
      event.preventDefault();
    }
  }

  #held: { x: number; y: number } | undefined;

  #grab(event: PointerEvent): void {
    if (event.button === 0 && !this.#viewport.isWhole) {
      this.#held = { x: event.clientX, y: event.clientY };
      this.#canvas.setPointerCapture(event.pointerId);
    }
  }

  #point(event: PointerEvent): void {
    const picture = this.#drawn?.picture;
    if (picture === undefined) {
      return;
    }
    const box = this.#canvas.getBoundingClientRect();
    if (this.#held !== undefined) {
      const { area } = this.#viewport;
      const [columns, rows] = [(this.#held.x - event.clientX) / box.width, (this.#held.y - event.clientY) / box.height];
      const step = { rows: Math.round(rows * area.rows), columns: Math.round(columns * area.columns) };
      if (this.#viewport.pan(step.rows, step.columns)) {
        // Carry the rounding remainder over to the next step.
        this.#held = {
          x: step.columns === 0 ? this.#held.x : event.clientX,
          y: step.rows === 0 ? this.#held.y : event.clientY,
        };
        this.#moved();
      }
      return;
    }
    this.#row = clamp(Math.floor(((event.clientY - box.top) / box.height) * picture.height), picture.height);
    this.#column = clamp(Math.floor(((event.clientX - box.left) / box.width) * picture.width), picture.width);
    this.#read();
  }

  #key(event: KeyboardEvent): void {
    const picture = this.#drawn?.picture;
    if (picture === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const { width, height } = picture;
    const factor = { '+': 2, '=': 2, '-': 0.5, '0': 0 }[event.key];
    if (factor !== undefined) {
      this.#zoomBy(factor, this.#column / Math.max(1, width - 1), this.#row / Math.max(1, height - 1));
    }
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step !== undefined) {
      const far = event.shiftKey ? 16 : 1;
      const [row, column] = [this.#row + step[0] * far, this.#column + step[1] * far];
      [this.#row, this.#column] = [clamp(row, height), clamp(column, width)];
      // Moving beyond the edge pans the picture.
      const { area } = this.#viewport;
      const cells = (beyond: number, all: number, many: number) => Math.sign(beyond) * Math.ceil((Math.abs(beyond) * all) / many);
      if (this.#viewport.pan(cells(row - this.#row, area.rows, height), cells(column - this.#column, area.columns, width))) {
        this.#moved();
      } else {
        this.#read();
      }
    }
    if (factor !== undefined || step !== undefined) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** Shows the value of the cell under the cursor. */
  #read(): void {
    const drawn = this.#drawn;
    if (drawn === undefined || drawn.area !== this.#viewport.area) {
      return;
    }
    const { height, width, mean, min, max, bad } = drawn.picture;
    const { top, left, rows, columns } = drawn.area;
    const i = this.#row * width + this.#column;
    const span = (first: number, at: number, cells: number, extent: number) => {
      // The first element of a cell is the first at or after its edge.
      const from = first + Math.ceil((at * extent) / cells);
      const to = first + Math.ceil(((at + 1) * extent) / cells);
      return to - from <= 1 ? count(from) : `${count(from)}–${count(to - 1)}`;
    };
    const where = `[${span(top, this.#row, height, rows)}, ${span(left, this.#column, width, columns)}]`;
    const single = height === rows && width === columns;
    const dtype = this.#scales ? 'f32' : this.#tensor.dtype;
    const value = single ? element(mean[i], dtype) : `mean ${real(mean[i])}, ${element(min[i], dtype)} to ${element(max[i], dtype)}`;
    setText(this.#readout, `${where} ${this.#scales ? 'scale ' : ''}${value}${bad[i] > 0 ? `, ${count(bad[i])} not finite` : ''}`);
  }
}

function clamp(value: number, length: number): number {
  return Math.max(0, Math.min(value, length - 1));
}
