/** CSV that is safe to be opened in a spreadsheet. */

export type Cell = string | number | undefined;

export type Columns<T> = Readonly<Record<string, (one: T) => Cell>>;

/** Columns in their order: members under their own names, and others by how they are read. */
export function columnsFor<T>(
  ...groups: readonly (readonly { [K in keyof T]: T[K] extends Cell ? K & string : never }[keyof T][] | Columns<T>)[]
): Columns<T> {
  return Object.fromEntries(
    groups.flatMap((group) =>
      Array.isArray(group)
        ? (group as readonly (keyof T & string)[]).map((name) => [name, (one: T) => one[name] as Cell])
        : Object.entries(group),
    ),
  );
}

export function csvRow<T>(columns: Columns<T>, one: T): string {
  return csvLine(Object.values(columns).map((cellOf) => cellOf(one)));
}

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
