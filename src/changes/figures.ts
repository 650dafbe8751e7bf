/** Reads a report's values without assuming their type. Amounts are decimal strings, compared and added exactly. */
import Big from 'big.js';
import { isRecord } from '../base/is-record.ts';
import type { FigureThreshold } from '../fields/change-options.ts';
import type { FigureMove } from './report-changes.ts';

/** Bounded, so that no exponent and no length can make the arithmetic expensive. */
const FIGURE = /^-?\d{1,30}(?:\.\d{1,10})?$/;

/** `unreadable` is any given value that is no plain decimal: the result reports it and never guesses. */
export type Figure = Big | null | 'unreadable';

/** Returns `null` if the report has no figure: absent, `null` or empty. Amounts are strings (interface 2.4). */
export function readFigure(value: unknown): Figure {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' && FIGURE.test(value) ? new Big(value) : 'unreadable';
}

/** Plain notation without unneeded zeros. */
function figureText(figure: Big): string {
  return figure.eq(0) ? '0' : figure.toFixed();
}

export function figureOrNull(figure: Figure): string | null {
  return figure === null || figure === 'unreadable' ? null : figureText(figure);
}

/**
 * The move between two figures. `undefined` if either is unreadable, both are missing, or they differ by less than the
 * threshold.
 */
export function moveBetween(from: Figure, to: Figure, threshold: FigureThreshold): FigureMove | undefined {
  if (from === 'unreadable' || to === 'unreadable' || (from === null && to === null)) return undefined;
  if (from === null || to === null) return { from: figureOrNull(from), to: figureOrNull(to) };
  const by = to.minus(from);
  if (by.eq(0) || !isBeyond(by.abs(), from.abs(), to.abs(), threshold)) return undefined;
  return { from: figureText(from), to: figureText(to), by: figureText(by) };
}

/** The share is of the larger figure: it never divides by zero, and is the same in both directions. */
function isBeyond(difference: Big, a: Big, b: Big, { amount, percent }: FigureThreshold): boolean {
  const larger = a.gt(b) ? a : b;
  return difference.gte(amount) && difference.times(100).gte(larger.times(percent));
}

/** The sum of the readable figures. */
export function sumFigures(figures: readonly Figure[]): string {
  const readable = figures.filter((figure) => figure !== null && figure !== 'unreadable');
  return figureText(readable.reduce((total, figure) => total.plus(figure), new Big(0)));
}

/** The text without spaces at its ends; an identifier of digits may be a JSON number. `null` for anything else. */
export function readText(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return (typeof value === 'string' && value.trim()) || null;
}

/** The text in upper case with spaces collapsed: reports may differ in these without any meaning. */
export function comparable(value: unknown): string | null {
  return readText(value)?.toUpperCase().replace(/\s+/g, ' ') ?? null;
}

/** An order that is the same on every machine, unlike an order by language. */
export function inOrder(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The entries of a list. `unreadable` counts entries that are no objects, and a value that is no list. */
export function readEntries(list: unknown): { entries: Record<string, unknown>[]; unreadable: number } {
  if (list === undefined || list === null) return { entries: [], unreadable: 0 };
  if (!Array.isArray(list)) return { entries: [], unreadable: 1 };
  const entries = list.filter(isRecord);
  return { entries, unreadable: list.length - entries.length };
}
