/** A menu of the tabs in a bar, for when they do not fit. */

import { fill, h } from './dom.ts';
import { counted } from './format.ts';

/** Least width of a tab if not all are in sight, and the space between two. */
const LEAST = 160;
const GAP = 2;

/**
 * Shown while the tabs need more than the width of the bar; choosing one presses its button. The
 * tabs are then equally wide, so that as many as fit are in sight as a whole.
 */
export function tabMenu(bar: HTMLElement): HTMLElement {
  const buttons = () => [...bar.querySelectorAll<HTMLElement>('.file-tab > button:first-child')];
  const label = h('span', { 'aria-hidden': 'true' });
  const list = h('select', { onchange: () => buttons()[list.selectedIndex]?.click() });
  const menu = h('div', { class: 'tab-menu', title: 'All open files', hidden: true }, label, list);
  const draw = () => {
    const all = buttons();
    menu.hidden = true;
    bar.style.removeProperty('--tab');
    menu.hidden = bar.scrollWidth <= bar.clientWidth + 1;
    label.textContent = counted(all.length, all.every((one) => one.matches('.file-name')) ? 'file' : 'tab');
    list.ariaLabel = `All ${label.textContent}`;
    fill(list, ...(menu.hidden ? [] : all.map((one) => h('option', { selected: one.ariaCurrent === 'true' }, one.textContent))));
    const room = bar.clientWidth + GAP;
    bar.style.setProperty('--tab', menu.hidden ? '' : `${room / Math.max(1, Math.floor(room / (LEAST + GAP))) - GAP}px`);
    all.find((one) => one.ariaCurrent === 'true')?.parentElement!.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  new MutationObserver(draw).observe(bar, { childList: true, subtree: true, attributeFilter: ['aria-current'] });
  new ResizeObserver(draw).observe(bar);
  return menu;
}
