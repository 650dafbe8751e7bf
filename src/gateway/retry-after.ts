import { parseHttpDateMs } from '../base/http-date.ts';

/**
 * `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110, 10.2.3). A date is measured against the answer's
 * own `Date`, where it has one, so that two clocks need not agree. `undefined` for an invalid value and for an instant
 * that has passed: then the caller's own back-off applies. Not bounded here; the workflow knows how long it may wait.
 */
export function retryAfterMs(headers: { retryAfter?: string | undefined; date?: string | undefined }, nowMs: number) {
  const text = headers.retryAfter?.trim();
  if (!text) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text) > 0 ? Number(text) * 1000 : undefined;
  const untilMs = parseHttpDateMs(text);
  if (untilMs === undefined) return undefined;
  const fromMs = (headers.date === undefined ? undefined : parseHttpDateMs(headers.date)) ?? nowMs;
  return untilMs > fromMs ? untilMs - fromMs : undefined;
}
