/**
 * Decides about inquiries on hold, one or many: tells the open run, or writes into the ledger where the run is gone. The
 * command line and the HTTP API decide by these functions alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runInParallel } from '../base/in-parallel.ts';
import type { CallOptions } from '../client/connection/calls.ts';
import { isRunOpen } from '../client/connection/describe-run.ts';
import { hasCode } from '../client/connection/errors.ts';
import { getSdkClient } from '../client/credit-journeys.ts';
import { LedgerUnavailableError } from '../ledger/errors.ts';
import type { DecisionRecord } from '../ledger/records.ts';
import type { Decision } from '../messages/resolve-inquiry.ts';
import { type JudgedHold, judgeDecision } from '../model/provider-word.ts';
import { refuse } from '../model/refusals.ts';
import { toWorkflowId } from '../model/run-key.ts';
import { describeHold } from './holds.ts';
import { decideInLedger, describeLeftBehind, refuseIf, toRefusal } from './ledger-decisions.ts';
import type { LedgerJourneys } from './ledger-journeys.ts';

/**
 * Reads an inquiry of this run that waits for a decision, with its allowed actions. Returns `undefined` if the ledger
 * has no such row.
 */
export async function readDecidable(
  journeys: LedgerJourneys,
  { runKey, customerTraceNumber }: { runKey: string; customerTraceNumber: string },
): Promise<JudgedHold | undefined> {
  const ledger = await journeys.getLedger();
  const { rows } = await ledger.work.open({ customerTraceNumber, kind: 'held', limit: 1 });
  const row = rows.find((found) => isOwnRun(runKey, found.runKey));
  if (!row) return undefined;
  const [inquiry, isOpen] = await Promise.all([
    ledger.inquiry(customerTraceNumber),
    isRunOpen(getSdkClient(journeys), toWorkflowId(runKey)),
  ]);
  const undecided = inquiry?.undecided;
  if (!isOpen && undecided && undecided.attempt === row.attempt) return describeLeftBehind(inquiry, undecided);
  const { reason, attempt, allowedActions, applicantIds = inquiry?.applicantIds, resendFrom } = describeHold(row);
  // Every hold has its product.
  const hold = { reason, attempt, productCode: row.productCode ?? 'CR', applicantIds, resendFrom };
  // When the run has closed, no run waits for an inquiry that was never sent or already has an answer.
  return isOpen ? { ...hold, allowedActions, heldBy: 'run' } : { ...hold, allowedActions: ['seen'], heldBy: 'ledger' };
}

interface DecisionMade {
  accepted: true;
  duplicate: boolean;
  recorded: boolean;
  /** The open run takes the decision up, or else the run's next start. */
  heldBy: 'run' | 'ledger';
}

/**
 * Sends the decision to the run. If the run has closed, writes a decision about its inquiry into the ledger.
 *
 * @throws InvalidInputError, CallError
 */
export async function decide(
  journeys: LedgerJourneys,
  runKey: string,
  decision: Decision,
  options: CallOptions = {},
): Promise<DecisionMade> {
  try {
    const { duplicate, recorded = true } = await journeys.run(runKey).send('resolveInquiry', decision, options);
    return { accepted: true, duplicate, recorded, heldBy: 'run' };
  } catch (error) {
    const isGone = hasCode(error, 'journeyNotFound', 'journeyFinished');
    if (!isGone || !(await isOwnInquiry(journeys, runKey, decision.customerTraceNumber))) throw error;
    const { duplicate } = await decideInLedger(journeys, decision);
    return { accepted: true, duplicate, recorded: true, heldBy: 'ledger' };
  }
}

async function isOwnInquiry(journeys: LedgerJourneys, runKey: string, customerTraceNumber: string): Promise<boolean> {
  const found = await (await journeys.getLedger()).inquiry(customerTraceNumber);
  return found !== null && isOwnRun(runKey, found.runKey);
}

/** Rows of a review belong to the review's run. */
function isOwnRun(runKey: string, found: string): boolean {
  return found === runKey || (runKey.startsWith('portfolio:') && found.startsWith(`${runKey}/`));
}

interface EarlierDecision {
  decisionId: string;
  action: string;
  by: string;
  /** RFC 3339. */
  at: string;
}

/** The reason why one inquiry of a batch gets no decision. */
export interface Failed {
  error: Error;
  made?: never;
  earlier?: EarlierDecision;
}

/** Outcome of one decision in a batch: `made`, or in a preview the `hold` that would take it. */
export type Decided<Named> = Named & ({ made?: DecisionMade; hold?: JudgedHold; error?: never } | Failed);

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;

/**
 * Decides about each inquiry separately, so that one refusal affects no other. If another operator decided first, the
 * result names that decision.
 *
 * @param prepare makes the decision about one of them, or throws why there shall be none
 * @param isPreview judges each by the ledger's row and by whether its run is open: decides nothing, and needs no worker
 */
export function decideMany<Named extends { runKey: string }>(
  journeys: LedgerJourneys,
  inquiries: readonly Named[],
  prepare: (named: Named) => Promise<{ decision: Decision; options?: CallOptions }>,
  isPreview = false,
): Promise<Decided<Named>[]> {
  return runInParallel(inquiries, AT_ONCE, async (named): Promise<Decided<Named>> => {
    const { runKey } = named;
    let decision: Decision | undefined;
    try {
      const prepared = await prepare(named);
      decision = prepared.decision;
      return isPreview
        ? { ...named, hold: await previewDecision(journeys, runKey, decision) }
        : { ...named, made: await decide(journeys, runKey, decision, prepared.options) };
    } catch (error) {
      return { ...named, ...(await readFailure(journeys, runKey, decision, error, isPreview)) };
    }
  });
}

/** @throws CallError where the hold would not take the decision */
async function previewDecision(journeys: LedgerJourneys, runKey: string, decision: Decision): Promise<JudgedHold> {
  const { customerTraceNumber } = decision;
  const hold = await readDecidable(journeys, { runKey, customerTraceNumber });
  if (!hold) throw toRefusal(customerTraceNumber, refuse('notOnHold', 'nothing waits for a decision about it'));
  refuseIf(customerTraceNumber, judgeDecision(hold, decision, Date.now()));
  return hold;
}

/** A run takes a decision a moment before the ledger has it. */
const TRIES = 5;
const PAUSE_MS = 200;

async function readFailure(
  journeys: LedgerJourneys,
  runKey: string,
  decision: Decision | undefined,
  error: unknown,
  isPreview: boolean,
): Promise<Failed> {
  if (!(error instanceof Error)) throw error;
  const isRefused = hasCode(error, 'updateRefused', 'decisionRefused');
  return {
    error,
    earlier: decision && isRefused ? await findEarlier(journeys, runKey, decision, isPreview) : undefined,
  };
}

/** In a preview, also the same decision is an earlier one. Returns `undefined` also where the ledger cannot say. */
async function findEarlier(
  journeys: LedgerJourneys,
  runKey: string,
  { customerTraceNumber, attempt, decisionId }: Decision,
  isPreview: boolean,
): Promise<EarlierDecision | undefined> {
  const ledger = await journeys.getLedger();
  for (let left = isPreview ? 1 : TRIES; left > 0; left--) {
    const found = await ledger.inquiry(customerTraceNumber).catch((error: unknown) => {
      if (error instanceof LedgerUnavailableError) return null;
      throw error;
    });
    const isOther = (record: DecisionRecord) =>
      record.attempt === attempt && (isPreview || record.decisionId !== decisionId) && record.action !== 'repeat';
    const other = found && isOwnRun(runKey, found.runKey) ? found.decisions.findLast(isOther) : undefined;
    if (other) return { decisionId: other.decisionId, action: other.action, by: other.by, at: other.decidedAt };
    if (left > 1) await sleep(PAUSE_MS);
  }
  return undefined;
}
