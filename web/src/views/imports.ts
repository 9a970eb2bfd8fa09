/** What the pickles of a file import, with a mark for what no loader should allow, and their operations. */

import type { Code, Global, Operation, Pickle } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { button, fill, h } from '../ui/dom.ts';

/** What each standing means, and the severity whose colour it has. */
const STANDING: Record<Global['standing'], readonly [string, string]> = {
  'not listed': ['fatal', 'Not on the list of torch.load: loading the file would run or import it.'],
  'plain data': ['lint', 'Not on the list of torch.load, but known to make nothing but data.'],
  listed: ['ok', 'On the list of torch.load(weights_only=True).'],
};

/** Pickles that are read for the paths of their imports. */
const READ = 16;

const headers = (...labels: string[]) => h('thead', {}, h('tr', {}, ...labels.map((label) => h('th', { scope: 'col' }, label))));

export class ImportsView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #globals: readonly Global[];
  readonly #pickles: readonly Pickle[];
  /** Where each import leads, in the order of `#globals`. */
  readonly #places: HTMLElement[];
  readonly #around: HTMLInputElement;
  readonly #operations = h('div', { 'aria-live': 'polite' });
  #latest = 0;

  constructor(file: OpenFile, globals: readonly Global[], pickles: readonly Pickle[]) {
    this.#file = file;
    this.#globals = globals;
    this.#pickles = pickles;
    this.#places = globals.map(() => h('bdi', {}));
    const ranks = Object.keys(STANDING);
    // The dangerous ones first; otherwise in the order of the file.
    const sorted = globals.map((global, i) => ({ global, i })).sort((a, b) => ranks.indexOf(a.global.standing) - ranks.indexOf(b.global.standing));
    this.#around = h('input', { type: 'text', inputmode: 'numeric', class: 'around', 'aria-label': 'Byte', onchange: () => void this.#typed() });
    this.element = h(
      'div',
      { class: 'scroll imports', tabindex: '0' },
      h('p', { class: 'muted' }, 'A pickle is a program. These are the names that it imports. This page runs none of them.'),
      h(
        'table',
        { 'aria-label': 'What the pickle imports' },
        headers('Name', 'Standing', 'Loading the file', 'Result in', 'Byte', 'Operations'),
        h('tbody', {}, ...sorted.map(({ global, i }) => this.#row(global, i))),
      ),
      h('h2', {}, 'Operations'),
      h('p', { class: 'muted' }, h('label', {}, 'Around byte ', this.#around)),
      this.#operations,
    );
    // A finding that was followed to its byte.
    file.revealed.on(({ at }) => void this.#show(this.#pickleAt(at), at));
    void this.#fill(sorted[0]?.global);
  }

  #row(global: Global, i: number): HTMLElement {
    const { name, offset, called, standing } = global;
    const [colour, meaning] = STANDING[standing];
    const jump = button(String(offset), () => this.#file.reveal(offset, 1n), { class: 'link', title: `Show byte ${offset} in the hex view` });
    const show = button('show', () => void this.#show(global.pickle, global.place), { class: 'link', 'aria-label': `show operations around ${name}` });
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('bdi', {}, name)),
      h('td', { class: `standing ${colour}`, title: meaning }, standing),
      h('td', {}, called ? 'calls it' : 'imports it'),
      h('td', { class: 'place' }, this.#places[i]),
      h('td', { class: 'number' }, jump),
      h('td', {}, show),
    );
  }

  /** Fills in where imports lead, and shows the operations around the worst. */
  async #fill(worst: Global | undefined): Promise<void> {
    const wanted = [...new Set(this.#globals.map(({ pickle }) => pickle))].slice(0, READ);
    for (const number of wanted) {
      const code = await this.#code(number, []);
      this.#globals.forEach((global, i) => {
        if (global.pickle === number && code !== undefined) {
          const path = code.paths[i];
          this.#places[i]!.textContent = path === undefined ? 'not in the object' : path === '' ? 'the object' : path;
        }
      });
    }
    const seen = this.#file.span?.at;
    if (seen !== undefined && this.#pickleAt(seen) >= 0) {
      await this.#show(this.#pickleAt(seen), seen);
    } else {
      await (worst === undefined ? this.#show(0, this.#pickles[0]?.offset ?? 0n) : this.#show(worst.pickle, worst.place));
    }
  }

  #code(number: number, offsets: bigint[]): Promise<Code | undefined> {
    // A file that is gone is reported elsewhere.
    return this.#file.api.code(this.#file.id, number, offsets).catch(() => undefined);
  }

  /** The pickle that contains a byte of the file. */
  #pickleAt(at: bigint): number {
    return this.#pickles.findIndex(({ offset, length }) => offset <= at && at < offset + length);
  }

  async #typed(): Promise<void> {
    const text = this.#around.value.replaceAll(/[\s,]/g, '');
    if (/^(\d{1,18}|0x[0-9a-f]{1,15})$/i.test(text)) {
      await this.#show(this.#pickleAt(BigInt(text)), BigInt(text));
    } else {
      fill(this.#operations, h('p', {}, 'This is not the number of a byte.'));
    }
  }

  async #show(number: number, at: bigint): Promise<void> {
    this.#latest += 1;
    const request = this.#latest;
    const pickle = this.#pickles[number];
    this.#around.value = String(at);
    const code = pickle && (await this.#code(number, [at]));
    if (request !== this.#latest) {
      return;
    }
    if (pickle === undefined || code === undefined || code.operations.length === 0) {
      fill(this.#operations, h('p', {}, pickle === undefined ? 'No pickle has this byte.' : 'This pickle is too long to show, or compressed twice.'));
      return;
    }
    const note = pickle.compressed ? ' Bytes are those of the decoded pickle.' : '';
    fill(
      this.#operations,
      h('p', { class: 'muted' }, h('bdi', {}, pickle.name), note),
      h('table', { class: 'operations', 'aria-label': 'Operations of the pickle' }, headers('Byte', 'Operation', 'Argument'), h('tbody', {}, ...code.operations.map((it) => this.#operation(it, at, pickle.compressed)))),
    );
  }

  #operation({ offset, name, argument, fault }: Operation, at: bigint, compressed: boolean): HTMLElement {
    const place = compressed ? String(offset) : button(String(offset), () => this.#file.reveal(offset, 1n), { class: 'link', title: `Show byte ${offset} in the hex view` });
    return h(
      'tr',
      { 'aria-current': offset === at && 'true' },
      h('td', { class: 'number' }, place),
      h('th', { scope: 'row' }, name === '' ? 'none' : name),
      h('td', {}, h('bdi', {}, argument), fault !== '' && h('strong', {}, fault)),
    );
  }
}
