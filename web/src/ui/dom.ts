/** Small DOM helpers. Text is only ever set as text, never as markup. */

export type Child = Node | string | number | undefined | null | false;
type Handlers = { [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => void };
type Attributes = Handlers & { class?: string } & Record<string, unknown>;

/** Creates an element with attributes, listeners (`onclick`) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false || value === null) {
      continue;
    }
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  append(element, children);
  return element;
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child !== undefined && child !== null && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
}

/** Replaces the contents of `element` with `children`. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

/** Sets text only if it differs: rows are drawn often. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const SVG = 'http://www.w3.org/2000/svg';

/** Outlines on a 16 × 16 grid. */
const ICONS = {
  valid: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5 8.2l2.1 2.1L11 6.2',
  fatal: 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3ZM5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8',
  violation: 'M8 2 14.8 14H1.2ZM8 6.5v3.6M8 12v.3',
  lint: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 7.2v4M8 4.9v.3',
  unchecked: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5 8h6',
  busy: 'M8 1.5a6.5 6.5 0 1 1-6.5 6.5M8 4.5V8l2.5 1.5',
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M9.5 3 4.5 8l5 5',
  file: 'M3.5 1.5h6l3 3v10h-9ZM9.5 1.5v3h3',
  folder: 'M1.5 3.5h4l1.5 2h7.5v7h-13Z',
  theme: 'M8 1.5a6.5 6.5 0 1 0 0 13ZM8 1.5a6.5 6.5 0 0 1 0 13',
  help: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.8M8 12.6v.3',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 14 14',
  jump: 'M3 13 13 3M6.5 3H13v6.5',
} as const;

export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/** A text button. */
export function button(text: string, onclick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h('button', { type: 'button', onclick: () => onclick(), ...attributes }, text);
}

/** An icon button with a label for screen readers. */
export function iconButton(name: Icon, label: string, onclick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h(
    'button',
    { type: 'button', class: 'icon-button', title: label, 'aria-label': label, onclick: () => onclick(), ...attributes },
    icon(name),
  );
}

/** A row of choices; exactly one is selected. */
export function segmented<T extends string>(
  label: string,
  choices: readonly (readonly [T, string])[],
  initial: T,
  onchange: (choice: T) => void,
): HTMLElement & { choose(choice: T): void } {
  const buttons = choices.map(([value, text]) =>
    button(text, () => choose(value, true), { 'aria-pressed': String(value === initial) }),
  );
  const choose = (choice: T, tell = false) => {
    buttons.forEach((one, i) => one.setAttribute('aria-pressed', String(choices[i][0] === choice)));
    if (tell) {
      onchange(choice);
    }
  };
  const group = h('div', { class: 'segmented', role: 'group', 'aria-label': label }, ...buttons);
  return Object.assign(group, { choose });
}

/** A term and its description. */
export function pair(term: string, ...description: Child[]): HTMLElement {
  return h('div', { class: 'pair' }, h('dt', {}, term), h('dd', {}, ...description));
}

let ids = 0;

export function uniqueId(prefix: string): string {
  return `${prefix}-${++ids}`;
}

/** An event with listeners. */
export class Topic<T = void> {
  readonly #listeners = new Set<(value: T) => void>();

  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(value: T): void {
    this.#listeners.forEach((listener) => listener(value));
  }
}

/** Calls `action` after `ms` without another call. */
export function debounce<A extends unknown[]>(ms: number, action: (...args: A) => void): (...args: A) => void {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => action(...args), ms);
  };
}
