/** CSV that is safe to be opened in a spreadsheet. */

export type Cell = string | number | undefined;

/** A line of RFC 4180, with its end. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * What a spreadsheet would take for a formula gets an apostrophe before it (OWASP, CSV injection): at the start, behind blanks,
 * and behind what a spreadsheet of another country takes for the start of a cell, such as a semicolon.
 */
function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = (cell ?? '').replace(/(^|[;\t\r\n"])(\s*)(?=[=+\-@＝＋－＠])/g, "$1$2'").replace(/^(?=[\t\r\n])/, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
