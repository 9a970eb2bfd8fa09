/** The verdict: what is wrong, what was checked and what was not. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, segmented, type Icon } from '../ui/dom.ts';
import { counted, exactSize, parameters } from '../ui/format.ts';

/** Names of severities in sentences. */
export const SEVERITY: Record<string, string> = {
  fatal: 'fatal error',
  violation: 'violation',
  lint: 'remark',
  unchecked: 'unchecked part',
};

/** With a capital letter. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export class VerdictView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #head = h('h1', { class: 'verdict-head' });
  readonly #counts = h('p', { class: 'verdict-counts' });
  readonly #diagnosis = h('p', { class: 'verdict-diagnosis' });
  readonly #checked = h('ul', { class: 'verdict-checked', 'aria-label': 'What was checked' });

  constructor(file: OpenFile, showFindings: () => void) {
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
    profile.title = 'Lenient accepts what the specification forbids but readers can still read safely';
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
        ` · ${exactSize(info.size)} · ${counted(info.tensorCount, file.isTable ? 'column' : 'tensor')}`,
        !file.isTable && info.elements > 0n && ` · ${parameters(info.elements)} parameters`,
      ),
      this.#checked,
      profile,
      this.#diagnosis,
    );
    file.validated.on(() => this.#draw());
    this.#draw();
  }

  #draw(): void {
    const { verdict, checking, depth, outdated } = this.#file;
    const diagnosis = outdated === undefined ? verdict?.diagnosis : undefined;
    this.#diagnosis.hidden = diagnosis === undefined;
    fill(this.#diagnosis, h('strong', {}, 'Diagnosis'), ` ${diagnosis}`);
    if (outdated !== undefined) {
      this.element.dataset.state = 'outdated';
      fill(this.#head, icon('violation'), 'Changed on disk');
      fill(this.#counts, `${outdated} The page shows it as it was.`);
      fill(this.#checked, h('li', {}, button('Reload', () => this.#file.reload(), { class: 'primary' })));
      return;
    }
    this.element.dataset.state = 'busy';
    if (verdict === undefined) {
      fill(this.#head, icon('busy'), 'Checking…');
      fill(this.#counts, '\u00a0');
    } else {
      const remarks = verdict.lint + (verdict.valid ? verdict.violation : 0);
      const states: Record<typeof verdict.verdict, [string, Icon, string]> = {
        unsupported: ['unsupported', 'unchecked', 'Not supported'],
        invalid: ['invalid', 'fatal', 'Invalid'],
        valid: remarks > 0 ? ['remarks', 'lint', 'Valid, with remarks'] : ['valid', 'valid', 'Valid'],
      };
      const [state, mark, text] = states[verdict.verdict];
      this.element.dataset.state = state;
      fill(this.#head, icon(mark), text);
      const parts = (['fatal', 'violation', 'lint', 'unchecked'] as const)
        .filter((severity) => verdict[severity] > 0)
        .map((severity) => counted(verdict[severity], SEVERITY[severity]));
      fill(this.#counts, parts.length === 0 ? 'No findings' : parts.join(', '));
    }
    const done = verdict?.checked ?? [];
    fill(
      this.#checked,
      this.#stage('Structure', done.includes('structure'), checking && depth === 'index'),
      this.#stage('Payloads', done.includes('payloads'), checking && depth !== 'index'),
      verdict !== undefined && verdict.unchecked > 0 &&
        h('li', { class: 'stage' }, icon('unchecked'), `${counted(verdict.unchecked, 'part')} that cannot be checked`),
      verdict?.leftOut !== undefined && this.#file.info.format !== 'shards' &&
        h('li', { class: 'stage' }, icon('unchecked'), sentence(verdict.leftOut)),
    );
  }

  #stage(name: string, done: boolean, busy: boolean): HTMLElement {
    if (done) {
      return h('li', { class: 'stage stage-done' }, icon('valid'), `${name} checked`);
    }
    if (busy) {
      return h('li', { class: 'stage' }, icon('busy'), `${name}: checking`);
    }
    const { verdict, depth, info } = this.#file;
    const possible = verdict !== undefined && depth !== 'payloads' && !info.refused;
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
