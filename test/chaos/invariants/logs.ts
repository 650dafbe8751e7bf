/** "Nothing personal and no secret leaks": no log holds any of it, in any spelling. */
import { type Sentinel, SentinelSearch } from '../../protection/sentinels.ts';
import type { Invariant } from './invariant.ts';

export const nothingInLogs: Invariant = {
  name: 'no log holds anything personal or secret',
  judge({ logs, sentinels }) {
    const search = new SentinelSearch([...sentinels, ...sentinels.flatMap(reversed)]);
    const failures = logs.flatMap(({ name, bytes }) => {
      // Each program logs at least its start: an empty log would mean that nothing was searched.
      if (bytes.length === 0) return [`${name} is empty`];
      return search.find(withoutTimes(bytes)).map(({ sentinel, spelling }) => `${name}: ${sentinel.name}, ${spelling}`);
    });
    if (logs.length === 0) failures.push('there are no logs');
    const read = logs.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const remark = `${sentinels.length} values sought in ${Math.round(read / 1024)} KiB`;
    return { count: logs.length, failures, remark };
  },
};

/** A line's own date has thirteen digits, and by and by any nine of them. */
function withoutTimes(bytes: Uint8Array): Buffer {
  return Buffer.from(
    Buffer.from(bytes)
      .toString('latin1')
      .replaceAll(/"time":\d{13}\b/g, '"time":0'),
    'latin1',
  );
}

/** An SSN with its digits reversed: a program might use that as a mask, though it hides nothing. */
function reversed({ name, value, ...rest }: Sentinel): Sentinel[] {
  if (!/^\d{9}$/.test(value)) return [];
  return [{ name: `${name}, reversed`, value: [...value].toReversed().join(''), ...rest }];
}
