/** The ledger's rows of what needs a person, as people read them. No worker is asked. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { defined } from '../../base/defined.ts';
import { inParallel } from '../../base/in-parallel.ts';
import type { WorkRow } from '../../ledger/holds/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { AttentionReason, OpenInquiry } from '../../ledger/records.ts';
import { PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import { ALLOWED_ACTIONS, type HoldAction, isFailureType } from '../../model/failure-types.ts';
import { LASTING_FLAGS } from '../../model/inquiry.ts';
import { ownerIdOfWorkflow, ownerOf, workflowIdOf } from '../../model/owner-id.ts';
import { problemIn, problemsShown } from '../../model/problems.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';
import { translatedError } from '../connection/errors.ts';
import type { OpenHold } from './open-hold.ts';

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;
const PAGE = 500;

/** All open rows. */
export async function readOpenRows(ledger: Ledger): Promise<WorkRow[]> {
  const rows: WorkRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ledger.work.open({ limit: PAGE, ...defined({ after }) });
    rows.push(...page.rows);
    if (page.next === undefined) return rows;
    after = page.next;
  }
}

/** @param running workflow ids of runs that are known to be open */
export async function holdsOfRows(
  client: Client,
  ledger: Ledger,
  rows: readonly WorkRow[],
  running: ReadonlyMap<string, unknown>,
): Promise<{ holds: OpenHold[]; attention: { journeyId: string; reason: string }[] }> {
  if (rows.length === 0) return { holds: [], attention: [] };
  const open = new Map((await ledger.openInquiries()).map((inquiry) => [inquiry.customerTraceNumber, inquiry]));
  const alive = new Set(running.keys());
  const unknown = new Set(rows.map(({ ownerId }) => workflowIdOf(ownerId)).filter((id) => !alive.has(id)));
  await inParallel([...unknown], AT_ONCE, async (workflowId) => {
    if (await isRunOpen(client, workflowId)) alive.add(workflowId);
  });
  const ofRun = rows.filter(({ customerTraceNumber }) => customerTraceNumber === undefined);
  return {
    holds: rows.flatMap((row) => {
      const isLive = alive.has(workflowIdOf(row.ownerId));
      return holdOf(row, open.get(row.customerTraceNumber ?? ''), isLive) ?? [];
    }),
    attention: ofRun.map(({ ownerId, reason }) => ({ journeyId: ownerId, reason })),
  };
}

function holdOf(row: WorkRow, inquiry: OpenInquiry | undefined, isLive: boolean): OpenHold | undefined {
  const { kind, reason, customerTraceNumber, productCode } = row;
  const isOfRun = customerTraceNumber === undefined || productCode === undefined;
  if (isOfRun || reason === PORTFOLIO_UNAVAILABLE) return undefined;
  if (reason === 'lateAnswer' || reason === 'lateConsent') return inquiry && drewAttention(inquiry, reason);
  const { ownerId, since, attempt, refusalKept, shareId, gatewayProfile: profile, endUserCode, endUser } = row;
  const { accountId } = ownerOf(ownerId);
  const named = {
    ...{ journeyId: ownerId, customerTraceNumber, productCode, profile, reason, since },
    ...defined({ shareId, endUserCode, endUser, accountId, attempt, refusalKept }),
  };
  if (kind === 'flagged') {
    const ofLedger = !isLive || LASTING_FLAGS.includes(reason);
    return { ...named, heldBy: ofLedger ? 'ledger' : 'run', allowedActions: ofLedger ? ['seen'] : [] };
  }
  const isUndecided = inquiry?.undecided?.attempt === attempt && inquiry?.undecided !== undefined;
  const known = isUndecided && inquiry ? leftBehind(inquiry) : undefined;
  if (!isLive) {
    // What was never sent waits for nobody once its run is gone, and neither does what was answered after all.
    return known ?? { ...named, ...detailsOf(row), heldBy: 'ledger', allowedActions: ['seen'] };
  }
  const { journeyId: _, ...facts } = known ?? {};
  return { ...facts, ...named, ...detailsOf(row), heldBy: 'run', allowedActions: actionsOf(row) };
}

function detailsOf({ details: { applicantIds, ...details } = {} }: WorkRow): Partial<OpenHold> {
  return { ...details, ...(applicantIds ? { applicantIds: [...applicantIds] } : {}) };
}

/**
 * What of an inquiry a person only marks as seen: lasting flags, and what runs that are gone have left, such as holds of
 * which nothing was sent.
 *
 * @internal
 */
export async function leftToSee(
  ledger: Ledger,
  { ownerId, customerTraceNumber }: OpenInquiry,
  isLive: boolean,
): Promise<OpenHold[]> {
  const { rows } = await ledger.work.open({ ownerId, limit: PAGE });
  const own = rows.filter((row) => row.customerTraceNumber === customerTraceNumber);
  return own.flatMap((row) => holdOf(row, undefined, isLive) ?? []).filter(({ heldBy }) => heldBy === 'ledger');
}

/** As the run itself allows them. The last two digits of a trace number count its amendments. */
function actionsOf({ reason, productCode, customerTraceNumber = '' }: WorkRow): HoldAction[] {
  if (!isFailureType(reason)) return [];
  const mayAmend = productCode !== 'SECONDUSE' && Number(customerTraceNumber.slice(-2)) < MAX_ORDINAL;
  return ALLOWED_ACTIONS[reason].filter((action) => action !== 'amend' || mayAmend);
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
  const undecided = row.attempts.find((one) => one.attempt === attempt);
  const { claimedAt = row.createdAt, httpStatus, refusalKept, answer, resendFrom } = undecided ?? {};
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
