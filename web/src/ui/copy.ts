/** Copying values in full that are shown with fewer digits. */

import { setText } from './dom.ts';

/** Shows `text` for a value that is `full`, which is what gets copied. */
export function showWhole(cell: Element, text: string, full: string): void {
  setText(cell.firstElementChild ?? cell, text);
  cell.setAttribute('title', full);
  if (text === full) {
    cell.removeAttribute('data-full');
  } else {
    cell.setAttribute('data-full', full);
  }
}

/** What is between the cells of a row, and between rows. */
const CELL = '\t';
const ROW = '\n';

/** The selection with values in full; `undefined` where what is shown is all of it. */
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

/** What is copied below `root` is copied in full; `selected` gives the selection there. */
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
