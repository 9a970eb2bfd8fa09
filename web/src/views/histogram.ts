/** A histogram on a canvas, with a table for screen readers. */

import { fill, h, setText } from '../ui/dom.ts';
import { count, counted, real, short } from '../ui/format.ts';
import type { StatisticsResult } from '../worker/jobs.ts';

const FOOT = 18;
/** The exponent of the first magnitude bin. */
const FIRST_POWER = -1075;

interface Bin {
  lo: number;
  hi: number;
  count: number;
}

/** Share of the width next to each end that its label takes. */
const MARGIN = 0.15;

export class Histogram {
  readonly element: HTMLElement;
  readonly #canvas = h('canvas', { 'aria-hidden': 'true' });
  readonly #readout = h('p', { class: 'readout mono' });
  readonly #twin = h('details', { class: 'twin' });
  readonly #result: StatisticsResult;
  #scale: 'linear' | 'log' = 'linear';
  #bins: Bin[] = [];
  #marked = -1;

  constructor(result: StatisticsResult) {
    this.#result = result;
    this.element = h('div', { class: 'histogram' }, h('div', { class: 'plot' }, this.#canvas), this.#readout, this.#twin);
    this.#canvas.addEventListener('pointermove', (event) => {
      const box = this.#canvas.getBoundingClientRect();
      this.#mark(Math.floor(((event.clientX - box.left) / box.width) * this.#bins.length));
    });
    this.#canvas.addEventListener('pointerleave', () => this.#mark(-1));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  set scale(scale: 'linear' | 'log') {
    this.#scale = scale;
    this.#bins = scale === 'linear' ? this.#linear() : this.#logarithmic();
    this.element.dataset.scale = scale;
    // A single bar would say less.
    this.#canvas.parentElement!.hidden = this.#constant !== undefined;
    const rows = this.#bins.filter(({ count }) => count > 0);
    fill(
      this.#twin,
      h('summary', {}, 'Show as table'),
      h(
        'table',
        { class: 'plain' },
        h('thead', {}, h('tr', {}, ...['From', 'To', 'Elements'].map((label) => h('th', { scope: 'col' }, label)))),
        h('tbody', {}, ...rows.map(({ lo, hi, count: n }) => h('tr', {}, h('td', {}, real(lo)), h('td', {}, real(hi)), h('td', {}, count(n))))),
      ),
    );
    this.#mark(-1);
    this.draw();
  }

  /** The value of all finite elements, if they have the same. */
  get #constant(): number | undefined {
    const { summary } = this.#result;
    return summary.min === summary.max ? summary.min : undefined;
  }

  #linear(): Bin[] {
    const { bins, summary } = this.#result;
    if (bins.length === 0) {
      const n = Number(summary.count - summary.nans - summary.infinities);
      return n === 0 ? [] : [{ lo: summary.min, hi: summary.max, count: n }];
    }
    const step = (summary.max - summary.min) / bins.length;
    return Array.from(bins, (n, i) => ({ lo: summary.min + i * step, hi: summary.min + (i + 1) * step, count: n }));
  }

  /** Negative bins by falling magnitude, zero, positive bins by rising magnitude. */
  #logarithmic(): Bin[] {
    const { magnitudes, summary } = this.#result;
    const { first, negative, positive } = magnitudes;
    const bound = (i: number) => 2 ** (first + i + FIRST_POWER);
    const bins: Bin[] = [];
    const has = (side: Float64Array) => side.some((n) => n > 0);
    if (has(negative)) {
      for (let i = negative.length - 1; i >= 0; i--) {
        bins.push({ lo: -bound(i + 1), hi: -bound(i), count: negative[i] });
      }
    }
    if (summary.zeros > 0n) {
      bins.push({ lo: 0, hi: 0, count: Number(summary.zeros) });
    }
    if (has(positive)) {
      positive.forEach((n, i) => bins.push({ lo: bound(i), hi: bound(i + 1), count: n }));
    }
    return bins;
  }

  /** The share of the width at which 0 is; `undefined` if it is outside. */
  #zero(): number | undefined {
    const [lo, hi] = [this.#bins[0].lo, this.#bins.at(-1)!.hi];
    if (lo >= 0 || hi <= 0) {
      return undefined;
    }
    if (this.#scale === 'linear') {
      return -lo / (hi - lo);
    }
    const at = this.#bins.findIndex((bin) => bin.hi >= 0 && bin.lo >= 0);
    return (at + (this.#bins[at].hi === 0 ? 0.5 : 0)) / this.#bins.length;
  }

  #mark(index: number): void {
    this.#marked = index;
    const bin = this.#bins[index];
    const { summary } = this.#result;
    const most = this.#bins.reduce((best, one) => (one.count > best.count ? one : best), { lo: 0, hi: 0, count: 0 });
    setText(
      this.#readout,
      bin !== undefined
        ? `${real(bin.lo)} to ${real(bin.hi)}: ${count(bin.count)}`
        : this.#bins.length === 0
          ? 'No finite elements'
          : this.#constant !== undefined
            ? `All finite elements are ${real(this.#constant)}`
          : `${counted(summary.count, 'element')}, at most ${count(most.count)} per bin`,
    );
    this.draw();
  }

  /** Draws the histogram; call it again when the colours change. */
  draw(): void {
    const width = this.element.clientWidth;
    const height = this.#canvas.clientHeight;
    if (width === 0 || height === 0) {
      return;
    }
    const ratio = devicePixelRatio || 1;
    this.#canvas.width = Math.floor(width * ratio);
    this.#canvas.height = Math.floor(height * ratio);
    const paint = this.#canvas.getContext('2d')!;
    paint.scale(ratio, ratio);
    const style = getComputedStyle(this.#canvas);
    const most = Math.max(1, ...this.#bins.map((bin) => bin.count));
    const tall = height - FOOT;
    const step = width / Math.max(1, this.#bins.length);
    this.#bins.forEach((bin, i) => {
      if (bin.count === 0) {
        return;
      }
      const high = Math.max(1, (bin.count / most) * (tall - 4));
      const left = Math.round(i * step);
      const right = Math.max(left + 1, Math.round((i + 1) * step) - (step > 3 ? 1 : 0));
      paint.fillStyle = style.getPropertyValue(i === this.#marked ? '--text' : bin.lo === 0 && bin.hi === 0 ? '--muted' : '--accent');
      paint.fillRect(left, tall - high, right - left, high);
    });
    paint.fillStyle = style.getPropertyValue('--line');
    paint.fillRect(0, tall, width, 1);
    paint.fillStyle = style.getPropertyValue('--muted');
    paint.font = `11px ${style.fontFamily}`;
    paint.textBaseline = 'bottom';
    if (this.#bins.length > 0) {
      const ends: [number, CanvasTextAlign, string][] = [
        [0, 'left', short(this.#bins[0].lo)],
        [width, 'right', short(this.#bins.at(-1)!.hi)],
      ];
      const zero = this.#zero();
      const middle = this.#bins[Math.floor(this.#bins.length / 2)];
      const inside = zero !== undefined && zero > MARGIN && zero < 1 - MARGIN;
      ends.push(inside ? [width * zero, 'center', '0'] : [width / 2, 'center', short(this.#scale === 'linear' ? (this.#bins[0].lo + this.#bins.at(-1)!.hi) / 2 : middle.lo)]);
      for (const [x, align, text] of ends) {
        paint.textAlign = align;
        paint.fillText(text, x, height);
      }
    }
  }
}
