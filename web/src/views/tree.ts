/** Tensors as a tree, split by the parts of their names, or of the keys that lead to them. */

import type { OpenFile } from '../file.ts';
import { h, icon, setText } from '../ui/dom.ts';
import { count, parameters, size } from '../ui/format.ts';
import { Grid } from '../ui/grid.ts';
import type { Choice } from '../worker/select.ts';
import type { Group } from '../worker/tables.ts';

/** A node as its children see it. */
interface Above {
  prefix: string;
  /** The prefix, with a mark at each dot in a key: two nodes may be written alike. */
  path: string;
  /** The dot in a key that its children begin with. */
  dot: string;
  first: number;
}

interface Node extends Group, Above {
  label: string;
  level: number;
  open: boolean;
}

const ROOT: Above = { prefix: '', path: '', dot: '', first: 0 };

/** Maximum number of rows that are shown unasked. */
const UNFOLDED = 200;

export class TensorTree {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #grid: Grid;
  readonly #open = new Set<string>();
  #nodes: Node[] = [];
  #filter: Choice = {};
  #round = 0;
  #unfolded = false;

  constructor(file: OpenFile) {
    this.#file = file;
    this.#grid = new Grid({
      name: 'tree',
      label: 'Tensors by name',
      tree: true,
      columns: [
        { label: 'Name', kind: 'name' },
        { label: 'Type', kind: 'dtype' },
        { label: 'Tensors', kind: 'number' },
        { label: file.isTable ? 'Elements' : 'Parameters', kind: 'number' },
        { label: 'Stored', kind: 'number' },
      ],
      inside: ({ kind }) => (kind === 'name' ? [h('span', { class: 'twist', 'aria-hidden': 'true' }), h('bdi', {}), icon('violation')] : []),
      draw: (row, index) => this.#draw(row, index),
      entered: () => void this.#act(),
      clicked: () => void this.#act(),
      pressed: (key) => this.#pressed(key),
    });
    this.element = this.#grid.element;
  }

  focus(): void {
    this.element.focus();
  }

  async refresh(filter: Choice): Promise<void> {
    this.#filter = filter;
    const round = ++this.#round;
    if (!this.#unfolded) {
      this.#unfolded = true;
      await this.#unfold();
    }
    const nodes = await this.#level(ROOT, 1);
    if (round === this.#round) {
      this.#nodes = nodes;
      this.#update();
    }
  }

  /** Opens groups down to the layers, which have numbers, as long as the rows are few. */
  async #unfold(): Promise<void> {
    let rows = 0;
    for (let nodes = [ROOT]; nodes.length > 0; ) {
      const below = (await Promise.all(nodes.map((node) => this.#below(node, 1)))).flat();
      rows += below.length;
      if (rows > UNFOLDED) {
        return;
      }
      nodes.forEach(({ path }) => this.#open.add(path));
      nodes = below.filter(({ index, name }) => index === undefined && !/^\d/.test(name));
    }
  }

  /** The nodes right below another. */
  async #below(above: Above, level: number): Promise<Node[]> {
    const { api, id, closing } = this.#file;
    const groups = closing.signal.aborted ? [] : await api.groups(id, above.prefix, this.#filter, above.first);
    return groups.map((group) => ({
      ...group,
      prefix: above.prefix + group.key,
      path: `${above.path}${group.key}${group.inKey ? '\0' : ''}`,
      dot: group.inKey ? group.key.slice(-1) : '',
      // The dot at the end of a prefix says no more than the arrow before it, unless it is in a key.
      label: above.dot + (group.index === undefined ? group.name.replace(/(?<=.)[./]$/, '') : group.name),
      level,
      open: false,
    }));
  }

  /** The nodes below another; nodes that were open stay open. */
  async #level(above: Above, level: number): Promise<Node[]> {
    const nodes: Node[] = [];
    for (const node of await this.#below(above, level)) {
      nodes.push(node);
      if (node.index === undefined && this.#open.has(node.path)) {
        node.open = true;
        (await this.#level(node, level + 1)).forEach((below) => nodes.push(below));
      }
    }
    return nodes;
  }

  async #expand(node: Node): Promise<void> {
    this.#open.add(node.path);
    const below = await this.#level(node, node.level + 1);
    // Other nodes may have been opened or closed since.
    const at = this.#nodes.indexOf(node);
    if (at < 0 || node.open) {
      return;
    }
    node.open = true;
    this.#nodes = [...this.#nodes.slice(0, at + 1), ...below, ...this.#nodes.slice(at + 1)];
    this.#grid.count = this.#nodes.length;
    if (this.#grid.active > at) {
      this.#grid.active += below.length;
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
    this.#open.delete(node.path);
  }

  #update(): void {
    this.#grid.count = this.#nodes.length;
    this.#grid.active = Math.max(0, this.#grid.active);
  }

  async #act(): Promise<void> {
    const node = this.#nodes[this.#grid.active];
    if (node === undefined) {
      return;
    }
    if (node.index !== undefined) {
      this.#file.select(node.index);
    } else if (node.open) {
      this.#collapse(this.#grid.active);
    } else {
      await this.#expand(node);
    }
    this.#update();
  }

  #draw(element: HTMLElement, rank: number): void {
    const node = this.#nodes[rank];
    const group = node.index === undefined;
    element.setAttribute('aria-level', String(node.level));
    element.setAttribute('aria-selected', String(!group && node.index === this.#file.tensor));
    if (group) {
      element.setAttribute('aria-expanded', String(node.open));
    } else {
      element.removeAttribute('aria-expanded');
    }
    element.classList.toggle('faulty', node.findings > 0);
    const [name, dtype, tensors, elements, stored] = element.children as unknown as HTMLElement[];
    name.style.paddingInlineStart = `${0.5 + (node.level - 1) * 1}rem`;
    setText(name.children[0], group ? (node.open ? '▾' : '▸') : '');
    setText(name.children[1], node.label);
    name.children[1].setAttribute('title', node.prefix);
    setText(dtype, node.dtype);
    dtype.classList.toggle('muted', node.dtype === 'mixed');
    setText(tensors, group ? count(node.count) : '');
    setText(elements, parameters(node.elements));
    elements.setAttribute('title', count(node.elements));
    setText(stored, size(node.stored));
  }

  /** Opens and closes groups, and goes into and out of them. */
  #pressed(key: string): boolean {
    const at = this.#grid.active;
    const node = this.#nodes[at];
    if (node === undefined) {
      return false;
    }
    const group = node.index === undefined;
    if (key === ' ' || (key === 'ArrowRight' && group && !node.open) || (key === 'ArrowLeft' && group && node.open)) {
      void this.#act();
    } else if (key === 'ArrowRight') {
      this.#grid.move(at + 1);
    } else if (key === 'ArrowLeft') {
      this.#grid.move(this.#nodes.slice(0, at).findLastIndex(({ level }) => level < node.level));
    } else {
      return false;
    }
    return true;
  }
}
