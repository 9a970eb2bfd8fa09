/** The verdict: what is wrong, what was checked and what was not. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, segmented, type Icon } from '../ui/dom.ts';
import { count, counted, exactSize, parameters } from '../ui/format.ts';
import { renew } from '../ui/redraw.ts';

/** Severities for use in sentences. */
export const SEVERITY: Record<string, string> = {
  fatal: 'fatal error',
  violation: 'violation',
  lint: 'remark',
  unchecked: 'unchecked part',
};

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

  readonly #showWeights: () => void;

  constructor(file: OpenFile, showFindings: () => void, showWeights: () => void) {
    this.#showWeights = showWeights;
    this.#file = file;
    const { info } = file;
    const profile = segmented(
      'Profile',
      [
        ['strict', 'Strict'],
        ['lenient', 'Lenient'],
      ] as const,
      file.profile,
      (choice) => void file.validate(choice),
    );
    profile.title = 'Lenient accepts violations of the specification that readers can still handle safely';
    this.#counts.addEventListener('click', showFindings);
    this.element = h(
      'section',
      { class: 'verdict', 'aria-label': 'Verdict' },
      h('div', { class: 'verdict-main' }, this.#head, this.#counts),
      h(
        'p',
        { class: 'verdict-facts' },
        h('strong', {}, info.title ?? 'Unknown format'),
        info.version === undefined ? '' : ` ${info.version}`,
        `${file.parts === undefined ? '' : ` · ${counted(file.parts.length, 'file')}`} · ${exactSize(info.size)} · ${counted(info.tensorCount, file.isTable ? 'column' : 'tensor')}`,
        !file.isTable && info.elements > 0n && ` · ${parameters(info.elements)} parameters`,
      ),
      this.#checked,
      profile,
      this.#diagnosis,
    );
    file.validated.on(() => this.#draw());
    file.swept.on(() => this.#draw());
    this.#draw();
  }

  #draw(): void {
    const { verdict, checking, depth, outdated } = this.#file;
    // Do not repeat the headline.
    const inHead = outdated !== undefined || verdict?.verdict === 'unsupported' || verdict?.missing !== undefined;
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
      const remarks = verdict.lint + (verdict.valid ? verdict.violation : 0);
      // Claim no more than was checked.
      const { checkable, checked } = verdict;
      const valid = checkable && checked.includes('payloads') ? 'Valid' : checked.includes('structure') ? 'Structure valid' : 'Valid so far';
      const states: Record<typeof verdict.verdict, [string, Icon, string]> = {
        unsupported: ['unsupported', 'unchecked', verdict.diagnosis === undefined ? 'Not supported' : `Not supported: ${verdict.diagnosis}`],
        invalid: ['invalid', 'fatal', verdict.missing === undefined ? 'Invalid' : 'Truncated'],
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
      const parts = (['fatal', 'violation', 'lint', 'unchecked'] as const)
        .filter((severity) => verdict[severity] > 0)
        .map((severity) => counted(verdict[severity], SEVERITY[severity]));
      fill(
        this.#counts,
        verdict.missing !== undefined ? verdict.diagnosis : verdict.verdict === 'unsupported' ? '' : parts.length === 0 ? 'No findings' : parts.join(', '),
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
      verdict !== undefined && verdict.unchecked > 0 &&
        h('li', { class: 'stage' }, icon('unchecked'), `${counted(verdict.unchecked, 'part')} that cannot be checked`),
      verdict?.leftOut !== undefined && (this.#file.info.format !== 'shards' || this.#file.parts?.some(({ state }) => state === 'unread')) &&
        h('li', { class: 'stage' }, icon('unchecked'), sentence(verdict.leftOut)),
    );
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
    const scan = (label: string) => button(label, () => void this.#file.sweep(), { 'aria-label': `${label} weights` });
    if (health === undefined) {
      return h('li', { class: 'stage' }, icon('unchecked'), 'Weights not scanned', scan('Scan'));
    }
    const { text, brief, faulty, suspicious, skipped, done, total } = health;
    const partly = done < total || skipped > 0;
    const said = button(brief, this.#showWeights, { class: 'link', title: text });
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
