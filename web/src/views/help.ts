/** The list of keyboard shortcuts. */

import { button, h } from '../ui/dom.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['o', 'open files'],
  ['f', 'open a folder'],
  ['/', 'search the list'],
  ['1 – 9', 'switch to a tab: list, findings, metadata…'],
  ['↑ ↓ or j k', 'move through a list; the tensor panel follows'],
  ['s, Shift+s', 'sort by the next column, reverse the order'],
  ['[ and ]', 'previous and next view of the tensor'],
  ['e', 'return to the list'],
  ['g', 'go to a byte'],
  ['← →, + -', 'in the layout bar: step through the parts, zoom'],
  ['c', 'cancel running tasks'],
  ['Esc', 'close the tensor panel'],
  ['?', 'show this list'],
];

const STORED = 'single-keys';

/** Whether single-key shortcuts are on: people who dictate can turn them off. */
export function singleKeys(): boolean {
  return localStorage.getItem(STORED) !== 'off';
}

export function helpDialog(): HTMLDialogElement {
  const box = h('input', { type: 'checkbox', checked: singleKeys() });
  box.addEventListener('change', () => localStorage.setItem(STORED, box.checked ? 'on' : 'off'));
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-label': 'Keyboard shortcuts' },
    h('h2', {}, 'Keyboard shortcuts'),
    h('table', { class: 'plain' }, h('tbody', {}, ...KEYS.map(([key, what]) => h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, key)), h('td', {}, what))))),
    h('p', {}, h('label', {}, box, ' Single-key shortcuts')),
    h('p', {}, button('Close', () => dialog.close())),
  );
  return dialog;
}
