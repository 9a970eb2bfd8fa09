/** What the keys do. */

import { button, h } from '../ui/dom.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['o', 'open files'],
  ['/', 'search the list'],
  ['1 – 7', 'list, findings, metadata and the other tabs'],
  ['↑ ↓ or j k', 'walk through a list; the tensor follows'],
  ['s, Shift+s', 'sort by the next column, or the other way round'],
  ['[ and ]', 'previous and next view of the tensor'],
  ['e', 'back to the list'],
  ['g', 'go to a byte'],
  ['← →, + −', 'in the layout: walk through the parts, zoom'],
  ['c', 'cancel what is running'],
  ['Esc', 'close the tensor'],
  ['?', 'this list'],
];

const STORED = 'single-keys';

/** Whether keys without Ctrl or the like do anything: those who speak to their computer may turn them off. */
export function singleKeys(): boolean {
  return localStorage.getItem(STORED) !== 'off';
}

export function helpDialog(): HTMLDialogElement {
  const box = h('input', { type: 'checkbox', checked: singleKeys() });
  box.addEventListener('change', () => localStorage.setItem(STORED, box.checked ? 'on' : 'off'));
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-label': 'Keys' },
    h('h2', {}, 'Keys'),
    h('table', { class: 'plain' }, h('tbody', {}, ...KEYS.map(([key, what]) => h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, key)), h('td', {}, what))))),
    h('p', {}, h('label', {}, box, ' Keys without Ctrl or the like are on')),
    h('p', {}, button('Close', () => dialog.close())),
  );
  return dialog;
}
