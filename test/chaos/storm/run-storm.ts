/** Runs each step of a plan at its time: the actions of people, and the faults. */
import { setTimeout as delay } from 'node:timers/promises';
import { type OtherRun, otherRunsOf, pauseFor, sayAbout, startOther } from '../other-runs.ts';
import type { JourneyPlan, StormKind, StormStep } from '../plan.ts';
import { killApi } from './api.ts';
import { deployVersion } from './deploys.ts';
import { endpointIll } from './endpoints.ts';
import * as gateway from './gateway.ts';
import * as ledger from './ledger.ts';
import * as messages from './messages.ts';
import * as operators from './operators.ts';
import { pauseInquiries } from './pauses.ts';
import * as servers from './servers.ts';
import type { Scene, Strike } from './strike.ts';
import { upgrade } from './upgrades.ts';
import * as workers from './workers.ts';

const STRIKES: Record<StormKind, Strike> = {
  ...{ ...workers, ...servers, ...ledger, ...gateway, ...operators, ...messages },
  ...{ deployVersion, endpointIll, upgrade, pauseInquiries, killApi },
};

/** One at a time of each group: two hands on one switch would leave it off. */
const SWITCHES: Partial<Record<StormKind, string>> = {
  ...{ killTemporal: 'temporal', rollWorkers: 'all workers', profileAway: 'all workers', deployVersion: 'all workers' },

  ...{ killSandbox: 'sandbox', gatewayFault: 'sandbox' },
  ...{ killPostgres: 'ledger', ledgerLocked: 'ledger', ledgerSlow: 'ledger', ledgerFull: 'ledger' },
  ...{ ledgerUnreachable: 'ledger', commitAnswerLost: 'ledger' },
  ...{ gatewayUnreachable: 'gateway', gatewaySlow: 'gateway', gatewayHalfOpen: 'gateway' },
  ...{ pauseInquiries: 'pause', tokenServiceDown: 'tokens', endpointIll: 'endpoint' },
};

/** How often a step struck, found nothing to strike, or failed itself (a server was away, a switch in use). */
export interface StormCount {
  struck: number;
  missed: number;
}
export type StormCounts = Map<string, StormCount>;

/** Resolves when all has struck, and what lasts a while is over. */
export async function runStorm(scene: Scene, signal: AbortSignal): Promise<StormCounts> {
  const { plan } = scene.world;
  const counts: StormCounts = new Map();
  const startedAt = performance.now();
  const at = async (atMs: number, kind: string, strike: () => Promise<boolean>) => {
    await delay(Math.max(0, atMs - (performance.now() - startedAt)), undefined, { signal });
    const count = counts.get(kind) ?? { struck: 0, missed: 0 };
    counts.set(kind, count);
    const hasStruck = await strike().catch(() => false);
    count[hasStruck ? 'struck' : 'missed'] += 1;
  };
  const inUse = new Set<string>();
  const strikeOf = async (step: StormStep): Promise<boolean> => {
    const name = SWITCHES[step.kind] ?? `${step.kind} ${step.atMs}`;
    if (inUse.has(name)) return false;
    inUse.add(name);
    try {
      return await STRIKES[step.kind](step, scene);
    } finally {
      inUse.delete(name);
    }
  };
  // Waits for every step, also after a stop: no call may be under way when the world ends.
  await Promise.allSettled([
    ...plan.storm.map((step) => at(step.atMs, step.kind, () => strikeOf(step))),
    ...plan.journeys.flatMap((journey) => courseOf(journey, scene).map(([atMs, kind, act]) => at(atMs, kind, act))),
    ...otherRunsOf(plan).flatMap((run) =>
      courseOfOther(run, scene, signal).map(([atMs, kind, act]) => at(atMs, kind, act)),
    ),
  ]);
  signal.throwIfAborted();
  return counts;
}

type Dated = [atMs: number, kind: string, act: () => Promise<boolean>];

function courseOf(plan: JourneyPlan, { people }: Scene): Dated[] {
  const { journeyId } = plan;
  const done = (work: Promise<void>) => work.then(() => true);
  return [
    [plan.atMs, 'start', () => done(people.start(plan))],
    ...Object.entries(plan.advanceAtMs).map(
      ([stage, atMs]): Dated => [atMs, 'advance', () => done(people.advance(journeyId, stage as 'PREAPP'))],
    ),
    ...plan.shares.flatMap((share): Dated[] =>
      share.requestedAtMs === undefined
        ? []
        : [[share.requestedAtMs, 'requestShare', () => done(people.requestShare(journeyId, share))]],
    ),
    ...plan.shares.flatMap(({ shareId, withdrawAtMs }): Dated[] =>
      withdrawAtMs === undefined
        ? []
        : [[withdrawAtMs, 'withdrawShare', () => done(people.withdrawShare(journeyId, shareId))]],
    ),
    ...plan.shares.flatMap(({ shareId, extendAtMs }): Dated[] =>
      extendAtMs === undefined ? [] : [[extendAtMs, 'extend', () => done(people.extendWait(journeyId, shareId))]],
    ),
    ...plan.consents.map(
      (consent): Dated => [consent.atMs, consent.decision, () => done(people.consent(plan, consent))],
    ),
    ...(plan.withdrawAtMs === undefined
      ? []
      : [[plan.withdrawAtMs, 'withdraw', () => done(people.withdraw(journeyId))] satisfies Dated]),
  ];
}

const LOOK_AGAIN_MS = 500;

/** A share begins as soon as its report is there, while the storm goes on: what it shares may be late. */
async function startInStorm(run: OtherRun, scene: Scene, signal: AbortSignal): Promise<boolean> {
  const endsAt = performance.now() + scene.world.plan.lengthMs - run.atMs;
  for (;;) {
    const hasStarted = await startOther(run, scene).catch(() => false);
    if (hasStarted || !run.share || performance.now() > endsAt) return hasStarted;
    await delay(LOOK_AGAIN_MS, undefined, { signal });
  }
}

function courseOfOther(run: OtherRun, scene: Scene, signal: AbortSignal): Dated[] {
  const { atMs, workflowType, share, review } = run;
  const said = share?.saidAtMs;
  return [
    [atMs, `start ${workflowType}`, () => startInStorm(run, scene, signal)],
    ...(said === undefined ? [] : [[said, 'consentOfShare', () => sayAbout(run, scene)] satisfies Dated]),
    ...(review?.pauses ?? []).map(
      (pause): Dated => [pause.atMs, 'pauseReview', () => pauseFor(run, scene, pause.forMs)],
    ),
  ];
}
