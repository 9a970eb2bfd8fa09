/** Metadata of a file or of a tensor. */

import type { OpenFile } from '../file.ts';
import { shardNumber } from '../names.ts';
import { button, fill, h, setText } from '../ui/dom.ts';
import { size, visible } from '../ui/format.ts';
import { Grid } from '../ui/grid.ts';
import { Blocks } from '../ui/virtual.ts';
import type { MetaEntry } from '../worker/tables.ts';

/** The file's metadata: a list, and the full value of the selected entry. */
export class MetadataView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #grid: Grid;
  readonly #blocks: Blocks<MetaEntry>;
  readonly #value = h('div', { class: 'meta-value scroll', tabindex: '0', 'aria-label': 'Value', role: 'region', hidden: true });
  /** Whether the value of the active entry has not been asked for yet. */
  #waiting = false;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#blocks = new Blocks(
      async (from, to) => (await file.api.metadata(file.id, undefined, from, to)).entries,
      () => {
        this.#grid.list.redraw();
        this.#show();
      },
    );
    this.#grid = new Grid({
      name: 'meta-table',
      label: 'Metadata',
      columns: [
        { label: 'Key', kind: 'name' },
        { label: 'Type', kind: 'dtype' },
        { label: 'Value', kind: 'preview' },
        ...(file.parts === undefined ? [] : [{ label: 'File', kind: 'of' }]),
      ],
      inside: ({ kind }) => (kind === 'dtype' ? [] : [h('bdi', {})]),
      draw: (row, index) => this.#draw(row, index),
      shown: (from, to) => this.#blocks.want(from, to),
      moved: () => {
        this.#waiting = true;
        this.#show();
      },
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
        : h('div', { class: 'metadata' }, this.#grid.element, this.#value);
    this.#grid.count = file.info.metadataCount;
  }

  #draw(element: HTMLElement, index: number): void {
    const entry = this.#blocks.get(index);
    const [key, type, preview, part] = element.children;
    setText(key.firstElementChild!, entry?.key ?? '');
    setText(type, entry?.type ?? '');
    setText(preview.firstElementChild!, entry?.preview ?? '');
    if (part !== undefined) {
      const { name = '', state = undefined } = (entry && this.#file.partAt(entry.at)) ?? {};
      setText(part.firstElementChild!, state === 'index' ? 'index' : shardNumber(name));
      part.setAttribute('title', name);
    }
  }

  /** Shows the value of the active entry once the entry is known. */
  #show(): void {
    const entry = this.#blocks.get(this.#grid.active);
    if (this.#waiting && entry !== undefined) {
      this.#waiting = false;
      void this.#open(entry);
    }
  }

  /** Shows a value. The first one opens the pane, which must not hide its row. */
  async #open(entry: MetaEntry): Promise<void> {
    await showValue(this.#file, undefined, entry, this.#value);
    if (this.#value.hidden && this.#value.hasChildNodes()) {
      this.#value.hidden = false;
      new ResizeObserver((_, once) => {
        once.disconnect();
        this.#grid.list.scrollTo(this.#grid.active);
      }).observe(this.#grid.element);
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
