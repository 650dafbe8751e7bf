/** A start by the API beside a start by the client: one at a time, in turn, in interleaved pairs. No worker runs. */
import { waitingAtGate } from '../load/inputs.ts';
import { median } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { type Part, plain } from '../overload/finding.ts';
import { quantile } from '../report.ts';
import { type BenchApi, call, callerToken } from './api-program.ts';

export interface StartsOptions {
  pairs: number;
  /** Of each contender in a pair. */
  rounds: number;
  say(text: string): void;
}

const CONTENDERS = ['client', 'api', 'limited'] as const;
type Contender = (typeof CONTENDERS)[number];
const WARM_UP = 20;

export async function starts(site: Site, api: BenchApi, { pairs, rounds, say }: StartsOptions): Promise<Part> {
  const all = await callerToken(1);
  const limited = await callerToken(2, { endUsers: ['EU123'], profiles: ['default'] });
  const start: Record<Contender, () => Promise<unknown>> = {
    client: () => site.journeys.start(waitingAtGate()),
    api: () => call(api, '/v1/journeys', { token: all, body: waitingAtGate() }, [201]),
    limited: () => call(api, '/v1/journeys', { token: limited, body: waitingAtGate() }, [201]),
  };
  for (let nth = 0; nth < WARM_UP; nth++) for (const name of CONTENDERS) await start[name]();
  const measured: Record<Contender, number[]>[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    say(`pair ${pair + 1} of ${pairs}`);
    // Each goes first every other time.
    const order = pair % 2 === 0 ? CONTENDERS : CONTENDERS.toReversed();
    const took: Record<Contender, number[]> = { client: [], api: [], limited: [] };
    for (let round = 0; round < rounds; round++) {
      for (const name of order) {
        const beganAt = performance.now();
        await start[name]();
        took[name].push(performance.now() - beganAt);
      }
    }
    measured.push(took);
  }
  const of = (name: Contender, share: number) => median(measured.map((took) => quantile(took[name], share)));
  const ratio = (name: Contender, share: number) =>
    median(measured.map((took) => quantile(took[name], share) / quantile(took.client, share)));
  return {
    title: 'starts',
    run: `${pairs} pairs of ${rounds} starts each, one at a time, in turn; no worker`,
    findings: [
      plain('client, p50, ms', of('client', 0.5)),
      plain('client, p95, ms', of('client', 0.95)),
      plain('API, p50, ms', of('api', 0.5)),
      plain('API, p95, ms', of('api', 0.95)),
      plain('API against client, p50', ratio('api', 0.5)),
      plain('API against client, p95', ratio('api', 0.95)),
      plain('API, token for one end user, p50, ms', of('limited', 0.5)),
      plain('API, token for one end user, against client, p50', ratio('limited', 0.5)),
    ],
  };
}
