/** CSV that is safe to be opened in a spreadsheet. */
import type { z } from 'zod';
import { leavesIn } from './schema-options.ts';

type Cell = string | number | undefined;

export type Columns<T> = Readonly<Record<string, (row: T) => Cell>>;

/**
 * A column for each text, number and flag of the rows, in the schema's order, named by its path. A list has all of its
 * elements in one cell.
 */
export function columnsFor(schema: z.ZodType): Columns<object> {
  return Object.fromEntries(
    leavesIn(schema, { inLists: true }).map(({ path }) => [
      path.join('.'),
      (row: object) => {
        const values = valuesAt(row, path);
        if (values.length === 1 && typeof values[0] === 'number') return values[0];
        return values.every((value) => value === '') ? '' : values.map(String).join('; ');
      },
    ]),
  );
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (value === undefined || value === null) return [];
  // An element without a value keeps its place: the cells of one list fit together.
  if (Array.isArray(value)) return value.map((element) => valuesAt(element, path).join(' '));
  const [name, ...rest] = path;
  return name === undefined ? [value] : valuesAt((value as Record<string, unknown>)[name], rest);
}

export function csvRow<T>(columns: Columns<T>, row: T): string {
  return csvLine(Object.values(columns).map((cellOf) => cellOf(row)));
}

/** A line of RFC 4180, with its end. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Puts an apostrophe before text that a spreadsheet would take for a formula (OWASP, CSV injection). The text may begin
 * the cell, or follow blanks, or follow a character such as a semicolon, which separates cells in some countries.
 */
function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = (cell ?? '').replace(/(^|[;\t\r\n"])(\s*)(?=[=+\-@＝＋－＠])/g, "$1$2'").replace(/^(?=[\t\r\n])/, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
