/** Tensors as a tree, split by the parts of their names. */

import type { OpenFile } from '../file.ts';
import { h, icon, setText, uniqueId } from '../ui/dom.ts';
import { count, parameters, size } from '../ui/format.ts';
import { VirtualList } from '../ui/virtual.ts';
import type { Choice } from '../worker/select.ts';
import type { Group } from '../worker/tables.ts';

interface Node extends Group {
  prefix: string;
  level: number;
  open: boolean;
}

const ROW = 24;

export class TensorTree {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list: VirtualList;
  readonly #prefix = uniqueId('node');
  readonly #open = new Set<string>();
  #nodes: Node[] = [];
  #filter: Choice = {};
  #active = 0;
  #round = 0;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#list = new VirtualList(
      { rowHeight: ROW, make: () => this.#make(), draw: (row, index) => this.#draw(row, index) },
      { role: 'rowgroup' },
    );
    const head = [
      ['Name', 'name'],
      ['Type', 'dtype'],
      ['Tensors', 'number'],
      [file.isTable ? 'Elements' : 'Parameters', 'number'],
      ['Stored', 'number'],
    ].map(([label, kind]) => h('div', { role: 'columnheader', class: `cell ${kind}` }, label));
    this.element = h(
      'div',
      { class: 'grid tree', role: 'treegrid', tabindex: '0', 'aria-label': 'Tensors by name' },
      h('div', { role: 'rowgroup', class: 'grid-head' }, h('div', { role: 'row', class: 'grid-row' }, ...head)),
      this.#list.element,
    );
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.#list.element.addEventListener('click', (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-rank]');
      if (row !== null) {
        this.#active = Number(row.dataset.rank);
        void this.#act();
      }
    });
  }

  focus(): void {
    this.element.focus();
  }

  async refresh(filter: Choice): Promise<void> {
    this.#filter = filter;
    const round = ++this.#round;
    const nodes = await this.#level('', 1);
    if (round === this.#round) {
      this.#nodes = nodes;
      this.#update();
    }
  }

  /** The nodes below a prefix; nodes that were open stay open. */
  async #level(prefix: string, level: number): Promise<Node[]> {
    const { api, id, closing } = this.#file;
    const groups = closing.signal.aborted ? [] : await api.groups(id, prefix, this.#filter);
    const nodes: Node[] = [];
    for (const group of groups) {
      const node = { ...group, prefix: prefix + group.key, level, open: false };
      nodes.push(node);
      if (group.index === undefined && this.#open.has(node.prefix)) {
        node.open = true;
        (await this.#level(node.prefix, level + 1)).forEach((below) => nodes.push(below));
      }
    }
    return nodes;
  }

  async #expand(node: Node): Promise<void> {
    this.#open.add(node.prefix);
    const below = await this.#level(node.prefix, node.level + 1);
    // Other nodes may have been opened or closed since.
    const at = this.#nodes.indexOf(node);
    if (at < 0 || node.open) {
      return;
    }
    node.open = true;
    this.#nodes = [...this.#nodes.slice(0, at + 1), ...below, ...this.#nodes.slice(at + 1)];
    if (this.#active > at) {
      this.#active += below.length;
    }
  }

  #collapse(at: number): void {
    const node = this.#nodes[at];
    let end = at + 1;
    while (end < this.#nodes.length && this.#nodes[end].level > node.level) {
      end++;
    }
    this.#nodes.splice(at + 1, end - at - 1);
    node.open = false;
    this.#open.delete(node.prefix);
  }

  #update(): void {
    this.#active = Math.max(0, Math.min(this.#active, this.#nodes.length - 1));
    this.element.setAttribute('aria-rowcount', String(this.#nodes.length + 1));
    this.element.setAttribute('aria-activedescendant', `${this.#prefix}-${this.#active}`);
    this.#list.count = this.#nodes.length;
  }

  async #act(): Promise<void> {
    const node = this.#nodes[this.#active];
    if (node === undefined) {
      return;
    }
    if (node.index !== undefined) {
      this.#file.select(node.index);
    } else if (node.open) {
      this.#collapse(this.#active);
    } else {
      await this.#expand(node);
    }
    this.#update();
  }

  #make(): HTMLElement {
    return h(
      'div',
      { role: 'row', class: 'grid-row' },
      h('div', { role: 'gridcell', class: 'cell name' }, h('span', { class: 'twist', 'aria-hidden': 'true' }), h('bdi', {}), icon('violation')),
      h('div', { role: 'gridcell', class: 'cell dtype' }),
      h('div', { role: 'gridcell', class: 'cell number' }),
      h('div', { role: 'gridcell', class: 'cell number' }),
      h('div', { role: 'gridcell', class: 'cell number' }),
    );
  }

  #draw(element: HTMLElement, rank: number): void {
    const node = this.#nodes[rank];
    const group = node.index === undefined;
    element.id = `${this.#prefix}-${rank}`;
    element.dataset.rank = String(rank);
    element.setAttribute('aria-rowindex', String(rank + 2));
    element.setAttribute('aria-level', String(node.level));
    element.setAttribute('aria-selected', String(!group && node.index === this.#file.tensor));
    if (group) {
      element.setAttribute('aria-expanded', String(node.open));
    } else {
      element.removeAttribute('aria-expanded');
    }
    element.classList.toggle('active', rank === this.#active);
    element.classList.toggle('faulty', node.findings > 0);
    const [name, dtype, tensors, elements, stored] = element.children as unknown as HTMLElement[];
    name.style.paddingInlineStart = `${0.5 + (node.level - 1) * 1}rem`;
    setText(name.children[0], group ? (node.open ? '▾' : '▸') : '');
    setText(name.children[1], node.name);
    name.children[1].setAttribute('title', node.prefix);
    setText(dtype, node.dtype);
    dtype.classList.toggle('muted', node.dtype === 'mixed');
    setText(tensors, group ? count(node.count) : '');
    setText(elements, parameters(node.elements));
    elements.setAttribute('title', count(node.elements));
    setText(stored, size(node.stored));
  }

  #key(event: KeyboardEvent): void {
    const node = this.#nodes[this.#active];
    if (node === undefined || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const group = node.index === undefined;
    switch (event.key) {
      case 'ArrowDown':
      case 'j':
        this.#active++;
        break;
      case 'ArrowUp':
      case 'k':
        this.#active--;
        break;
      case 'PageDown':
        this.#active += this.#list.page;
        break;
      case 'PageUp':
        this.#active -= this.#list.page;
        break;
      case 'Home':
        this.#active = 0;
        break;
      case 'End':
        this.#active = this.#nodes.length - 1;
        break;
      case 'ArrowRight':
        if (!group || node.open) {
          this.#active++;
        } else {
          void this.#act();
        }
        break;
      case 'ArrowLeft':
        if (group && node.open) {
          void this.#act();
        } else {
          const up = this.#nodes.slice(0, this.#active).findLastIndex(({ level }) => level < node.level);
          this.#active = Math.max(0, up);
        }
        break;
      case 'Enter':
      case ' ':
        void this.#act();
        break;
      default:
        return;
    }
    event.preventDefault();
    this.#update();
    this.#list.scrollTo(this.#active);
  }
}
