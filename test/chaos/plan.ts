/** A run of the harness as data: the world, the journeys and the dated storm, all drawn from a seed. */
import type { StageCode } from '../../src/model/products.ts';
import { type Draw, drawFrom } from './draw.ts';
import { drawJourney } from './plan-journeys.ts';
import { drawOthers, type OthersPlan } from './plan-others.ts';
import { drawStorm, STORM_KINDS, type StormKind } from './plan-storm.ts';
import { runsOf } from './runs.ts';
import type { Mood } from './webhook-endpoint.ts';

export interface WorldPlan {
  engine: 'PostgreSQL' | 'SQLite';
  /** How far each worker's clock is ahead of the machine's, ms; as many workers as there are figures. */
  workersAheadMs: number[];
  sandboxAheadMs: number;
  /** GATEWAY_NOT_PROCESSED_STATUSES. Where it is empty, faults after posting may answer with 401 and 429. */
  notProcessedStatuses: number[];
  /** How long the gateway takes over each inquiry. */
  latencyMs: number;
  /** Additions to every answer beyond the interface: `--with` of the sandbox. */
  variants: string[];
  /** Faults that strike by themselves throughout, as `PUT /_sandbox/faults` takes them. */
  gatewayFaults: GatewayFault[];
  /** Workers of a Worker Deployment, and deploys of new versions of them. */
  isVersioned?: true;
  /** In the middle of the storm the ledger is migrated to a newer version, and the workers follow. */
  isUpgraded?: true;
  /** Events go to an endpoint that fails now and then, and to an address where no server ever listens. */
  hasEndpoints?: true;
  /** HAND_OVER_AFTER_EVENTS: so few that a flood, or a few resets and messages, make a run hand over. */
  handOverAfterEvents: number;
  /** A rate limit that nothing meets: every attempt goes through the gateway queue. */
  isOnGatewayQueue?: true;
  /** How many copies of the HTTP API take half of all messages. */
  apiCopies?: number;
  /** By worker: WORKER_MAX_CACHED_WORKFLOWS, `null` where all runs fit. */
  cachedRuns?: (number | null)[];
  /** How often a run is sent an update that it refuses. */
  refusedUpdatesPerSecond?: number;
}

export interface GatewayFault {
  target: 'request' | 'token';
  fault: string;
  probability?: number;
  times?: number;
  [parameter: string]: string | number | undefined;
}

export interface ConsentPlan {
  atMs: number;
  shareId: string;
  applicantId: string;
  consentId: string;
  decision: 'granted' | 'denied' | 'revoked';
  by: 'signal' | 'update';
  /** How often it is sent, one right after the other. */
  copies: number;
}

export interface SharePlan {
  shareId: string;
  endUserCode: string;
  reportOf?: StageCode;
  /** Asked for in the journey's course, by `requestShare`; else part of the input. */
  requestedAtMs?: number;
  /** When the platform takes it back. */
  withdrawAtMs?: number;
  /** When its wait for consent is made longer. */
  extendAtMs?: number;
  /** The answer that consumers give at the end if they have given none before. */
  inTheEnd: 'granted' | 'denied' | 'silence';
}

export interface JourneyPlan {
  journeyId: string;
  atMs: number;
  endUserCode: string;
  /** One for each applicant. Their last four digits may ask the sandbox for a fault. */
  ssns: string[];
  stages: StageCode[];
  gates: 'manual' | 'auto';
  onNoRecord: 'stop' | 'continue';
  /** Dates of `advance`, by stage; what has none is advanced when all else has settled. */
  advanceAtMs: Partial<Record<StageCode, number>>;
  shares: SharePlan[];
  sharesOpenForSeconds?: number;
  consents: ConsentPlan[];
  withdrawAtMs?: number;
  /** Once all runs are at rest, an operator resets it to one of its workflow tasks, chosen by this number in [0, 1). */
  resetAtRest?: number;
  /** Its last holds stay undecided. */
  leaveHeld: boolean;
}

export interface StormStep {
  atMs: number;
  kind: StormKind;
  /** Which worker, from 0. */
  worker?: number;
  /** Which copy of the API, from 0. */
  copy?: number;
  journeyId?: string;
  /** The run key of any run: `pull:P-1`, or a journey's id. */
  runKey?: string;
  forMs?: number;
  /** Extra time for each piece that passes. */
  delayMs?: number;
  /** After how many bytes of an answer. */
  bytes?: number;
  how?: 'reset' | 'fin' | 'hang';
  mood?: Mood;
  count?: number;
  /** A number in [0, 1) that chooses among the existing things, such as a run's workflow tasks. */
  pick?: number;
  fault?: GatewayFault;
}

export interface Plan {
  seed: number;
  /** The length of the storm. Every date counts from its start. */
  lengthMs: number;
  world: WorldPlan;
  journeys: JourneyPlan[];
  others?: OthersPlan;
  storm: StormStep[];
}

interface PlanOptions {
  seed: number;
  journeys: number;
  lengthMs: number;
  /** Instead of drawing it. */
  engine?: 'PostgreSQL' | 'SQLite';
  workers?: number;
  versions?: boolean;
  endpoints?: boolean;
  upgrade?: boolean;
  /** Half of all messages by HTTP. Default true. */
  api?: boolean;
  /** Pulls, shares and a review beside the journeys. Default true. */
  others?: boolean;
  /** Only these kinds. Default: all. */
  kinds?: readonly StormKind[];
}

/** The same options give the same plan, on every machine. */
export function makePlan(options: PlanOptions): Plan {
  const { seed, lengthMs } = options;
  const world = drawWorld(drawFrom(seed, 'world'), options);
  const journeys = Array.from({ length: options.journeys }, (_, index) =>
    drawJourney({ seed, index, lengthMs, world }),
  );
  const others = drawOthers(drawFrom(seed, 'others'), { seed, lengthMs, journeys: options.journeys });
  const plan = { seed, lengthMs, world, journeys, ...((options.others ?? true) ? { others } : {}), storm: [] };
  const storm = drawStorm(drawFrom(seed, 'storm'), {
    ...{ lengthMs, world, kinds: options.kinds ?? STORM_KINDS },
    journeyIds: journeys.map(({ journeyId }) => journeyId),
    runKeys: runsOf(plan).map(({ runKey }) => runKey),
  });
  return { ...plan, storm };
}

const MINUTE_MS = 60_000;
/** Each costs a workflow task, and for a worker without a cache a replay. */
const REFUSED_UPDATES_PER_SECOND = 10;

function drawWorld(draw: Draw, options: PlanOptions): WorldPlan {
  const engine = draw.chance(0.35) ? 'SQLite' : 'PostgreSQL';
  const workers = draw.between(2, 3);
  const clock = () => draw.of([0, 0, 2 * MINUTE_MS, 7 * MINUTE_MS, -3 * MINUTE_MS]);
  const workersAheadMs = Array.from({ length: options.workers ?? workers }, clock);
  // Far behind, it takes the moment of a share for the future, and refuses it every time.
  const sandboxAheadMs = draw.of([0, 0, 0, 5 * MINUTE_MS, 5 * MINUTE_MS, -2 * MINUTE_MS]);
  const notProcessedStatuses = draw.chance(0.4) ? [] : [401, 429];
  const world = {
    engine: options.engine ?? engine,
    workersAheadMs,
    sandboxAheadMs,
    notProcessedStatuses,
    latencyMs: draw.of([0, 30, 150]),
    gatewayFaults: steadyFaults(draw, notProcessedStatuses.length === 0),
  };
  const isVersioned = draw.chance(0.5);
  const hasEndpoints = draw.chance(0.5);
  const handOverAfterEvents = draw.of([100, 150, 3_000]);
  const isUpgraded = draw.chance(0.5);
  const isOnGatewayQueue = draw.chance(0.5);
  const apiCopies = draw.between(2, 3);
  return {
    ...world,
    variants: drawVariants(drawFrom(options.seed, 'variants')),
    handOverAfterEvents,
    cachedRuns: drawCaches(drawFrom(options.seed, 'caches'), workersAheadMs.length),
    refusedUpdatesPerSecond: REFUSED_UPDATES_PER_SECOND,
    ...((options.upgrade ?? isUpgraded) ? { isUpgraded: true } : {}),
    ...(isOnGatewayQueue ? { isOnGatewayQueue } : {}),
    ...((options.api ?? true) ? { apiCopies } : {}),
    ...((options.versions ?? isVersioned) ? { isVersioned: true } : {}),
    ...((options.endpoints ?? hasEndpoints) ? { hasEndpoints: true } : {}),
  };
}

const KINDER_VARIANTS = [
  ...['applicantIds', 'consumerIds', 'failsafeRecords', 'failsafeSsns', 'referenceLists', 'echoes', 'returnReasons'],
  ...['dashedSsns', 'reversedApplicants', 'unknownFields', 'consumersArray'],
];

/** Half of the storms run on the interface's shape alone. */
function drawVariants(draw: Draw): string[] {
  return draw.chance(0.5) ? [] : draw.some(KINDER_VARIANTS, draw.between(1, 4));
}

/** Half of the workers cache no run, or one. Each task of such a worker is a replay, so one worker at least has them all. */
function drawCaches(draw: Draw, workers: number): (number | null)[] {
  const small = draw.some([...Array(workers).keys()], draw.of([Math.floor(workers / 2), Math.ceil(workers / 2)]));
  return Array.from({ length: workers }, (_, worker) => (small.includes(worker) ? draw.of([0, 1]) : null));
}

/** Each strikes a small share of all requests; together about one in five. */
function steadyFaults(draw: Draw, nothingIsNotProcessed: boolean): GatewayFault[] {
  const statuses = [408, 500, 502, 503, ...(nothingIsNotProcessed ? [401, 429] : [])];
  const retryAfter = draw.of(['0', '1', '-5', 'soon', '1.5', 'Thu, 01 Jan 1970 00:00:00 GMT', '99999999999999999999']);
  const candidates: GatewayFault[] = [
    { target: 'request', fault: 'statusAfterPosting', status: draw.of(statuses), retryAfter },
    { target: 'request', fault: 'status', status: 429, retryAfter },
    { target: 'request', fault: 'status', status: draw.of([500, 503, 408]) },
    { target: 'request', fault: 'status', status: draw.of([400, 403, 422]) },
    { target: 'request', fault: 'resetOnArrival' },
    { target: 'request', fault: 'resetBeforePosting' },
    { target: 'request', fault: 'resetAfterPosting' },
    { target: 'request', fault: 'closeAfterPosting' },
    { target: 'request', fault: 'slowBeforePosting', delayMs: 2_500 },
    { target: 'request', fault: 'slowAfterPosting', delayMs: draw.of([500, 2_500]) },
    { target: 'request', fault: 'trickle' },
    { target: 'request', fault: draw.of(['notHttp', 'notJson', 'truncatedJson', 'undecodable', 'emptyBody']) },
    { target: 'request', fault: draw.of(['wrongShape', 'otherTraceNumber', 'otherCustomer', 'severalReferences']) },
    { target: 'request', fault: draw.of(['strangerSsn', 'swappedSsns', 'repeatedApplicant', 'missingApplicant']) },
    { target: 'request', fault: draw.of(['reversedApplicants', 'maskedSsns', 'consumersArray', 'unknownFields']) },
    { target: 'token', fault: draw.of(['unavailable', 'throttled', 'slow', 'reset', 'garbage', 'alreadyExpired']) },
  ];
  return draw.some(candidates, 6).map((fault) => ({ ...fault, probability: fault.target === 'token' ? 0.2 : 0.04 }));
}
