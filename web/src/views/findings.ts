/** Findings by rule, the most severe first. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, type Icon } from '../ui/dom.ts';
import { count, counted } from '../ui/format.ts';
import { named } from '../ui/middle.ts';
import { moreOf, offer, renew } from '../ui/redraw.ts';
import type { FindingGroup } from '../worker/grouped.ts';
import type { Finding } from '../worker/tables.ts';
import { SEVERITY } from './severity.ts';

/** Findings of a rule that are shown at first, and added at a time. */
const FEW = 5;
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
  readonly #list = h('ol', { class: 'findings', 'aria-label': 'Findings by rule, the most severe first' });
  readonly #empty = h('p', { class: 'empty' });
  readonly #openTensor: (tensor: number) => void;
  /** Number of findings shown, per rule. */
  readonly #shown = new Map<string, number>();
  #round = 0;

  constructor(file: OpenFile, openTensor: (tensor: number) => void) {
    this.#file = file;
    this.#openTensor = openTensor;
    this.element = h('div', { class: 'scroll findings-view', tabindex: '0' }, this.#list, this.#empty);
    file.validated.on(() => void this.#draw());
    void this.#draw();
  }

  async #draw(): Promise<void> {
    const { groups, id, api } = this.#file;
    const round = ++this.#round;
    const found = await Promise.all(groups.map(({ rule, count: all }) => api.findingsOf(id, rule, 0, Math.min(all, this.#shown.get(rule) ?? FEW)).catch(() => [])));
    if (round !== this.#round) {
      return;
    }
    const cards = groups.map((group, i) => this.#card(group, found[i])).filter((card) => card !== undefined);
    renew(this.#list, ...cards);
    this.#empty.hidden = groups.length > 0;
    fill(this.#empty, this.#nothing());
  }

  #nothing(): string {
    const { verdict } = this.#file;
    return verdict === undefined
      ? 'Checking…'
      : !verdict.checked.includes('structure')
        ? 'No findings so far. The structure has not been checked.'
        : !verdict.checkable
          ? 'No findings in the structure. There are no rules for the payloads of this file.'
          : verdict.checked.includes('payloads')
            ? 'No findings in the structure or the payloads.'
            : 'No findings so far. The payloads have not been read.';
  }

  /** One rule: what it says, and the places that break it. */
  #card(group: FindingGroup, found: readonly Finding[]): HTMLElement | undefined {
    const [first] = found;
    if (first === undefined) {
      return undefined;
    }
    const { rule, severity, count: listed, message } = group;
    const { spec, why, basis, name, partner } = first;
    const dropped = this.#file.verdict?.notListed.find((one) => one.rule === rule)?.count ?? 0;
    const all = listed + dropped;
    const single = all === 1;
    return h(
      'li',
      { class: 'finding', 'data-severity': severity, 'data-rule': rule, 'data-count': all },
      h(
        'div',
        { class: 'finding-head' },
        icon((['fatal', 'violation', 'unchecked'].includes(severity) ? severity : 'lint') as Icon),
        h('span', { class: 'severity' }, single ? SEVERITY[severity] ?? severity : counted(all, SEVERITY[severity] ?? severity)),
        h('code', { class: 'rule' }, rule),
        single && name !== '' && named(name, { class: 'finding-name', title: name }),
      ),
      message !== undefined && h('p', { class: 'message' }, message),
      single && partner !== undefined && shared(partner),
      h('p', { class: 'spec' }, h('span', { class: 'basis' }, `${BASIS[basis] ?? basis}: `), spec),
      why !== undefined && h('p', { class: 'spec why' }, h('span', { class: 'basis' }, 'Why: '), why),
      single ? this.#where(first) : this.#places(group, found, dropped),
    );
  }

  /** The findings of a rule, a few at first. */
  #places({ rule, count: listed, message }: FindingGroup, found: readonly Finding[], dropped: number): HTMLElement {
    const item = (finding: Finding) =>
      h(
        'li',
        { class: 'finding-item' },
        finding.name !== '' && named(finding.name, { class: 'finding-name', title: finding.name }),
        message === undefined && h('span', { class: 'message' }, finding.message),
        finding.partner !== undefined && shared(finding.partner),
        this.#where(finding),
      );
    const list = h('ol', { class: 'finding-items', 'aria-label': `Findings of ${rule} in file order` }, ...found.map(item));
    let [shown, asked] = [found.length, found.length];
    const draw = (added: readonly HTMLElement[]) => {
      const left = listed - shown;
      offer(more, moreOf(left, PAGE), added);
    };
    const add = async () => {
      if (asked > shown) {
        return;
      }
      asked = shown + PAGE;
      const items = (await this.#file.api.findingsOf(this.#file.id, rule, shown, asked)).map(item);
      list.append(...items);
      shown += items.length;
      asked = shown;
      this.#shown.set(rule, shown);
      draw(items);
    };
    const more = button('', () => void add(), { class: 'more' });
    draw([]);
    return h('div', {}, list, more, dropped > 0 && h('p', { class: 'muted' }, `${count(dropped)} more were counted but not listed.`));
  }

  #where({ at, len, name, kind, entry }: Finding): HTMLElement {
    const whole = len === WHOLE;
    const about = kind === 'tensor' && entry !== undefined;
    return h(
      'p',
      { class: 'finding-where' },
      button(whole ? `from ${this.#file.hex(at)}` : this.#file.range(at, len), () => this.#file.reveal(at, whole ? 1n : BigInt(len)), {
        class: 'link mono',
        title: `Show ${whole ? 'byte' : `${counted(len, 'byte')} at offset`} ${at} in the hex view`,
      }),
      about && button('Open tensor', () => this.#openTensor(entry), { class: 'link', 'aria-label': `Open tensor ${name}` }),
    );
  }
}

function shared(partner: string): HTMLElement {
  return h('p', { class: 'partner' }, 'Shared with ', h('bdi', { class: 'mono' }, partner), '.');
}
