/**
 * One attempt as the workflow sees it: one activity. If the activity has no result, the ledger's row says what to do
 * next.
 */
import { type ApplicationFailure, CancellationScope, log, sleep, workflowInfo } from '@temporalio/workflow';
import type {
  AnsweredAttempt,
  CarriedOutcome,
  InquiryFailure,
  SubmitFailureDetails,
  SubmitInquiryArgs,
  SubmitInquiryResult,
} from '../../activities/contract.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { OutcomeRecord } from '../../ledger/records.ts';
import { FAILURES, type FailureType, isFailureType } from '../../model/failure-types.ts';
import {
  type AttemptView,
  type InquiryContent,
  type InquiryDescription,
  isKnownNotPosted,
  REASON_OF_STATE,
} from '../../model/inquiry.ts';
import { toGatewayQueue, toInquiryPriority } from '../../model/work-class.ts';
import { runUntilDone, runUntilRecorded, submitInquiryFor } from '../run/activity-stubs.ts';
import { findApplicationFailure } from '../run/failures.ts';
import type { InquiryEnd, InquiryHost } from './inquiry-spec.ts';

const RESULTS: readonly SubmitInquiryResult['kind'][] = ['answered', 'noSlot', 'latest', 'withdrawn', 'notPermitted'];

type AttemptRequest = Omit<SubmitInquiryArgs, 'run' | 'settings'> & { shouldStop(): boolean };

export async function makeAttempt(host: InquiryHost, request: AttemptRequest): Promise<AttemptStep> {
  const { shouldStop, ...args } = request;
  const { accepted: config, inFlight } = host;
  const { environment, profile, customerId, profileFingerprint, ledgerId, accents, highWaterMark, settings } = config;
  const run = { environment, profile, customerId, profileFingerprint, ledgerId, accents, highWaterMark };
  const { taskQueue } = workflowInfo();
  const begunAt = new Date().toISOString();
  const submitInquiry = submitInquiryFor(config, {
    taskQueue: args.onWorkflowQueue ? taskQueue : toGatewayQueue(taskQueue, profile),
    summary: describeAttempt(args),
    priority: toInquiryPriority(args.inquiry),
  });
  const scope = inFlight.begin(shouldStop);
  let result: SubmitInquiryResult | undefined;
  let failure: ApplicationFailure | undefined;
  try {
    result = await scope.run(() => submitInquiry({ ...args, run, settings }));
  } catch (error) {
    failure = findApplicationFailure(error);
  } finally {
    inFlight.end(scope);
  }
  // An operator may have ended the activity with another result (`temporal activity complete`).
  if (result && RESULTS.includes(result.kind)) return toResultStep(host, result);
  const details = failure?.details?.[0] as Partial<SubmitFailureDetails> | undefined;
  if (details?.highWaterMark) config.highWaterMark = details.highWaterMark;
  // An activity that reports its own failure before a claim has ended; after any other failure of that type it may
  // still run.
  if (failure && isFailureType(failure.type) && (failure.type !== 'ActivityFailed' || details?.claimed === false)) {
    return toFailureStep(failure.type, args.attempt, details);
  }
  // A time-out, a lost worker, a cancellation, a result that the server refused: only the ledger knows.
  const toNext = (found: AttemptView | null) => (found ? toStep(found) : toFailureStep('LedgerChanged', args.attempt));
  return lookUp(host, args, args.attempt, toNext, begunAt);
}

function describeAttempt({ inquiry, attempt }: Pick<AttemptRequest, 'inquiry' | 'attempt'>): string {
  const share = inquiry.shareId === undefined ? '' : ` · share ${inquiry.shareId}`;
  const again =
    inquiry.ordinal === 0 ? '' : ` · ${inquiry.amends === undefined ? 'again' : 'amended'} ${inquiry.ordinal}`;
  return `${inquiry.productCode}${share}${again} · attempt ${attempt}`;
}

function toResultStep(host: InquiryHost, result: SubmitInquiryResult): AttemptStep {
  if (result.kind === 'withdrawn') {
    // The run may lack a withdrawal that the ledger has.
    host.withdraw(result);
    return { kind: 'stop', end: { kind: 'stopped' } };
  }
  if (result.kind === 'answered') host.accepted.highWaterMark = result.highWaterMark;
  if (result.kind !== 'latest') return result;
  const step = toStep(result.latest);
  return step.kind === 'answered' ? { ...step, changes: result.changes } : step;
}

// The ledger's rows of attempts.

/** How often the run reads the row of another worker's attempt that may still be answered. */
const LOOK_EVERY_MS = 15_000;

/** Failures of a look-up that a retry cannot resolve: they become holds. */
const LOOK_UP_HOLDS = ['LedgerChanged', 'RequestDiffers'] as const;

/**
 * Reads the ledger's row of this very request. It cannot be cancelled, so that an attempt in flight always gets its
 * outcome.
 *
 * @param begunAt closes the attempt if it is missing, since its activity may still run on a disconnected worker. All
 *   other look-ups concern attempts that were claimed, or that other runs made: they report it as missing
 */
async function lookUp<Step>(
  { accepted }: InquiryHost,
  { inquiry, applicants, reference }: InquiryContent,
  attempt: number,
  toNext: (found: AttemptView | null) => Step,
  begunAt?: string,
): Promise<Step | AttemptStep> {
  const { ledgerId, accents } = accepted;
  const { productCode } = inquiry;
  const args = { run: { ledgerId, accents }, inquiry, applicants, reference };
  const what = begunAt === undefined ? `looking up attempt ${attempt} in the ledger` : `closing attempt ${attempt}`;
  const options = { summary: `${productCode} · ${what}` };
  const ask = (): Promise<AttemptView | null> =>
    begunAt === undefined
      ? runUntilDone('lookUpInquiry', options, args)
      : runUntilDone('closeAttempt', options, { ...args, attempt, begunAt });
  try {
    return toNext(await CancellationScope.nonCancellable(ask));
  } catch (error) {
    const type = LOOK_UP_HOLDS.find((hold) => hold === findApplicationFailure(error)?.type);
    if (!type) throw error;
    return toFailureStep(type, attempt);
  }
}

/** Waits until the attempt's answer has come, or can no longer come. */
export async function waitOut(
  host: InquiryHost,
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
export function lookAgain(host: InquiryHost, content: InquiryContent, claimed: number): Promise<AttemptStep> {
  return lookUp(host, content, claimed, (found) =>
    found && isMade(found, claimed) ? toStep(found) : toFailureStep('LedgerChanged', claimed),
  );
}

/**
 * Finds an attempt in the ledger that blocks attempt n, which this run has not claimed. It is attempt n itself, made by
 * another run, or an earlier one that an operator must judge first. `undefined` if the run knows everything that was
 * sent.
 */
export function findBlockingAttempt(host: InquiryHost, content: InquiryContent, attempt: number) {
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
export function mayHaveMissedAnAttempt({ failureType, claimed }: Pick<InquiryFailure, 'failureType' | 'claimed'>) {
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
  host: InquiryHost,
  inquiry: InquiryDescription,
  step: Extract<AttemptStep, { kind: 'answered' | 'failed' }>,
): Promise<void> {
  if (step.recorded) return;
  const outcome = toOutcome(step);
  if (!outcome) return;
  const { ledgerId } = host.accepted;
  const { customerTraceNumber, productCode } = inquiry;
  const summary = `${productCode} · recording the outcome of attempt ${outcome.attempt}`;
  const record = { ledgerId, customerTraceNumber, requestedAt: step.requestedAt, ...outcome };
  const verdict = await CancellationScope.nonCancellable(() => runUntilRecorded('recordOutcome', { summary }, record));
  if (verdict === 'ledgerChanged') {
    // The answer is in this history, and the run uses it.
    const message = 'an outcome was not recorded: the ledger is not the one that the run has used';
    log.warn(message, { customerTraceNumber, productCode });
  } else if ('failure' in step && step.refusal && verdict !== 'missing') step.failure.refusalKept = true;
}

function toOutcome(
  step: Extract<AttemptStep, { kind: 'answered' | 'failed' }>,
): Omit<CarriedOutcome, 'ledgerId' | 'customerTraceNumber' | 'requestedAt'> | null {
  if (step.kind === 'answered') return { attempt: step.attempt, state: 'answered', answer: step.answer };
  const { failureType, attempt, httpStatus, retryAfterMs } = step.failure;
  const state = FAILURES[failureType].state as OutcomeRecord['state'] | null;
  return state && { attempt, state, failureType, httpStatus, retryAfterMs, refusal: step.refusal };
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
  | { kind: 'notPermitted' }
  | { kind: 'stop'; end: InquiryEnd };

export function toFailureStep(
  failureType: FailureType,
  attempt: number,
  details: Partial<SubmitFailureDetails> = {},
): Extract<AttemptStep, { kind: 'failed' }> {
  const { claimed = false, recorded = true, requestedAt, refusal, highWaterMark: _, ...known } = details;
  return { kind: 'failed', recorded, requestedAt, refusal, failure: { failureType, attempt, claimed, ...known } };
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
  const { attempt, httpStatus, refusalKept, resendFrom, resendStands } = view;
  const known = { claimed: true, httpStatus, retryAfterMs: computeWaitLeftMs(view), refusalKept, resendFrom };
  return { ...toFailureStep(failureType, attempt, known), resendStands };
}

/** Computes the rest of the wait that the gateway asked for: the whole of it might outlast each grant of a share. */
function computeWaitLeftMs({ claimedAt = '', retryAfterMs }: AttemptView): number | undefined {
  if (retryAfterMs === undefined) return undefined;
  const waitedMs = Date.now() - (parseInstantMs(claimedAt) ?? Date.now());
  return Math.max(0, retryAfterMs - Math.max(0, waitedMs));
}

/**
 * Returns the step that follows from the row that the ledger has instead of a decision. Looks up the request, since
 * recording a decision does not compare it: the outcome may belong to another request.
 *
 * @param attempt the one that comes next
 */
export async function findSupersedingStep(
  host: InquiryHost,
  content: InquiryContent,
  failure: InquiryFailure,
  attempt: number,
): Promise<AttemptStep> {
  if (failure.claimed) return lookAgain(host, content, failure.attempt);
  const found = await findBlockingAttempt(host, content, attempt);
  return found ?? { kind: 'failed', recorded: true, failure };
}
