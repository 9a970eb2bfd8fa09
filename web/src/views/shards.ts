/** A checkpoint in shards: which of its files are open, and what is missing from them. */

import type { OpenFile } from '../file.ts';
import { fill, h } from '../ui/dom.ts';
import { count, counted } from '../ui/format.ts';
import type { Shard, ShardFault } from '../worker/shards.ts';

const KINDS: Record<ShardFault['kind'], string> = {
  missing: 'is missing from',
  surplus: 'is not in the index, but it is in',
  elsewhere: 'belongs in another file according to the index, but it is in',
};

export class ShardsView {
  readonly element = h('div', { class: 'shards scroll', tabindex: '0', role: 'region', 'aria-label': 'Shards' });
  readonly #file: OpenFile;
  readonly #others: () => OpenFile[];

  constructor(file: OpenFile, others: () => OpenFile[]) {
    this.#file = file;
    this.#others = others;
    void this.load();
  }

  /** To be called when files come or go. */

  async load(): Promise<void> {
    const others = this.#others().map(({ id }) => id);
    const report = await this.#file.tasks.run(
      'Comparing shards',
      (options) => this.#file.client.with(options).shards(this.#file.id, others),
      this.#file.closing.signal,
    );
    if (report === undefined) {
      return;
    }
    const { shards, faults, total } = report;
    const absent = shards.filter(({ found }) => found === undefined).length;
    const words = [counted(shards.length, 'file'), absent > 0 ? `${count(absent)} not open: drop them here too` : 'all open', total > 0 ? counted(total, 'difference') : absent < shards.length ? 'no differences' : ''];
    const more = total - faults.length;
    fill(
      this.element,
      h('p', { role: 'status' }, words.filter((word) => word !== '').join(' · ')),
      h(
        'table',
        {},
        h('thead', {}, h('tr', {}, ...['File', 'Listed', 'Found'].map((label) => h('th', { scope: 'col' }, label)))),
        h('tbody', {}, ...shards.slice(0, 1000).map(row)),
      ),
      ...(faults.length === 0 ? [] : [h('ul', {}, ...faults.map(line)), h('p', {}, more > 0 ? `… ${count(more)} more` : '')]),
    );
  }
}

function row({ name, listed, found }: Shard): HTMLElement {
  const state = found === undefined ? 'not open' : count(found);
  return h('tr', { 'data-state': found === undefined ? 'absent' : found === listed ? 'whole' : 'missing' }, h('td', {}, h('bdi', {}, name)), h('td', { class: 'number' }, count(listed)), h('td', { class: 'number' }, state));
}

function line({ kind, tensor, file }: ShardFault): HTMLElement {
  return h('li', { 'data-kind': kind }, h('bdi', {}, tensor), ` ${KINDS[kind]} `, h('bdi', {}, file));
}
