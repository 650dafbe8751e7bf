/** Everything that needs a person: the holds of running journeys, and undecided inquiries whose run is gone. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { defined } from '../../base/defined.ts';
import { inParallel } from '../../base/in-parallel.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { UnmatchedConsent } from '../../ledger/kept-consents.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { AttentionReason, OpenInquiry } from '../../ledger/records.ts';
import type { JourneyStatus } from '../../messages/journey/shapes.ts';
import { ALLOWED_ACTIONS, type FailureType } from '../../model/failure-types.ts';
import { ownerIdOfWorkflow, RUNS_WITH_INQUIRIES } from '../../model/owner-id.ts';
import { problemIn, problemsShown } from '../../model/problems.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import { registeredSearchAttributes } from '../../temporal/registered-search-attributes.ts';
import { translatedError } from '../connection/error-translation.ts';
import { JourneyNotFoundError, WorkerUnavailableError } from '../connection/errors.ts';
import { heldByRun, type OpenHold } from './open-hold.ts';

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
  /** Running journeys that no worker answered for, and why they need a person where a search attribute says so. */
  unanswered: { journeyId: string; needsAttention?: string }[];
}

/** What the status of any run says of it. */
type HeldStatus = Pick<JourneyStatus, 'holds'> &
  Partial<Pick<JourneyStatus, 'shares' | 'stages'>> & { attention?: string };

interface HoldsContext {
  client: Client;
  /** Journeys of another task queue belong to other workers, and perhaps to another environment. */
  taskQueue: string;
  status(ownerId: string): Promise<HeldStatus>;
  /** Absent of a client without a ledger. */
  ledger?: () => Promise<Ledger>;
}

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;

/**
 * States of rows whose run is gone from Temporal, so that no run asks for them: their requests may have been posted.
 */
const LEFT_STATES = ['sending', 'unknown', 'answered'] as const;

/** @internal */
export async function findOpenHolds(context: HoldsContext, query: HoldsQuery): Promise<OpenHolds> {
  const journeys = await runningJourneys(context);
  const asked = await askThem(context, journeys);
  const ledger = query.ledger === false ? undefined : await context.ledger?.();
  const rows = ledger ? await leftInLedger(context.client, ledger, query, new Set(journeys.keys())) : [];
  const holds = [...asked.holds, ...rows].filter((hold) => isWanted(hold, query));
  const unmatchedConsents = ledger ? await unmatchedIn(ledger, query) : [];
  const attention = query.failureType === undefined ? asked.attention : [];
  return { holds: holds.sort(byAge), attention, unanswered: asked.unanswered, unmatchedConsents };
}

/** More than a person reads at once. */
const MOST_CONSENTS = 100;

async function unmatchedIn(ledger: Ledger, query: HoldsQuery): Promise<UnmatchedConsent[]> {
  if (query.failureType !== undefined) return [];
  const sinceMs = parseInstantMs(query.since ?? '') ?? 0;
  const found = await ledger.kept.unmatched(MOST_CONSENTS);
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
): Promise<Omit<OpenHolds, 'unmatchedConsents'>> {
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

async function leftInLedger(
  client: Client,
  ledger: Ledger,
  { since }: HoldsQuery,
  running: ReadonlySet<string>,
): Promise<OpenHold[]> {
  const open = await ledger.openInquiries({ states: LEFT_STATES, ...defined({ since }) });
  const undecided = open.filter((row) => row.undecided && !running.has(row.workflowId ?? ''));
  const workflowIds = [...new Set(undecided.map(({ workflowId }) => workflowId ?? ''))];
  const alive = new Set(running);
  await inParallel(workflowIds, AT_ONCE, async (workflowId) => {
    if (await isRunOpen(client, workflowId)) alive.add(workflowId);
  });
  return open.flatMap((row) => {
    const isLeft = row.undecided && !alive.has(row.workflowId ?? '');
    return [...(isLeft ? [leftBehind(row)] : []), ...row.attention.map((reason) => drewAttention(row, reason))];
  });
}

/**
 * Whether any run of this workflow is open: that run reads the ledger's row itself.
 *
 * @internal
 */
export async function isRunOpen(client: Client, workflowId: string): Promise<boolean> {
  if (workflowId === '') return false;
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw translatedError(error, ownerIdOfWorkflow(workflowId) ?? workflowId);
  }
}

/**
 * An undecided inquiry as the ledger alone knows it.
 *
 * @internal
 */
export function leftBehind(row: OpenInquiry): OpenHold {
  const { attempt, failureType } = row.undecided ?? { attempt: 0, failureType: 'OutcomeUnknown' as const };
  const { claimedAt = row.createdAt, httpStatus, refusalKept, answer, resendFrom } = row.attempts.at(-1) ?? {};
  return {
    ...nameOf(row),
    reason: failureType,
    since: claimedAt,
    attempt,
    ...defined({ httpStatus, refusalKept }),
    ...(answer?.returnCode === undefined ? {} : { returnCode: answer.returnCode }),
    ...(answer?.kind === 'returnCodeUnknown' ? defined({ returnReasonCode: answer.returnReasonCode }) : {}),
    ...(answer?.kind === 'unexpectedResponse' ? { problems: problemsShown(answer.problems.map(problemIn)) } : {}),
    ...defined({ resendFrom }),
    heldBy: 'ledger',
    // Corrected applicants need a new start: only a run can make a new inquiry.
    allowedActions: ALLOWED_ACTIONS[failureType].filter((action) => action !== 'amend'),
  };
}

/**
 * Something that came too late for an inquiry.
 *
 * @internal
 */
export function drewAttention(row: OpenInquiry, reason: AttentionReason): OpenHold {
  const since = reason === 'lateAnswer' ? row.lateAnswerAt : row.lateConsentAt;
  return {
    ...nameOf(row),
    reason,
    ...defined({ since }),
    heldBy: 'ledger',
    allowedActions: ['seen'],
  };
}

function nameOf({ ownerId, customerTraceNumber, productCode, profile, ...inquiry }: OpenInquiry) {
  const { shareId, endUserCode, endUser, applicantIds } = inquiry;
  return {
    journeyId: ownerId,
    customerTraceNumber,
    productCode,
    profile,
    ...defined({ shareId, endUserCode, endUser, applicantIds }),
  };
}
