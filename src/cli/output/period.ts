/** `--from` and `--to`: instants, or whole days in a time zone. */
import { omitUndefined } from '../../base/defined.ts';
import { isCalendarDate, parseInstantMs } from '../../base/instants.ts';
import { UsageError } from './errors.ts';

/** RFC 3339 in UTC. */
export interface Period {
  /** Included. */
  from?: string;
  /** Not included. */
  before?: string;
}

const DAY_MS = 86_400_000;
/** Above the largest distance of any place's clock from UTC. */
const FARTHEST_MS = 20 * 3_600_000;

/** Keeps an instant unchanged, and includes a day for `to` as a whole. `timeZone` is an IANA name. */
export function parsePeriod({ from, to }: { from?: string; to?: string }, timeZone: string): Period {
  const fromMs = from === undefined ? undefined : parseMoment('--from', from, timeZone, 0);
  const beforeMs = to === undefined ? undefined : parseMoment('--to', to, timeZone, 1);
  if (fromMs !== undefined && beforeMs !== undefined && beforeMs <= fromMs) {
    throw new UsageError('--to must be later than --from');
  }
  const toInstant = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  return omitUndefined({ from: toInstant(fromMs), before: toInstant(beforeMs) });
}

function parseMoment(option: string, text: string, timeZone: string, daysLater: number): number {
  const dayMs = parseDay(text);
  const ms = dayMs === null ? parseInstantMs(text) : findFirstMoment(dayMs + daysLater * DAY_MS, timeZone);
  if (ms !== null) return ms;
  throw new UsageError(`${option} must be a day (2026-01-31) or an instant (2026-01-31T14:00:00Z)`);
}

/** Midnight in UTC of a calendar day, or `null`. */
function parseDay(text: string): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return null;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  return isCalendarDate(year, month, day) ? Date.UTC(year, month - 1, day) : null;
}

/** The day's first second there: not always midnight, which a change of the clocks may leave out. By bisection. */
function findFirstMoment(dayMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const day = new Date(dayMs).toISOString().slice(0, 10);
  let [beforeS, atS] = [(dayMs - FARTHEST_MS) / 1000, (dayMs + FARTHEST_MS) / 1000];
  while (atS - beforeS > 1) {
    const middleS = Math.floor((beforeS + atS) / 2);
    if (format.format(middleS * 1000) < day) beforeS = middleS;
    else atS = middleS;
  }
  return atS * 1000;
}
