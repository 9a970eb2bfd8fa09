/** The form that matches tensors of different names. */

import { h, setText } from '../ui/dom.ts';
import type { Rename } from '../worker/matching.ts';

/** Calls `match` with the names to use, or `undefined` for their own. */
export function renameForm(match: (rename: Rename | undefined) => void): { element: HTMLElement; warn(text: string): void } {
  const pattern = h('input', { type: 'text', placeholder: '^model\\.(.+)$', spellcheck: false, 'aria-label': 'Regular expression for names in the base' });
  const replacement = h('input', { type: 'text', placeholder: '$1', spellcheck: false, 'aria-label': 'Name in the other file' });
  const wrong = h('span', { class: 'warn', role: 'alert' });
  const warn = (text: string) => setText(wrong, text);
  const submit = (event: Event) => {
    event.preventDefault();
    warn('');
    let rename: Rename | undefined;
    try {
      rename = pattern.value === '' ? undefined : { pattern: new RegExp(pattern.value, 'gu'), replacement: replacement.value };
    } catch (error) {
      warn((error as Error).message);
      return;
    }
    match(rename);
  };
  const element = h(
    'details',
    { class: 'compare-rename' },
    h('summary', {}, 'Match names'),
    h('p', { class: 'muted' }, 'Tensors are matched by name, then by the names that llama.cpp gives to transformers tensors. Use a regular expression to match other names.'),
    h(
      'form',
      { class: 'toolbar', onsubmit: submit },
      h('label', {}, 'Replace ', pattern),
      h('label', {}, ' with ', replacement),
      h('button', { type: 'submit' }, 'Match'),
      wrong,
    ),
  );
  return { element, warn };
}
