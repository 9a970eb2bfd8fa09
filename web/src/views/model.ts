/** The model: what it is, what it needs to run, its tokens, chat template and card. */

import more from '../style/beside.css?inline';
import styles from '../style/model.css?inline';
import type { OpenFile } from '../file.ts';
import { button, fill, h, icon } from '../ui/dom.ts';
import { count } from '../ui/format.ts';
import { Tabs } from '../ui/tabs.ts';
import type { ModelFacts } from '../worker/summary.ts';
import { AdapterView } from './adapter.ts';
import { cardView } from './card.ts';
import { chatTemplate } from './chat.ts';
import { overview } from './overview.ts';
import { TokensView } from './tokens.ts';

/** The view's own styles, loaded with it. */
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles + more);

/** Adds the styles to the tree that will contain the view: the page's or the element's. */
export function dress(root: Node): void {
  const tree = root instanceof ShadowRoot ? root : document;
  if (!tree.adoptedStyleSheets.includes(sheet)) {
    tree.adoptedStyleSheets.push(sheet);
  }
}

export class ModelView {
  readonly element = h('div', { class: 'model', tabindex: '-1' });
  readonly #file: OpenFile;
  #tabs: Tabs | undefined;
  #adapter: AdapterView | undefined;
  readonly #others: () => OpenFile[];

  constructor(file: OpenFile, others: () => OpenFile[]) {
    this.#file = file;
    this.#others = others;
    void this.#load();
    file.templated.on(() => this.#tabs?.select('template'));
    file.configured.on(() => void this.#load());
  }

  /** Updates the view when files are opened or closed. */
  filesChanged(): void {
    this.#adapter?.filesChanged();
  }

  async #load(): Promise<void> {
    const file = this.#file;
    const { config, beside } = file;
    const facts = await file.tasks.run('Summarising the model', (options) => file.client.with(options).model(file.id, config, beside), file.closing.signal);
    if (config !== file.config || beside !== file.beside) {
      return;
    }
    if (facts === undefined) {
      this.#show(h('p', { class: 'empty' }, icon('unchecked'), ' No summary available. ', button('Try again', () => void this.#load(), { class: 'link' })));
      return;
    }
    this.#draw(facts);
  }

  #draw(facts: ModelFacts): void {
    const file = this.#file;
    const { adapter, tokenizer, templates, card, summary } = facts;
    const tabs = new Tabs('Views of the model', () => undefined);
    tabs.add({ id: 'overview', label: 'Overview', make: () => overview(file, facts) });
    if (adapter !== undefined) {
      this.#adapter = new AdapterView(file, adapter, this.#others);
      const { element } = this.#adapter;
      tabs.add({ id: 'adapter', label: 'Adapter', make: () => element });
      tabs.badge('adapter', count(adapter.updates));
    }
    if (tokenizer !== undefined) {
      tabs.add({ id: 'tokens', label: 'Tokenizer', make: () => new TokensView(file, tokenizer).element });
      tabs.badge('tokens', count(tokenizer.tokens));
    }
    if (templates.length > 0) {
      tabs.add({ id: 'template', label: 'Chat template', make: () => chatTemplate(file, templates) });
    }
    if (card.length > 0) {
      tabs.add({ id: 'card', label: 'Card', make: () => cardView(file, card, summary.facts.find(({ name }) => name === 'file_type')?.value) });
    }
    tabs.select(adapter === undefined ? 'overview' : 'adapter');
    this.#tabs = tabs;
    if (file.wantsTemplate) {
      tabs.select('template');
    }
    this.#show(tabs.ids.length > 1 && h('div', { class: 'tab-bar model-bar' }, tabs.list), tabs.panels);
  }

  /** Replaces the contents; a focus inside them stays in the view. */
  #show(...contents: (HTMLElement | false)[]): void {
    const held = this.element.matches(':focus-within');
    fill(this.element, ...contents);
    if (held) {
      this.element.focus();
    }
  }
}
