/** A list of rows of one height of which only the visible ones exist. */

import { h } from './dom.ts';

/** Browsers cap the height of an element; beyond this the scrollbar is scaled. */
const MAX_HEIGHT = 8_000_000;
/** Rows drawn beyond each edge. */
const MARGIN = 6;

export interface VirtualOptions {
  rowHeight: number;
  /** Makes the element of a row; it is used for many rows. */
  make(): HTMLElement;
  /** Puts row `index` into an element. */
  draw(element: HTMLElement, index: number): void;
  /** The rows that are on screen have changed. */
  shown?(from: number, to: number): void;
}

export class VirtualList {
  /** The scroller. */
  readonly element: HTMLElement;
  readonly #spacer = h('div', { class: 'v-spacer', role: 'presentation' });
  readonly #layer = h('div', { class: 'v-layer', role: 'presentation' });
  readonly #options: VirtualOptions;
  readonly #pool: HTMLElement[] = [];
  #count = 0;
  #height = 0;
  /** First visible row, with a fraction; what counts when the bar is scaled. */
  #top = 0;
  #lastScroll = 0;
  #frame = 0;

  constructor(options: VirtualOptions, attributes: Record<string, unknown> = {}) {
    this.#options = options;
    this.element = h('div', { class: 'v-list', tabindex: '0', ...attributes }, this.#spacer);
    this.#spacer.append(this.#layer);
    this.element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => {
      this.#height = this.element.clientHeight;
      this.redraw();
    }).observe(this.element);
  }

  get count(): number {
    return this.#count;
  }

  set count(count: number) {
    this.#count = count;
    this.#spacer.style.height = `${Math.min(count * this.#options.rowHeight, MAX_HEIGHT)}px`;
    this.redraw();
  }

  /** Rows that fit on the screen. */
  get page(): number {
    return Math.max(1, Math.floor(this.#height / this.#options.rowHeight));
  }

  get first(): number {
    return Math.floor(this.#top);
  }

  get #scaled(): boolean {
    return this.#count * this.#options.rowHeight > MAX_HEIGHT;
  }

  #scrolled(): void {
    const { rowHeight } = this.#options;
    const { scrollTop } = this.element;
    const delta = scrollTop - this.#lastScroll;
    this.#lastScroll = scrollTop;
    if (!this.#scaled) {
      this.#top = scrollTop / rowHeight;
    } else if (Math.abs(delta) < 2 * this.#height && scrollTop > 0 && scrollTop < MAX_HEIGHT - this.#height - 1) {
      // Small steps are rows, whatever the bar stands for.
      this.#setTop(this.#top + delta / rowHeight);
    } else {
      this.#setTop((scrollTop / Math.max(1, MAX_HEIGHT - this.#height)) * this.#lastTop());
    }
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.redraw());
  }

  #lastTop(): number {
    return Math.max(0, this.#count - this.#height / this.#options.rowHeight);
  }

  #setTop(top: number): void {
    this.#top = Math.max(0, Math.min(top, this.#lastTop()));
  }

  /** Brings a row into view; to the top third when it was not. */
  scrollTo(index: number): void {
    const { page } = this;
    if (index >= Math.ceil(this.#top) && index < Math.floor(this.#top) + page) {
      return;
    }
    const near = index < this.#top ? this.#top - index <= 2 : index - this.#top - page < 2;
    const target = near ? (index < this.#top ? index : index - page + 1) : index - page / 3;
    this.#setTop(target);
    this.element.scrollTop = this.#scaled
      ? (this.#top / Math.max(1, this.#lastTop())) * (MAX_HEIGHT - this.#height)
      : this.#top * this.#options.rowHeight;
    this.#lastScroll = this.element.scrollTop;
    this.redraw();
  }

  /** Draws the rows that are visible. */
  redraw(): void {
    const { rowHeight, make, draw, shown } = this.#options;
    if (this.#height === 0) {
      return;
    }
    const from = Math.max(0, Math.floor(this.#top) - MARGIN);
    const to = Math.min(this.#count, Math.ceil(this.#top + this.#height / rowHeight) + MARGIN);
    const needed = Math.max(0, to - from);
    while (this.#pool.length < needed) {
      this.#pool.push(make());
    }
    shown?.(from, to);
    this.#pool.forEach((row, slot) => {
      if (slot >= needed) {
        row.remove();
        return;
      }
      draw(row, from + slot);
      if (row.parentNode === null) {
        this.#layer.append(row);
      }
    });
    const y = this.#scaled ? this.element.scrollTop - (this.#top - from) * rowHeight : from * rowHeight;
    this.#layer.style.transform = `translateY(${y}px)`;
  }
}

/** Rows that come in blocks from elsewhere. */
export class Blocks<T> {
  static readonly SIZE = 128;
  readonly #blocks = new Map<number, T[]>();
  readonly #pending = new Set<number>();
  readonly #fetch: (from: number, to: number) => Promise<T[]>;
  readonly #arrived: () => void;
  #epoch = 0;

  constructor(fetch: (from: number, to: number) => Promise<T[]>, arrived: () => void) {
    this.#fetch = fetch;
    this.#arrived = arrived;
  }

  /** Forgets everything. */
  clear(): void {
    this.#epoch++;
    this.#blocks.clear();
    this.#pending.clear();
  }

  /** Puts a block that is known already. */
  seed(block: number, rows: T[]): void {
    this.#blocks.set(block, rows);
  }

  get(index: number): T | undefined {
    return this.#blocks.get(Math.floor(index / Blocks.SIZE))?.[index % Blocks.SIZE];
  }

  /** Fetches the missing rows of `from..to`. */
  want(from: number, to: number): void {
    const epoch = this.#epoch;
    for (let block = Math.floor(from / Blocks.SIZE); block * Blocks.SIZE < to; block++) {
      if (this.#blocks.has(block) || this.#pending.has(block)) {
        continue;
      }
      this.#pending.add(block);
      const start = block * Blocks.SIZE;
      this.#fetch(start, start + Blocks.SIZE).then(
        (rows) => {
          if (epoch === this.#epoch) {
            this.#pending.delete(block);
            this.#blocks.set(block, rows);
            if (this.#blocks.size > 64) {
              this.#blocks.delete(this.#blocks.keys().next().value!);
            }
            this.#arrived();
          }
        },
        () => {
          if (epoch === this.#epoch) {
            this.#pending.delete(block);
          }
        },
      );
    }
  }
}
