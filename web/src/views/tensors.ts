/** The list of tensors: filters, totals by type, table and tree. */

import type { OpenFile } from '../file.ts';
import { untilClosed } from '../ui/closed.ts';
import { button, fill, h, icon, segmented } from '../ui/dom.ts';
import { count, counted, parameters, parseSize, size } from '../ui/format.ts';
import { parseQuery } from '../search.ts';
import { isAbort } from '../worker/rpc.ts';
import type { Choice } from '../worker/select.ts';
import { TensorTable } from './table.ts';
import { TensorTree } from './tree.ts';

/** Milliseconds from the verdict until everything is shown. */
const SHOWN = 300;

export class TensorsView {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  readonly table: TensorTable;
  readonly #tree: TensorTree;
  readonly #file: OpenFile;
  readonly #totals = h('div', { class: 'totals', role: 'group', 'aria-label': 'Totals by type: press one to filter' });
  readonly #summary = h('p', { class: 'list-summary', 'aria-live': 'polite' });
  readonly #smallest: HTMLInputElement;
  readonly #largest: HTMLInputElement;
  readonly #faulty: HTMLButtonElement;
  /** Lists activations too; the list begins with the weights. */
  readonly #activations: HTMLButtonElement;
  readonly #files: HTMLSelectElement | undefined;
  #filter: Choice = {};
  readonly #nothing = h('div', { class: 'no-match', role: 'status', hidden: true });
  #mode: 'list' | 'tree' = 'list';
  #findings = 0;

  /** Which tensors are listed. */
  get choice(): Choice {
    return this.#filter;
  }

  constructor(file: OpenFile) {
    this.#file = file;
    const noun = file.isTable ? 'columns' : 'tensors';
    const prepare = () => void untilClosed(file.closing.signal, file.api.prepareSearch(file.id));
    this.search = h('input', {
      type: 'search',
      placeholder: `Search ${noun}: words, glob*, /regex/, dtype:bf16, shape:64x*, size:>1MB, has:findings`,
      title: 'All terms must match: words, *.bias, /h\\.\\d+/, dtype:q4_0,q6_k, shape:64x*, size:>1MB or size:1k..4k, has:findings, has:nan after a scan',
      'aria-label': `Search ${noun} by name`,
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => this.#apply(),
      onfocus: prepare,
    });
    const limit = (label: string) =>
      h('input', { class: 'size-limit', placeholder: label, 'aria-label': `${label}, such as 10 MiB`, oninput: () => this.#apply() });
    this.#smallest = limit('min size');
    this.#largest = limit('max size');
    const toggle = (label: string) => {
      const own = button(label, () => {
        own.setAttribute('aria-pressed', String(own.getAttribute('aria-pressed') !== 'true'));
        this.#apply();
      }, { 'aria-pressed': 'false', class: 'toggle' });
      return own;
    };
    this.#faulty = toggle('With findings');
    const { withoutData, tensorCount } = file.info;
    this.#activations = toggle(counted(withoutData, 'activation'));
    this.#activations.hidden = !file.hasActivations || withoutData === tensorCount;
    this.#filter = this.#ofActivations();
    if (file.parts?.some(({ first }) => first !== undefined)) {
      const options = file.parts.filter(({ tensors }) => tensors > 0).map(({ name, first, tensors }) => h('option', { value: `${first} ${tensors}` }, `${name} (${count(tensors)})`));
      this.#files = h('select', { class: 'in-file', 'aria-label': 'In file', onchange: () => this.#apply() }, h('option', { value: '' }, 'All files'), ...options);
    }
    this.table = new TensorTable(file);
    this.#tree = new TensorTree(file);
    this.#tree.element.hidden = true;
    const mode = segmented(
      'Show as',
      [
        ['list', 'List'],
        ['tree', 'Tree'],
      ] as const,
      'list',
      (choice) => this.#show(choice),
    );
    // Shown once there are measurements.
    const columns = segmented(
      'Show columns of',
      [
        ['storage', 'Storage'],
        ['weights', 'Weights'],
      ] as const,
      'storage',
      (choice) => {
        this.table.columns = choice;
      },
    );
    columns.hidden = true;
    file.swept.on(() => {
      if (file.health !== undefined) {
        void this.refresh();
        if (columns.hidden) {
          columns.hidden = false;
          columns.choose('weights');
          this.table.columns = 'weights';
        }
      }
    });
    this.element = h(
      'div',
      { class: 'tensors' },
      h(
        'div',
        { class: 'toolbar' },
        h('span', { class: 'search' }, icon('search'), this.search),
        mode,
        columns,
        this.#files ?? false,
        this.#smallest,
        this.#largest,
        this.#activations,
        this.#faulty,
      ),
      this.#totals,
      this.table.element,
      this.#tree.element,
      this.#nothing,
      this.#summary,
    );
    this.search.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown' || event.key === 'Enter') {
        event.preventDefault();
        (this.#mode === 'list' ? this.table : this.#tree).focus();
      }
    });
    // Findings mark rows, so refetch the rows when their number changes.
    file.validated.on(() => {
      const { verdict } = file;
      if (verdict !== undefined) {
        // The first search is then as fast as the others.
        setTimeout(prepare, SHOWN);
      }
      // A tensor without data may be broken, or have its data in another file.
      if (!this.#activations.hidden && (verdict?.valid === false || !file.hasActivations)) {
        this.#activations.hidden = true;
        this.#apply();
      }
      const findings = verdict === undefined ? 0 : verdict.fatal + verdict.violation + verdict.lint;
      if (findings !== this.#findings) {
        this.#findings = findings;
        void this.refresh();
      }
    });
    file.selected.on(() => void this.table.follow());
  }

  focus(): void {
    (this.#mode === 'list' ? this.table : this.#tree).focus();
  }

  /** Whether a fetch is running, and whether the filter has changed since it began. */
  #fetching = false;
  #stale = false;
  #trying = new AbortController();
  /** Why the regular expressions were abandoned. */
  #endless: string | undefined;

  /** Refetches the list, one fetch at a time, so the last keystroke waits for one at most. */
  async refresh(): Promise<void> {
    this.#stale = true;
    this.table.expect(this.#filter);
    if (this.#fetching) {
      return;
    }
    this.#fetching = true;
    try {
      while (this.#stale) {
        this.#stale = false;
        await untilClosed(this.#file.closing.signal, this.#fetch());
      }
    } finally {
      this.#fetching = false;
    }
  }

  async #fetch(): Promise<void> {
    const filter = this.#filter;
    this.#endless = undefined;
    if (parseQuery(filter.query ?? '').expressions.length > 0 && !(await this.#attempt(filter))) {
      return;
    }
    await this.table.refresh(filter);
    if (this.#stale) {
      return;
    }
    if (this.#mode === 'tree') {
      await this.#tree.refresh(filter);
    }
    await this.#drawTotals(filter);
  }

  /** Tries the regular expressions before anything is fetched with them: they may never finish. */
  async #attempt(filter: Choice): Promise<boolean> {
    const { signal } = (this.#trying = new AbortController());
    try {
      await this.#file.client.with({ signal }).totals(this.#file.id, filter);
      return true;
    } catch (error) {
      const { name, message } = error as Error;
      if (name !== 'Endless' && !isAbort(error)) {
        throw error;
      }
      if (filter === this.#filter) {
        this.#endless = message;
        this.table.giveUp();
        this.#drawNothing(true);
      }
      return false;
    }
  }

  /** Shows that nothing matches instead of an empty list. */
  #drawNothing(empty: boolean): void {
    const fault = this.#endless ?? parseQuery(this.search.value).fault;
    const none = fault !== undefined || (empty && Object.keys(this.#filter).length > 0);
    this.#nothing.hidden = !none;
    this.table.element.hidden = none || this.#mode !== 'list';
    this.#tree.element.hidden = none || this.#mode !== 'tree';
    if (none) {
      const noun = this.#file.isTable ? 'columns' : 'tensors';
      fill(
        this.#nothing,
        h('p', {}, fault === undefined ? `No ${noun} match.` : `${fault}.`),
        h('p', { class: 'muted' }, 'All terms must match: words, *.bias, /h\\.\\d+/, dtype:bf16, shape:64x*, size:>1MB, has:findings.'),
        button('Clear search and filters', () => this.#clear()),
      );
    }
  }

  #clear(): void {
    for (const field of [this.search, this.#smallest, this.#largest, this.#files]) {
      if (field !== undefined) {
        field.value = '';
      }
    }
    this.#faulty.setAttribute('aria-pressed', 'false');
    this.#activations.setAttribute('aria-pressed', 'true');
    this.#totals.querySelectorAll('[aria-pressed=true]').forEach((one) => one.setAttribute('aria-pressed', 'false'));
    this.#apply();
    this.search.focus();
  }

  #show(mode: 'list' | 'tree'): void {
    this.#mode = mode;
    this.#drawNothing(!this.#nothing.hidden);
    if (mode === 'tree') {
      void this.#tree.refresh(this.#filter);
    }
  }

  /** The filter that leaves out activations, unless they are wanted. */
  #ofActivations(): Choice {
    return this.#activations.hidden || this.#activations.getAttribute('aria-pressed') === 'true' ? {} : { least: 1 };
  }

  #apply(): void {
    // Stops trying the previous expressions.
    this.#trying.abort();
    const dtypes = Array.from(this.#totals.querySelectorAll<HTMLElement>('[aria-pressed=true]'), (one) => one.dataset.dtype!);
    this.#filter = this.#ofActivations();
    const query = this.search.value.trim();
    const { fault } = parseQuery(query);
    this.search.setAttribute('aria-invalid', String(fault !== undefined));
    if (query !== '') {
      this.#filter.query = query;
    }
    if (dtypes.length > 0) {
      this.#filter.dtypes = dtypes;
    }
    if (this.#files !== undefined && this.#files.value !== '') {
      const [first, tensors] = this.#files.value.split(' ').map(Number);
      this.#filter.within = [first, tensors];
    }
    if (this.#faulty.getAttribute('aria-pressed') === 'true') {
      this.#filter.faulty = true;
    }
    for (const [field, key] of [
      [this.#smallest, 'least'],
      [this.#largest, 'most'],
    ] as const) {
      const value = parseSize(field.value);
      field.setAttribute('aria-invalid', String(field.value !== '' && value === undefined));
      if (value !== undefined) {
        this.#filter[key] = value;
      }
    }
    void this.refresh();
  }

  async #drawTotals(filter: Choice): Promise<void> {
    const { dtypes: chosen, ...rest } = filter;
    const shown = await this.#file.api.totals(this.#file.id, filter);
    const all = chosen === undefined ? shown : await this.#file.api.totals(this.#file.id, rest);
    if (this.#stale) {
      return;
    }
    const focused = this.#totals.querySelector<HTMLElement>(':focus')?.dataset.dtype;
    fill(
      this.#totals,
      ...all.map(({ dtype, count: tensors, stored }) =>
        h(
          'button',
          {
            type: 'button',
            class: 'total',
            'data-dtype': dtype,
            'aria-pressed': String(chosen?.includes(dtype) ?? false),
            onclick: (event: Event) => {
              const target = event.currentTarget as HTMLElement;
              target.setAttribute('aria-pressed', String(target.getAttribute('aria-pressed') !== 'true'));
              this.#apply();
            },
          },
          h('span', { class: 'mono' }, dtype),
          h('span', { class: 'total-count' }, `×${count(tensors)}`),
          h('span', {}, size(stored)),
        ),
      ),
    );
    if (focused) {
      this.#totals.querySelector<HTMLElement>(`[data-dtype="${CSS.escape(focused)}"]`)?.focus();
    }
    const tensors = shown.reduce((sum, total) => sum + total.count, 0);
    this.#drawNothing(tensors === 0);
    const elements = shown.reduce((sum, total) => sum + total.elements, 0n);
    const stored = shown.reduce((sum, total) => sum + total.stored, 0n);
    const without = shown.reduce((sum, total) => sum + total.withoutData, 0);
    const noun = this.#file.isTable ? 'column' : 'tensor';
    if (parseQuery(this.search.value).fault !== undefined) {
      // The rows behind the message are those of the rest of the search.
      fill(this.#summary, 'Not searched');
      return;
    }
    fill(this.#summary, [counted(tensors, noun), without > 0 && this.#file.countedWithout(without), this.#file.isTable ? counted(elements, 'element') : `${parameters(elements)} ${elements === 1n ? 'parameter' : 'parameters'}${elements < 1000n ? '' : ` (${counted(elements, 'element')})`}`, size(stored)].filter(Boolean).join(' · '));
  }
}
