/** Redrawing that keeps the focus. */

import { fill, type Child } from './dom.ts';
import { count } from './format.ts';

const CONTROL = 'button, [tabindex]';

/** Like `fill`; focus inside moves to the first control of the new contents. */
export function refill(element: Element, ...children: Child[]): void {
  const held = element.matches(':focus-within');
  fill(element, ...children);
  if (held) {
    element.querySelector<HTMLElement>(CONTROL)?.focus();
  }
}

/** Replaces only the children that differ: the others keep the focus, or a press that has begun. */
export function renew(element: HTMLElement, ...children: (HTMLElement | false | undefined)[]): void {
  const focused = element.querySelector(':focus');
  const fresh = children.filter((child) => child instanceof HTMLElement);
  fresh.forEach((child, i) => {
    const old = element.children.item(i);
    if (old === null) {
      element.append(child);
    } else if (!old.isEqualNode(child)) {
      old.replaceWith(child);
    }
  });
  Array.from(element.children).slice(fresh.length).forEach((old) => old.remove());
  if (focused !== null && !element.contains(focused)) {
    const again = [...element.querySelectorAll<HTMLElement>(CONTROL)].find((control) => !control.matches(':disabled') && label(control) === label(focused));
    (again ?? element.closest<HTMLElement>('[tabindex]'))?.focus();
  }
}

function label(control: Element): string | null {
  return control.getAttribute('aria-label') ?? control.textContent;
}

/** The text of a button for at most `step` of the items left; `false` if none are. */
export function moreOf(left: number, step: number, what = ''): string | false {
  const all = `${count(left)}${what === '' ? '' : ` ${what}`}`;
  return left > step ? `Show ${step} more of ${all}` : left > 0 && `Show ${all} more`;
}

/** Sets the text of the button below a list, or hides it at the end; its focus then goes to the first item added. */
export function offer(more: HTMLButtonElement, text: string | false, added: readonly Element[]): void {
  if (text === false && more.matches(':focus')) {
    added[0]?.querySelector<HTMLElement>(CONTROL)?.focus();
  }
  more.hidden = text === false;
  more.textContent = text || null;
}
