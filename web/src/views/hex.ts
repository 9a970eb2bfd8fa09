/** The bytes of a file, fetched as they become visible. */

import type { OpenFile, Span } from '../file.ts';
import { h, setText } from '../ui/dom.ts';
import { hex, parseOffset, range } from '../ui/format.ts';
import { VirtualList } from '../ui/virtual.ts';

const ROW = 20;
/** Bytes per fetch. */
const BLOCK = 4096;
/** Number of blocks to keep. */
const KEEP = 32;

export class HexView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list: VirtualList;
  /** Replaced by a new map when another file is shown. */
  #blocks = new Map<number, Uint8Array | undefined>();
  readonly #offset: HTMLInputElement;
  readonly #where = h('span', { class: 'hex-where', 'aria-live': 'polite' });
  readonly #files: HTMLSelectElement | undefined;
  #window!: Span;
  /** Start and end of the file shown. The files of a set are shown one at a time. */
  #base!: bigint;
  #end!: bigint;
  #digits!: number;
  #width = 16;
  #mark: Span | undefined;

  /** Shows `window`, or the whole file. */
  constructor(file: OpenFile, window?: Span) {
    this.#file = file;
    this.#frame(window?.at ?? 0n, window);
    if (window === undefined && file.parts !== undefined) {
      const choices = file.parts.filter(({ size }) => size > 0n).map(({ name, base }) => h('option', { value: String(base) }, name));
      this.#files = h('select', { 'aria-label': 'File', onchange: () => this.show({ at: BigInt(this.#files!.value), len: 1n }) }, ...choices);
    }
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
      { class: 'hex-list', role: 'table', tabindex: '0', 'aria-label': 'Bytes' },
    );
    const go = h(
      'form',
      {
        class: 'toolbar',
        onsubmit: (event: Event) => {
          event.preventDefault();
          const at = parseOffset(this.#offset.value);
          const from = this.#window.at - this.#base;
          const last = from + this.#window.len - 1n;
          const bad = at === undefined || at < from || at > last;
          this.#offset.setAttribute('aria-invalid', String(bad));
          if (bad) {
            setText(this.#where, at === undefined ? 'Not a number: use 0x1A or 26' : `There are bytes from ${hex(from)} to ${hex(last)} only`);
          } else {
            this.show({ at: at + this.#base, len: 1n });
          }
        },
      },
      this.#files ?? false,
      this.#offset,
      h('button', { type: 'submit' }, 'Go to byte'),
      this.#where,
    );
    this.element = h('div', { class: 'hex' }, go, this.#list.element);
    new ResizeObserver(([entry]) => this.#fit(entry.contentRect.width)).observe(this.element);
    this.#count();
  }

  /** Scrolls to a byte range and marks it. */
  show(span: Span): void {
    this.#mark = span;
    if (this.#files !== undefined && this.#file.partAt(span.at)?.base !== this.#base) {
      this.#frame(span.at);
      this.#files.value = String(this.#base);
      this.#count();
    }
    const at = span.at - this.#base;
    setText(this.#where, span.len > 1n ? `${range(at, span.len)}, ${span.len} bytes` : `${hex(at)} = ${at}`);
    const row = Number((span.at - this.#window.at) / BigInt(this.#width));
    this.#list.scrollTo(Math.max(0, row));
    this.#list.redraw();
  }

  focus(): void {
    this.#list.element.focus();
  }

  /** Shows `window`, or the whole file that contains byte `at`. */
  #frame(at: bigint, window?: Span): void {
    const part = this.#file.partAt(at);
    this.#base = part?.base ?? 0n;
    this.#end = this.#base + (part?.size ?? this.#file.info.size);
    this.#window = window ?? { at: this.#base, len: this.#end - this.#base };
    this.#digits = Math.max(8, (this.#window.at + this.#window.len - this.#base).toString(16).length);
    this.#blocks = new Map();
  }

  #count(): void {
    this.#list.count = Number((this.#window.len + BigInt(this.#width) - 1n) / BigInt(this.#width));
  }

  #fit(width: number): void {
    // Each byte takes three characters in hex and one as text, at 7.3 px per character.
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
    setText(head, (at - this.#base).toString(16).toUpperCase().padStart(this.#digits, '0'));
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

  /** `len` bytes from `at`, or `undefined` if some still have to be fetched. */
  #bytes(at: bigint, len: number): Uint8Array | undefined {
    const local = at - this.#base;
    const first = Number(local / BigInt(BLOCK));
    const last = Number((local + BigInt(len) - 1n) / BigInt(BLOCK));
    const out = new Uint8Array(len);
    for (let block = first; block <= last; block++) {
      const data = this.#block(block);
      if (data === undefined) {
        return undefined;
      }
      const base = this.#base + BigInt(block) * BigInt(BLOCK);
      const start = Number(at > base ? at - base : 0n);
      const target = Number(base > at ? base - at : 0n);
      out.set(data.subarray(start, start + len - target), target);
    }
    return out;
  }

  #block(block: number): Uint8Array | undefined {
    const blocks = this.#blocks;
    if (!blocks.has(block)) {
      blocks.set(block, undefined);
      const at = this.#base + BigInt(block) * BigInt(BLOCK);
      const left = this.#end - at;
      const len = Number(left < BigInt(BLOCK) ? left : BigInt(BLOCK));
      this.#file.api.bytes(this.#file.id, at, len).then(
        (data) => {
          blocks.set(block, data);
          if (blocks.size > KEEP) {
            blocks.delete(blocks.keys().next().value!);
          }
          this.#list.redraw();
        },
        (error: Error) => {
          blocks.delete(block);
          if (!this.#file.closing.signal.aborted) {
            this.#file.tasks.fail(`Reading bytes: ${error.message}`);
          }
        },
      );
    }
    return blocks.get(block);
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
