/** Draws the storm: how often each kind of fault strikes in a minute, and with which figures. */
import type { Draw } from './draw.ts';
import type { GatewayFault, StormStep, WorldPlan } from './plan.ts';
import { MOODS } from './webhook-endpoint.ts';

/** A process that was killed needs seconds to come back: more of these, and nothing ever runs. */
const PER_MINUTE = {
  killWorker: 4,
  stopWorker: 1.5,
  freezeWorker: 3,
  rollWorkers: 0.5,
  profileAway: 1,
  killTemporal: 1.2,
  killPostgres: 1.5,
  killSandbox: 3,
  ledgerLocked: 3,
  ledgerSlow: 2,
  ledgerFull: 1.5,
  ledgerUnreachable: 2,
  commitAnswerLost: 3,
  gatewayFault: 8,
  gatewayUnreachable: 2,
  gatewaySlow: 2,
  answerBroken: 12,
  gatewayHalfOpen: 2,
  tokenServiceDown: 2,
  tokensRevoked: 2,
  resetWorkflow: 11,
  resetActivity: 8,
  pauseActivity: 7,
  widenRetries: 12,
  cancel: 1.7,
  terminateAndRestart: 7,
  consentFlood: 0.7,
  undecodableConsent: 3,
  consentAgain: 4,
  deployVersion: 0.8,
  endpointIll: 8,
  pauseInquiries: 3,
  killApi: 5,
  /** A ledger is migrated once, however long the storm is. */
  upgrade: 0,
};

export type StormKind = keyof typeof PER_MINUTE;
export const STORM_KINDS = Object.keys(PER_MINUTE) as readonly StormKind[];

const POSTGRES_ONLY: readonly StormKind[] = ['killPostgres', 'commitAnswerLost', 'ledgerSlow'];

interface StormFrame {
  lengthMs: number;
  world: WorldPlan;
  journeyIds: readonly string[];
  /** The run keys of all runs. */
  runKeys: readonly string[];
  kinds: readonly StormKind[];
}

export function drawStorm(draw: Draw, frame: StormFrame): StormStep[] {
  const kinds = frame.kinds.filter((kind) => isOfWorld(kind, frame));
  return kinds
    .flatMap((kind) => {
      const expected = kind === 'upgrade' ? 1 : (PER_MINUTE[kind] * frame.lengthMs) / 60_000;
      // The fraction is one more step with that chance: short storms have some of everything over many seeds.
      const count = Math.floor(expected) + (draw.chance(expected % 1) ? 1 : 0);
      return Array.from({ length: count }, () => drawStep(draw, kind, frame));
    })
    .toSorted((one, other) => one.atMs - other.atMs);
}

function isOfWorld(kind: StormKind, { world }: StormFrame): boolean {
  const { engine, isVersioned, hasEndpoints, isUpgraded, apiCopies } = world;
  if (kind === 'deployVersion') return isVersioned === true;
  if (kind === 'upgrade') return isUpgraded === true;
  if (kind === 'killApi') return apiCopies !== undefined;
  if (kind === 'endpointIll') return hasEndpoints === true;
  return engine === 'PostgreSQL' || !POSTGRES_ONLY.includes(kind);
}

function drawStep(draw: Draw, kind: StormKind, { lengthMs, world, journeyIds, runKeys }: StormFrame): StormStep {
  const step = { kind, atMs: draw.between(0, lengthMs - 1) };
  const worker = draw.between(0, world.workersAheadMs.length - 1);
  const journeyId = draw.of(journeyIds);
  const runKey = draw.of(runKeys);
  switch (kind) {
    case 'profileAway':
      // It is ready some 3 s after its start, and an attempt whose worker was killed is looked up 3 to 6 s later.
      return { ...step, worker, forMs: draw.between(5_000, 10_000) };
    case 'killWorker':
    case 'stopWorker':
      return { ...step, worker, forMs: draw.between(0, 2_000) };
    case 'freezeWorker':
      // Around the heartbeat's time-out, `sendBy` and the time-out of HTTP.
      return { ...step, worker, forMs: draw.of([300, 1_200, 2_200, 4_000, 7_000]) };
    case 'killApi':
      return { ...step, copy: draw.between(0, (world.apiCopies ?? 1) - 1), forMs: draw.between(0, 2_000) };
    case 'killTemporal':
    case 'killPostgres':
    case 'killSandbox':
      return { ...step, forMs: draw.between(0, 2_500) };
    case 'ledgerSlow':
    case 'gatewaySlow':
      return { ...step, forMs: draw.between(1_000, 4_000), delayMs: draw.between(20, 600) };
    case 'ledgerLocked':
    case 'ledgerFull':
    case 'ledgerUnreachable':
    case 'gatewayUnreachable':
    case 'gatewayHalfOpen':
    case 'tokenServiceDown':
      return { ...step, forMs: draw.between(200, 4_000) };
    case 'answerBroken':
      return { ...step, how: draw.of(['reset', 'fin', 'hang']), bytes: draw.between(0, 1_500), count: 1 };
    case 'gatewayFault':
      return { ...step, fault: drawFault(draw, world) };
    case 'resetWorkflow':
    case 'resetActivity':
    case 'widenRetries':
      return { ...step, runKey, pick: draw.next() };
    case 'consentAgain':
      return { ...step, journeyId, pick: draw.next() };
    case 'pauseInquiries':
      return { ...step, forMs: draw.between(200, 8_000), pick: draw.next() };
    case 'pauseActivity':
      return { ...step, runKey, forMs: draw.between(200, 5_000), pick: draw.next() };
    case 'consentFlood':
      return { ...step, journeyId, count: 1_000 };
    case 'endpointIll':
      return { ...step, mood: draw.of(MOODS), forMs: draw.between(200, 4_000) };
    case 'upgrade':
      // While journeys are still at it; between one worker and the next.
      return { ...step, atMs: Math.floor(step.atMs / 2), worker, forMs: draw.between(500, 3_000) };
    case 'deployVersion':
      // How long it waits for the old version to drain.
      return { ...step, forMs: draw.between(2_000, 12_000) };
    case 'rollWorkers':
    case 'commitAnswerLost':
    case 'tokensRevoked':
      return step;
    case 'cancel':
    case 'terminateAndRestart':
      return { ...step, runKey };
    case 'undecodableConsent':
      return { ...step, journeyId };
  }
}

/** A fault for the next few requests that it fits, from any run. */
function drawFault(draw: Draw, world: WorldPlan): GatewayFault {
  const afterPosting = world.notProcessedStatuses.length === 0 ? [401, 429, 500] : [500, 503, 504];
  const times = draw.between(1, 3);
  return draw.of<GatewayFault>([
    { target: 'request', fault: 'statusAfterPosting', status: draw.of(afterPosting), times },
    { target: 'request', fault: 'hangBeforePosting', times },
    { target: 'request', fault: 'hangAfterPosting', times },
    { target: 'request', fault: 'hangMidBody', times },
    { target: 'request', fault: 'finMidBody', times },
    { target: 'request', fault: 'resetMidBody', times },
    { target: 'request', fault: 'resetOnArrival', times },
    { target: 'request', fault: 'refuseConnections', forMs: 1_500, times: 1 },
    { target: 'request', fault: 'redirect', times },
    { target: 'request', fault: 'returnCode', returnCode: 'Deferred', times },
    { target: 'request', fault: 'oversized', times: 1 },
    { target: 'token', fault: 'hang', times: 1 },
    { target: 'token', fault: 'refused', times: 1 },
    { target: 'token', fault: 'withoutToken', times },
    { target: 'token', fault: 'unavailable', times },
  ]);
}
