/** One end user floods the gateway, and another follows: measures when each one's inquiries are posted. */
import { prequal } from '../load/inputs.ts';
import type { Site } from '../load/site.ts';
import { bounded, exactly, type Part, plain } from './finding.ts';
import { flood, untilPosted } from './floods.ts';

export interface FairnessOptions {
  /** Inquiries of the first end user. */
  many: number;
  /** Inquiries of the second. */
  few: number;
  limit: number;
  say(text: string): void;
}

export async function fairness(site: Site, { many, few, limit, say }: FairnessOptions): Promise<Part> {
  await site.forget();
  await flood(site, many, () => prequal('EUMANY'), {});
  const before = (await site.posted()).length;
  const beganAt = Date.now();
  await flood(site, few, () => prequal('EUFEW'), {});
  say('both are started');
  await untilPosted(site, many + few, say);
  const posted = await site.posted();
  const order = posted.map(({ endUserCode }) => endUserCode);
  const last = order.lastIndexOf('EUFEW');
  const between = order.slice(order.indexOf('EUFEW'), last).filter((user) => user === 'EUMANY').length;
  const tookS = (Date.parse(posted[last]?.postedAt ?? '') - beganAt) / 1_000;
  return {
    title: 'fairness',
    run: `${many} inquiries of one end user, then ${few} of another, at ${limit} a second`,
    findings: [
      plain('posted before the other was started', before),
      plain('place of the last of the few, of all', last + 1),
      plain('  where it would be without turns', many + few),
      // They alternate once they are queued. While they are being started, for a second or two, the others go on.
      bounded('posted of the many, between the first and the last of the few', between, few + 2 * limit),
      plain('seconds until the few were posted', tookS),
      exactly('posted', posted.length, many + few),
    ],
  };
}
