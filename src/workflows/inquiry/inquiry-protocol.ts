/**
 * The inquiry protocol, fence 2 (docs/protocol.md). One attempt is one activity, which Temporal never repeats. This
 * module repeats failures on the allow-list, with durable timers; all others wait for a person.
 */
import { CancellationScope, CancelledFailure, workflowInfo } from '@temporalio/workflow';
import type { AnsweredAttempt, InquiryFailure, RunConfig } from '../../activities/contract.ts';
import type { GrantKey } from '../../consent/consent-record.ts';
import { FAILURES } from '../../model/failure-types.ts';
import type { Answer, InquiryContent, InquiryDescription } from '../../model/inquiry.ts';
import { parseProblem, selectShownProblems } from '../../model/problems.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import { describeInquiry } from '../../model/trace-number.ts';
import { isBatch } from '../../model/work-class.ts';
import {
  type AttemptStep,
  findBlockingAttempt,
  findSupersedingStep,
  makeAttempt,
  mayHaveMissedAnAttempt,
  recordStep,
  waitOut,
} from './attempt.ts';
import type { InquiryEnd, InquiryHost, InquiryProgress, InquirySpec, InquiryState } from './inquiry-spec.ts';

/** Turns an answer without an outcome into a failure that an operator must judge. */
function toAnswerFailure(
  { attempt }: Pick<AnsweredAttempt, 'attempt'>,
  answer: Exclude<Answer, { kind: 'outcome' }>,
): InquiryFailure {
  const known = { attempt, claimed: true, returnCode: answer.returnCode };
  return answer.kind === 'returnCodeUnknown'
    ? { ...known, failureType: 'ReturnCodeUnknown', returnReasonCode: answer.returnReasonCode }
    : { ...known, failureType: 'UnexpectedResponse', problems: answer.problems.map(parseProblem) };
}

type Taken = { end: InquiryEnd | Promise<InquiryEnd> } | { next?: AttemptStep };

/**
 * Carries one inquiry, and those that amend it, to an end. Waits for as long as it takes. It is not `async`: each
 * promise of workflow code costs a stack trace.
 */
export function runInquiry(host: InquiryHost, spec: InquirySpec, amended?: string): Promise<InquiryEnd> {
  const { ordinal = spec.firstOrdinal ?? 0, amends = amended } = spec.part.inquiry ?? {};
  const { workflowType } = workflowInfo();
  const inquiry = describeInquiry({ ...host.accepted, workflowType }, spec, ordinal, amends);
  return new InquiryRun(host, spec, inquiry).runToEnd();
}

class InquiryRun {
  readonly #host: InquiryHost;
  readonly #spec: InquirySpec;
  readonly #inquiry: InquiryDescription;
  readonly #state: InquiryState;
  #isOnWorkflowQueue: boolean;
  /** The time at which this code last resumed. Predicates judge the age of grants by it, and read no clock. */
  #nowMs = Date.now();
  /** Retries are counted from here at the earliest. The first attempt may wait in the gateway's queue without a limit. */
  #begunAtMs = this.#nowMs;
  /** Count of resumptions when the latest attempt began. A later one may be about the pause that the attempt met. */
  #resumptions = 0;
  #roundsWithoutSlot = 0;

  constructor(host: InquiryHost, spec: InquirySpec, inquiry: InquiryDescription) {
    this.#host = host;
    this.#spec = spec;
    this.#inquiry = inquiry;
    const { ordinal, amends } = inquiry;
    const applicants = ordinal > 0 ? spec.applicants : undefined;
    this.#state = spec.part.inquiry ??= { ordinal, amends, applicants, attempt: 1, failures: 0 };
    const { workflowType, priority } = workflowInfo();
    this.#isOnWorkflowQueue =
      host.accepted.submitsOnWorkflowQueue === true && !isBatch(workflowType, priority?.priorityKey);
  }

  async runToEnd(): Promise<InquiryEnd> {
    const { held, retry } = this.#state;
    if (!held) this.#reportProgress('running');
    if (retry) await this.#waitForRetry(retry);
    // Recording the decision finds any answer or decision that the ledger got meanwhile.
    let result: Taken = held ? await this.#hold(held.failure, held.since) : {};
    for (;;) {
      if ('end' in result) return result.end;
      const { continuation } = this.#host;
      // Continues as new before the claim, so that the next run knows every claim.
      if (!result.next && continuation.isNear) {
        await continuation.wait(() => this.#findStop() !== null || !continuation.isNear);
      }
      const step: AttemptStep = result.next ?? (await this.#makeStep());
      if (step.kind !== 'noSlot') this.#roundsWithoutSlot = 0;
      // A step that needs no wait is taken without a promise.
      result = step.kind === 'answered' && step.recorded ? this.#takeAnswered(step) : await this.#take(step);
    }
  }

  #toContent(): InquiryContent {
    const { applicants, reference } = this.#spec;
    return { inquiry: this.#inquiry, applicants, reference };
  }

  #findGrants(): GrantKey[] | null {
    return this.#spec.findGrants ? this.#spec.findGrants(this.#nowMs) : [];
  }

  #findStop(): InquiryEnd | null {
    if (this.#host.isHalted) return { kind: 'stopped' };
    return this.#findGrants() === null ? { kind: 'notPermitted' } : null;
  }

  #findStopNow(): InquiryEnd | null {
    this.#nowMs = Date.now();
    return this.#findStop();
  }

  /** Whether the attempt in flight is to be cancelled: its permission is gone, or the run is to continue as new. */
  #isCalledBack(): boolean {
    return this.#findStop() !== null || this.#host.continuation.isNear;
  }

  /** Whether a signal about the end of the pause came after the latest attempt began. */
  #isResumed(): boolean {
    return this.#state.pausedSinceMs !== undefined && this.#host.inFlight.resumptions > this.#resumptions;
  }

  #makeStep(): AttemptStep | Promise<AttemptStep> {
    const stop = this.#findStopNow();
    if (stop) return { kind: 'stop', end: stop };
    this.#resumptions = this.#host.inFlight.resumptions;
    // The code awaits nothing before it schedules the activity, so the grants are valid in this workflow task.
    const consents = this.#findGrants() ?? [];
    const { consentValidForMs, compareWith } = this.#spec;
    const { attempt, tokenFetchedAfter } = this.#state;
    return makeAttempt(this.#host, {
      ...this.#toContent(),
      attempt,
      consents,
      consentValidForMs,
      tokenFetchedAfter,
      compareWith,
      onWorkflowQueue: this.#isOnWorkflowQueue || undefined,
      shouldStop: () => this.#isCalledBack(),
    });
  }

  /** Acts on a step. Returns the end, or another step; neither means one more attempt. */
  async #take(step: AttemptStep): Promise<Taken> {
    switch (step.kind) {
      case 'stop':
        return { end: step.end };
      case 'abandoned':
        this.#state.attempt = step.attempt + 1;
        this.#reportProgress('running');
        return { end: { kind: 'abandoned' } };
      case 'noSlot':
        await this.#takeNoSlot();
        return {};
      case 'closed':
        return this.#takeClosed(step.attempt);
      case 'notPermitted':
        return { end: step };
      case 'wait':
        return { next: await waitOut(this.#host, this.#toContent(), step) };
      case 'answered':
        await recordStep(this.#host, this.#inquiry, step);
        return this.#takeAnswered(step);
      case 'failed':
        return this.#takeFailed(step);
    }
  }

  /** The next attempt is made from the gateway queue: at once, but after a wait where that queue had no slot either. */
  async #takeNoSlot(): Promise<void> {
    const wasQueued = !this.#isOnWorkflowQueue;
    this.#isOnWorkflowQueue = false;
    this.#reportProgress('running', { isQueued: true });
    throwIfCancelled();
    if (!wasQueued) return;
    const failures = Math.min(this.#roundsWithoutSlot++, MOST_DOUBLED_WITHOUT_SLOT);
    const waitMs = computeWaitMs({}, this.#host.accepted.settings, { failures });
    const summary = 'waiting: each connection to the gateway is in use';
    await this.#waitForRetry({ atMs: Date.now() + waitMs, summary });
  }

  /** Counts as an attempt that was not sent. The next one follows at once, unless activities are lost repeatedly. */
  async #takeClosed(attempt: number): Promise<Taken> {
    const state = this.#state;
    state.attempt = attempt + 1;
    this.#reportProgress('running');
    // The attempt was cancelled. Unless the run itself is cancelled, it looks next at why the permission is gone.
    throwIfCancelled();
    this.#countRetriesFromHere();
    this.#nowMs = Date.now();
    if (this.#isCalledBack()) return {};
    if (state.failures === 0) {
      state.failures = 1;
      return {};
    }
    const failure = { failureType: 'ActivityFailed', attempt: state.attempt, claimed: false } as const;
    return this.#takeFailed({ kind: 'failed', recorded: true, failure });
  }

  #takeAnswered(step: Extract<AttemptStep, { kind: 'answered' }>): Taken {
    const { answer, attempt } = step;
    this.#state.attempt = attempt + 1;
    this.#reportProgress('running');
    if (answer.kind === 'outcome') {
      return { end: { kind: 'answered', answer, applicants: this.#spec.applicants, changes: step.changes } };
    }
    return { next: { kind: 'failed', recorded: true, failure: toAnswerFailure(step, answer) } };
  }

  async #takeFailed(step: Extract<AttemptStep, { kind: 'failed' }>): Promise<Taken> {
    await recordStep(this.#host, this.#inquiry, step);
    const { failure } = step;
    const state = this.#state;
    if (failure.claimed) state.attempt = failure.attempt + 1;
    const isPaused = failure.failureType === 'Paused';
    // A pause of any length never becomes a hold: retries are counted from its end.
    if (state.pausedSinceMs !== undefined) this.#forgetRetries();
    if (isPaused) state.pausedSinceMs ??= Date.now();
    else delete state.pausedSinceMs;
    this.#reportProgress('running');
    // The decision was made before this run asked, for example while no run was open. The claim spends only that
    // decision.
    if (step.resendStands) {
      this.#restart(failure);
      return {};
    }
    const { settings } = this.#host.accepted;
    const isGivenUp = !isPaused && Date.now() - this.#countRetriesFromHere() >= settings.giveUpAfterMs;
    if (isRetried(failure) && !isGivenUp) {
      await this.#waitBeforeRetry(failure);
      return {};
    }
    if (mayHaveMissedAnAttempt(failure)) {
      const found = await findBlockingAttempt(this.#host, this.#toContent(), state.attempt);
      if (found) return { next: found };
    }
    return this.#hold(failure);
  }

  async #waitBeforeRetry(failure: InquiryFailure): Promise<void> {
    const state = this.#state;
    if (failure.failureType === 'TokenRejected') {
      state.tokenFetchedAfter = new Date().toISOString();
      return;
    }
    // The gateway accepted the token, so a later 401 is a new failure.
    if (failure.failureType === 'Throttled') delete state.tokenFetchedAfter;
    const waitMs = computeWaitMs(failure, this.#host.accepted.settings, state);
    // A wait set by the gateway or an operator does not count towards the back-off.
    if (failure.retryAfterMs === undefined && state.pausedSinceMs === undefined) state.failures++;
    const atMs = Date.now() + waitMs;
    state.waitsSinceMs ??= Date.now();
    state.waitsFor = findListedReason(failure, atMs - state.waitsSinceMs);
    await this.#waitForRetry({ atMs, summary: describeRetry(failure, waitMs) });
  }

  async #waitForRetry(retry: NonNullable<InquiryState['retry']>): Promise<void> {
    const { summary } = retry;
    this.#state.retry = retry;
    this.#reportProgress('running', { waitingFor: summary });
    this.#nowMs = Date.now();
    const isOver = () => this.#findStop() !== null || this.#isResumed();
    for (let isDisturbed = false; !isDisturbed && this.#nowMs < retry.atMs; ) {
      const leftMs = Math.min(retry.atMs - this.#nowMs, this.#spec.grantsEndInMs?.(this.#nowMs) ?? Infinity);
      isDisturbed = await this.#host.continuation.wait(isOver, leftMs, { summary });
      // A grant may have become too old.
      isDisturbed ||= this.#findStopNow() !== null;
    }
    delete this.#state.retry;
    if (this.#isResumed()) this.#endWait();
    this.#reportProgress('running');
  }

  async #hold(failure: InquiryFailure, heldSince?: string): Promise<Taken> {
    const state = this.#state;
    if (failure.claimed) state.attempt = failure.attempt + 1;
    const since = heldSince ?? new Date().toISOString();
    const { applicants, reference } = this.#spec;
    // The next run gets only the problems that the hold shows: the state of a review may have hundreds of holds.
    state.held = {
      failure: { ...failure, problems: failure.problems && selectShownProblems(failure.problems) },
      since,
    };
    this.#reportProgress('held');
    // The hold's own attribute replaces that of the wait, in one event.
    this.#endWait();
    const { decision, effect: recorded } = await this.#host.holds.waitForDecision(this.#inquiry, failure, {
      attempts: failure.claimed ? failure.attempt : state.attempt,
      applicantIds: (applicants ?? reference?.applicants ?? []).map(({ applicantId }) => applicantId),
      since,
    });
    delete state.held;
    this.#reportProgress('running');
    if (recorded.kind === 'overtaken') {
      return { next: await findSupersedingStep(this.#host, this.#toContent(), failure, state.attempt) };
    }
    this.#restart(failure);
    switch (decision.action) {
      case 'abandon':
        return { end: { kind: 'abandoned' } };
      case 'amend':
        return { end: this.#amend(decision.applicants) };
      case 'accept':
        return { next: { kind: 'answered', attempt: failure.attempt, answer: recorded.accepted, recorded: true } };
      case 'resend':
        return {};
    }
  }

  /** @param applicants if only the configuration was wrong, they stay unchanged */
  #amend(applicants = this.#spec.applicants): Promise<InquiryEnd> {
    const { customerTraceNumber, ordinal } = this.#inquiry;
    delete this.#spec.part.inquiry;
    return runInquiry(this.#host, { ...this.#spec, applicants, firstOrdinal: ordinal + 1 }, customerTraceNumber);
  }

  #endWait(): void {
    delete this.#state.waitsSinceMs;
    delete this.#state.waitsFor;
  }

  /** Counts at most one attempt's length of the time before the first failure: the rest was time in the queue. */
  #countRetriesFromHere(): number {
    const { submitTimeoutMs } = this.#host.accepted.settings;
    this.#state.retriedSinceMs ??= Math.max(this.#begunAtMs, Date.now() - submitTimeoutMs);
    return this.#state.retriedSinceMs;
  }

  #forgetRetries(): void {
    this.#begunAtMs = Date.now();
    delete this.#state.retriedSinceMs;
  }

  /** A person has decided: retries are counted from here. */
  #restart({ failureType, httpStatus }: InquiryFailure): void {
    this.#state.failures = 0;
    this.#forgetRetries();
    // The credentials may have been replaced, or a worker has a token that the gateway refuses: the next attempt must
    // not use an old token.
    if (failureType === 'CredentialsRefused' || httpStatus === 401)
      this.#state.tokenFetchedAfter = new Date().toISOString();
  }

  #reportProgress(state: 'running' | 'held', how: Partial<InquiryProgress> = {}): void {
    const { customerTraceNumber, ordinal } = this.#inquiry;
    this.#spec.onProgress({ customerTraceNumber, ordinal, attempts: this.#state.attempt - 1, state, ...how });
  }
}

function throwIfCancelled(): void {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('journey cancelled');
}

// The rules of retries: of which failures, after which wait, and under which words.

/** Whether the run retries the failure without an operator: no request was sent. */
function isRetried({ failureType, claimed }: InquiryFailure): boolean {
  const { retry } = FAILURES[failureType];
  return retry !== null && (retry.if === 'always' || !claimed);
}

/**
 * A pause has no known end, and `resume` wakes the run. If that signal is lost, the run resumes an hour late at most.
 */
const PAUSED_MAX_MS = 60 * 60_000;

/**
 * `Retry-After` if the gateway gave one, within bounds; else exponential. A paused inquiry asks again after as long as it
 * has waited already. Both have a jitter of one half.
 */
export function computeWaitMs(
  { retryAfterMs }: Pick<InquiryFailure, 'retryAfterMs'>,
  { backoffInitialMs, backoffMaxMs, retryAfterMaxMs }: RunConfig['settings'],
  { failures, pausedSinceMs }: Pick<InquiryState, 'failures' | 'pausedSinceMs'>,
): number {
  if (retryAfterMs !== undefined) return Math.max(1, Math.min(retryAfterMs, retryAfterMaxMs));
  const fullMs =
    pausedSinceMs === undefined
      ? Math.min(backoffInitialMs * 2 ** Math.min(failures, 20), backoffMaxMs)
      : Math.min(Math.max(Date.now() - pausedSinceMs, backoffInitialMs), PAUSED_MAX_MS);
  return Math.max(1, Math.round(fullMs * (0.5 + Math.random() / 2)));
}

/** Returns the text that the run shows while it waits. */
function describeRetry({ failureType, httpStatus }: InquiryFailure, waitMs: number): string {
  const why = FAILURES[failureType].retry?.why ?? failureType;
  // An operator ends the wait.
  if (failureType === 'Paused') return why;
  const seconds = Math.round(waitMs / 100) / 10;
  return `waiting ${seconds} s: ${why}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}`;
}

/** A slot is free again within seconds: with the default back-off, no wait for one is longer than 16 s. */
const MOST_DOUBLED_WITHOUT_SLOT = 4;

/** Most throttled or lost attempts get through within seconds. */
const LISTED_FROM_MS = 5_000;

/**
 * Returns the reason that the lists show for a retried inquiry; `undefined` for a short wait. The inquiry shows it until
 * an attempt gets through or an operator must decide. Each change costs an event.
 */
export function findListedReason({ failureType }: InquiryFailure, waitsMs: number): WaitsFor | undefined {
  return waitsMs < LISTED_FROM_MS ? undefined : (FAILURES[failureType].retry?.waitsFor ?? undefined);
}

/**
 * Returns the attributes that change only while an attempt is made, which takes seconds: the next stage, and the end of
 * a wait. An attempt in the gateway queue may wait for long.
 */
export function selectTransientAttributes(
  { submitsOnWorkflowQueue }: Pick<RunConfig, 'submitsOnWorkflowQueue'>,
  { state, waitingFor, isQueued }: Pick<InquiryProgress, 'state' | 'waitingFor' | 'isQueued'>,
): readonly SearchAttributeName[] {
  if (submitsOnWorkflowQueue !== true || state !== 'running' || waitingFor !== undefined) return [];
  return isQueued ? ['JourneyStage'] : ['JourneyStage', 'WaitsFor'];
}
