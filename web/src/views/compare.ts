/** Two files side by side: what was added, removed, changed, and by how much. */

import type { DifferenceSummary } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { button, fill, h, segmented, setText } from '../ui/dom.ts';
import { count, counted, real, size } from '../ui/format.ts';
import { accessOf } from '../storage.ts';
import { VirtualList } from '../ui/virtual.ts';
import type { Pair } from '../worker/jobs.ts';
import { position } from './statistics.ts';

const ROW = 24;
const CHANGES = [
  [1, 'type'],
  [2, 'shape'],
  [4, 'size'],
  [8, 'encoding'],
] as const;

type Kind = 'added' | 'removed' | 'changed' | 'same';

interface Line {
  pair: Pair;
  kind: Kind;
  name: string;
  text: string;
  values?: DifferenceSummary;
}

export class CompareView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #others: () => OpenFile[];
  readonly #list: VirtualList;
  readonly #choice: HTMLSelectElement;
  readonly #counts = h('p', { class: 'list-summary', role: 'status' });
  readonly #detail = h('div', { class: 'compare-detail', role: 'status' });
  #lines: Line[] = [];
  #shown: Line[] = [];
  #only: Kind | 'all' | 'differ' = 'all';
  #active = -1;
  #other: OpenFile | undefined;

  constructor(file: OpenFile, others: () => OpenFile[]) {
    this.#file = file;
    this.#others = others;
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () =>
          h(
            'div',
            { role: 'row', class: 'grid-row' },
            h('div', { role: 'gridcell', class: 'cell change' }),
            h('div', { role: 'gridcell', class: 'cell name' }, h('bdi', {})),
            h('div', { role: 'gridcell', class: 'cell what' }),
            h('div', { role: 'gridcell', class: 'cell number' }),
            h('div', { role: 'gridcell', class: 'cell number' }),
          ),
        draw: (row, index) => this.#draw(row, index),
      },
      { role: 'rowgroup' },
    );
    this.#choice = h('select', { 'aria-label': 'Compare with', onchange: () => void this.load() });
    const filter = segmented(
      'Show',
      [
        ['all', 'All'],
        ['differ', 'Differing'],
        ['added', 'Added'],
        ['removed', 'Removed'],
        ['changed', 'Changed'],
      ] as const,
      'all',
      (choice) => {
        this.#only = choice;
        this.#filter();
      },
    );
    const head = [
      ['Change', 'change'],
      ['Name', 'name'],
      ['What', 'what'],
      ['Max |a − b|', 'number'],
      ['Cosine', 'number'],
    ].map(([label, kind]) => h('div', { role: 'columnheader', class: `cell ${kind}` }, label));
    const grid = h(
      'div',
      { class: 'grid compare-table', role: 'grid', tabindex: '0', 'aria-label': 'Differences', 'aria-readonly': 'true' },
      h('div', { role: 'rowgroup', class: 'grid-head' }, h('div', { role: 'row', class: 'grid-row' }, ...head)),
      this.#list.element,
    );
    grid.addEventListener('keydown', (event) => {
      const to = { ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, Home: 0, End: this.#shown.length - 1 }[event.key];
      if (to !== undefined) {
        event.preventDefault();
        this.#choose(to);
      } else if (event.key === 'Enter') {
        void this.#values(this.#shown[this.#active]);
      }
    });
    this.#list.element.addEventListener('click', (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
      if (row !== null) {
        this.#choose(Number(row.dataset.rank));
      }
    });
    this.element = h(
      'div',
      { class: 'compare' },
      h(
        'div',
        { class: 'toolbar' },
        h('span', {}, 'with'),
        this.#choice,
        filter,
        button('Compare all values', () => void this.#all()),
      ),
      grid,
      this.#detail,
      this.#counts,
    );
    void this.load();
  }

  /** Offers the files that are open. */
  async load(): Promise<void> {
    const others = this.#others();
    const chosen = this.#choice.value;
    this.#choice.replaceChildren(...others.map((other) => h('option', { value: other.id, selected: String(other.id) === chosen }, other.info.name)));
    this.#other = others.find(({ id }) => String(id) === this.#choice.value);
    if (this.#other === undefined) {
      this.#lines = [];
      this.#filter();
      return;
    }
    const other = this.#other;
    const pairs = (await this.#file.tasks.run('Comparing', (options) => this.#file.client.with(options).pairs(this.#file.id, other.id))) ?? [];
    this.#lines = pairs.map(describe);
    this.#filter();
  }

  #filter(): void {
    this.#shown = this.#lines.filter(({ kind, values }) => {
      if (this.#only === 'differ') {
        return kind !== 'same' || (values !== undefined && values.different > 0n);
      }
      return this.#only === 'all' || kind === this.#only;
    });
    const tally = (kind: Kind) => this.#lines.filter((line) => line.kind === kind).length;
    setText(
      this.#counts,
      `${tally('added')} added · ${tally('removed')} removed · ${tally('changed')} changed · ${tally('same')} alike in type, shape and size`,
    );
    this.#active = -1;
    fill(this.#detail, h('p', { class: 'empty' }, this.#lines.length === 0 ? 'Open a second file to compare.' : 'Choose a tensor to compare its values.'));
    this.#list.count = this.#shown.length;
  }

  #draw(row: HTMLElement, index: number): void {
    const line = this.#shown[index];
    row.dataset.rank = String(index);
    row.dataset.kind = line.kind;
    row.setAttribute('aria-rowindex', String(index + 2));
    row.setAttribute('aria-selected', String(index === this.#active));
    const [kind, name, what, most, cosine] = row.children;
    setText(kind, { added: '+ added', removed: '− removed', changed: '≠ changed', same: '= alike' }[line.kind]);
    setText(name.firstElementChild!, line.name);
    setText(what, line.text);
    const { values } = line;
    setText(most, values === undefined ? '' : real(values.maxAbs));
    setText(cosine, values !== undefined ? real(values.cosine) : '');
  }

  #choose(index: number): void {
    this.#active = Math.max(0, Math.min(index, this.#shown.length - 1));
    const line = this.#shown[this.#active];
    this.#list.scrollTo(this.#active);
    this.#list.redraw();
    this.#show(line);
  }

  #show(line: Line): void {
    const { a, b } = line.pair;
    const { values } = line;
    fill(
      this.#detail,
      h('h3', {}, h('bdi', {}, line.name)),
      h(
        'p',
        { class: 'mono facts' },
        a === undefined ? 'not here' : `${a.dtype} [${Array.from(a.shape).join(', ')}] ${size(a.stored)}`,
        ' → ',
        b === undefined ? 'not there' : `${b.dtype} [${Array.from(b.shape).join(', ')}] ${size(b.stored)}`,
      ),
      comparable(line) && values === undefined && button('Compare values', () => void this.#values(line)),
      values !== undefined &&
        h(
          'p',
          { class: 'compare-result' },
          values.different === 0n
            ? `All ${counted(values.count, 'value')} are equal.`
            : `${count(values.different)} of ${counted(values.count, 'value')} differ, at most by ${real(values.maxAbs)}` +
                `${values.maxAt === undefined || a === undefined ? '' : ` at ${position(values.maxAt, a)}`}; cosine ${real(values.cosine)}.`,
        ),
      a !== undefined && button('Open here', () => this.#file.select(a.index), { class: 'link' }),
    );
  }

  async #values(line: Line | undefined): Promise<boolean> {
    const other = this.#other;
    if (line === undefined || other === undefined || !comparable(line)) {
      return true;
    }
    const { a, b } = line.pair;
    const result = await this.#file.tasks.run(`Comparing ${line.name.slice(0, 40)}`, (options) =>
      this.#file.client.with(options).difference(this.#file.id, a!.index, other.id, b!.index),
      AbortSignal.any([this.#file.closing.signal, other.closing.signal]),
    );
    // What was cancelled can be asked for again, and so can what failed.
    line.values = result;
    if (this.#shown[this.#active] === line) {
      this.#show(line);
    }
    this.#list.redraw();
    return result !== undefined;
  }

  async #all(): Promise<void> {
    for (const line of this.#lines) {
      // One that was cancelled or failed ends it.
      if (comparable(line) && line.values === undefined && !(await this.#values(line))) {
        return;
      }
    }
  }
}

function comparable({ pair: { a, b } }: Line): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    accessOf(a) === 'dense' &&
    accessOf(b) === 'dense' &&
    a.layout === b.layout &&
    a.elements === b.elements &&
    a.elements > 0n
  );
}

function describe(pair: Pair): Line {
  const { a, b, differs } = pair;
  const name = (a ?? b)?.name ?? '';
  if (a === undefined || b === undefined) {
    return { pair, name, kind: a === undefined ? 'added' : 'removed', text: `${(a ?? b)!.dtype} ${size((a ?? b)!.stored)}` };
  }
  const parts = CHANGES.filter(([bit]) => (differs & bit) !== 0).map(([, text]) => text);
  return { pair, name, kind: parts.length > 0 ? 'changed' : 'same', text: parts.join(', ') };
}
