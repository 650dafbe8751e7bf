/** Text members of a report, read with no assumption about their type. */
import { isRecord } from '../base/is-record.ts';

/** The text without spaces at its ends; an identifier of digits may be a JSON number. `null` for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return (typeof value === 'string' && value.trim()) || null;
}

/** The text in upper case with spaces collapsed: reports may differ in these without any meaning. */
export function comparable(value: unknown): string | null {
  return textOf(value)?.toUpperCase().replace(/\s+/g, ' ') ?? null;
}

/** An order that is the same on every machine, unlike an order by language. */
export function inOrder(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The entries of a list. `unreadable` counts entries that are no objects, and a value that is no list. */
export function entriesOf(list: unknown): { entries: Record<string, unknown>[]; unreadable: number } {
  if (list === undefined || list === null) return { entries: [], unreadable: 0 };
  if (!Array.isArray(list)) return { entries: [], unreadable: 1 };
  const entries = list.filter(isRecord);
  return { entries, unreadable: list.length - entries.length };
}
