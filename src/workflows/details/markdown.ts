/** The Markdown of current details. Values are escaped, so that none acts as markup. Pure. */

/** A value within a sentence or a cell. */
export function plain(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\\`*_{}[\]()<>#|~!&]/g, '\\$&');
}

/** A value that is to be copied; nothing where there is none. */
export function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text.replaceAll(/[`\r\n|]/g, ' ')}\``;
}

/** `2026-01-02T03:04:05.678Z` → `2026-01-02 03:04 UTC` */
export function time(instant: string | undefined): string {
  return instant === undefined ? '' : `${instant.slice(0, 16).replace('T', ' ')} UTC`;
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  // The UI leaves no room between columns.
  const padded = (cell: string) => (cell === '' ? '' : `${cell}\u00a0`);
  const line = (cells: readonly string[]) => `|${cells.map(padded).join('|')}|`;
  return [line(head), `|${head.map(() => ':-').join('|')}|`, ...rows.map(line)].join('\n');
}

/** Text that is copied as it stands. Backticks in it would end the block. */
export function block(text: string): string {
  return `\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\``;
}
