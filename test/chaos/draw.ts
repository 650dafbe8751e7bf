/** Draws from a seed: the same parts always give the same draws. */
import { sequence } from '../../sandbox/rules/digest.ts';

export interface Draw {
  /** A number in [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** An integer, both ends included. */
  between(least: number, most: number): number;
  of<T>(choices: readonly T[]): T;
  /** So many different ones, in the order of the list. */
  some<T>(choices: readonly T[], count: number): T[];
}

export function drawFrom(...parts: (string | number)[]): Draw {
  const next = sequence('chaos', ...parts);
  const draw: Draw = {
    next,
    chance: (probability) => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    of: (choices) => choices[Math.floor(next() * choices.length)] as (typeof choices)[number],
    some(choices, count) {
      const left = [...choices.keys()];
      const taken = new Set<number>();
      while (taken.size < Math.min(count, choices.length)) {
        taken.add(left.splice(Math.floor(next() * left.length), 1)[0] as number);
      }
      return choices.filter((_, index) => taken.has(index));
    },
  };
  return draw;
}
