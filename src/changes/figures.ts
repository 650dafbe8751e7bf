/** Amounts as decimal strings, compared and added exactly. */
import Big from 'big.js';
import type { FigureThreshold } from '../model/change-options.ts';
import type { FigureMove } from './report-changes.ts';

/** Bounded, so that no exponent and no length costs more than it says. */
const FIGURE = /^-?\d{1,30}(?:\.\d{1,10})?$/;

/** `unreadable` is anything that is there and is no plain decimal: it is told, never guessed at. */
export type Figure = Big | null | 'unreadable';

/** `null` where the report has none: absent, `null` or empty. Amounts are strings (interface 2.4). */
export function readFigure(value: unknown): Figure {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' && FIGURE.test(value) ? new Big(value) : 'unreadable';
}

export function isFigure(value: string): boolean {
  return FIGURE.test(value);
}

/** Plain notation without needless zeros. */
export function figureText(figure: Big): string {
  return figure.eq(0) ? '0' : figure.toFixed();
}

export function figureOrNull(figure: Figure): string | null {
  return figure === null || figure === 'unreadable' ? null : figureText(figure);
}

/** Nothing where either is unreadable, neither is there, or they differ by less than the threshold. */
export function moveBetween(from: Figure, to: Figure, threshold: FigureThreshold): FigureMove | undefined {
  if (from === 'unreadable' || to === 'unreadable' || (from === null && to === null)) return undefined;
  if (from === null || to === null) return { from: figureOrNull(from), to: figureOrNull(to) };
  const by = to.minus(from);
  if (by.eq(0) || !isBeyond(by.abs(), from.abs(), to.abs(), threshold)) return undefined;
  return { from: figureText(from), to: figureText(to), by: figureText(by) };
}

/** Of the larger figure: so the share is never over no figure at all, and the same in both directions. */
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
