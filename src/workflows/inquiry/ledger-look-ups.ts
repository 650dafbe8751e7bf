/** The ledger's word about an attempt whose activity has no result; and what the activity could not tell the ledger. */
import { CancellationScope, log, sleep } from '@temporalio/workflow';
import type { InquiryFailure, JourneyActivities, LookUpInquiryArgs, PreparedRun } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import type { OutcomeRecord } from '../../ledger/records.ts';
import type { FailureType } from '../../model/failure-types.ts';
import {
  ATTEMPT_STATE_OF_FAILURE,
  type AttemptView,
  type InquiryContent,
  type InquiryDescription,
  isKnownNotPosted,
} from '../../model/inquiry.ts';
import { untilDone } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import { type AttemptHost, type AttemptStep, stepOf, stepOfFailure } from './attempt-step.ts';

/** How often the run reads the row of another worker's attempt that may still be answered. */
const LOOK_EVERY_MS = 15_000;

/** Failures of a look-up that no repetition mends: they become holds. */
const LOOK_UP_HOLDS = ['LedgerChanged', 'RequestDiffers'] as const;

/** Reads what the ledger has of this very request; or returns the next step where the ledger cannot answer. */
async function lookUp(
  host: AttemptHost,
  content: InquiryContent,
  attempt: number,
): Promise<{ found: AttemptView | null } | { step: AttemptStep }> {
  const summary = `${content.inquiry.productCode} · looking up attempt ${attempt} in the ledger`;
  return askLedger(attempt, () => untilDone('lookUpInquiry', { summary }, lookUpArgs(host, content)));
}

function lookUpArgs({ run }: AttemptHost, { inquiry, applicants, reference }: InquiryContent): LookUpInquiryArgs {
  const { ledgerId, accents } = run;
  return { run: { ledgerId, ...defined({ accents }) }, inquiry, ...defined({ applicants, reference }) };
}

/** Not cancellable: an attempt that may be in flight is never left without its outcome. */
async function askLedger<T>(attempt: number, ask: () => Promise<T>): Promise<{ found: T } | { step: AttemptStep }> {
  try {
    return { found: await CancellationScope.nonCancellable(ask) };
  } catch (error) {
    const type = LOOK_UP_HOLDS.find((hold) => hold === applicationFailureOf(error)?.type);
    if (!type) throw error;
    return { step: stepOfFailure(type, attempt) };
  }
}

/**
 * The one look-up that closes the attempt: its activity may still be at work on a worker that is out of touch. The
 * other look-ups ask about attempts that were claimed, or that other runs have made. What they do not find is missing.
 */
export async function afterLookUp(
  host: AttemptHost,
  content: InquiryContent & { attempt: number; begunAt: string },
): Promise<AttemptStep> {
  const { attempt, begunAt } = content;
  const summary = `${content.inquiry.productCode} · closing attempt ${attempt} unless it was claimed`;
  const args = { ...lookUpArgs(host, content), attempt, begunAt };
  const result = await askLedger(attempt, () => untilDone('closeAttempt', { summary }, args));
  return 'step' in result ? result.step : stepOf(result.found);
}

/** Waits until the attempt's answer has come, or can no longer come. */
export async function waitOut(
  host: AttemptHost,
  content: InquiryContent,
  step: Extract<AttemptStep, { kind: 'wait' }>,
): Promise<AttemptStep> {
  // The ledger's clock decides when it is over; a tenth of a second spares a second look.
  const waitMs = Math.min(step.waitMs + 100, LOOK_EVERY_MS);
  const summary = `${content.inquiry.productCode} · attempt ${step.attempt} may still be answered`;
  await CancellationScope.nonCancellable(() => sleep(waitMs, { summary }));
  return lookAgain(host, content, step.attempt);
}

/**
 * Asks the ledger how the inquiry stands by now; it answers only this very request. `claimed` is an attempt that the
 * run knows of: a ledger that lacks it is not the one that it was claimed in.
 */
export async function lookAgain(host: AttemptHost, content: InquiryContent, claimed: number): Promise<AttemptStep> {
  const result = await lookUp(host, content, claimed);
  if ('step' in result) return result.step;
  const { found } = result;
  return found && isMade(found, claimed) ? stepOf(found) : stepOfFailure('LedgerChanged', claimed);
}

/**
 * Finds an attempt in the ledger that blocks attempt n, which this run has not claimed. It is attempt n itself where
 * another run has made it, or an earlier one that a person must judge first. `undefined` where the run knows everything
 * that was sent.
 */
export async function standsInTheWay(
  host: AttemptHost,
  content: InquiryContent,
  attempt: number,
): Promise<AttemptStep | undefined> {
  const result = await lookUp(host, content, attempt);
  if ('step' in result) return result.step;
  return stepInTheWay(result.found, attempt);
}

/** The same, for a row that was already read. */
export function stepInTheWay(found: AttemptView | null, attempt: number): AttemptStep | undefined {
  if (found && isMade(found, attempt)) return stepOf(found);
  if ((found?.latest ?? found?.attempt ?? 0) < attempt - 1) return stepOfFailure('LedgerChanged', attempt);
  return found && !mayBeFollowed(found) ? stepOf(found) : undefined;
}

/** Failures that the ledger itself has reported, and the one that says that it cannot be reached. */
const LEDGERS_WORD: readonly FailureType[] = [
  'LedgerChanged',
  'LedgerRestored',
  'RequestDiffers',
  'AnotherNumber',
  'LedgerUnavailable',
  'Paused',
];

/**
 * Whether the ledger may have an attempt although the failure claimed nothing: the run may have been reset, or started
 * anew. A hold must not say then that there is no attempt. Not where the ledger has answered itself, nor where it
 * cannot be asked: then the hold says that it is not known.
 */
export function mayHaveMissedAnAttempt({
  failureType,
  claimed,
}: Pick<InquiryFailure, 'failureType' | 'claimed'>): boolean {
  return !claimed && !LEDGERS_WORD.includes(failureType);
}

function mayBeFollowed({ state, resendStands }: AttemptView): boolean {
  return isKnownNotPosted(state) || resendStands === true;
}

function isMade(found: AttemptView, attempt: number): boolean {
  return (found.latest ?? found.attempt) >= attempt || found.state === 'abandoned';
}

/**
 * Records an answer that the activity could not record because the ledger failed. The run waits for it as long as it
 * takes.
 */
export async function recordStep(
  host: AttemptHost,
  inquiry: InquiryDescription,
  step: Extract<AttemptStep, { kind: 'answered' | 'failed' }>,
): Promise<void> {
  if (step.recorded) return;
  const record = recordOf(host.run, inquiry, step);
  if (!record) return;
  try {
    const summary = `${inquiry.productCode} · recording the outcome of attempt ${record.attempt}`;
    const verdict = await CancellationScope.nonCancellable(() => untilDone('recordOutcome', { summary }, record));
    if ('failure' in step && step.refusal && verdict !== 'missing') step.failure.refusalKept = true;
  } catch (error) {
    if (applicationFailureOf(error)?.type !== 'LedgerChanged') throw error;
    // Nothing is written into a ledger that is not the run's. The answer is in this history, and the run goes on with
    // it.
    const { customerTraceNumber, productCode } = inquiry;
    log.warn('an outcome was not recorded: the ledger is not the one that the run has used', {
      customerTraceNumber,
      productCode,
    });
  }
}

function recordOf(
  run: PreparedRun,
  { customerTraceNumber }: InquiryDescription,
  step: Extract<AttemptStep, { kind: 'answered' | 'failed' }>,
): Parameters<JourneyActivities['recordOutcome']>[0] | null {
  const row = {
    ledgerId: run.ledgerId,
    customerTraceNumber,
    ...(step.requestedAt === undefined ? {} : { requestedAt: step.requestedAt }),
  };
  if (step.kind === 'answered') return { ...row, attempt: step.attempt, state: 'answered', answer: step.answer };
  const { failureType, attempt, httpStatus, retryAfterMs } = step.failure;
  const state = ATTEMPT_STATE_OF_FAILURE[failureType];
  if (state === null) return null;
  return {
    ...row,
    attempt,
    state: state as OutcomeRecord['state'],
    failureType,
    ...defined({ httpStatus, retryAfterMs, refusal: step.refusal }),
  };
}
