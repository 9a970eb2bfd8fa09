/** The model card: the descriptive metadata. */

import type { OpenFile } from '../file.ts';
import { fill, h } from '../ui/dom.ts';
import { visible } from '../ui/format.ts';
import type { CardEntry } from '../worker/summary.ts';
import { picture, tags } from './picture.ts';

/** Groups by key prefix; a key belongs to the first match. */
const GROUPS = [
  ['Model', /^(?:general|modelspec)\./],
  ['Training', /^ss_/],
  ['Other', /^/],
] as const;

/** Characters above which a value is collapsed. */
const LONG = 240;

/** `fileType` is what the number in `general.file_type` stands for. */
export function cardView(file: OpenFile, entries: CardEntry[], fileType: unknown): HTMLElement {
  const groups = GROUPS.map(([title, begins]) => ({ title, begins, entries: [] as CardEntry[] }));
  entries.forEach((entry) => groups.find(({ begins }) => begins.test(entry.key))!.entries.push(entry));
  return h(
    'div',
    { class: 'scroll card', tabindex: '0' },
    ...groups
      .filter((group) => group.entries.length > 0)
      .map((group) => h('section', { class: 'model-part', 'aria-label': group.title }, h('h2', {}, group.title), h('dl', { class: 'model-facts' }, ...group.entries.map((entry) => row(file, entry, group.begins, fileType))))),
  );
}

function row(file: OpenFile, { key, text, cut }: CardEntry, begins: RegExp, fileType: unknown): HTMLElement {
  const label = visible(key.replace(begins, '').replaceAll('_', ' '));
  const term = h('dt', { title: key }, h('bdi', {}, label === '' ? '(empty key)' : label));
  const plain = [key === 'general.file_type' && fileType !== undefined ? also(visible(String(fileType)), text) : value(key, text), cut && h('p', { class: 'note' }, 'Only the beginning is shown.')];
  const shown = h('dd', {}, ...plain);
  const special = key === 'ss_tag_frequency' ? (whole: string) => Promise.resolve(tags(whole)) : text.startsWith('data:image/') ? picture : undefined;
  if (special !== undefined) {
    // The card has the beginning only. What cannot be shown stays as it is.
    void file.api
      .metaText(file.id, key)
      .then((whole) => (whole === undefined ? undefined : special(whole)))
      .then((drawn) => drawn && fill(shown, drawn))
      .catch(() => undefined);
  }
  return h('div', { class: 'pair' }, term, shown);
}

/** What a value stands for, and the value. */
function also(meaning: string, text: string): HTMLElement {
  return h('span', {}, `${meaning} `, h('span', { class: 'muted' }, text));
}

function value(key: string, text: string): HTMLElement {
  if (/_at$/.test(key) && /^\d{9,11}(?:\.\d+)?$/.test(text)) {
    return also(`${new Date(1000 * Number(text)).toISOString().slice(0, 19).replace('T', ' ')} UTC`, text);
  }
  if (text.startsWith('data:')) {
    return h('span', { class: 'muted' }, `${visible(text.slice(0, 40))}… (embedded data, not shown)`);
  }
  const json = /^\s*[[{]/.test(text) ? pretty(text) : undefined;
  const whole = visible(json ?? text);
  if (whole.length > LONG || (json !== undefined && whole.includes('\n'))) {
    const lines = whole.split('\n').length;
    return h('details', {}, h('summary', {}, h('bdi', {}, visible(text.slice(0, 100))), text.length > 100 && '…'), h('pre', { class: 'value-text', dir: 'auto', 'data-lines': String(lines) }, whole));
  }
  return h('bdi', { class: 'card-value' }, whole === '' ? '(empty)' : whole);
}

/** Indented JSON; `undefined` if the text is not JSON. */
function pretty(text: string): string | undefined {
  // Deeply nested JSON would be mostly spaces.
  let [depth, deepest] = [0, 0];
  for (const c of text) {
    depth += c === '[' || c === '{' ? 1 : c === ']' || c === '}' ? -1 : 0;
    deepest = Math.max(deepest, depth);
  }
  if (deepest > 16) {
    return undefined;
  }
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}
