/** One attempt as the workflow sees it: one activity, and the ledger's row where the activity has no result. */
import { CancellationScope, log, sleep, workflowInfo } from '@temporalio/workflow';
import type {
  AnsweredAttempt,
  InquiryFailure,
  JourneyActivities,
  LookUpInquiryArgs,
  PreparedRun,
  SubmitFailureDetails,
  SubmitInquiryArgs,
  SubmitInquiryResult,
} from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import type { ShareObjection } from '../../consent/consent-record.ts';
import type { OutcomeRecord } from '../../ledger/records.ts';
import { type FailureType, isFailureType } from '../../model/failure-types.ts';
import {
  ATTEMPT_STATE_OF_FAILURE,
  type AttemptView,
  type InquiryContent,
  type InquiryDescription,
  isKnownNotPosted,
} from '../../model/inquiry.ts';
import { gatewayQueueOf } from '../../model/task-queues.ts';
import { inquiryPriority } from '../../model/work-class.ts';
import { submitInquiryOf, untilDone } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import type { InFlightActivities } from '../run/in-flight-activities.ts';
import type { InquiryEnd } from './inquiry-spec.ts';

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
  /** Called back before it was scheduled. */
  | { kind: 'cancelled' }
  /** Nothing was claimed: the gateway queue is to have it. */
  | { kind: 'elsewhere' }
  /** Nothing was claimed: a consent or another row in the ledger does not permit the share. */
  | ({ kind: 'notPermitted' } & ShareObjection)
  | { kind: 'stop'; end: InquiryEnd };

export interface AttemptHost {
  run: PreparedRun;
  inFlight: InFlightActivities;
}

export type AttemptRequest = Omit<SubmitInquiryArgs, 'run' | 'settings'> & { shouldStop(): boolean };

/** How often the run reads the row of another worker's attempt that may still be answered. */
const LOOK_EVERY_MS = 15_000;

export async function makeAttempt(host: AttemptHost, request: AttemptRequest): Promise<AttemptStep> {
  const { shouldStop, ...args } = request;
  const { run } = host;
  const { taskQueue } = workflowInfo();
  const begunAt = new Date().toISOString();
  const ended = await host.inFlight.run(shouldStop, () =>
    submitInquiryOf(run, {
      taskQueue: args.onWorkflowQueue ? taskQueue : gatewayQueueOf(taskQueue, run.profile),
      summary: summaryOf(args),
      priority: inquiryPriority(args.inquiry),
    })({ ...args, run: identityOf(run), settings: run.settings }),
  );
  if (ended.kind === 'completed') {
    if (ended.value.kind === 'answered') run.seen = ended.value.seen;
    return stepOfResult(ended.value);
  }
  const failure = applicationFailureOf(ended.error);
  const details = failure?.details?.[0] as Partial<SubmitFailureDetails> | undefined;
  if (details?.seen) run.seen = details.seen;
  // An activity that reports its own failure before a claim has ended; after any other failure of that type it may
  // still run.
  if (failure && isFailureType(failure.type) && (failure.type !== 'ActivityFailed' || details?.claimed === false)) {
    return stepOfFailure(failure.type, args.attempt, details);
  }
  // A time-out, a lost worker, a cancellation, a result that the server refused: only the ledger knows.
  return afterLookUp(host, { ...request, begunAt });
}

function summaryOf({ inquiry, attempt, leftOut }: Pick<AttemptRequest, 'inquiry' | 'attempt' | 'leftOut'>): string {
  if (leftOut)
    return `${inquiry.productCode} · share ${inquiry.shareId} without ${leftOut.join(', ')} · attempt ${attempt}`;
  const share = inquiry.shareId === undefined ? '' : ` · share ${inquiry.shareId}`;
  const again =
    inquiry.ordinal === 0 ? '' : ` · ${inquiry.amends === undefined ? 'again' : 'amended'} ${inquiry.ordinal}`;
  return `${inquiry.productCode}${share}${again} · attempt ${attempt}`;
}

function identityOf(run: PreparedRun): SubmitInquiryArgs['run'] {
  const { environment, profile, customerId, profileFingerprint, ledgerId, seen } = run;
  return { environment, profile, customerId, profileFingerprint, ledgerId, ...(seen ? { seen } : {}) };
}

function stepOfResult(result: SubmitInquiryResult): AttemptStep {
  return result.kind === 'latest' ? stepOf(result.latest) : result;
}

export function stepOfFailure(
  failureType: FailureType,
  attempt: number,
  details: Partial<SubmitFailureDetails> = {},
): Extract<AttemptStep, { kind: 'failed' }> {
  const { claimed = false, recorded = true, requestedAt, refusal } = details;
  const { httpStatus, retryAfterMs, refusalKept, resendFrom, otherTraceNumber, profileChange, problems } = details;
  return {
    ...{ kind: 'failed', recorded, ...defined({ requestedAt, refusal }) },
    failure: {
      ...{ failureType, attempt: details.attempt ?? attempt, claimed },
      ...defined({ httpStatus, retryAfterMs, refusalKept, resendFrom, otherTraceNumber, profileChange, problems }),
    },
  };
}

/** What a row of the ledger means for the run: the claim table's third column. */
export function stepOf(view: AttemptView): AttemptStep {
  switch (view.state) {
    case 'answered':
    case 'accepted':
      if (view.answer) return { kind: 'answered', attempt: view.attempt, answer: view.answer, recorded: true };
      return failedAs('OutcomeUnknown', view);
    case 'abandoned':
      return { kind: 'abandoned', attempt: view.attempt };
    case 'sending':
      return { kind: 'wait', attempt: view.attempt, waitMs: view.waitMs ?? 0 };
    case 'notSent':
      return view.closedAt === undefined
        ? failedAs('GatewayUnreachable', view)
        : { kind: 'closed', attempt: view.attempt };
    case 'notProcessed':
      return failedAs(view.failureType ?? 'Throttled', view);
    case 'unknown':
      return failedAs('OutcomeUnknown', view);
    case 'refused':
      return failedAs('RequestRefused', view);
    case 'notEntitled':
      return failedAs('NotEntitled', view);
    case 'credentialsRefused':
      return failedAs('CredentialsRefused', view);
    case 'untrusted':
      return failedAs('GatewayUntrusted', view);
  }
}

function failedAs(failureType: FailureType, view: AttemptView): AttemptStep {
  const { attempt, httpStatus, retryAfterMs, refusalKept, resendFrom } = view;
  const step = stepOfFailure(failureType, attempt, {
    claimed: true,
    ...defined({ httpStatus, retryAfterMs, refusalKept, resendFrom }),
  });
  return view.resendStands ? { ...step, resendStands: true } : step;
}

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
  return { run: { ledgerId: run.ledgerId }, inquiry, ...defined({ applicants, reference }) };
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
async function afterLookUp(
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
  if ((found?.attempt ?? 0) < attempt - 1) return stepOfFailure('LedgerChanged', attempt);
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
  return found.attempt >= attempt || found.state === 'abandoned';
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
