/** A tokenizer's table, searchable by text, id and type. */

import type { Token } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { button, debounce, fill, h, segmented, setText, uniqueId } from '../ui/dom.ts';
import { count, counted } from '../ui/format.ts';
import { Blocks, VirtualList } from '../ui/virtual.ts';
import type { Listed, TokenizerFacts, TokenList } from '../worker/summary.ts';
import { visible } from './metadata.ts';

const ROW = 24;

export class TokensView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #facts: TokenizerFacts;
  readonly #roles = new Map<number, string>();
  readonly #blocks: Blocks<Token>;
  readonly #list: VirtualList;
  readonly #grid: HTMLElement;
  readonly #search = h('input', { type: 'search', placeholder: 'Text or ID', 'aria-label': 'Search tokens by text or ID', spellcheck: 'false', autocomplete: 'off' });
  readonly #kind = h('select', { 'aria-label': 'Type' });
  readonly #status = h('span', { class: 'muted', role: 'status' });
  readonly #prefix = uniqueId('token');
  #what: TokenList = 'tokens';
  /** The list, once it has been read. */
  #listed: Listed | undefined;
  /** What the rows are the matches of. */
  #found = '';
  #active = -1;

  constructor(file: OpenFile, facts: TokenizerFacts) {
    this.#file = file;
    this.#facts = facts;
    for (const { role, id } of facts.special) {
      this.#roles.set(id, [this.#roles.get(id), role].filter((name) => name !== undefined).join(', '));
    }
    this.#blocks = new Blocks(
      (from, to) => file.api.foundTokens(file.id, this.#what, from, to),
      () => this.#list.redraw(),
    );
    const cell = (kind: string, ...inner: Node[]) => h('div', { role: 'gridcell', class: `cell ${kind}` }, ...inner);
    this.#list = new VirtualList(
      {
        rowHeight: ROW,
        make: () => h('div', { role: 'row', class: 'grid-row' }, cell('number id'), cell('token', h('bdi', {})), cell('raw', h('bdi', {})), cell('kind'), cell('number score')),
        draw: (row, index) => this.#draw(row, index),
        shown: (from, to) => this.#blocks.want(from, to),
      },
      { role: 'rowgroup' },
    );
    const head = [
      ['ID', 'number id'],
      ['Token', 'token'],
      ['In the file', 'raw'],
      ['Type', 'kind'],
      ['Score', 'number score'],
    ].map(([label, kind]) => h('div', { role: 'columnheader', class: `cell ${kind}` }, label));
    this.#grid = h('div', { class: 'grid token-table', role: 'grid', tabindex: '0', 'aria-label': 'Tokens', 'aria-readonly': 'true' }, h('div', { role: 'rowgroup', class: 'grid-head' }, h('div', { role: 'row', class: 'grid-row' }, ...head)), this.#list.element);
    this.#grid.addEventListener('keydown', (event) => this.#key(event));
    this.#grid.addEventListener('copy', (event) => this.#copy(event));
    this.#list.element.addEventListener('click', (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
      if (row !== null) {
        this.#choose(Number(row.dataset.rank));
      }
    });
    const find = debounce(60, () => void this.#find());
    this.#search.addEventListener('input', find);
    this.#search.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown') {
        event.preventDefault();
        this.#grid.focus();
        this.#choose(0);
      }
    });
    this.#kind.addEventListener('change', () => void this.#find());
    const lists = segmented(
      'Lists',
      [
        ['tokens', 'Tokens'],
        ['merges', 'Merges'],
      ] as const,
      'tokens',
      (choice) => void this.#load(choice),
    );
    const go = (id: number) => {
      lists.choose('tokens');
      void this.#go(id);
    };
    const facts_ = [['model', facts.model] as const, ...facts.settings.filter(([key]) => key !== 'model')];
    this.element = h(
      'div',
      { class: 'tokens' },
      h('p', { class: 'token-facts' }, ...facts_.flatMap(([key, value], i) => [i > 0 && ' · ', h('span', { class: 'muted' }, `${visible(key).replaceAll('_', ' ')} `), h('bdi', {}, visible(value.slice(0, 80)))]), facts.from !== undefined && h('span', { class: 'origin' }, facts.from)),
      h('div', { class: 'special-tokens', role: 'group', 'aria-label': 'Special tokens' }, ...facts.special.map(({ role, id }) => button('', () => go(id), { 'data-id': String(id), 'data-role': role }))),
      h('div', { class: 'toolbar' }, facts.merges > 0 && lists, this.#search, this.#kind, this.#status),
      this.#grid,
    );
    void this.#load('tokens');
  }

  /** Shows a list, and in it the token with id `goal`. */
  async #load(what: TokenList, goal?: number): Promise<void> {
    const file = this.#file;
    this.#what = what;
    this.#listed = undefined;
    this.#list.count = 0;
    const listed = await file.tasks.run('Reading the tokenizer', (options) => file.client.with(options).vocabulary(file.id, what), file.closing.signal);
    // Another list may have been chosen by now.
    if (what !== this.#what) {
      return;
    }
    if (listed === undefined) {
      fill(this.#status, 'The list could not be read. ', button('Try again', () => this.#again(), { class: 'link' }));
      return;
    }
    this.#listed = listed;
    this.#found = '';
    const { kinds, names, scored } = listed;
    const tokens = what === 'tokens';
    this.#grid.dataset.list = what;
    this.#grid.dataset.scored = String(tokens && scored);
    this.#grid.setAttribute('aria-label', tokens ? 'Tokens' : 'Merges');
    const there = kinds.map((many, kind) => ({ many, kind })).filter(({ many, kind }) => many > 0 && kind > 0);
    this.#kind.hidden = !tokens || there.length === 0;
    this.#kind.value = '0';
    fill(this.#kind, h('option', { value: '0' }, 'All types'), ...there.map(({ many, kind }) => h('option', { value: String(kind) }, `${names[kind]} (${count(many)})`)));
    await this.#find(goal);
    await this.#nameSpecial();
  }

  #again(): void {
    this.#grid.focus();
    void this.#load(this.#what);
  }

  /** Labels the buttons of the special tokens with their texts. */
  async #nameSpecial(): Promise<void> {
    const file = this.#file;
    const ids = this.#facts.special.map(({ id }) => id);
    const tokens = await file.tasks.run('Reading the special tokens', (options) => file.client.with(options).tokensOf(file.id, ids), file.closing.signal);
    if (tokens === undefined) {
      return;
    }
    const texts = new Map(tokens.map(({ id, text }) => [id, text]));
    for (const chip of this.element.querySelectorAll<HTMLElement>('.special-tokens button')) {
      const { id, role } = chip.dataset;
      const text = texts.get(Number(id));
      fill(chip, h('span', { class: 'muted' }, `${visible(role!).replaceAll('_', ' ')} `), h('bdi', { class: 'mono' }, text ?? 'no such token'), h('span', { class: 'muted' }, ` ${id}`));
    }
  }

  /** What to search for. */
  get #query(): string {
    return `${this.#what} ${this.#kind.value} ${this.#search.value}`;
  }

  /** Shows the matches, and among them the token with id `goal` if all tokens match. */
  async #find(goal?: number): Promise<void> {
    const listed = this.#listed;
    if (listed === undefined) {
      return;
    }
    const file = this.#file;
    const [what, query] = [this.#what, this.#query];
    const total = await file.tasks.run(
      'Searching the tokenizer',
      (options) => file.client.with(options).findTokens(file.id, what, this.#search.value, Number(this.#kind.value)),
      file.closing.signal,
    );
    // Something else may be searched for by now.
    if (total === undefined || query !== this.#query) {
      return;
    }
    this.#blocks.clear();
    // The same matches keep their place.
    if (query !== this.#found) {
      this.#found = query;
      this.#active = -1;
      this.#grid.removeAttribute('aria-activedescendant');
      this.#list.element.scrollTop = 0;
    }
    this.#grid.setAttribute('aria-rowcount', String(total + 1));
    this.#list.count = total;
    const { count: all, declared } = listed;
    const noun = what === 'tokens' ? 'token' : 'merge';
    setText(
      this.#status,
      total === all ? `${counted(all, noun)}${all < declared ? ` of ${count(declared)} can be listed` : ''}` : total === 0 ? `No ${noun} matches` : `${count(total)} of ${counted(all, noun)}`,
    );
    if (goal !== undefined && goal < total && total === all) {
      this.#choose(goal);
    }
  }

  /** Clears the filter and shows the token with this id. */
  async #go(id: number): Promise<void> {
    this.#search.value = '';
    this.#kind.value = '0';
    await (this.#listed === undefined || this.#what === 'merges' ? this.#load('tokens', id) : this.#find(id));
  }

  #draw(row: HTMLElement, index: number): void {
    const token = this.#blocks.get(index);
    row.id = `${this.#prefix}-${index}`;
    row.dataset.rank = String(index);
    row.setAttribute('aria-rowindex', String(index + 2));
    row.setAttribute('aria-selected', String(index === this.#active));
    row.classList.toggle('active', index === this.#active);
    const [id, text, raw, kind, score] = row.children;
    const role = token === undefined || this.#what !== 'tokens' ? undefined : this.#roles.get(token.id);
    setText(id, token === undefined ? '' : String(token.id));
    setText(text.firstElementChild!, token === undefined ? '' : token.text === '' ? '(empty)' : token.text.slice(0, 256));
    text.classList.toggle('muted', token?.text === '');
    text.setAttribute('data-full', token?.raw ?? '');
    setText(raw.firstElementChild!, token === undefined ? '' : visible(token.raw.slice(0, 256)));
    const name = token === undefined ? '' : (this.#listed?.names[token.kind] ?? '');
    // A role may be named like the type: the unknown token is of the type `unknown`.
    const named = role === undefined ? '' : visible(role).replaceAll('_', ' ');
    setText(kind, [...new Set([name, named])].filter((one) => one !== '').join(' · '));
    row.dataset.kind = role === undefined ? name : 'control';
    setText(score, token === undefined || Number.isNaN(token.score) ? '' : String(Number(token.score.toPrecision(6))));
  }

  #choose(index: number): void {
    if (this.#list.count === 0) {
      return;
    }
    this.#active = Math.max(0, Math.min(index, this.#list.count - 1));
    this.#list.scrollTo(this.#active);
    this.#list.redraw();
    this.#grid.setAttribute('aria-activedescendant', `${this.#prefix}-${this.#active}`);
  }

  #key(event: KeyboardEvent): void {
    const { page } = this.#list;
    const to = { ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, PageDown: this.#active + page, PageUp: this.#active - page, Home: 0, End: this.#list.count - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.#choose(to);
    }
  }

  /** Without a selection, copies the selected token as it is in the file. */
  #copy(event: ClipboardEvent): void {
    const token = this.#blocks.get(this.#active);
    if (token !== undefined && getSelection()?.isCollapsed !== false) {
      event.clipboardData?.setData('text/plain', token.raw);
      event.preventDefault();
    }
  }
}
