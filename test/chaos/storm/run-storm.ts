/** Runs each step of a plan at its time: the messages of callers and operators, and the faults. */
import { setTimeout as delay } from 'node:timers/promises';
import type { JourneyPlan, StormStep } from '../plan.ts';
import type { StormKind } from '../plan-storm.ts';
import { type PlannedRun, pauseFor, runsOf, sayAbout, startRun } from '../runs.ts';
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
    ...runsOf(plan).flatMap((run) => courseOf(run, scene, signal).map(([atMs, kind, act]) => at(atMs, kind, act))),
  ]);
  signal.throwIfAborted();
  return counts;
}

type Dated = [atMs: number, kind: string, act: () => Promise<boolean>];

const LOOK_AGAIN_MS = 500;

/** A share begins as soon as its report exists, while the storm lasts. The report may be late. */
async function startInStorm(run: PlannedRun, scene: Scene, signal: AbortSignal): Promise<boolean> {
  const endsAt = performance.now() + scene.world.plan.lengthMs - run.atMs;
  for (;;) {
    const hasStarted = await startRun(run, scene).catch(() => false);
    if (hasStarted || !run.share || performance.now() > endsAt) return hasStarted;
    await delay(LOOK_AGAIN_MS, undefined, { signal });
  }
}

function courseOf(run: PlannedRun, scene: Scene, signal: AbortSignal): Dated[] {
  const { atMs, workflowType, journey, share, review } = run;
  return [
    [atMs, `start ${workflowType}`, () => startInStorm(run, scene, signal)],
    ...(journey ? courseOfJourney(journey, scene) : []),
    ...dated(share?.saidAtMs, 'consentOfShare', () => sayAbout(run, scene)),
    ...(review?.pauses ?? []).flatMap((pause) =>
      dated(pause.atMs, 'pauseReview', () => pauseFor(run, scene, pause.forMs)),
    ),
  ];
}

function courseOfJourney(plan: JourneyPlan, { people }: Scene): Dated[] {
  const { journeyId } = plan;
  const said = (atMs: number | undefined, kind: string, say: () => Promise<void>) =>
    dated(atMs, kind, () => say().then(() => true));
  return [
    ...Object.entries(plan.advanceAtMs).flatMap(([stage, atMs]) =>
      said(atMs, 'advance', () => people.advance(journeyId, stage as 'PREAPP')),
    ),
    ...plan.shares.flatMap((share) => [
      ...said(share.requestedAtMs, 'requestShare', () => people.requestShare(journeyId, share)),
      ...said(share.withdrawAtMs, 'withdrawShare', () => people.withdrawShare(journeyId, share.shareId)),
      ...said(share.extendAtMs, 'extend', () => people.extendWait(journeyId, share.shareId)),
    ]),
    ...plan.consents.flatMap((consent) => said(consent.atMs, consent.decision, () => people.consent(plan, consent))),
    ...said(plan.withdrawAtMs, 'withdraw', () => people.withdraw(journeyId)),
  ];
}

/** Nothing where there is no date. */
function dated(atMs: number | undefined, kind: string, act: () => Promise<boolean>): Dated[] {
  return atMs === undefined ? [] : [[atMs, kind, act]];
}
