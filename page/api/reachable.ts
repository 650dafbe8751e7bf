/** What answers and what is away, by the answers that came last. */
import { observed } from '../base/observed.ts';

export const PARTS = ['api', 'ledger'] as const;
export type Part = (typeof PARTS)[number];

/** Since when each is away, as milliseconds since 1970. */
export type Away = Readonly<Partial<Record<Part, number>>>;

export const away = observed<Away>({});

export function isAway(part: Part): void {
  if (away.get()[part] === undefined) away.set({ ...away.get(), [part]: Date.now() });
}

export function answers(part: Part): void {
  const { [part]: since, ...others } = away.get();
  if (since !== undefined) away.set(others);
}
