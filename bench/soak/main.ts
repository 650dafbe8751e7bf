/**
 * `npm run soak`: runs everything at a steady rate for a while, and checks whether anything grows without bound. Prints
 * a verdict for each measure, draws them (SVG), and exits with 1 where something grows or a journey failed.
 * docs/reliability.md
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreditJourneys } from '../../src/client/credit-journeys.ts';
import { Sampler } from '../load/series.ts';
import { type Site, startSite } from '../load/site.ts';
import { ledgerEngine, readOptions } from '../options.ts';
import { type Hooks, startHooks } from './hooks.ts';
import { Measures } from './measures.ts';
import { svg } from './svg.ts';
import { startTraffic, type Traffic } from './traffic.ts';

const USAGE = `npm run soak -- [--minutes N] [--rate N] [--out FILE] [--ledger sqlite]

  --minutes N    how long journeys are started (default 20)
  --rate N       runs a second (default 2): journeys of one to three stages and a share, pulls, reports shared afterwards;
                 a portfolio every two minutes beside them
  --out FILE     the picture (default soak.svg)
  --ledger NAME  postgres (default) or sqlite`;

/** Each at a low rate. The first matching rule decides; all other requests are answered with some 100 kB a consumer. */
const FAULTS = [
  { fault: 'status', status: 429, probability: 0.01 },
  { fault: 'status', status: 401, probability: 0.005 },
  { fault: 'resetBeforePosting', probability: 0.005 },
  { fault: 'resetAfterPosting', probability: 0.005 },
  { fault: 'slowAfterPosting', delayMs: 1_500, probability: 0.02 },
  { target: 'token', fault: 'unavailable', probability: 0.05 },
  { fault: 'largeReport', accounts: 400 },
];
const SAMPLE_EVERY_MS = 5_000;

const options = readOptions(
  USAGE,
  {
    minutes: { type: 'string', default: '20' },
    rate: { type: 'string', default: '2' },
    out: { type: 'string', default: 'soak.svg' },
    ledger: { type: 'string', default: 'postgres' },
  },
  ({ minutes, rate, out, ledger }) => ({
    minutes: above0(minutes),
    rate: above0(rate),
    out,
    ledger: ledgerEngine(ledger),
  }),
);
const secrets = await mkdtemp(join(tmpdir(), 'credit-journey-soak-'));
const hooks = await startHooks(join(secrets, 'webhook-secret'));
const site = await startSite({
  ledger: options.ledger,
  codecServer: true,
  // Tokens expire soon, so that they are fetched all the time.
  sandboxArgs: ['--token-lifetime-seconds', '120', '--latency-ms', '20'],
  env: { METRICS_REFRESH_SECONDS: '10', BACKOFF_INITIAL_MS: '200', BACKOFF_MAX_MS: '2000', ...hooks.env },
});
let isGood = false;
try {
  isGood = await soak(site, hooks);
} finally {
  await site.close();
  await hooks.close();
  await rm(secrets, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);

async function soak(on: Site, events: Hooks): Promise<boolean> {
  await on.setFaults(FAULTS);
  for (const name of ['worker 1', 'worker 2']) await on.startWorker(name);
  const client = on.journeys.getSdkClient();
  await using keyless = await CreditJourneys.connect({
    address: on.env.TEMPORAL_ADDRESS ?? '',
    namespace: client.options.namespace,
    taskQueue: on.taskQueue,
    queryTimeoutMs: 60_000,
    codecServer: { url: on.codecServerUrl ?? '' },
  });
  const traffic = startTraffic(on, keyless, options.rate);
  const measures = new Measures(on, traffic);
  const load = loadavg()[0] ?? Number.NaN;
  const sampler = new Sampler(SAMPLE_EVERY_MS, (at) => measures.look(at));
  const endsAt = performance.now() + options.minutes * 60_000;
  let toldAt = performance.now();
  while (performance.now() < endsAt) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    if (performance.now() - toldAt < 60_000) continue;
    toldAt = performance.now();
    console.error(`  ${traffic.ended} ended, ${traffic.open} open, ${traffic.failures.length} went wrong`);
  }
  await sampler.stop();
  await traffic.stop();
  await untold(traffic, events);
  return tell(
    measures,
    { traffic, events },
    `load at start ${load.toFixed(1)}, at the end ${(loadavg()[0] ?? 0).toFixed(1)}`,
  );
}

/** Every ended run sends an event; a refused event comes again within seconds. */
async function untold({ endedIds, failures }: Traffic, { ended, forged }: Hooks): Promise<void> {
  const missing = () => endedIds.filter((id) => !ended.has(id)).length;
  for (let waited = 0; waited < 60 && missing() > 0; waited++)
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  if (missing() > 0) failures.push(`of ${missing()} runs no event told the end`);
  if (forged > 0) failures.push(`${forged} events with a wrong signature`);
}

async function tell(
  measures: Measures,
  { traffic, events }: { traffic: Traffic; events: Hooks },
  load: string,
): Promise<boolean> {
  const judged = measures.judged();
  const { ended, rowsReviewed, holdsResolved, failures } = traffic;
  const said = `${ended} runs and ${rowsReviewed} rows in ${options.minutes} minutes, ${events.delivered} events heard (${events.refused} refused at first), ${holdsResolved} holds resolved, ${failures.length} went wrong; ${load}`;
  await writeFile(options.out, svg('Soak: everything on, two workers', said, measures.panels()));
  console.log(said);
  for (const failure of failures) console.log(`  ${failure}`);
  const width = Math.max(...judged.map(({ name }) => name.length));
  for (const { name, verdict } of judged) console.log(`  ${name.padEnd(width)}  ${verdict.text}`);
  const growing = judged.filter(({ verdict }) => !verdict.isGood).length;
  console.log(`soak: ${judged.length} measures, ${growing} grow; ${options.out}`);
  return growing === 0 && failures.length === 0;
}

function above0(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${text} is not a number above 0`);
  return value;
}
