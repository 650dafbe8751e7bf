/**
 * Decides about inquiries on hold, one or many: tells the open run, or writes into the ledger where the run is gone. The
 * command line and the HTTP API decide by these functions alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallOptions } from '../client/connection/calls.ts';
import { hasCode } from '../client/connection/errors.ts';
import { isRunOpen } from '../client/connection/temporal-runs.ts';
import { LedgerUnavailableError } from '../ledger/errors.ts';
import type { DecisionRecord } from '../ledger/records.ts';
import type { Decision } from '../messages/resolve-inquiry.ts';
import { type JudgedDecision, type JudgedHold, judgeDecision } from '../model/provider-word.ts';
import { refuse } from '../model/refusals.ts';
import { describeHold } from './holds.ts';
import { decideInLedger, describeLeftBehind, refuseIf } from './ledger-decisions.ts';
import type { LedgerJourneys } from './ledger-journeys.ts';

/**
 * Reads an inquiry of this run that waits for a decision, with its allowed actions. Returns `undefined` if the ledger
 * has no such row.
 */
export async function readDecidable(
  journeys: LedgerJourneys,
  runKey: string,
  customerTraceNumber: string,
): Promise<JudgedHold | undefined> {
  const ledger = await journeys.getLedger();
  const { rows } = await ledger.tasks.open({ customerTraceNumber, kind: 'held', limit: 1 });
  const [row] = rows.filter((found) => isOwnRun(runKey, found.runKey));
  if (!row) return undefined;
  const [inquiry, isOpen] = await Promise.all([
    ledger.inquiry(customerTraceNumber),
    isRunOpen(journeys.getSdkClient(), runKey),
  ]);
  const undecided = inquiry?.undecided;
  if (!isOpen && undecided && undecided.attempt === row.attempt) return describeLeftBehind(inquiry, undecided);
  const { reason, attempt, productCode = 'CR' } = row;
  const { allowedActions, applicantIds = inquiry?.applicantIds, resendFrom } = describeHold(row);
  // Every hold has its product.
  const hold = { reason, attempt, productCode, applicantIds, resendFrom };
  // When the run has closed, no run waits for an inquiry that was never sent or already has an answer.
  return isOpen ? { ...hold, allowedActions, heldBy: 'run' } : { ...hold, allowedActions: ['seen'], heldBy: 'ledger' };
}

/**
 * Sends the decision to the run. If the run has closed, writes a decision about its inquiry into the ledger. The answer is
 * that of `POST /v1/runs/{runKey}/decisions`.
 *
 * @throws InvalidInputError, CallError
 */
export async function decide(journeys: LedgerJourneys, runKey: string, decision: Decision, options: CallOptions = {}) {
  try {
    const { duplicate, recorded = true } = await journeys.run(runKey).send('resolveInquiry', decision, options);
    return { accepted: true, duplicate, recorded, heldBy: 'run' };
  } catch (error) {
    if (!hasCode(error, 'notFound', 'journeyFinished')) throw error;
    const found = await (await journeys.getLedger()).inquiry(decision.customerTraceNumber);
    if (!found || !isOwnRun(runKey, found.runKey)) throw error;
    const { duplicate } = await decideInLedger(journeys, decision);
    return { accepted: true, duplicate, recorded: true, heldBy: 'ledger' };
  }
}

/** Rows of a review belong to the review's run. */
function isOwnRun(runKey: string, found: string): boolean {
  return found === runKey || (runKey.startsWith('portfolio:') && found.startsWith(`${runKey}/`));
}

/**
 * Judges a decision by the ledger's row and by whether its run is open. Decides nothing, and needs no worker.
 *
 * @throws CallError
 */
export async function requireDecidable(
  journeys: LedgerJourneys,
  runKey: string,
  { customerTraceNumber, ...decision }: JudgedDecision & { customerTraceNumber: string },
): Promise<JudgedHold> {
  const hold = await readDecidable(journeys, runKey, customerTraceNumber);
  refuseIf(customerTraceNumber, hold ? judgeDecision(hold, decision, Date.now()) : NOTHING_WAITS);
  return hold as JudgedHold;
}

const NOTHING_WAITS = refuse('notOnHold', 'nothing waits for a decision about it');

/** A run takes a decision a moment before the ledger has it. */
const TRIES = 5;
const PAUSE_MS = 200;

type AboutAttempt = Pick<Decision, 'customerTraceNumber' | 'attempt'> & Partial<Pick<Decision, 'decisionId'>>;

/**
 * Finds the decision about the attempt that came before a refused one and remains in force. Returns `undefined` if there
 * is none, and if the ledger cannot say.
 */
export async function findEarlier(
  journeys: LedgerJourneys,
  runKey: string,
  { customerTraceNumber, attempt, decisionId }: AboutAttempt,
  tries = TRIES,
) {
  const ledger = await journeys.getLedger();
  for (let left = tries; left > 0; left--) {
    const found = await ledger.inquiry(customerTraceNumber).catch((error: unknown) => {
      if (error instanceof LedgerUnavailableError) return null;
      throw error;
    });
    const isOther = (record: DecisionRecord) =>
      record.attempt === attempt && record.decisionId !== decisionId && record.action !== 'repeat';
    const other = found && isOwnRun(runKey, found.runKey) ? found.decisions.findLast(isOther) : undefined;
    if (other) return { decisionId: other.decisionId, action: other.action, by: other.by, at: other.decidedAt };
    if (left > 1) await sleep(PAUSE_MS);
  }
  return undefined;
}
