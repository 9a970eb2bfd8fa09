/** The whole file as a bar. */

import type { OpenFile } from '../file.ts';
import { untilClosed } from '../ui/closed.ts';
import { fill, h, setText } from '../ui/dom.ts';
import { size } from '../ui/format.ts';
import { onRecolour } from '../ui/recolour.ts';
import type { Part } from '../worker/tables.ts';
import { partName, shared } from './layout.ts';

/** Bits of a column, in drawing order. */
const KINDS = [
  [8, 'payload'],
  [16, 'quantization'],
  [4, 'metadata'],
  [2, 'table'],
  [1, 'header'],
  [32, 'tail'],
  [64, 'gap'],
  [128, 'overlap'],
] as const;

const KEYS = ['ArrowRight', 'ArrowLeft', 'Home', 'End', 'Enter', '+', '=', '-'];

const FINDING = 256;
/** The colours of marks: fatal errors, violations, remarks, notes, unchecked parts. */
const MARKS = ['finding', 'remark', 'remark', 'note', 'note'];
/** Up to this many parts, each is drawn with an edge. */
const EDGES = 512;
const HEIGHT = 30;

export class StripView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #canvas = h('canvas', { 'aria-hidden': 'true' });
  readonly #bar: HTMLElement;
  readonly #note = h('p', { class: 'strip-note' });
  readonly #legend = h('ul', { class: 'legend', 'aria-hidden': 'true' });
  #at = 0n;
  #len: bigint;
  #cursor = 0n;
  #round = 0;
  /** Counts the requests to open a part: only the last is followed. */
  #opens = 0;
  /** The pending steps of the cursor: each begins where the previous one ends. */
  #steps: Promise<void> = Promise.resolve();

  constructor(file: OpenFile) {
    this.#file = file;
    this.#len = file.info.extent;
    this.#bar = h(
      'div',
      {
        class: 'strip-bar',
        role: 'slider',
        tabindex: '0',
        'aria-label': 'Layout of the file',
        'aria-valuemin': '0',
        'aria-valuemax': '100',
        'aria-valuenow': '0',
        'aria-valuetext': 'not yet known',
      },
      this.#canvas,
    );
    this.element = h(
      'section',
      { class: 'strip', 'aria-label': 'Layout' },
      this.#bar,
      h('div', { class: 'strip-foot' }, this.#legend, this.#note),
    );
    // Only of use to a keyboard, which has just come here.
    this.#bar.addEventListener('focus', () => this.#bar.matches(':focus-visible') && setText(this.#note, 'Arrow keys step through the parts; + and - zoom'));
    this.#bar.addEventListener('blur', () => setText(this.#note, ''));
    this.#bar.addEventListener('click', (event) => this.#open(this.#offsetAt(event)));
    this.#bar.addEventListener('pointermove', (event) => this.#wait(this.#describe(this.#offsetAt(event))));
    this.#bar.addEventListener('keydown', (event) => {
      const { key } = event;
      if (KEYS.includes(key)) {
        event.preventDefault();
        if (key === 'Enter') {
          this.#open();
        } else {
          this.#step(() => this.#key(key));
        }
      }
    });
    this.#bar.addEventListener(
      'wheel',
      (event) => {
        if (event.ctrlKey || event.metaKey) {
          event.preventDefault();
          this.#zoom(event.deltaY < 0 ? 2 : 0.5, this.#offsetAt(event));
        }
      },
      { passive: false },
    );
    new ResizeObserver(() => this.#draw()).observe(this.#bar);
    file.validated.on(() => this.#draw());
    file.selected.on(() => this.#draw());
    onRecolour(() => this.#draw(), file.closing.signal);
  }

  #offsetAt(event: MouseEvent): bigint {
    const box = this.#bar.getBoundingClientRect();
    const share = Math.max(0, Math.min(0.999999, (event.clientX - box.left) / box.width));
    return this.#at + (this.#len * BigInt(Math.floor(share * 1e6))) / 1_000_000n;
  }

  #zoom(factor: number, around: bigint): void {
    const { extent: all } = this.#file.info;
    const share = Number(around - this.#at) / (Number(this.#len) || 1);
    let len = BigInt(Math.max(16, Math.round(Number(this.#len) / factor)));
    len = len > all ? all : len;
    let at = around - BigInt(Math.round(share * Number(len)));
    at = at < 0n ? 0n : at + len > all ? all - len : at;
    this.#at = at;
    this.#len = len;
    this.#draw();
  }

  #draw(): void {
    this.#wait(this.#paint());
  }

  #wait(work: Promise<unknown>): void {
    void untilClosed(this.#file.closing.signal, work);
  }

  async #paint(): Promise<void> {
    const ratio = devicePixelRatio || 1;
    const width = Math.floor(this.#bar.clientWidth * ratio);
    if (this.#file.depth === 'index' || width === 0 || this.#len === 0n) {
      return;
    }
    const { api, id } = this.#file;
    const round = ++this.#round;
    const [columns, marks, parts] = await Promise.all([api.strip(id, this.#at, this.#len, width), api.marks(id, this.#at, this.#len, width), this.#visible()]);
    if (round !== this.#round) {
      return;
    }
    this.#canvas.width = width;
    this.#canvas.height = Math.floor(HEIGHT * ratio);
    const paint = this.#canvas.getContext('2d')!;
    const style = getComputedStyle(this.element);
    const colour = (name: string) => style.getPropertyValue(`--part-${name}`);
    const height = this.#canvas.height;
    const mark = Math.floor(5 * ratio);
    const seen = new Set<string>();
    let worst = MARKS.length;
    for (let x = 0; x < width; x++) {
      const bits = columns[x];
      for (const [bit, name] of KINDS) {
        if ((bits & bit) === 0) {
          continue;
        }
        seen.add(name);
        paint.fillStyle = colour(name);
        // Gaps and overlaps are hatched, so that colour is not the only difference.
        if (name === 'gap' || name === 'overlap') {
          const step = Math.round((name === 'gap' ? 6 : 4) * ratio);
          for (let y = -(x % step); y < height; y += step) {
            paint.fillRect(x, mark + Math.max(0, y), 1, step / 2);
          }
        } else {
          paint.fillRect(x, mark, 1, height);
        }
      }
      if ((bits & FINDING) !== 0) {
        seen.add('finding');
        const rank = marks[x] || 1;
        worst = Math.min(worst, rank);
        paint.fillStyle = colour(MARKS[rank - 1]);
        for (let y = 0; y < mark; y++) {
          const half = mark - y;
          // At the ends of the bar the mark moves inwards to stay fully visible.
          const middle = Math.max(mark / 2, Math.min(width - mark / 2, x + 0.5));
          paint.fillRect(middle - half / 2, y, half, 1);
        }
      }
    }
    const x = (at: bigint) => Math.round((Number(at - this.#at) / Number(this.#len)) * width);
    for (const part of parts) {
      const [from, to] = [x(part.at), x(part.at + part.len)];
      if (to - from > 3 * ratio) {
        paint.fillStyle = style.getPropertyValue('--surface');
        paint.fillRect(to - 1, mark, 1, height);
      }
      if (part.kind === 'tensor' && part.entry === this.#file.tensor) {
        paint.fillStyle = style.getPropertyValue('--text');
        paint.fillRect(from, height - 3 * ratio, Math.max(2 * ratio, to - from), 3 * ratio);
      }
    }
    this.element.dataset.kinds = [...seen].sort().join(' ');
    fill(
      this.#legend,
      ...['header', 'table', 'metadata', 'payload', 'quantization', 'tail', 'gap', 'overlap', 'finding']
        .filter((name) => seen.has(name))
        .map((name) => h('li', name === 'finding' ? { 'data-part': MARKS[worst - 1], class: 'legend-mark' } : { 'data-part': name }, h('span', { class: 'swatch' }), this.#file.partWord(name))),
    );
  }

  /** The visible parts, if they are few enough to be drawn one by one. */
  async #visible(): Promise<Part[]> {
    const { api, id } = this.#file;
    const [from, to] = await Promise.all([api.locate(id, this.#at), api.locate(id, this.#at + this.#len - 1n)]);
    return from < 0 || to < from || to - from > EDGES ? [] : (await api.layout(id, from, to + 1)).parts;
  }

  async #part(offset: bigint) {
    const { api, id } = this.#file;
    const index = await api.locate(id, offset);
    const { total, parts } = await api.layout(id, Math.max(0, index), index + 1);
    return { index, total, part: parts[0] };
  }

  /** Names the part at a byte, and returns it. */
  async #describe(offset: bigint): Promise<Part | undefined> {
    const part = this.#file.depth === 'index' ? undefined : (await this.#part(offset)).part;
    if (part !== undefined) {
      const name = partName(part);
      const text = `${this.#file.partWord(part.part, part.at)}${name === '' ? '' : ` · ${name}`} · ${this.#file.range(part.at, part.len)} · ${size(part.len)}${part.overlap > 0n ? ` · ${shared(part)}` : ''}`;
      setText(this.#note, text);
      this.#bar.setAttribute('aria-valuetext', text);
      this.#bar.setAttribute('aria-valuenow', String(Math.round((100 * Number(offset)) / (Number(this.#file.info.extent) || 1))));
    }
    return part;
  }

  /** Takes a step after the pending ones. */
  #step(action: () => Promise<unknown>): void {
    const run = () => untilClosed(this.#file.closing.signal, action());
    this.#steps = this.#steps.then(run, run);
  }

  /** Moves the cursor to a byte and returns the part there. */
  #go(offset: bigint): Promise<Part | undefined> {
    this.#cursor = offset;
    return this.#describe(offset);
  }

  /** Opens the part at a byte or at the cursor, unless something else is opened before it is known. */
  #open(offset?: bigint): void {
    const { tensor, span } = this.#file;
    const own = ++this.#opens;
    this.#step(async () => {
      const part = await this.#go(offset ?? this.#cursor);
      if (part === undefined || own !== this.#opens || tensor !== this.#file.tensor || span !== this.#file.span) {
        return;
      }
      if (part.kind === 'tensor' && part.part === 'payload' && part.entry !== undefined) {
        this.#file.select(part.entry);
      } else {
        this.#file.reveal(part.at, part.len);
      }
    });
  }

  async #key(key: string): Promise<void> {
    if (key === '+' || key === '=') {
      this.#zoom(2, this.#cursor);
    } else if (key === '-') {
      this.#zoom(0.5, this.#cursor);
    } else {
      const { index, total } = await this.#part(this.#cursor);
      const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: total - 1 }[key]!;
      const { parts } = await this.#file.api.layout(this.#file.id, Math.max(0, Math.min(next, total - 1)), next + 1);
      if (parts.length > 0) {
        await this.#go(parts[0].at);
      }
    }
  }
}
