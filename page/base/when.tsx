/** A time, and an age: what a person reads, with the whole time for who wants it. */
import { ageWords, timeWords, wholeTime } from './time.ts';

export function Time({ at }: { at: string | number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={wholeTime(at)}>
      {timeWords(at)}
    </time>
  );
}

export function Age({ since, now }: { since: string; now: number }) {
  return (
    <time dateTime={since} title={`since ${wholeTime(since)}`}>
      {ageWords(now - Date.parse(since))}
    </time>
  );
}
