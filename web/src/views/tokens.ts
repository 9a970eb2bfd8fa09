/** A tokenizer's table, searchable by text, id and type. */

import type { Token } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { button, debounce, fill, h, segmented, setText } from '../ui/dom.ts';
import { count, counted, visible } from '../ui/format.ts';
import { Grid } from '../ui/grid.ts';
import { Blocks } from '../ui/virtual.ts';
import type { Listed, TokenizerFacts, TokenList } from '../worker/summary.ts';

export class TokensView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #facts: TokenizerFacts;
  readonly #roles = new Map<number, string>();
  readonly #blocks: Blocks<Token>;
  readonly #grid: Grid;
  readonly #search = h('input', { type: 'search', placeholder: 'Text or ID', 'aria-label': 'Search tokens by text or ID', spellcheck: 'false', autocomplete: 'off' });
  readonly #kind = h('select', { 'aria-label': 'Type' });
  readonly #status = h('span', { class: 'muted', role: 'status' });
  #what: TokenList = 'tokens';
  /** The list, once it has been read. */
  #listed: Listed | undefined;
  /** What the rows are the matches of. */
  #found = '';

  constructor(file: OpenFile, facts: TokenizerFacts) {
    this.#file = file;
    this.#facts = facts;
    for (const { role, id } of facts.special) {
      this.#roles.set(id, [this.#roles.get(id), role].filter((name) => name !== undefined).join(', '));
    }
    this.#blocks = new Blocks(
      (from, to) => file.api.foundTokens(file.id, this.#what, from, to),
      () => this.#grid.list.redraw(),
    );
    this.#grid = new Grid({
      name: 'token-table',
      label: 'Tokens',
      columns: [
        { label: 'ID', kind: 'number id' },
        { label: 'Token', kind: 'token' },
        { label: 'In the file', kind: 'raw' },
        { label: 'Type', kind: 'kind' },
        { label: 'Score', kind: 'number score' },
      ],
      inside: ({ kind }) => (kind === 'token' || kind === 'raw' ? [h('bdi', {})] : []),
      draw: (row, index) => this.#draw(row, index),
      shown: (from, to) => this.#blocks.want(from, to),
    });
    this.#grid.element.addEventListener('copy', (event) => this.#copy(event));
    const find = debounce(60, () => void this.#find());
    this.#search.addEventListener('input', find);
    this.#search.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown') {
        event.preventDefault();
        this.#grid.element.focus();
        this.#grid.move(0);
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
      this.#grid.element,
    );
    void this.#load('tokens');
  }

  /** Shows a list, and in it the token with id `goal`. */
  async #load(what: TokenList, goal?: number): Promise<void> {
    const file = this.#file;
    this.#what = what;
    this.#listed = undefined;
    this.#grid.count = 0;
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
    this.#grid.element.dataset.list = what;
    this.#grid.element.dataset.scored = String(tokens && scored);
    this.#grid.element.setAttribute('aria-label', tokens ? 'Tokens' : 'Merges');
    const there = kinds.map((many, kind) => ({ many, kind })).filter(({ many, kind }) => many > 0 && kind > 0);
    this.#kind.hidden = !tokens || there.length === 0;
    this.#kind.value = '0';
    fill(this.#kind, h('option', { value: '0' }, 'All types'), ...there.map(({ many, kind }) => h('option', { value: String(kind) }, `${names[kind]} (${count(many)})`)));
    await this.#find(goal);
    await this.#nameSpecial();
  }

  #again(): void {
    this.#grid.element.focus();
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
      this.#grid.active = -1;
      this.#grid.element.scrollTop = 0;
    }
    this.#grid.count = total;
    const { count: all, declared } = listed;
    const noun = what === 'tokens' ? 'token' : 'merge';
    setText(
      this.#status,
      total === all ? `${counted(all, noun)}${all < declared ? ` of ${count(declared)} can be listed` : ''}` : total === 0 ? `No ${noun} matches` : `${count(total)} of ${counted(all, noun)}`,
    );
    if (goal !== undefined && goal < total && total === all) {
      this.#grid.move(goal);
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

  /** Without a selection, copies the selected token as it is in the file. */
  #copy(event: ClipboardEvent): void {
    const token = this.#blocks.get(this.#grid.active);
    if (token !== undefined && getSelection()?.isCollapsed !== false) {
      event.clipboardData?.setData('text/plain', token.raw);
      event.preventDefault();
    }
  }
}
