/** Times and ages, in the reader's own time zone. */
import { useEffect, useState } from 'preact/hooks';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const whole = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

/** `3 d 4 h`, `2 h 14 min`, `6 min`, `40 s`: the two greatest units at the most. */
export function ageWords(ms: number): string {
  const left = Math.max(0, ms);
  if (left < MINUTE) return `${Math.floor(left / 1000)} s`;
  if (left < HOUR) return `${Math.floor(left / MINUTE)} min`;
  if (left < DAY) return two(Math.floor(left / HOUR), 'h', Math.floor((left % HOUR) / MINUTE), 'min');
  return two(Math.floor(left / DAY), 'd', Math.floor((left % DAY) / HOUR), 'h');
}

function two(great: number, greatUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${great} ${greatUnit}` : `${great} ${greatUnit} ${small} ${smallUnit}`;
}

/** `16:41:03` today, `21 Nov 16:41:03` on another day. */
export function timeWords(at: string | number, now = Date.now()): string {
  const instant = new Date(at);
  const isToday = instant.toDateString() === new Date(now).toDateString();
  return isToday ? clock.format(instant) : `${day.format(instant)} ${clock.format(instant)}`;
}

/** With the time zone, for a title. */
export function wholeTime(at: string | number): string {
  return whole.format(new Date(at));
}

/** Now, again every so often. */
export function useNow(everyMs = 10_000): number {
  const [now, tick] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => tick(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
