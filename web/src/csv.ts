/** CSV that spreadsheets import without reinterpreting cells. */

/** A CSV cell. Text that a spreadsheet would evaluate as a formula is marked as text. */
export function cell(value: unknown): string {
  let text = String(value ?? '');
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) {
    text = `'${text}`;
  }
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function line(cells: readonly unknown[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}
