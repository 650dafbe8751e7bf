/** Instants, durations and HTTP dates. Pure, so that workflow code may use it. */

/** The form of an RFC 3339 instant with its offset. `parseInstantMs` also checks that there is such a day. */
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function isCalendarDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  // `Date` counts months from 0, and its day 0 is the last of the month before: here, of `month` itself.
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Milliseconds since the epoch, or `null` where the text is not an RFC 3339 instant with offset. */
export function parseInstantMs(text: string): number | null {
  const [, year, month, day] = INSTANT.exec(text) ?? [];
  if (!isCalendarDate(Number(year), Number(month), Number(day))) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** Whether both texts name one instant, in any spelling. Parts of a millisecond count, too. */
export function areSameInstant(a: string, b: string): boolean {
  const toFraction = (text: string) => /\.(\d*[1-9])/.exec(text)?.[1];
  const ms = parseInstantMs(a);
  return ms !== null && ms === parseInstantMs(b) && toFraction(a) === toFraction(b);
}

/** RFC 3339 in UTC. */
export function toUtcInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** ISO 8601 durations in days and time only (`P30D`, `PT24H`, `P1DT12H`): months and years have no fixed length. */
const DURATION = /^P(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/;

/** Milliseconds, or `null` where the text is not such a duration or is zero. */
export function parseDurationMs(text: string): number | null {
  const match = DURATION.exec(text);
  if (!match || text.endsWith('T')) return null;
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = match.map((part = '0') => Number(part));
  const totalMs = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
  return totalMs > 0 ? totalMs : null;
}

const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads the one form of date that HTTP senders may still produce (RFC 9110, 5.6.7); `undefined` for any other text. */
function parseHttpDateMs(text: string): number | undefined {
  if (!IMF_FIXDATE.test(text.trim())) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110, 10.2.3). A date is measured against the answer's
 * own `Date`, where it has one, so that two clocks need not agree. `undefined` for an invalid value and for an instant
 * that has passed: then the caller's own back-off applies. Not bounded here; the workflow knows how long it may wait.
 */
export function parseRetryAfterMs(headers: Record<string, unknown>, nowMs: number): number | undefined {
  const { 'retry-after': retryAfter, date } = headers;
  const text = typeof retryAfter === 'string' ? retryAfter.trim() : '';
  if (!text) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text) > 0 ? Number(text) * 1000 : undefined;
  const untilMs = parseHttpDateMs(text);
  if (untilMs === undefined) return undefined;
  const fromMs = (typeof date === 'string' ? parseHttpDateMs(date) : undefined) ?? nowMs;
  return untilMs > fromMs ? untilMs - fromMs : undefined;
}
