/** Whether our clock agrees with those of the servers: dates of consents and of secondary uses are compared with it. */
import type { Check } from './check.ts';
import { NotCheckedError, pass, warn } from './finding.ts';

/** Servers that keep their time differ by less. */
const MAX_SKEW_MS = 30_000;

/** Runs after the other checks, which collect the clocks. */
export const clockCheck: Check = {
  name: 'clock',
  needs: [],
  async run({ clocks }) {
    if (clocks.length === 0) throw new NotCheckedError('no server could be asked for the time');
    const told = clocks
      .toSorted((one, other) => (one.whose < other.whose ? -1 : 1))
      .map(({ whose, aheadMs }) => `${whose} ${seconds(aheadMs)}`);
    const detail = `others compared with ours: ${told.join(', ')}`;
    return clocks.every(({ aheadMs }) => Math.abs(aheadMs) <= MAX_SKEW_MS)
      ? pass(detail)
      : warn(detail, 'set the clocks by NTP: the one that differs from all others is wrong');
  },
};

function seconds(ms: number): string {
  const rounded = Math.round(ms / 1000);
  return `${rounded > 0 ? '+' : ''}${rounded} s`;
}
