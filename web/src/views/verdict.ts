/** The verdict: what is wrong, what was checked and what was not. */

import type { Profile } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, type Icon } from '../ui/dom.ts';
import { count, counted, parameters, size } from '../ui/format.ts';
import { refill, renew } from '../ui/redraw.ts';
import { isForeign, kindOf } from './foreign.ts';
import { SEVERITIES, SEVERITY } from './severity.ts';

/** Leads to other views. */
interface Shown {
  findings(): void;
  weights(): void;
  template(): void;
}

/** Capitalises the first letter. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export class VerdictView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #head = h('h1', { class: 'verdict-head' });
  readonly #counts = h('p', { class: 'verdict-counts' });
  readonly #diagnosis = h('p', { class: 'verdict-diagnosis' });
  readonly #checked = h('ul', { class: 'verdict-checked', tabindex: '-1', 'aria-label': 'Checks' });

  readonly #profile: HTMLSelectElement;
  readonly #facts = h('p', { class: 'verdict-facts' });
  readonly #show: Shown;

  constructor(file: OpenFile, show: Shown) {
    this.#show = show;
    this.#file = file;
    this.#profile = h(
      'select',
      {
        class: 'profile',
        'aria-label': 'Profile',
        title: 'Lenient accepts violations of the specification that readers can still handle safely',
        onchange: () => void file.validate(this.#profile.value as Profile),
      },
      h('option', { value: 'strict' }, 'Strict'),
      h('option', { value: 'lenient' }, 'Lenient: accept violations that readers can handle'),
    );
    this.#profile.value = file.profile;
    this.element = h(
      'section',
      { class: 'verdict', 'aria-label': 'Verdict' },
      h('div', { class: 'verdict-main' }, this.#head, this.#counts),
      this.#facts,
      this.#checked,
      this.#profile,
      this.#diagnosis,
    );
    file.validated.on(() => this.#draw());
    file.swept.on(() => this.#draw());
    this.#draw();
  }

  #draw(): void {
    const { verdict, checking, depth, outdated } = this.#file;
    // Do not repeat the headline.
    const foreign = isForeign(this.#file);
    const inHead = outdated !== undefined || foreign || verdict?.verdict === 'unsupported' || verdict?.missing !== undefined;
    this.#profile.hidden = foreign;
    this.#state();
    const diagnosis = inHead ? undefined : verdict?.diagnosis;
    this.#diagnosis.hidden = diagnosis === undefined;
    fill(this.#diagnosis, h('strong', {}, 'Diagnosis'), ` ${diagnosis}`);
    if (outdated !== undefined) {
      this.element.dataset.state = 'outdated';
      fill(this.#head, icon('violation'), 'Changed on disk');
      fill(this.#counts, `${outdated} The page shows the previous contents.`);
      renew(this.#checked, h('li', {}, button('Reload', () => this.#file.reload(), { class: 'primary' })));
      return;
    }
    this.element.dataset.state = 'busy';
    if (verdict === undefined) {
      fill(this.#head, icon('busy'), 'Checking…');
      fill(this.#counts, '\u00a0');
    } else {
      const { notes } = this.#file;
      const remarks = verdict.lint - notes + (verdict.valid ? verdict.violation : 0);
      // Claim no more than was checked.
      const { checkable, checked } = verdict;
      const valid = checkable && checked.includes('payloads') ? 'Valid' : checked.includes('structure') ? 'Structure valid' : 'Valid so far';
      const states: Record<typeof verdict.verdict, [string, Icon, string]> = {
        unsupported: ['unsupported', 'unchecked', verdict.diagnosis === undefined ? 'Not supported' : `Not supported: ${verdict.diagnosis}`],
        invalid: ['invalid', 'fatal', foreign ? `Not a model: ${kindOf(this.#file)}` : verdict.missing === undefined ? 'Invalid' : 'Truncated'],
        valid: remarks > 0 ? ['remarks', 'lint', `${valid}, with remarks`] : ['valid', 'valid', valid],
      };
      const [state, mark, text] = states[verdict.verdict];
      this.element.dataset.state = state;
      const { isAbsent, parts: files = [] } = this.#file;
      if (isAbsent && verdict.verdict === 'valid') {
        this.element.dataset.state = 'remarks';
        fill(this.#head, icon('unchecked'), `${count(files.length - 1)} of ${counted(files.length - 1, 'file')} missing`);
      } else {
        fill(this.#head, icon(mark), text);
      }
      const tally = { ...verdict, lint: verdict.lint - notes, note: notes };
      const parts = SEVERITIES.filter((severity) => tally[severity] > 0).map((severity) => counted(tally[severity], SEVERITY[severity]));
      refill(
        this.#counts,
        verdict.missing !== undefined ? verdict.diagnosis : foreign || verdict.verdict === 'unsupported' ? '' : parts.length === 0 ? 'No findings' : button(parts.join(', '), this.#show.findings, { class: 'link' }),
      );
    }
    const done = verdict?.checked ?? [];
    const { refused } = this.#file.info;
    renew(
      this.#checked,
      !refused && (verdict?.checkable !== false || !verdict.valid || !done.includes('structure')) && this.#stage('Structure', done.includes('structure'), checking && depth === 'index'),
      !refused && verdict?.checkable === true && this.#stage('Payloads', done.includes('payloads'), checking && depth !== 'index'),
      !refused && done.includes('structure') && this.#weights(),
      this.#share(),
      this.#file.groups.some(({ rule }) => rule === 'KEYS-TEMPLATE') && this.#file.isModel &&
        h('li', { class: 'stage stage-note' }, icon('lint'), button('Chat template', this.#show.template, { class: 'link', title: 'A program in the file that turns messages into text: see what it uses' })),
      verdict !== undefined && verdict.unchecked > 0 &&
        h('li', { class: 'stage' }, icon('unchecked'), `${counted(verdict.unchecked, 'part')} that cannot be checked`),
      verdict?.leftOut !== undefined && (this.#file.info.format !== 'shards' || this.#file.parts?.some(({ state }) => state === 'unread')) &&
        h('li', { class: 'stage' }, icon('unchecked'), sentence(verdict.leftOut)),
    );
  }

  /** What the file is, in facts of which each is shown whole or not at all. */
  #state(): void {
    const { info, parts, isTable, verdict } = this.#file;
    const { size: bytes, elements, withoutData } = info;
    const known = !isForeign(this.#file);
    const whole = verdict === undefined || verdict.fatal === 0 ? '' : ' in whole tensors';
    const facts = [
      parts !== undefined && counted(parts.length, 'file'),
      size(bytes),
      known && counted(info.tensorCount, isTable ? 'column' : 'tensor'),
      known && !isTable && elements > 0n && `${parameters(elements)} ${elements === 1n ? 'parameter' : 'parameters'}${whole}`,
      known && withoutData > 0 && this.#file.countedWithout(withoutData),
    ].filter((fact) => fact !== false);
    const claim = known && h('span', {}, h('strong', {}, info.title ?? 'Unknown format'), info.version === undefined ? '' : ` ${info.version}`);
    const exact = bytes >= 1024n && h('span', { class: 'exact' }, ` · ${count(bytes)} B`);
    fill(this.#facts, claim, ...facts.map((fact, i) => h('span', {}, `${i > 0 || known ? ' · ' : ''}${fact}`)), exact);
    this.#facts.title = this.#facts.textContent;
  }

  /** Which file of a model this is, if the others are not open with it. */
  #share(): HTMLElement | false {
    const { parts, info } = this.#file;
    const [, number, total] = /-(\d{5})-of-(\d{5})\.(?:gguf|safetensors)$/.exec(info.name) ?? [];
    return (
      parts === undefined &&
      Number(total) > 1 &&
      h('li', { class: 'stage' }, icon('unchecked'), `File ${Number(number)} of ${Number(total)} of a model: open ${info.name.endsWith('.gguf') ? 'all of them' : 'them with their index'}`)
    );
  }

  /** What was scanned of the weights, for which the formats have no rules. */
  #weights(): HTMLElement | false {
    const { hasWeights, health, sweeping } = this.#file;
    if (!hasWeights) {
      return false;
    }
    if (sweeping) {
      return h('li', { class: 'stage' }, icon('busy'), 'Weights: scanning');
    }
    const scan = (label: string) => button(label, () => void this.#file.sweep(), { class: 'primary', title: 'Reads all weights: NaN, infinities, zeros and outliers', 'aria-label': `${label} weights` });
    if (health === undefined) {
      return h('li', { class: 'stage' }, icon('unchecked'), 'Weights not scanned', scan('Scan'));
    }
    const { text, brief, faulty, suspicious, skipped, done, total } = health;
    const partly = done < total || skipped > 0;
    const said = button(brief, this.#show.weights, { class: 'link', title: text });
    return h(
      'li',
      { class: 'stage stage-weights', 'data-state': faulty ? 'faulty' : suspicious > 0 ? 'suspicious' : partly ? 'unchecked' : 'sound' },
      icon(faulty ? 'fatal' : suspicious > 0 ? 'lint' : partly ? 'unchecked' : 'valid'),
      h('span', {}, 'Weights: ', said),
      done < total && h('span', {}, ` (${count(done)} of ${count(total)} scanned)`),
      done < total && scan('Resume scanning'),
    );
  }

  #stage(name: string, done: boolean, busy: boolean): HTMLElement {
    if (done) {
      return h('li', { class: 'stage stage-done' }, icon('valid'), `${name} checked`);
    }
    if (busy) {
      return h('li', { class: 'stage' }, icon('busy'), `${name}: checking`);
    }
    const { verdict, depth } = this.#file;
    const possible = verdict !== undefined && depth !== 'payloads';
    return h(
      'li',
      { class: 'stage' },
      icon('unchecked'),
      `${name} not checked`,
      possible &&
        button('Check', () => void this.#file.audit(name === 'Payloads' ? 'payloads' : 'structure'), {
          'aria-label': `Check ${name.toLowerCase()}`,
        }),
    );
  }
}
