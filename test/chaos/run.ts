/** One run of a plan: the world, the storm, the rest after it, and what is to be said of all that. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { toOutputNames, toPortfolioFolder } from '../../src/messages/portfolio/output-files.ts';
import type { RowResult } from '../../src/messages/portfolio/shapes.ts';
import { toRunKey } from '../../src/model/run-key.ts';
import { askAsForeigners } from './api/foreigners.ts';
import { collectEvidence, type Evidence } from './evidence.ts';
import type { ReviewResults, RunPlan } from './evidence-others.ts';
import { checkInvariants } from './invariants/check-invariants.ts';
import type { Verdict } from './invariants/invariant.ts';
import { applicantsOf, sentinelsOf } from './journey-inputs.ts';
import { keepLogs, keepNamedHistories } from './keep.ts';
import { lookOn } from './onlookers.ts';
import { Operator } from './operator.ts';
import { type Books, People } from './people.ts';
import type { Plan } from './plan.ts';
import { sendRefusedUpdates } from './refused-updates.ts';
import { type PlannedRun, PORTFOLIO_FILE, runsOf } from './runs.ts';
import { operate, type Settled, settle } from './settle.ts';
import { promoted } from './storm/deploys.ts';
import { runStorm, type StormCounts } from './storm/run-storm.ts';
import { ENDPOINTS } from './webhook-endpoint.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

/** Limits the wait until every worker polls. The first steps must find the workers at work. */
const WORKERS_WITHIN_MS = 60_000;

export interface Run {
  counts: StormCounts;
  /** Further counts, by name. */
  figures: ReadonlyMap<string, number>;
  decisions: number;
  settled: Settled;
  /** How often each program ended although the storm had not stopped it. */
  endedByThemselves: Record<string, number>;
  verdicts: Verdict[];
}

export interface RunOptions extends WorldOptions {
  signal: AbortSignal;
  /** Reports each phase to the person who watches the storm. */
  onPhase?(phase: string): void;
  /** A directory that gets logs, journal and the histories of runs that a failed check names; made where there is none. */
  keepIn?: string;
  /** Judged in the place of all of them. */
  judge?(evidence: Evidence): Promise<Verdict[]>;
}

export async function runPlan(plan: Plan, options: RunOptions): Promise<Run> {
  const { signal, onPhase = () => {} } = options;
  onPhase('the world begins');
  const world = await startWorld(plan, options);
  const isAtRest = new AbortController();
  try {
    const people = new People(world);
    const scene = { world, people, operator: new Operator(people) };
    await untilPolled(world, signal);
    onPhase('the storm begins');
    const isOver = new AbortController();
    const operating = operate(scene, scene.operator, AbortSignal.any([signal, isOver.signal]));
    const looking = lookOn(people, AbortSignal.any([signal, isOver.signal]));
    const foreign = askAsForeigners(
      world,
      (runKey) => people.books.started.has(runKey),
      AbortSignal.any([signal, isOver.signal]),
    );
    const refused = sendRefusedUpdates(people, AbortSignal.any([signal, isAtRest.signal]));
    const storm = runStorm(scene, signal).finally(() => isOver.abort());
    const [{ value: decided = 0 }] = (await Promise.allSettled([operating, storm])) as [{ value?: number }, unknown];
    world.count('statuses answered', await looking);
    people.books.foreign.push(...(await foreign));
    const counts = await storm;
    onPhase('the storm is over');
    const settled = await settle(scene, signal);
    isAtRest.abort();
    await refused;
    signal.throwIfAborted();
    onPhase(`at rest after ${Math.round(settled.tookMs / 1_000)} s`);
    const endedByThemselves = [world.sandbox, ...world.fleet.everybody, ...(world.api?.copies ?? [])].map(
      ({ name, endedByItself }) => [name, endedByItself],
    );
    const verdicts = await judge(world, people.books, options);
    return {
      counts,
      figures: world.figures,
      decisions: decided + settled.decisions,
      settled,
      endedByThemselves: Object.fromEntries(endedByThemselves),
      verdicts,
    };
  } finally {
    isAtRest.abort();
    if (options.keepIn !== undefined) await keepLogs(world, options.keepIn);
    await world.close();
  }
}

async function untilPolled(world: World, signal: AbortSignal): Promise<void> {
  const endsAt = performance.now() + WORKERS_WITHIN_MS;
  const { client, taskQueue } = world;
  for (;;) {
    signal.throwIfAborted();
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: 1,
    });
    if ((pollers ?? []).length >= world.workers.length) break;
    if (performance.now() > endsAt) throw new Error('the workers do not poll: see their logs');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const [first = ''] = world.fleet.buildIds;
  if (world.fleet.deploymentName === undefined || (await promoted(world, first))) return;
  throw new Error('the first version of the workers is not promoted');
}

async function judge(
  world: World,
  books: Books,
  { judge: judged = checkInvariants, keepIn }: RunOptions,
): Promise<Verdict[]> {
  const { plan, newer, keyRing, api, endpoint } = world;
  const options = { url: world.ledger.ownUrl, environment: 'sandbox', keyRing } as const;
  const ledger = await (newer ? newer.openLedger(options) : openLedger(options));
  try {
    const sources = { ...world, sandboxAheadMs: plan.world.sandboxAheadMs, ledger, ledgerUrl: world.ledger.ownUrl };
    const evidence = await collectEvidence(sources, {
      plans: runsOf(plan).map((run) => toRunPlan(run, books)),
      reviewResults: await reviewResults(world),
      decisionsTaken: books.decisions,
      consentsSent: books.consents,
      withdrawalsSent: books.withdrawals,
      sentinels: sentinelsOf(plan, world.clientSecret),
      notProcessedStatuses: plan.world.notProcessedStatuses,
      workflowBundle: world.workflowBundle,
      dataConverter: world.dataConverter,
      ...versionsOf(world),
      ...(api ? { api: { answers: books.answers, foreign: books.foreign } } : {}),
      ...(endpoint ? { webhooks: { endpoints: Object.values(ENDPOINTS), received: endpoint.received } } : {}),
    });
    const verdicts = await judged(evidence);
    if (keepIn !== undefined) await keepNamedHistories(world, evidence.runs, verdicts, keepIn);
    return verdicts;
  } finally {
    await ledger.close();
  }
}

function versionsOf({ fleet, moved }: World) {
  const { deploymentName, buildIds } = fleet;
  return deploymentName === undefined ? {} : { versions: { deploymentName, live: buildIds, moved: [...moved] } };
}

function toRunPlan(run: PlannedRun, { cancelled }: Books): RunPlan {
  const { runKey, workflowType, ssns, journey, share, review } = run;
  const answers = [...(journey?.shares ?? []).map(({ inTheEnd }) => inTheEnd), ...(share ? [share.says] : [])];
  return {
    ...{ runKey, workflowType, applicants: applicantsOf(ssns), mayWaitForConsent: answers.includes('silence') },
    ...(share ? { sharesReportOf: toRunKey('pull', share.pullId) } : {}),
    ...(review ? { rows: review.ssns.length } : {}),
    ...(cancelled.has(runKey) ? { mayEndByForce: true } : {}),
  };
}

/** Reads the result files of the reviews that have written theirs. */
async function reviewResults({ plan, portfolioDir }: World): Promise<ReviewResults[]> {
  const reviews = plan.others?.reviews ?? [];
  return Promise.all(
    reviews.map(async (review) => {
      const { reviewId } = review;
      const { results } = toOutputNames(join(portfolioDir, toPortfolioFolder(review), PORTFOLIO_FILE), reviewId);
      const text = await readFile(results, 'utf8').catch(() => '');
      const lines = text.split('\n').filter((line) => line !== '');
      return { runKey: toRunKey('portfolio', reviewId), lines: lines.map((line) => JSON.parse(line) as RowResult) };
    }),
  );
}
