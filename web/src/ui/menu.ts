/** A menu of the tabs in a bar, for when they do not fit. */

import { fill, h } from './dom.ts';

/** Shown while the tabs need more than the width of the bar; choosing one presses its button. */
export function tabMenu(bar: HTMLElement): HTMLElement {
  const buttons = () => [...bar.querySelectorAll<HTMLElement>('.file-tab > button:first-child')];
  const menu = h('select', { class: 'tab-menu', 'aria-label': 'All open files', title: 'All open files', hidden: true, onchange: () => buttons()[menu.selectedIndex]?.click() });
  const draw = () => {
    menu.hidden = bar.scrollWidth <= bar.clientWidth + 1;
    fill(menu, ...(menu.hidden ? [] : buttons().map((one) => h('option', { selected: one.getAttribute('aria-current') === 'true' }, one.textContent))));
  };
  new MutationObserver(draw).observe(bar, { childList: true, subtree: true, attributeFilter: ['aria-current'] });
  new ResizeObserver(draw).observe(bar);
  return menu;
}
