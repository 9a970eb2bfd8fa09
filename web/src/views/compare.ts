/** Two files side by side: what was added, removed, changed, and by how much. */

import type { OpenFile } from '../file.ts';
import { hasChannels } from '../storage.ts';
import { button, fill, h, segmented, setText } from '../ui/dom.ts';
import { count } from '../ui/format.ts';
import { Grid } from '../ui/grid.ts';
import { setName } from '../ui/middle.ts';
import { onRecolour } from '../ui/recolour.ts';
import { isAbort, type CallOptions } from '../worker/rpc.ts';
import type { Rename } from '../worker/matching.ts';
import { base, download } from './export.ts';
import { Histogram } from './histogram.ts';
import { layerBars } from './layers.ts';
import { COLUMNS, batch, comparable, csv, describe, distances, headline, isDifferent, sentence, settle, shown, sides, sorted, totals, weigh, type Column, type Line } from './pairs.ts';
import { regionsView } from './regions.ts';
import { renameForm } from './rename.ts';

/** Milliseconds. Files of one download or copy have nearly the same date, which says nothing. */
const APART = 60_000;

/** Whether the first file was changed last before the second or, if dates do not tell, opened before it. */
function isOlder(one: OpenFile, other: OpenFile): boolean {
  const apart = (one.modified ?? 0) - (other.modified ?? 0);
  return one.modified !== undefined && other.modified !== undefined && Math.abs(apart) >= APART ? apart < 0 : one.id < other.id;
}

export class CompareView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #others: () => OpenFile[];
  readonly #grid: Grid<Column>;
  readonly #choice: HTMLSelectElement;
  readonly #counts = h('p', { class: 'list-summary', role: 'status' });
  readonly #headline = h('strong', { role: 'status' });
  readonly #from = h('bdi');
  readonly #to = h('bdi');
  readonly #swap = button('Swap', () => void this.#turn(), { title: 'Make the other file the base' });
  readonly #head = h('p', { class: 'compare-head', hidden: true }, this.#headline, h('span', { class: 'compare-sides' }, h('span', { class: 'muted' }, 'Base '), this.#from, ' → ', this.#to), this.#swap);
  readonly #detail = h('div', { class: 'compare-detail', role: 'status' });
  readonly #layers = h('div', { class: 'compare-layers', hidden: true });
  readonly #run = button('Compare all values', () => void this.#all());
  readonly #export = button('Export as CSV', () => void this.#save());
  readonly #renaming = renameForm((rename) => {
    this.#rename = rename;
    this.#other = undefined;
    void this.load();
  });
  readonly #kinds: ReturnType<typeof segmented<Line['kind'] | 'all' | 'differ'>>;
  #rename: Rename | undefined;
  #histogram: Histogram | undefined;
  #lines: Line[] = [];
  #shown: Line[] = [];
  #only: Line['kind'] | 'all' | 'differ' = 'all';
  #column: Column | undefined;
  #down = false;
  /** The selected line, wherever it is sorted to. */
  #chosen: Line | undefined;
  /** The file whose tensors are or will be listed; `undefined` if that failed. */
  #other: OpenFile | undefined;
  /** Whether the user has chosen the younger file as the base. */
  #turned = false;
  /** Settles once the tensors of both files are paired. */
  #paired: Promise<void> = Promise.resolve();
  /** What the detail shows. */
  #drawn: unknown[] = [];

  constructor(file: OpenFile, others: () => OpenFile[]) {
    this.#file = file;
    this.#others = others;
    this.#grid = new Grid<Column>({
      name: 'compare-table',
      label: 'Differences',
      columns: COLUMNS.map(([key, label, kind]) => ({ key, label, kind })),
      inside: ({ key }) => (key === 'name' ? [h('bdi', {})] : []),
      draw: (row, index) => this.#draw(row, index),
      moved: (index) => {
        this.#chosen = this.#shown[index];
        this.#show();
      },
      entered: () => void this.#values(this.#chosen),
      sort: (column) => this.#sortBy(column),
    });
    this.#choice = h('select', { 'aria-label': 'Compare with', onchange: () => void this.load() });
    this.#kinds = segmented(
      'Show',
      [
        ['all', 'All'],
        ['differ', 'Differing'],
        ['added', 'Added'],
        ['removed', 'Removed'],
        ['changed', 'Changed'],
        ['same', 'Unchanged'],
      ] as const,
      'all',
      (choice) => {
        this.#only = choice;
        this.#filter();
      },
    );
    this.element = h(
      'div',
      { class: 'compare' },
      h('div', { class: 'toolbar' }, h('label', { class: 'compare-with' }, 'Compare with ', this.#choice), this.#kinds, this.#run, this.#export),
      h('div', {}, this.#head, this.#renaming.element, this.#layers),
      this.#grid.element,
      this.#detail,
      this.#counts,
    );
    onRecolour(() => this.#histogram?.draw(), file.closing.signal);
    void this.load();
  }

  /** Lists the open files. Keeps the comparison while the other file and the names are the same. */
  load(): Promise<void> {
    const others = this.#others();
    const chosen = this.#choice.value;
    this.#choice.replaceChildren(...others.map((other) => h('option', { value: other.id, selected: String(other.id) === chosen }, other.name)));
    const other = others.find(({ id }) => String(id) === this.#choice.value);
    if (other === undefined || other !== this.#other) {
      this.#turned &&= other === this.#latest;
      this.#latest = this.#other = other;
      this.#paired = this.#pair(other, this.#rename);
    }
    return this.#paired;
  }

  async #pair(other: OpenFile | undefined, rename: Rename | undefined): Promise<void> {
    const lines: Line[] = [];
    this.#lines = lines;
    this.#filter();
    if (other === undefined) {
      return;
    }
    const [base, newer] = this.#order(other);
    const pairs = await this.#file.tasks.run(
      'Comparing',
      async (options) => {
        const by = (names: Rename | undefined) => this.#file.client.with(options).pairs(base.id, newer.id, names);
        try {
          return await by(rename);
        } catch (error) {
          if ((error as Error).name !== 'Endless') {
            throw error;
          }
          if (lines === this.#lines) {
            this.#renaming.warn(`${(error as Error).message}.`);
          }
          return await by(undefined);
        }
      },
      this.#until(other),
    );
    if (lines === this.#lines) {
      this.#other = pairs && other;
      this.#lines = pairs?.map(describe) ?? lines;
      this.#filter();
    }
  }

  /** The file chosen last, listed or not. */
  #latest: OpenFile | undefined;

  /** The base and the file compared with it: "added" is what the base lacks. */
  #order(other: OpenFile): [base: OpenFile, newer: OpenFile] {
    return isOlder(other, this.#file) === this.#turned ? [this.#file, other] : [other, this.#file];
  }

  /** Makes the other file the base. */
  async #turn(): Promise<void> {
    this.#turned = !this.#turned;
    this.#other = undefined;
    await this.load();
  }

  #drawHead(): void {
    const other = this.#latest;
    this.#head.hidden = other === undefined;
    if (other !== undefined) {
      const [base, newer] = this.#order(other);
      setText(this.#from, base.name);
      setText(this.#to, newer.name);
      setText(this.#headline, headline(this.#lines));
    }
  }

  /** Aborted when either file is closed. */
  #until(other: OpenFile): AbortSignal {
    return AbortSignal.any([this.#file.closing.signal, other.closing.signal]);
  }

  /** Waits until the tensors of the files chosen last are paired. */
  async #settled(): Promise<void> {
    const paired = this.load();
    await paired;
    if (paired !== this.#paired) {
      await this.#settled();
    }
  }

  #filter(): void {
    const kept = this.#lines.filter(({ kind }) => {
      if (this.#only === 'differ') {
        return isDifferent(kind);
      }
      return this.#only === 'all' || (kind === 'equal' ? 'same' : kind) === this.#only;
    });
    this.#shown = this.#column === undefined ? kept : sorted(kept, this.#column, this.#down);
    setText(this.#counts, this.#lines.length === 0 ? '' : totals(this.#lines));
    this.#drawHead();
    this.#drawLayers();
    this.#counts.title = this.#counts.textContent ?? '';
    if (this.#chosen !== undefined && !this.#shown.includes(this.#chosen)) {
      this.#chosen = undefined;
    }
    this.#show();
    this.#grid.count = this.#shown.length;
    this.#grid.active = this.#chosen === undefined ? -1 : this.#shown.indexOf(this.#chosen);
  }

  /** Draws a bar for each layer whose values were compared. */
  #drawLayers(): void {
    const held = this.#layers.matches(':focus-within');
    const bars = layerBars(this.#lines, (line) => {
      if (!this.#shown.includes(line)) {
        this.#only = 'all';
        this.#kinds.choose('all');
        this.#filter();
      }
      this.#grid.move(this.#shown.indexOf(line));
    });
    this.#layers.hidden = bars === undefined;
    fill(this.#layers, bars);
    if (held) {
      this.#layers.querySelector<HTMLElement>('[tabindex]')?.focus();
    }
  }

  /** Lists what differs, by relative error, unless the user has arranged the list. */
  #present(): void {
    if (this.#only === 'all' && this.#column === undefined && this.#lines.some(({ kind }) => isDifferent(kind))) {
      this.#only = 'differ';
      this.#kinds.choose('differ');
      this.#sortBy('error');
    }
  }

  #sortBy(column: Column): void {
    // Numbers start descending. Clicking again reverses the order, then restores the original one.
    const first = column !== 'kind' && column !== 'name' && column !== 'text' && column !== 'cosine';
    if (this.#column !== column) {
      [this.#column, this.#down] = [column, first];
    } else if (this.#down === first) {
      this.#down = !first;
    } else {
      this.#column = undefined;
    }
    this.#grid.order(this.#column, this.#down ? 'descending' : 'ascending');
    this.#filter();
  }

  #draw(row: HTMLElement, index: number): void {
    const line = this.#shown[index];
    row.dataset.kind = line.kind;
    COLUMNS.forEach(([id], i) => (id === 'name' ? setName(row.children[i].firstElementChild!, line.name) : setText(row.children[i], shown(line, id))));
    row.querySelector('.name')!.setAttribute('title', line.name);
  }

  /** Shows the chosen line; its buttons are only replaced if something has changed. */
  #show(): void {
    const line = this.#chosen;
    const drawn = [line, line?.values, line?.error, line === undefined && this.#hint()];
    if (drawn.every((one, i) => one === this.#drawn[i])) {
      return;
    }
    this.#drawn = drawn;
    const held = this.#detail.querySelector(':focus');
    if (line === undefined) {
      const retry = this.#other === undefined && this.#choice.value !== '';
      fill(this.#detail, h('p', { class: 'empty' }, this.#hint(), retry && button('Try again', () => void this.load(), { class: 'link' })));
    } else {
      const { a, b } = line.pair;
      const own = this.#other !== undefined && this.#order(this.#other)[0] === this.#file ? a : b;
      fill(
        this.#detail,
        h('h2', {}, h('bdi', {}, line.name)),
        h('p', { class: 'mono facts' }, sides(line)),
        line.values !== undefined || line.error !== undefined
          ? h('p', { class: 'compare-result' }, sentence(line))
          : comparable(line)
            ? button('Compare values', () => void this.#values(line))
            : a !== undefined && b !== undefined && h('p', { class: 'compare-result muted' }, 'The values cannot be compared: both tensors must be dense, numeric and of the same size.'),
        this.#distances(line),
        this.#where(line),
        own !== undefined && button('Open tensor', () => this.#file.select(own.index), { class: 'link' }),
      );
    }
    if (held !== null) {
      const same = [...this.#detail.querySelectorAll('button')].find(({ textContent }) => textContent === held.textContent);
      (same ?? this.#grid.element).focus();
    }
  }

  /** What the detail says while no line is chosen. */
  #hint(): string {
    const unlisted = this.#choice.value === '' ? 'Open a second file to compare.' : this.#other === undefined ? 'Not compared. ' : '';
    const unchosen = this.#shown.length === 0 ? 'No tensors match this filter.' : 'Choose a tensor to compare its values.';
    return this.#lines.length === 0 ? unlisted : unchosen;
  }

  /** A histogram of the differences. */
  #distances(line: Line): HTMLElement | false {
    const result = line.values && distances(line.values);
    if (result === undefined) {
      return false;
    }
    this.#histogram = new Histogram(result);
    this.#histogram.scale = 'log';
    return h('section', {}, h('h3', {}, '|a - b|'), this.#histogram.element);
  }

  /** A place for the map of the difference, which is drawn on request. */
  #where({ values, pair: { a, b } }: Line): HTMLElement | false {
    const other = this.#other;
    if (values === undefined || values.different === 0n || values.reordered || other === undefined || !hasChannels(a!) || !hasChannels(b!)) {
      return false;
    }
    const place = h('div', {});
    const run = async () => {
      const [base, newer] = this.#order(other);
      const found = await this.#file.tasks.run('Comparing regions', (options) => this.#file.client.with(options).regions(base.id, a!.index, newer.id, b!.index), this.#until(other));
      if (found !== undefined) {
        fill(place, regionsView(found));
        // It may be below the edge.
        place.scrollIntoView({ block: 'nearest' });
      }
    };
    fill(place, button('Show where', () => void run()));
    return place;
  }

  /** Compares the values of pairs. */
  async #difference(lines: readonly Line[], other: OpenFile, options: CallOptions): Promise<void> {
    const pairs = lines.map(({ pair: { a, b } }): [number, number] => [a!.index, b!.index]);
    const [base, newer] = this.#order(other);
    const found = await this.#file.client.with(options).differences(base.id, newer.id, pairs);
    found.forEach((outcome, i) => settle(lines[i], outcome));
  }

  async #values(line: Line | undefined): Promise<void> {
    const other = this.#other;
    if (line === undefined || other === undefined || line.values !== undefined || !comparable(line)) {
      return;
    }
    await this.#file.tasks.run(`Comparing ${line.name.slice(0, 40)}`, (options) => this.#difference([line], other, options), this.#until(other));
    // A cancelled or failed comparison can be repeated.
    this.#filter();
  }

  /** Compares all values of the files chosen last. */
  async #all(): Promise<void> {
    if (this.#run.ariaDisabled === 'true') {
      return;
    }
    this.#run.ariaDisabled = 'true';
    await this.#settled();
    if (this.#other !== undefined) {
      await this.#differences(this.#lines, this.#other);
      this.#present();
    }
    this.#run.ariaDisabled = 'false';
  }

  /** Compares the values not compared yet. Unreadable pairs are skipped and listed at the end. */
  async #differences(current: readonly Line[], other: OpenFile): Promise<void> {
    const lines = current.filter((line) => line.values === undefined && comparable(line));
    const all = lines.reduce((sum, line) => sum + weigh(line), 0) || 1;
    await this.#file.tasks.run(
      'Comparing values',
      async ({ signal, progress }) => {
        let [done, next] = [0, 0];
        while (next < lines.length && this.#lines === current) {
          const some = batch(lines, next);
          const label = `tensor ${count(next + 1)} of ${count(lines.length)}`;
          const weight = some.reduce((sum, line) => sum + weigh(line), 0);
          progress({ label, done: done / all, bytes: all });
          try {
            await this.#difference(some, other, { signal, progress: (one) => progress({ label, done: (done + (one.done ?? 0) * weight) / all, bytes: all }) });
          } catch (error) {
            if (isAbort(error) || signal.aborted) {
              throw error;
            }
            some.forEach((line) => settle(line, { failure: (error as Error).message }));
          }
          done += weight;
          next += some.length;
          this.#settle();
        }
      },
      this.#until(other),
    );
    this.#filter();
    const failed = lines.filter(({ error }) => error !== undefined);
    if (failed.length > 0) {
      this.#file.tasks.fail(`${failed[0].name}: ${failed[0].error}${failed.length > 1 ? ` (and ${failed.length - 1} more)` : ''}`);
    }
  }

  #timer: number | undefined;

  /** Redraws soon. Redrawing all lines takes at most a tenth of the time, however many there are. */
  #settle(): void {
    this.#timer ??= window.setTimeout(() => {
      const begun = performance.now();
      this.#filter();
      const took = performance.now() - begun;
      this.#timer = window.setTimeout(() => (this.#timer = undefined), 9 * took);
    }, 50);
  }

  async #save(): Promise<void> {
    await this.#settled();
    const other = this.#other;
    if (other !== undefined) {
      const names = this.#order(other).map(({ name }) => base(name));
      download(new Blob([csv(this.#lines)], { type: 'text/csv' }), `${names.join('-vs-')}.csv`);
    }
  }
}
