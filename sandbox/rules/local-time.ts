/** Wall-clock dates and times as the interface writes them, in the sandbox's time zone. */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

/** `YYYY-MM-DD` of a day that exists. */
export function isCalendarDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** `YYYY-MM-DD HH:MM:SS` (interface 2.6) of a day that exists. */
export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  return match?.[1] !== undefined && isCalendarDate(match[1]);
}

/**
 * Returns a function that writes the present moment as `YYYY-MM-DD HH:MM:SS` in `timeZone` (IANA name). Such texts sort
 * by time. Throws a `RangeError` for an unknown zone.
 */
export function localClock(timeZone: string): () => string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return () => {
    const parts = new Map(format.formatToParts(new Date()).map(({ type, value }) => [type, value]));
    const [year, month, day] = ['year', 'month', 'day'].map((name) => parts.get(name as 'year'));
    const [hour, minute, second] = ['hour', 'minute', 'second'].map((name) => parts.get(name as 'hour'));
    return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
  };
}
