/** Amounts as decimal strings, compared and added exactly. */
import Big from 'big.js';
import type { FigureThreshold } from '../model/change-options.ts';
import type { FigureMove } from './report-changes.ts';

/** Bounded, so that no exponent and no length can make the arithmetic expensive. */
const FIGURE = /^-?\d{1,30}(?:\.\d{1,10})?$/;

/** `unreadable` is any given value that is no plain decimal: the result reports it and never guesses. */
export type Figure = Big | null | 'unreadable';

/** `null` where the report has no figure: absent, `null` or empty. Amounts are strings (interface 2.4). */
export function readFigure(value: unknown): Figure {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' && FIGURE.test(value) ? new Big(value) : 'unreadable';
}

export function isFigure(value: string): boolean {
  return FIGURE.test(value);
}

/** Plain notation without unneeded zeros. */
function figureText(figure: Big): string {
  return figure.eq(0) ? '0' : figure.toFixed();
}

export function figureOrNull(figure: Figure): string | null {
  return figure === null || figure === 'unreadable' ? null : figureText(figure);
}

/**
 * The move between two figures. `undefined` where either is unreadable, both are missing, or they differ by less than
 * the threshold.
 */
export function moveBetween(from: Figure, to: Figure, threshold: FigureThreshold): FigureMove | undefined {
  if (from === 'unreadable' || to === 'unreadable' || (from === null && to === null)) return undefined;
  if (from === null || to === null) return { from: figureOrNull(from), to: figureOrNull(to) };
  const by = to.minus(from);
  if (by.eq(0) || !isBeyond(by.abs(), from.abs(), to.abs(), threshold)) return undefined;
  return { from: figureText(from), to: figureText(to), by: figureText(by) };
}

/** The share is of the larger figure: it never divides by zero, and is the same in both directions. */
function isBeyond(difference: Big, one: Big, other: Big, { amount, percent }: FigureThreshold): boolean {
  const larger = one.gt(other) ? one : other;
  return difference.gte(amount) && difference.times(100).gte(larger.times(percent));
}

export class FigureSum {
  #total = new Big(0);

  add(figure: Figure): void {
    if (figure !== null && figure !== 'unreadable') this.#total = this.#total.plus(figure);
  }

  get text(): string {
    return figureText(this.#total);
  }
}
