/** The bytes of a file, as far as they are on screen. */

import type { OpenFile, Span } from '../file.ts';
import { h, setText } from '../ui/dom.ts';
import { hex, parseOffset, range } from '../ui/format.ts';
import { VirtualList } from '../ui/virtual.ts';

const ROW = 20;
/** Bytes fetched at once. */
const BLOCK = 4096;
/** Blocks kept. */
const KEEP = 32;

export class HexView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list: VirtualList;
  readonly #blocks = new Map<number, Uint8Array | undefined>();
  readonly #offset: HTMLInputElement;
  readonly #where = h('span', { class: 'hex-where', 'aria-live': 'polite' });
  readonly #window: Span;
  readonly #digits: number;
  #width = 16;
  #mark: Span | undefined;

  /** Shows `window` only, or all of the file. */
  constructor(file: OpenFile, window: Span = { at: 0n, len: file.info.size }) {
    this.#file = file;
    this.#window = window;
    this.#digits = Math.max(8, (window.at + window.len).toString(16).length);
    this.#offset = h('input', { class: 'go-to mono', placeholder: '0x… or decimal', 'aria-label': 'Go to byte', spellcheck: 'false' });
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () =>
          h(
            'div',
            { role: 'row', class: 'hex-row' },
            h('span', { role: 'rowheader', class: 'hex-at' }),
            h('span', { role: 'cell', class: 'hex-bytes' }),
            h('span', { role: 'cell', class: 'hex-text' }),
          ),
        draw: (row, index) => this.#draw(row, index),
      },
      { class: 'v-list hex-list', role: 'table', tabindex: '0', 'aria-label': 'Bytes' },
    );
    const go = h(
      'form',
      {
        class: 'toolbar',
        onsubmit: (event: Event) => {
          event.preventDefault();
          const at = parseOffset(this.#offset.value);
          const bad = at === undefined || at < window.at || at >= window.at + window.len;
          this.#offset.setAttribute('aria-invalid', String(bad));
          if (!bad) {
            this.show({ at, len: 1n });
          }
        },
      },
      this.#offset,
      h('button', { type: 'submit' }, 'Go to byte'),
      this.#where,
    );
    this.element = h('div', { class: 'hex' }, go, this.#list.element);
    new ResizeObserver(([entry]) => this.#fit(entry.contentRect.width)).observe(this.element);
    this.#count();
  }

  /** Scrolls to bytes and marks them. */
  show(span: Span): void {
    this.#mark = span;
    setText(this.#where, span.len > 1n ? `${range(span.at, span.len)}, ${span.len} bytes` : `${hex(span.at)} = ${span.at}`);
    const row = Number((span.at - this.#window.at) / BigInt(this.#width));
    this.#list.scrollTo(Math.max(0, row));
    this.#list.redraw();
  }

  focus(): void {
    this.#list.element.focus();
  }

  #count(): void {
    this.#list.count = Number((this.#window.len + BigInt(this.#width) - 1n) / BigInt(this.#width));
  }

  #fit(width: number): void {
    // A byte is three characters, and one more as text, in a font of 7.3 px.
    const fits = (width - (this.#digits + 5) * 7.3) / (4 * 7.3);
    const bytes = fits >= 64 ? 64 : fits >= 32 ? 32 : fits >= 16 ? 16 : 8;
    if (bytes !== this.#width && width > 0) {
      this.#width = bytes;
      this.#count();
      if (this.#mark !== undefined) {
        this.show(this.#mark);
      }
    }
  }

  #draw(row: HTMLElement, index: number): void {
    const at = this.#window.at + BigInt(index) * BigInt(this.#width);
    const end = this.#window.at + this.#window.len;
    const len = Number(end - at < BigInt(this.#width) ? end - at : BigInt(this.#width));
    const [head, bytes, text] = row.children as unknown as HTMLElement[];
    row.setAttribute('aria-rowindex', String(index + 1));
    setText(head, at.toString(16).toUpperCase().padStart(this.#digits, '0'));
    const data = this.#bytes(at, len);
    if (data === undefined) {
      setText(bytes, '·· '.repeat(len).trimEnd());
      setText(text, '');
      return;
    }
    const mark = this.#mark;
    let from = 0;
    let to = 0;
    if (mark !== undefined) {
      const clamp = (offset: bigint) => Number(offset < 0n ? 0n : offset > BigInt(len) ? BigInt(len) : offset);
      from = clamp(mark.at - at);
      to = clamp(mark.at + (mark.len || 1n) - at);
    }
    const words = Array.from(data, (byte) => byte.toString(16).toUpperCase().padStart(2, '0'));
    const letters = Array.from(data, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·'));
    if (to > from) {
      marked(bytes, words, from, to, ' ');
      marked(text, letters, from, to, '');
    } else {
      setText(bytes, words.join(' '));
      setText(text, letters.join(''));
    }
  }

  /** What is there of `len` bytes from `at`; what is not is fetched. */
  #bytes(at: bigint, len: number): Uint8Array | undefined {
    const first = Number(at / BigInt(BLOCK));
    const last = Number((at + BigInt(len) - 1n) / BigInt(BLOCK));
    const out = new Uint8Array(len);
    for (let block = first; block <= last; block++) {
      const data = this.#block(block);
      if (data === undefined) {
        return undefined;
      }
      const base = BigInt(block) * BigInt(BLOCK);
      const start = Number(at > base ? at - base : 0n);
      const target = Number(base > at ? base - at : 0n);
      out.set(data.subarray(start, start + len - target), target);
    }
    return out;
  }

  #block(block: number): Uint8Array | undefined {
    if (!this.#blocks.has(block)) {
      this.#blocks.set(block, undefined);
      const at = BigInt(block) * BigInt(BLOCK);
      const left = this.#file.info.size - at;
      const len = Number(left < BigInt(BLOCK) ? left : BigInt(BLOCK));
      this.#file.api.bytes(this.#file.id, at, len).then(
        (data) => {
          this.#blocks.set(block, data);
          if (this.#blocks.size > KEEP) {
            this.#blocks.delete(this.#blocks.keys().next().value!);
          }
          this.#list.redraw();
        },
        (error: Error) => {
          setText(this.#where, 'These bytes could not be read.');
          this.#file.tasks.fail(`Reading bytes: ${error.message}`);
        },
      );
    }
    return this.#blocks.get(block);
  }
}

function marked(element: HTMLElement, parts: string[], from: number, to: number, glue: string): void {
  const before = parts.slice(0, from).join(glue);
  const after = parts.slice(to).join(glue);
  element.replaceChildren(
    before + (before === '' ? '' : glue),
    h('mark', {}, parts.slice(from, to).join(glue)),
    (after === '' ? '' : glue) + after,
  );
}
