/** Names that do not fit: they are cut in the middle, since their ends tell them apart. */

import { fill, h, setText } from './dom.ts';

/** Names up to this length are left whole. */
const SHORT = 24;
/** Characters at the end that stay: from a layer's number on if it is near, otherwise from a dot. */
const TAIL = 18;
const NEAR = [14, 22] as const;
const NUMBERED = /\.\d+\.[^.].{0,26}$/;
/** Other scripts may join characters, or run from right to left. */
const SIMPLE = /^[\x20-\x7e↔]+$/;

/** Sets the text of an element to a name. Copying yields the whole name. */
export function setName(element: Element, name: string): void {
  if (element.textContent === name) {
    return;
  }
  const whole = name.length <= SHORT || !SIMPLE.test(name);
  element.classList.toggle('middle', !whole);
  if (whole) {
    element.removeAttribute('data-full');
    setText(element, name);
  } else {
    element.setAttribute('data-full', name);
    const number = NUMBERED.exec(name)?.index;
    const dot = name.indexOf('.', name.length - NEAR[1]);
    const cut = number ?? (dot >= 0 && name.length - dot >= NEAR[0] ? dot : name.length - TAIL);
    // The start keeps room for one character and the dots.
    const at = Math.max(4, cut);
    fill(element, h('span', {}, name.slice(0, at)), h('span', {}, name.slice(at)));
  }
}

/** An element with a name. */
export function named(name: string, attributes: Record<string, unknown> = {}): HTMLElement {
  const element = h('bdi', attributes);
  setName(element, name);
  return element;
}

/** The last extension of a file, or that of an index. */
const EXTENSION = /(?:\.\w+\.index\.json|\.[a-z]\w*)$/i;

/** A file's name: the extension gives way first, since files of a model share it. */
export function namedFile(name: string): HTMLElement[] {
  const extension = EXTENSION.exec(name)?.[0] ?? '';
  return [named(name.slice(0, name.length - extension.length)), h('span', { class: 'extension' }, extension)];
}
