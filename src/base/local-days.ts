/** Calendar days in a time zone: which day it is there, and when a day begins. Not for workflow code: time zones change. */
import { isCalendarDate } from './instants.ts';

const MS_PER_HOUR = 3_600_000;

/** No zone is further from UTC. */
const MOST_OFFSET_MS = 16 * MS_PER_HOUR;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Whether the text is a day of the calendar, `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  return year !== undefined && year >= 1 && isCalendarDate(year, month ?? 0, day ?? 0);
}

/** `YYYY-MM-DD`, in the time zone. @param timeZone an IANA name */
export function localDate(ms: number, timeZone: string): string {
  return datesIn(timeZone)(ms);
}

function datesIn(timeZone: string): (ms: number) => string {
  const form = { timeZone, year: 'numeric', month: '2-digit', day: '2-digit', calendar: 'iso8601' } as const;
  const format = new Intl.DateTimeFormat('en-US', form);
  return (ms) => {
    const parts = format.formatToParts(ms);
    const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
    return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  };
}

/** The day that is so many days of the calendar later, or earlier where `days` is negative. */
export function addDays(date: string, days: number): string {
  const [, year = 0, month = 1, day = 1] = (DATE.exec(date) ?? []).map(Number);
  return new Date(Date.UTC(year, month - 1, day + days)).toISOString().slice(0, 10);
}

/**
 * The first instant of a day in a time zone, in milliseconds since the epoch: midnight there, or the first instant after it
 * where clocks leave midnight out.
 */
export function startOfDayMs(date: string, timeZone: string): number {
  const utcMs = Date.parse(`${date}T00:00:00Z`);
  const dateAt = datesIn(timeZone);
  // Dates only ever grow with time: the first instant with this date, or a later one, is found by halves.
  let [before, at] = [utcMs - MOST_OFFSET_MS, utcMs + MOST_OFFSET_MS];
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (dateAt(middle) >= date) at = middle;
    else before = middle;
  }
  return at;
}
