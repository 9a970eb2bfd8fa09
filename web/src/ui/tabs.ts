/** Tabs whose contents are created when first shown. */

import { h, uniqueId } from './dom.ts';

export interface Tab {
  id: string;
  label: string;
  make(): HTMLElement;
}

export class Tabs {
  readonly list: HTMLElement;
  readonly panels = h('div', { class: 'tab-panels' });
  readonly #tabs = new Map<string, { button: HTMLElement; badge: HTMLElement; panel?: HTMLElement; tab: Tab }>();
  readonly #onchange: (id: string) => void;
  #current = '';

  constructor(label: string, onchange: (id: string) => void) {
    this.list = h('div', { class: 'tabs', role: 'tablist', 'aria-label': label });
    this.list.addEventListener('keydown', (event) => this.#key(event));
    this.#onchange = onchange;
  }

  get current(): string {
    return this.#current;
  }

  get ids(): string[] {
    return [...this.#tabs.keys()];
  }

  add(tab: Tab): void {
    if (this.#tabs.has(tab.id)) {
      return;
    }
    const badge = h('span', { class: 'badge' });
    const button = h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: uniqueId('tab'),
        'aria-selected': 'false',
        tabindex: '-1',
        onclick: () => this.select(tab.id, true),
      },
      tab.label,
      badge,
    );
    this.#tabs.set(tab.id, { button, badge, tab });
    this.list.append(button);
  }

  remove(id: string): void {
    const entry = this.#tabs.get(id);
    const held = [entry?.button, entry?.panel].some((part) => part?.matches(':focus-within'));
    entry?.button.remove();
    entry?.panel?.remove();
    this.#tabs.delete(id);
    if (this.#current === id) {
      this.select(this.ids[0]);
    }
    if (held) {
      this.focus();
    }
  }

  /** Sets the number next to a label. */
  badge(id: string, text: string): void {
    const badge = this.#tabs.get(id)?.badge;
    if (badge !== undefined) {
      badge.textContent = text;
    }
  }

  select(id: string, tell = false): void {
    const entry = this.#tabs.get(id);
    if (entry === undefined || id === this.#current) {
      return;
    }
    if (entry.panel === undefined) {
      const panelId = uniqueId('panel');
      entry.panel = h('div', { class: 'tab-panel', role: 'tabpanel', id: panelId, 'aria-labelledby': entry.button.id });
      entry.button.setAttribute('aria-controls', panelId);
      entry.panel.append(entry.tab.make());
      this.panels.append(entry.panel);
    }
    const held = this.panels.matches(':focus-within');
    this.#current = id;
    for (const [other, { button, panel }] of this.#tabs) {
      const chosen = other === id;
      button.setAttribute('aria-selected', String(chosen));
      button.tabIndex = chosen ? 0 : -1;
      if (panel !== undefined) {
        panel.hidden = !chosen;
      }
    }
    // Scroll only the list of tabs, not its surroundings.
    const [list, tab] = [this.list.getBoundingClientRect(), entry.button.getBoundingClientRect()];
    this.list.scrollLeft += Math.min(0, tab.left - list.left) + Math.max(0, tab.right - list.right);
    // A hidden view must not keep the focus.
    if (held && !entry.panel.matches(':focus-within')) {
      entry.button.focus();
    }
    if (tell) {
      this.#onchange(id);
    }
  }

  focus(): void {
    this.#tabs.get(this.#current)?.button.focus();
  }

  /** Selects the tab `step` places further on. */
  step(step: number): void {
    const { ids } = this;
    const next = (ids.indexOf(this.#current) + step + ids.length) % ids.length;
    this.select(ids[next], true);
  }

  #key(event: KeyboardEvent): void {
    const { ids } = this;
    const at = ids.indexOf(this.#current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (to === undefined) {
      return;
    }
    event.preventDefault();
    const id = ids[(to + ids.length) % ids.length];
    this.select(id, true);
    this.#tabs.get(id)?.button.focus();
  }
}
