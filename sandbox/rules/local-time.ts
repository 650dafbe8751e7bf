/** Wall-clock dates and times as the interface writes them, in the sandbox's time zone. */

/** `YYYY-MM-DD` of a day that exists. */
export function isCalendarDate(text: string): boolean {
  const date = new Date(text);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** `YYYY-MM-DD HH:MM:SS` (interface 2.6) of a day that exists. */
export function isDateTime(text: string): boolean {
  const [, date = ''] = /^(.{10}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.exec(text) ?? [];
  return isCalendarDate(date);
}

/**
 * Returns a function that writes the present moment as `YYYY-MM-DD HH:MM:SS` in `timeZone` (IANA name). Such texts sort
 * by time. Throws a `RangeError` for an unknown zone.
 */
export function localClock(timeZone: string): () => string {
  // Swedish writes it so.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return () => format.format(new Date());
}
