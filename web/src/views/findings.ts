/** Findings in file order. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, type Icon } from '../ui/dom.ts';
import { count, counted } from '../ui/format.ts';
import { offer, renew } from '../ui/redraw.ts';
import type { Finding } from '../worker/tables.ts';
import { SEVERITY } from './verdict.ts';

/** Findings drawn at a time. */
const PAGE = 100;
const WHOLE = 0xffffffff;

const BASIS: Record<string, string> = {
  stated: 'Specification',
  implied: 'Specification, implied',
  silent: 'Specification silent',
};

export class FindingsView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #list = h('ol', { class: 'findings', 'aria-label': 'Findings in file order' });
  readonly #more = button('Show more', () => void this.#load(this.#shown, this.#shown + PAGE), { class: 'more', hidden: true });
  readonly #empty = h('p', { class: 'empty' });
  readonly #openTensor: (tensor: number) => void;
  #shown = 0;
  #round = 0;

  constructor(file: OpenFile, openTensor: (tensor: number) => void) {
    this.#file = file;
    this.#openTensor = openTensor;
    this.element = h('div', { class: 'scroll findings-view', tabindex: '0' }, this.#list, this.#more, this.#empty);
    file.validated.on(() => this.#restart());
    this.#restart();
  }

  #restart(): void {
    this.#round++;
    void this.#load(0, Math.max(PAGE, this.#shown));
  }

  async #load(from: number, to: number): Promise<void> {
    const { verdict } = this.#file;
    const total = verdict === undefined ? 0 : verdict.fatal + verdict.violation + verdict.lint + verdict.unchecked - verdict.dropped;
    const round = this.#round;
    const page = total === 0 ? [] : await this.#file.api.findings(this.#file.id, from, to);
    // The list may have been drawn anew since, or the same page added.
    if (round !== this.#round || (from > 0 && from !== this.#shown)) {
      return;
    }
    const items = page.map((finding) => this.#item(finding));
    if (from === 0) {
      renew(this.#list, ...items);
    } else {
      this.#list.append(...items);
    }
    this.#shown = from + page.length;
    const left = total - this.#shown;
    offer(this.#more, left > 0 && page.length > 0 && `Show ${Math.min(PAGE, left)} more of ${count(left)}`, items);
    const dropped = verdict?.dropped ?? 0;
    this.#empty.hidden = total > 0 && dropped === 0;
    fill(
      this.#empty,
      dropped > 0
        ? `${count(dropped)} more findings were counted but not listed: ${(verdict?.notListed ?? []).map((it) => `${it.rule} ${count(it.count)}`).join(', ')}.`
        : verdict === undefined
          ? 'Checking…'
          : !verdict.checked.includes('structure')
            ? 'No findings so far. The structure has not been checked.'
            : !verdict.checkable
              ? 'No findings in the structure. There are no rules for the payloads of this file.'
              : verdict.checked.includes('payloads')
                ? 'No findings in the structure or the payloads.'
                : 'No findings so far. The payloads have not been read.',
    );
  }

  #item(finding: Finding): HTMLElement {
    const { severity, rule, message, spec, why, basis, at, len, name, kind, entry, partner } = finding;
    const whole = len === WHOLE;
    const about = kind === 'tensor' && entry !== undefined;
    return h(
      'li',
      { class: 'finding', 'data-severity': severity, 'data-rule': rule },
      h(
        'div',
        { class: 'finding-head' },
        icon((severity in SEVERITY ? severity : 'lint') as Icon),
        h('span', { class: 'severity' }, SEVERITY[severity] ?? severity),
        h('code', { class: 'rule' }, rule),
        name !== '' && h('bdi', { class: 'finding-name', title: name }, name),
      ),
      h('p', { class: 'message' }, message),
      partner !== undefined && h('p', { class: 'partner' }, 'Shared with ', h('bdi', { class: 'mono' }, partner), '.'),
      h('p', { class: 'spec' }, h('span', { class: 'basis' }, `${BASIS[basis] ?? basis}: `), spec),
      why !== undefined && h('p', { class: 'spec why' }, h('span', { class: 'basis' }, 'Why: '), why),
      h(
        'p',
        { class: 'finding-where' },
        button(whole ? `from ${this.#file.hex(at)}` : this.#file.range(at, len), () => this.#file.reveal(at, whole ? 1n : BigInt(len)), {
          class: 'link mono',
          title: `Show ${whole ? 'byte' : `${counted(len, 'byte')} at offset`} ${at} in the hex view`,
        }),
        about && button('Open tensor', () => this.#openTensor(entry), { class: 'link', 'aria-label': `Open tensor ${name}` }),
      ),
    );
  }
}
