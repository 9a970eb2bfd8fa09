/** Metadata of a file or of a tensor. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, setText, uniqueId } from '../ui/dom.ts';
import { size } from '../ui/format.ts';
import { Blocks, VirtualList } from '../ui/virtual.ts';
import type { MetaEntry } from '../worker/tables.ts';

const ROW = 24;

/** The file's metadata: a list, and the full value of the selected entry. */
export class MetadataView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list: VirtualList;
  readonly #blocks: Blocks<MetaEntry>;
  readonly #value = h('div', { class: 'meta-value scroll', tabindex: '0', 'aria-label': 'Value', role: 'region' });
  readonly #prefix = uniqueId('meta');
  #active = -1;
  /** Whether the value of the active entry has not been asked for yet. */
  #waiting = false;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#blocks = new Blocks(
      async (from, to) => (await file.api.metadata(file.id, undefined, from, to)).entries,
      () => {
        this.#list.redraw();
        this.#show();
      },
    );
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () =>
          h(
            'div',
            { role: 'row', class: 'grid-row' },
            h('div', { role: 'gridcell', class: 'cell name' }, h('bdi', {})),
            h('div', { role: 'gridcell', class: 'cell dtype' }),
            h('div', { role: 'gridcell', class: 'cell preview' }, h('bdi', {})),
          ),
        draw: (row, index) => this.#draw(row, index),
        shown: (from, to) => this.#blocks.want(from, to),
      },
      { role: 'rowgroup' },
    );
    const head = [
      ['Key', 'name'],
      ['Type', 'dtype'],
      ['Value', 'preview'],
    ].map(([label, kind]) => h('div', { role: 'columnheader', class: `cell ${kind}` }, label));
    const grid = h(
      'div',
      { class: 'grid meta-table', role: 'grid', tabindex: '0', 'aria-label': 'Metadata', 'aria-readonly': 'true', 'aria-rowcount': String(file.info.metadataCount + 1) },
      h('div', { role: 'rowgroup', class: 'grid-head' }, h('div', { role: 'row', class: 'grid-row' }, ...head)),
      this.#list.element,
    );
    grid.addEventListener('keydown', (event) => {
      const to = { ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, Home: 0, End: this.#list.count - 1 }[event.key];
      if (to !== undefined) {
        event.preventDefault();
        this.#choose(to, grid);
      }
    });
    this.#list.element.addEventListener('click', (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
      if (row !== null) {
        this.#choose(Number(row.dataset.rank), grid);
      }
    });
    this.element =
      file.info.metadataCount === 0
        ? h(
            'p',
            { class: 'empty' },
            file.isTable
              ? 'A data view only has per-column metadata: select a column to see its key values, slot names and other annotations.'
              : 'This file has no metadata.',
          )
        : h('div', { class: 'metadata' }, grid, this.#value);
    fill(this.#value, h('p', { class: 'empty' }, 'Choose an entry to see its full value.'));
    this.#list.count = file.info.metadataCount;
  }

  #draw(element: HTMLElement, index: number): void {
    const entry = this.#blocks.get(index);
    element.id = `${this.#prefix}-${index}`;
    element.dataset.rank = String(index);
    element.setAttribute('aria-rowindex', String(index + 2));
    element.setAttribute('aria-selected', String(index === this.#active));
    const [key, type, preview] = element.children;
    setText(key.firstElementChild!, entry?.key ?? '');
    setText(type, entry?.type ?? '');
    setText(preview.firstElementChild!, entry?.preview ?? '');
  }

  #choose(index: number, grid: HTMLElement): void {
    this.#active = Math.max(0, Math.min(index, this.#list.count - 1));
    this.#list.scrollTo(this.#active);
    this.#list.redraw();
    grid.setAttribute('aria-activedescendant', `${this.#prefix}-${this.#active}`);
    this.#waiting = true;
    this.#show();
  }

  /** Shows the value of the active entry once the entry is known. */
  #show(): void {
    const entry = this.#blocks.get(this.#active);
    if (this.#waiting && entry !== undefined) {
      this.#waiting = false;
      void showValue(this.#file, undefined, entry, this.#value);
    }
  }
}

/** The latest entry requested, by the element it is shown in. */
const latest = new WeakMap<HTMLElement, MetaEntry>();

/** Shows a value in full. */
export async function showValue(
  file: OpenFile,
  tensor: number | undefined,
  entry: MetaEntry,
  into: HTMLElement,
): Promise<void> {
  // Only the latest request may be shown.
  latest.set(into, entry);
  const value = await file.tasks.run(
    'Reading the value',
    (options) => file.client.with(options).metaValue(file.id, tensor, entry.index),
    file.closing.signal,
  );
  if (value === undefined || latest.get(into) !== entry) {
    return;
  }
  const text = value.text ?? value.values?.join(', ') ?? '';
  fill(
    into,
    h('h3', {}, h('bdi', {}, entry.key)),
    h(
      'p',
      { class: 'facts' },
      [value.type, value.shape, size(entry.len)].filter((fact) => fact !== undefined).join(' · '),
      ' · ',
      button(file.range(entry.at, entry.len), () => file.reveal(entry.at, entry.len), { class: 'link mono' }),
    ),
    // A separate block with isolated direction: its text cannot affect its surroundings.
    h('pre', { class: 'value-text', dir: 'auto' }, visible(text)),
    value.keyHex !== undefined && h('p', { class: 'note' }, 'Key in hex: ', h('code', { class: 'breakable' }, value.keyHex)),
    value.textHex !== undefined && h('p', { class: 'note' }, 'Not valid UTF-8. In hex: ', h('code', { class: 'breakable' }, value.textHex)),
    value.truncated && h('p', { class: 'note' }, 'Only the beginning is shown.'),
  );
}

/** Makes control and direction characters visible; newlines and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (char) => `\\u{${char.charCodeAt(0).toString(16)}}`,
  );
}
