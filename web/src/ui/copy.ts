/** Copies full values where fewer digits are shown. */

import { setText } from './dom.ts';

/** Shows `text` for the value `full`; copying yields `full`. */
export function showWhole(cell: Element, text: string, full: string): void {
  setText(cell.firstElementChild ?? cell, text);
  cell.setAttribute('title', full);
  if (text === full) {
    cell.removeAttribute('data-full');
  } else {
    cell.setAttribute('data-full', full);
  }
}

/** Separators between the cells of a row, and between rows. */
const CELL = '\t';
const ROW = '\n';

/** The selection with full values; `undefined` if nothing in it is abbreviated. */
function inFull(selection: Selection): string | undefined {
  if (selection.isCollapsed || selection.rangeCount === 0) {
    return undefined;
  }
  const range = selection.getRangeAt(0);
  const around = range.commonAncestorContainer;
  const inside = (around instanceof Element ? around : around.parentElement)?.closest('[data-full]');
  if (inside) {
    return inside.getAttribute('data-full')!;
  }
  const part = range.cloneContents();
  const short = part.querySelectorAll('[data-full]');
  if (short.length === 0) {
    return undefined;
  }
  short.forEach((cell) => {
    cell.textContent = cell.getAttribute('data-full');
  });
  const rows = Array.from(part.querySelectorAll('[role=row], .pair'), (row) => Array.from(row.children, (cell) => cell.textContent ?? ''));
  const cells = Array.from(part.children, (cell) => cell.textContent ?? '');
  return (rows.length > 0 ? rows : [cells]).map((row) => row.join(CELL)).join(ROW);
}

/** Copies full values from the selection below `root`. `selected` returns that selection. */
export function copyInFull(root: EventTarget, selected: () => Selection | null): void {
  root.addEventListener('copy', (event) => {
    const { clipboardData } = event as ClipboardEvent;
    const selection = selected();
    const text = selection === null ? undefined : inFull(selection);
    if (text !== undefined && clipboardData !== null) {
      clipboardData.setData('text/plain', text);
      event.preventDefault();
    }
  });
}
