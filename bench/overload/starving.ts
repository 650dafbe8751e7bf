/** A person at a screen beside a flood of batches, or a portfolio: measures how much longer the person waits. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { WorkClass } from '../../src/client.ts';
import { newJourneyId, prequal } from '../load/inputs.ts';
import { writePortfolio } from '../load/portfolio-file.ts';
import { median } from '../load/series.ts';
import type { Site } from '../load/site.ts';
import { quantile } from '../report.ts';
import { bounded, type Finding, type Part, plain } from './finding.ts';
import { flood, untilPosted } from './floods.ts';

export interface StarvingOptions {
  batch: number;
  limit: number;
  say(text: string): void;
}

const QUIET_PROBES = 30;
const PROBE_EVERY_MS = 500;
/** The share of the queue time beside a flood of the same class. Without classes it is 1. */
const MOST_OF_EQUALS = 0.2;

export async function starving(site: Site, { batch, limit, say }: StarvingOptions): Promise<Part> {
  await probes(site, 5);
  const quiet = await probes(site, QUIET_PROBES);
  say('without a flood: measured');
  const batches = await beside(site, batch, 'batch', say);
  say('beside batches: measured');
  const rows = await besidePortfolio(site, batch, say);
  say('beside a portfolio: measured');
  // The same flood in the same class: the queue time without the benefit of the class.
  const equals = await beside(site, batch, 'interactive', say);
  const ratio = median(batches.waiting.map(inQueue)) / median(equals.waiting.map(inQueue));
  return {
    title: 'starving',
    run: `a flood of ${batch} journeys at ${limit} a second; beside it an interactive inquiry every ${PROBE_EVERY_MS} ms`,
    findings: [
      ...latencies('interactive inquiry without a flood', quiet),
      ...latencies('while a flood of batches is started', batches.starting),
      ...latencies('while a flood of batches waits', batches.waiting),
      ...latencies('while a portfolio of as many rows is reviewed', rows),
      ...latencies('while a flood of equals waits', equals.waiting),
      bounded('its wait in the queue beside batches, of that beside equals', ratio, MOST_OF_EQUALS),
      bounded(
        'the same beside a portfolio',
        median(rows.map(inQueue)) / median(equals.waiting.map(inQueue)),
        MOST_OF_EQUALS,
      ),
      plain(
        'end to end beside batches, of that without a flood',
        median(batches.waiting.map(all)) / median(quiet.map(all)),
      ),
    ],
  };
}

/** Milliseconds. The class only affects the time in the queue; the rest depends on this machine. */
interface Probe {
  all: number;
  inQueue: number;
}

const all = (probe: Probe) => probe.all;
const inQueue = (probe: Probe) => probe.inQueue;

function latencies(what: string, of: readonly Probe[]): Finding[] {
  return [
    plain(`${what} (${of.length}): p50, ms`, median(of.map(all))),
    plain('  p95, ms', quantile(of.map(all), 0.95)),
    plain('  in the gateway’s queue: p50, ms', median(of.map(inQueue))),
    plain('    p95, ms', quantile(of.map(inQueue), 0.95)),
  ];
}

/** Flood and probes belong to one end user, so that fairness between end users does not help them. */
async function beside(
  site: Site,
  count: number,
  workClass: WorkClass,
  say: (text: string) => void,
): Promise<{ starting: Probe[]; waiting: Probe[] }> {
  await site.forget();
  const probed = { starting: [] as Probe[], waiting: [] as Probe[] };
  let phase: keyof typeof probed = 'starting';
  let isOver = false;
  const flooding = flood(site, count, () => prequal('EU123'), { workClass }).then(async () => {
    phase = 'waiting';
    await untilPosted(site, count, say);
    isOver = true;
  });
  const open: Promise<unknown>[] = [];
  while (!isOver) {
    const row = probed[phase];
    open.push(oneInquiry(site).then((probe) => row.push(probe)));
    await Promise.race([delay(PROBE_EVERY_MS), flooding]);
  }
  await flooding;
  await Promise.all(open);
  return probed;
}

/** So many rows in progress that the queue lasts minutes, all of the end user of the probes. */
async function besidePortfolio(site: Site, rows: number, say: (text: string) => void): Promise<Probe[]> {
  await site.forget();
  const file = 'beside.csv';
  await writePortfolio(join(site.portfolioDir, 'default/EU123', file), rows);
  const order = { file, endUserCode: 'EU123', permissiblePurposeCode: '01', window: Math.min(rows, 500) };
  const review = await site.journeys.start({ reviewId: newJourneyId(), ...order });
  let isOver = false;
  const reviewing = review.result().then(({ record }) => {
    isOver = true;
    if (record !== rows) throw new Error('the review ended otherwise');
    say(`${record} rows reviewed`);
  });
  const found: Probe[] = [];
  const open: Promise<unknown>[] = [];
  while (!isOver) {
    open.push(oneInquiry(site).then((probe) => found.push(probe)));
    await Promise.race([delay(PROBE_EVERY_MS), reviewing]);
  }
  await reviewing;
  await Promise.all(open);
  return found;
}

async function probes(site: Site, count: number): Promise<Probe[]> {
  const times: Probe[] = [];
  for (let index = 0; index < count; index++) times.push(await oneInquiry(site));
  return times;
}

/** From the start call to the result. */
async function oneInquiry(site: Site): Promise<Probe> {
  const startedAt = performance.now();
  const { workflowId } = await site.journeys.start(prequal('EU123'));
  const handle = site.journeys.getSdkClient().workflow.getHandle(workflowId);
  await handle.result();
  const endedAt = performance.now();
  return { all: endedAt - startedAt, inQueue: inQueueMs(await handle.fetchHistory()) };
}

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/** From the event that schedules the attempt to the event that starts it. */
function inQueueMs({ events }: History): number {
  const scheduled = events?.find(
    ({ activityTaskScheduledEventAttributes: attributes }) => attributes?.activityType?.name === 'submitInquiry',
  );
  const started = events?.find(({ activityTaskStartedEventAttributes: attributes }) =>
    scheduled?.eventId?.eq(attributes?.scheduledEventId ?? -1),
  );
  return tsToMs(started?.eventTime) - tsToMs(scheduled?.eventTime);
}
