/** The keyboard shortcuts that work anywhere on the page. */

import { singleKeys } from './views/help.ts';

interface Actions {
  /** Escape in a text field. The field no longer has the focus. */
  left(): void;
  /** Escape elsewhere. */
  escaped(): void;
  /** Any other key, if single keys are on; returns whether it was used. */
  pressed(key: string): boolean;
}

export function onKeys({ left, escaped, pressed }: Actions): void {
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const typing = target.matches('input:not([type=checkbox]), select, textarea');
    const modal = document.querySelector('dialog[open]') !== null;
    if (event.key === 'Escape' && typing && !modal) {
      target.blur();
      left();
    } else if (event.defaultPrevented || typing || modal || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (event.key === 'Escape') {
      escaped();
    } else if (singleKeys() && pressed(event.key)) {
      event.preventDefault();
    }
  });
}
