/** What is shown of a file that is no model: what it is, what to do, and its bytes. */

import type { DiagnosisKind } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { h } from '../ui/dom.ts';
import { FindingsView } from './findings.ts';
import { kindOf } from './foreign.ts';

/** What to do about a file of each kind; without an entry, the formats are listed. */
const ADVICE: Record<DiagnosisKind, string | undefined> = {
  generation: 'Convert the file with a current version of the program that wrote it, or look for the same model in the current version of the format.',
  superseded: 'Look for the same model as .gguf: current programs read no other.',
  packed: 'Unpack it and open the files inside.',
  pickle: 'Loading a pickle can run any program, so this page does not. Look for the same model as .safetensors.',
  'lfs-pointer': 'Git stores the file elsewhere, and this text in its place. Fetch the file with git lfs pull, or download it from the page of its repository, then open it again.',
  'xet-pointer': 'The repository stores the file elsewhere, and this text in its place. Download the file itself, then open it again.',
  message: 'A server sent this in place of the file: the address may be wrong, or the file needs a login. Download it again.',
  incomplete: 'The download or the copy did not finish. Repeat it, then open the file again.',
  other: undefined,
  unknown: undefined,
};

const OTHERWISE = 'This page reads tensor files only. Check that the name belongs to the file, or look for the model in one of these formats:';

export class AboutView {
  readonly element: HTMLElement;

  constructor(file: OpenFile) {
    const diagnosis = file.verdict?.diagnosis ?? 'of no known format';
    const advice = ADVICE[file.verdict?.diagnosisKind ?? 'unknown'];
    const formats = h('p', { class: 'muted' });
    this.element = h(
      'div',
      { class: 'scroll foreign', tabindex: '0' },
      h(
        'section',
        { class: 'foreign-card', 'aria-label': 'What this file is' },
        h('h2', {}, `This is ${kindOf(file)}, not a model.`),
        diagnosis !== kindOf(file) && /[,;:]/.test(diagnosis) && h('p', {}, `Found: ${diagnosis}.`),
        h('p', {}, advice ?? OTHERWISE),
        advice === undefined && formats,
        h('details', {}, h('summary', {}, 'Findings'), new FindingsView(file, () => undefined).element),
      ),
    );
    if (advice === undefined) {
      void file.api.formats().then(
        (all) => (formats.textContent = all.map(({ title }) => title).join(', ')),
        () => undefined,
      );
    }
  }
}
