/** The ledger's rows of attempts whose activities have no result, and the step of the run that follows from each. */
import { CancellationScope, log, sleep } from '@temporalio/workflow';
import type {
  AnsweredAttempt,
  CarriedOutcome,
  InquiryFailure,
  LookUpInquiryArgs,
  RunConfig,
  SubmitFailureDetails,
} from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { ShareObjection } from '../../consent/consent-record.ts';
import type { OutcomeRecord } from '../../ledger/records.ts';
import { FAILURES, type FailureType } from '../../model/failure-types.ts';
import {
  type AttemptView,
  type InquiryContent,
  type InquiryDescription,
  isKnownNotPosted,
  REASON_OF_STATE,
} from '../../model/inquiry.ts';
import { runUntilDone, runUntilRecorded } from '../run/activity-stubs.ts';
import { findApplicationFailure } from '../run/failures.ts';
import type { AttemptHost, InquiryEnd } from './inquiry-spec.ts';

/** How often the run reads the row of another worker's attempt that may still be answered. */
const LOOK_EVERY_MS = 15_000;

/** Failures of a look-up that a retry cannot resolve: they become holds. */
const LOOK_UP_HOLDS = ['LedgerChanged', 'RequestDiffers'] as const;

/** Reads the ledger's row of this very request. */
function lookUp<Step>(
  host: AttemptHost,
  content: InquiryContent,
  attempt: number,
  toNext: (found: AttemptView | null) => Step,
): Promise<Step | AttemptStep> {
  const summary = `${content.inquiry.productCode} · looking up attempt ${attempt} in the ledger`;
  const ask = () => runUntilDone('lookUpInquiry', { summary }, toLookUpArgs(host, content));
  return askLedger(attempt, ask, toNext);
}

function toLookUpArgs({ config }: AttemptHost, { inquiry, applicants, reference }: InquiryContent): LookUpInquiryArgs {
  const { ledgerId, accents } = config;
  return { run: { ledgerId, ...omitUndefined({ accents }) }, inquiry, ...omitUndefined({ applicants, reference }) };
}

/** The look-up cannot be cancelled, so that an attempt in flight always gets its outcome. */
async function askLedger<Found, Step>(
  attempt: number,
  ask: () => Promise<Found>,
  toNext: (found: Found) => Step,
): Promise<Step | AttemptStep> {
  try {
    return toNext(await CancellationScope.nonCancellable(ask));
  } catch (error) {
    const type = LOOK_UP_HOLDS.find((hold) => hold === findApplicationFailure(error)?.type);
    if (!type) throw error;
    return toFailureStep(type, attempt);
  }
}

/**
 * Closes an attempt whose activity may still run on a disconnected worker. All other look-ups concern attempts that
 * were claimed, or that other runs made. They report an absent attempt as missing.
 */
export function closeByLookUp(
  host: AttemptHost,
  content: InquiryContent & { attempt: number; begunAt: string },
): Promise<AttemptStep> {
  const { attempt, begunAt } = content;
  const summary = `${content.inquiry.productCode} · closing attempt ${attempt} unless it was claimed`;
  const args = { ...toLookUpArgs(host, content), attempt, begunAt };
  return askLedger(attempt, () => runUntilDone('closeAttempt', { summary }, args), toStep);
}

/** Waits until the attempt's answer has come, or can no longer come. */
export async function waitOut(
  host: AttemptHost,
  content: InquiryContent,
  step: Extract<AttemptStep, { kind: 'wait' }>,
): Promise<AttemptStep> {
  // The ledger's clock decides whether the time is over. A tenth of a second more saves a second look-up.
  const waitMs = Math.min(step.waitMs + 100, LOOK_EVERY_MS);
  const summary = `${content.inquiry.productCode} · attempt ${step.attempt} may still be answered`;
  await CancellationScope.nonCancellable(() => sleep(waitMs, { summary }));
  return lookAgain(host, content, step.attempt);
}

/**
 * Asks the ledger for the inquiry's present state; it answers only this very request. `claimed` is an attempt that the
 * run knows of. A ledger that lacks it is not the one that it was claimed in.
 */
export function lookAgain(host: AttemptHost, content: InquiryContent, claimed: number): Promise<AttemptStep> {
  return lookUp(host, content, claimed, (found) =>
    found && isMade(found, claimed) ? toStep(found) : toFailureStep('LedgerChanged', claimed),
  );
}

/**
 * Finds an attempt in the ledger that blocks attempt n, which this run has not claimed. It is attempt n itself, made by
 * another run, or an earlier one that an operator must judge first. `undefined` if the run knows everything that was
 * sent.
 */
export function findBlockingAttempt(
  host: AttemptHost,
  content: InquiryContent,
  attempt: number,
): Promise<AttemptStep | undefined> {
  return lookUp(host, content, attempt, (found) => toBlockingStep(found, attempt));
}

/** Finds the blocking attempt in a row that was already read. */
export function toBlockingStep(found: AttemptView | null, attempt: number): AttemptStep | undefined {
  if (found && isMade(found, attempt)) return toStep(found);
  if ((found?.latest ?? found?.attempt ?? 0) < attempt - 1) return toFailureStep('LedgerChanged', attempt);
  return found && !isKnownNotPosted(found.state) && !found.resendStands ? toStep(found) : undefined;
}

/**
 * Whether the ledger may have an attempt although the failure claimed nothing: the run may have been reset, or started
 * again. A hold must not say then that there is no attempt. Returns `false` if the ledger itself has answered, or
 * cannot be asked: the hold then says that it is not known.
 */
export function mayHaveMissedAnAttempt({
  failureType,
  claimed,
}: Pick<InquiryFailure, 'failureType' | 'claimed'>): boolean {
  return !claimed && FAILURES[failureType].source !== 'ledger';
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
  const record = toOutcomeRecord(host.config, inquiry, step);
  if (!record) return;
  const { customerTraceNumber, productCode } = inquiry;
  const summary = `${productCode} · recording the outcome of attempt ${record.attempt}`;
  const verdict = await CancellationScope.nonCancellable(() => runUntilRecorded('recordOutcome', { summary }, record));
  if (verdict === 'ledgerChanged') {
    // The answer is in this history, and the run uses it.
    const message = 'an outcome was not recorded: the ledger is not the one that the run has used';
    log.warn(message, { customerTraceNumber, productCode });
  } else if ('failure' in step && step.refusal && verdict !== 'missing') step.failure.refusalKept = true;
}

function toOutcomeRecord(
  config: RunConfig,
  { customerTraceNumber }: InquiryDescription,
  step: Extract<AttemptStep, { kind: 'answered' | 'failed' }>,
): CarriedOutcome | null {
  const row = {
    ledgerId: config.ledgerId,
    customerTraceNumber,
    ...(step.requestedAt === undefined ? {} : { requestedAt: step.requestedAt }),
  };
  if (step.kind === 'answered') return { ...row, attempt: step.attempt, state: 'answered', answer: step.answer };
  const { failureType, attempt, httpStatus, retryAfterMs } = step.failure;
  const state = FAILURES[failureType].state;
  if (state === null) return null;
  return {
    ...row,
    attempt,
    state: state as OutcomeRecord['state'],
    failureType,
    ...omitUndefined({ httpStatus, retryAfterMs, refusal: step.refusal }),
  };
}

type FailedAttempt = Pick<SubmitFailureDetails, 'requestedAt' | 'refusal'>;

export type AttemptStep =
  | ({ kind: 'answered' } & AnsweredAttempt)
  /** `resendStands`: a person has decided already that the next attempt is to be made. */
  | ({ kind: 'failed'; failure: InquiryFailure; recorded: boolean; resendStands?: true } & FailedAttempt)
  /** An earlier attempt may still be answered. */
  | { kind: 'wait'; attempt: number; waitMs: number }
  | { kind: 'abandoned'; attempt: number }
  /** No worker has claimed it, and none can any more: the next one follows. */
  | { kind: 'closed'; attempt: number }
  /** Not claimed: the attempt must go to the gateway queue. */
  | { kind: 'noSlot' }
  /** Not claimed: a consent or another row in the ledger does not permit the share. */
  | ({ kind: 'notPermitted' } & ShareObjection)
  | { kind: 'stop'; end: InquiryEnd };

export function toFailureStep(
  failureType: FailureType,
  attempt: number,
  details: Partial<SubmitFailureDetails> = {},
): Extract<AttemptStep, { kind: 'failed' }> {
  const { claimed = false, recorded = true, requestedAt, refusal } = details;
  const { httpStatus, retryAfterMs, refusalKept, resendFrom, otherTraceNumber, problems } = details;
  return {
    kind: 'failed',
    recorded,
    ...omitUndefined({ requestedAt, refusal }),
    failure: {
      failureType,
      attempt: details.attempt ?? attempt,
      claimed,
      ...omitUndefined({ httpStatus, retryAfterMs, refusalKept, resendFrom, otherTraceNumber, problems }),
    },
  };
}

/** Returns the step that follows from a row of the ledger: the claim table's third column. */
export function toStep(view: AttemptView): AttemptStep {
  switch (view.state) {
    case 'answered':
    case 'accepted':
      if (view.answer) return { kind: 'answered', attempt: view.attempt, answer: view.answer, recorded: true };
      return toFailedStep('OutcomeUnknown', view);
    case 'abandoned':
      return { kind: 'abandoned', attempt: view.attempt };
    case 'sending':
      return { kind: 'wait', attempt: view.attempt, waitMs: view.waitMs ?? 0 };
    case 'notSent':
      return view.closedAt === undefined
        ? toFailedStep('GatewayUnreachable', view)
        : { kind: 'closed', attempt: view.attempt };
    case 'notProcessed':
      return toFailedStep(view.failureType ?? 'Throttled', view);
    case 'unknown':
      return toFailedStep(view.failureType === 'AnsweredLate' ? 'AnsweredLate' : 'OutcomeUnknown', view);
    default:
      return toFailedStep(REASON_OF_STATE[view.state] ?? 'OutcomeUnknown', view);
  }
}

function toFailedStep(failureType: FailureType, view: AttemptView): AttemptStep {
  const { attempt, httpStatus, retryAfterMs, refusalKept, resendFrom } = view;
  const step = toFailureStep(failureType, attempt, {
    claimed: true,
    ...omitUndefined({ httpStatus, retryAfterMs, refusalKept, resendFrom }),
  });
  return view.resendStands ? { ...step, resendStands: true } : step;
}

/**
 * Returns the step that follows from the row that the ledger has instead of a decision. Looks up the request, since
 * recording a decision does not compare it: the outcome may belong to another request.
 *
 * @param attempt the one that comes next
 */
export async function findSupersedingStep(
  host: AttemptHost,
  content: InquiryContent,
  failure: InquiryFailure,
  attempt: number,
): Promise<AttemptStep> {
  if (failure.claimed) return lookAgain(host, content, failure.attempt);
  const found = await findBlockingAttempt(host, content, attempt);
  return found ?? { kind: 'failed', recorded: true, failure };
}
