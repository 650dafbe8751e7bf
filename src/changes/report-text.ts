/** Text members of a report, read without believing that they are what the interface shows. */

/** Spaces at the ends are none; identifiers of digits may come as JSON numbers. `null` for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return (typeof value === 'string' && value.trim()) || null;
}

/** As two reports may differ without saying anything else: upper-case, spaces collapsed. */
export function comparable(value: unknown): string | null {
  return textOf(value)?.toUpperCase().replace(/\s+/g, ' ') ?? null;
}

/** The same on every machine, unlike an order by language. */
export function inOrder(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The entries of a list; `unreadable` counts those that are no objects, and a list that is none. */
export function entriesOf(list: unknown): { entries: Record<string, unknown>[]; unreadable: number } {
  if (list === undefined || list === null) return { entries: [], unreadable: 0 };
  if (!Array.isArray(list)) return { entries: [], unreadable: 1 };
  const entries = list.filter(isObject);
  return { entries, unreadable: list.length - entries.length };
}
