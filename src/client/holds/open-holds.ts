/**
 * Everything that needs a person. A client with a ledger reads the ledger's rows, and asks only runs that have none. One
 * without a ledger asks every run.
 */
import type { Client } from '@temporalio/client';
import { defined } from '../../base/defined.ts';
import { inParallel } from '../../base/in-parallel.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { UnmatchedConsent } from '../../ledger/kept-consents.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { WorkRow } from '../../ledger/work.ts';
import type { JourneyStatus } from '../../messages/journey/shapes.ts';
import type { FailureType } from '../../model/failure-types.ts';
import { LASTING_FLAGS } from '../../model/inquiry.ts';
import { ownerIdOfWorkflow, RUNS_WITH_INQUIRIES, workflowIdOf } from '../../model/owner-id.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import { listFailingRuns } from '../../temporal/failing-runs.ts';
import { registeredSearchAttributes } from '../../temporal/registered-search-attributes.ts';
import { JourneyNotFoundError, WorkerUnavailableError } from '../connection/errors.ts';
import { heldByRun, type OpenHold } from './open-hold.ts';
import { holdsOfRows, readOpenRows } from './rows-as-holds.ts';

export interface HoldsQuery {
  /** Only holds for this reason. Without it the list also has what needs attention and is no hold. */
  failureType?: FailureType;
  /** Only what came at this instant (RFC 3339) or later. */
  since?: string;
  /** `false`: running journeys only, also where the client has a ledger. Default `true`. */
  ledger?: boolean;
}

export interface OpenHolds {
  /** Consents that the ledger keeps and that match no journey, share or applicant which it knows. The oldest first. */
  unmatchedConsents: UnmatchedConsent[];
  /** The oldest first. */
  holds: OpenHold[];
  /** Open runs that say that they need a person, and not because of a hold: such as a review without its files. */
  attention: { journeyId: string; reason: string }[];
  /** Open runs whose workflow tasks fail: they stand still. `null` where the server does not tell. */
  failing: { workflowId: string; cause: string | null }[] | null;
  /** Running journeys that no worker answered for, and why they need a person where a search attribute says so. */
  unanswered: { journeyId: string; needsAttention?: string }[];
}

/** What the status of any run says of it. */
type HeldStatus = Pick<JourneyStatus, 'holds'> &
  Partial<Pick<JourneyStatus, 'shares' | 'stages'>> & { attention?: string };

/** @internal */
export interface HoldsContext {
  client: Client;
  /** Journeys of another task queue belong to other workers, and perhaps to another environment. */
  taskQueue: string;
  status(ownerId: string): Promise<HeldStatus>;
  /** Absent of a client without a ledger. */
  ledger?: () => Promise<Ledger>;
}

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;

/** @internal */
export async function findOpenHolds(context: HoldsContext, query: HoldsQuery): Promise<OpenHolds> {
  const ledger = query.ledger === false ? undefined : await context.ledger?.();
  const listed = await runningJourneys(context);
  const rows = ledger ? await readOpenRows(ledger) : [];
  const asked = await askThem(context, withoutRow(listed, rows));
  if (ledger) asked.holds = await unseen(ledger, asked.holds);
  const told = ledger ? await holdsOfRows(context.client, ledger, rows, listed) : { holds: [], attention: [] };
  const isAsked = ({ customerTraceNumber, heldBy }: OpenHold) =>
    heldBy === 'run' && asked.holds.some((hold) => hold.customerTraceNumber === customerTraceNumber);
  const holds = [...asked.holds, ...told.holds.filter((hold) => !isAsked(hold))];
  const unmatchedConsents = ledger ? await unmatchedIn(ledger, query) : [];
  const isOfAll = query.failureType === undefined;
  const attention = isOfAll ? [...asked.attention, ...told.attention] : [];
  const failing = isOfAll ? await listFailingRuns(context.client, context.taskQueue, MOST_FAILING) : [];
  return {
    holds: holds.filter((hold) => isWanted(hold, query)).sort(byAge),
    ...{ attention, failing, unanswered: asked.unanswered, unmatchedConsents },
  };
}

/** Without the flags that a person has seen: their run shows them all the same. */
async function unseen(ledger: Ledger, holds: readonly OpenHold[]): Promise<OpenHold[]> {
  const flags = holds.filter(({ reason }) => LASTING_FLAGS.includes(reason));
  const runs = [...new Set(flags.map(({ journeyId }) => journeyId))];
  const seen = new Set(
    (await inParallel(runs, AT_ONCE, (ownerId) => ledger.work.of(ownerId)))
      .flat()
      .flatMap(({ closed, reason, customerTraceNumber }) =>
        closed?.how === 'seen' ? [`${customerTraceNumber} ${reason}`] : [],
      ),
  );
  return holds.filter(({ customerTraceNumber, reason }) => !seen.has(`${customerTraceNumber} ${reason}`));
}

/** Runs whose reason no row of theirs has: one that has just gone on hold, or was reset. */
function withoutRow(
  listed: ReadonlyMap<string, string | undefined>,
  rows: readonly WorkRow[],
): Map<string, string | undefined> {
  const known = new Set(
    rows.flatMap(({ ownerId, reason }) => [workflowIdOf(ownerId), `${workflowIdOf(ownerId)} ${reason}`]),
  );
  return new Map(
    [...listed].filter(
      ([workflowId, reason]) => !known.has(reason === undefined ? workflowId : `${workflowId} ${reason}`),
    ),
  );
}

/** More than a person reads at once. */
const MOST_CONSENTS = 100;
const MOST_FAILING = 100;

async function unmatchedIn(ledger: Ledger, query: HoldsQuery): Promise<UnmatchedConsent[]> {
  if (query.failureType !== undefined) return [];
  const sinceMs = parseInstantMs(query.since ?? '') ?? 0;
  const found = await ledger.kept.unmatched({ limit: MOST_CONSENTS });
  return found.filter(({ since }) => (parseInstantMs(since) ?? 0) >= sinceMs);
}

function isWanted({ reason, since }: OpenHold, query: HoldsQuery): boolean {
  if (query.failureType !== undefined && reason !== query.failureType) return false;
  const sinceMs = parseInstantMs(query.since ?? '');
  return sinceMs === null || since === undefined || (parseInstantMs(since) ?? 0) >= sinceMs;
}

function byAge(one: OpenHold, other: OpenHold): number {
  return (parseInstantMs(one.since ?? '') ?? 0) - (parseInstantMs(other.since ?? '') ?? 0);
}

/** Those that say that they need a person; where the search attribute is not registered, all that are running. */
async function runningJourneys({ client, taskQueue }: HoldsContext): Promise<Map<string, string | undefined>> {
  const { connection, options } = client;
  const registered = await registeredSearchAttributes(connection, options.namespace)();
  const name: SearchAttributeName = 'NeedsAttention';
  const query = [
    RUNS_WITH_INQUIRIES,
    "ExecutionStatus = 'Running'",
    `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`,
    ...(registered.includes(name) ? [`${name} IS NOT NULL`] : []),
  ].join(' AND ');
  const found = new Map<string, string | undefined>();
  for await (const { workflowId, searchAttributes } of client.workflow.list({ query })) {
    const [reason] = searchAttributes?.[name] ?? [];
    found.set(workflowId, typeof reason === 'string' ? reason : undefined);
  }
  return found;
}

async function askThem(
  { status }: HoldsContext,
  journeys: ReadonlyMap<string, string | undefined>,
): Promise<Omit<OpenHolds, 'unmatchedConsents' | 'failing'>> {
  const unanswered: OpenHolds['unanswered'] = [];
  const attention: OpenHolds['attention'] = [];
  const holds = await inParallel([...journeys], AT_ONCE, async ([workflowId, needsAttention]) => {
    const journeyId = ownerIdOfWorkflow(workflowId) ?? workflowId;
    const unasked = { journeyId, ...defined({ needsAttention }) };
    // Each time-out takes long: after so many without an answer, no worker is assumed to answer.
    if (unanswered.length >= AT_ONCE) {
      unanswered.push(unasked);
      return [];
    }
    try {
      const answered = await status(journeyId);
      if (answered.attention !== undefined) attention.push({ journeyId, reason: answered.attention });
      return holdsOf(journeyId, answered);
    } catch (error) {
      if (error instanceof WorkerUnavailableError) unanswered.push(unasked);
      // It has ended meanwhile, and its retention with it.
      else if (!(error instanceof JourneyNotFoundError)) throw error;
      return [];
    }
  });
  return { holds: holds.flat(), attention, unanswered };
}

function holdsOf(journeyId: string, { holds, shares = [], stages = [] }: HeldStatus): OpenHold[] {
  const flagged = [...stages, ...shares.map((share) => ({ ...share, productCode: 'SECONDUSE' as const }))].flatMap(
    ({ attention, customerTraceNumber, productCode, ...rest }): OpenHold[] =>
      attention === undefined || customerTraceNumber === undefined
        ? []
        : [
            {
              ...{ journeyId, customerTraceNumber, productCode },
              ...('shareId' in rest ? { shareId: rest.shareId } : {}),
              ...{ reason: attention, heldBy: 'run', allowedActions: [] },
            },
          ],
  );
  return [...holds.map((hold) => heldByRun(journeyId, hold)), ...flagged];
}
