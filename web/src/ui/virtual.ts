/** A list of rows of equal height that renders only the visible ones. */

import { h } from './dom.ts';

/** Browsers cap the height of an element; above this the scrollbar is scaled. */
const MAX_HEIGHT = 8_000_000;
/** Extra rows drawn beyond each edge. */
const MARGIN = 6;

export interface VirtualOptions {
  rowHeight: number;
  /** Creates a row element, which is reused for many rows. */
  make(): HTMLElement;
  /** Draws row `index` into an element. */
  draw(element: HTMLElement, index: number): void;
  /** Called when the visible rows change. */
  shown?(from: number, to: number): void;
}

export class VirtualList {
  /** The scroll container. */
  readonly element: HTMLElement;
  readonly #spacer: HTMLElement;
  readonly #layer = h('div', { class: 'v-layer', role: 'presentation' });
  readonly #options: VirtualOptions;
  readonly #pool: HTMLElement[] = [];
  #count = 0;
  #height = 0;
  #width = 0;
  /** The height at the last drawing. */
  #drawn = 0;
  /** First visible row, with a fraction. Authoritative when the scrollbar is scaled. */
  #top = 0;
  #lastScroll = 0;
  #frame = 0;

  /** A `head` stays at the upper edge; the rows below it are then a group of their own. */
  constructor(options: VirtualOptions, attributes: Record<string, unknown> = {}, head?: HTMLElement) {
    this.#options = options;
    this.#spacer = h('div', { class: 'v-list', role: head === undefined ? 'presentation' : 'rowgroup' }, this.#layer);
    this.element = h('div', { tabindex: '0', ...attributes, class: `v-scroll ${attributes.class ?? ''}` }, head, this.#spacer);
    this.element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => {
      const hidden = this.#height === 0;
      const { clientHeight, clientWidth } = this.element;
      const wider = clientWidth !== this.#width;
      [this.#height, this.#width] = [Math.max(0, clientHeight - (head?.offsetHeight ?? 0)), clientWidth];
      if (hidden) {
        // An element that was taken out of the page has lost its place.
        this.#setTop(this.#top);
        this.#align();
      }
      // A list that an alert makes lower has its rows when it is as high as before: drawing them
      // again would repeat a failed read, and with it the alert.
      if (hidden || wider || this.#height > this.#drawn) {
        this.redraw();
      }
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

  /** Number of rows that fit on the screen. */
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
      // Small steps move by rows, whatever the scrollbar's scale.
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

  /** Scrolls a row into view: a nearby row to the edge, any other to the top third. */
  scrollTo(index: number): void {
    const { page } = this;
    if (index >= Math.ceil(this.#top) && index < Math.floor(this.#top) + page) {
      return;
    }
    const near = index < this.#top ? this.#top - index <= 2 : index - this.#top - page < 2;
    const target = near ? (index < this.#top ? index : index - page + 1) : index - page / 3;
    this.#setTop(target);
    this.#align();
    this.redraw();
  }

  /** Scrolls to the first visible row. */
  #align(): void {
    this.element.scrollTop = this.#scaled
      ? (this.#top / Math.max(1, this.#lastTop())) * (MAX_HEIGHT - this.#height)
      : this.#top * this.#options.rowHeight;
    this.#lastScroll = this.element.scrollTop;
  }

  /** Draws the visible rows. */
  redraw(): void {
    this.#drawn = this.#height;
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

/** Rows fetched in blocks. */
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

  /** Discards all blocks. */
  clear(): void {
    this.#epoch++;
    this.#blocks.clear();
    this.#pending.clear();
  }

  /** Adds a block that has been fetched already. */
  seed(block: number, rows: T[]): void {
    this.#blocks.set(block, rows);
  }

  get(index: number): T | undefined {
    return this.#blocks.get(Math.floor(index / Blocks.SIZE))?.[index % Blocks.SIZE];
  }

  /** Fetches the missing blocks of rows `from..to`. */
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
