/**
 * The inquiry protocol, fence 2 (docs/protocol.md). One attempt is one activity, which Temporal never repeats. This
 * module repeats failures on the allow-list, with durable timers; all others wait for a person.
 */
import { CancellationScope, CancelledFailure, condition, workflowInfo } from '@temporalio/workflow';
import type { AnsweredAttempt, InquiryFailure } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { GrantKey } from '../../consent/consent-record.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import type { Answer, InquiryContent, InquiryDescription } from '../../model/inquiry.ts';
import { parseProblem } from '../../model/problems.ts';
import { describeInquiry } from '../../model/trace-number.ts';
import { isBatch } from '../../model/work-class.ts';
import { holdUntilDecided, recordRepeat } from '../run/holds.ts';
import { makeAttempt } from './attempt.ts';
import type { InquiryContext, InquiryEnd, InquiryProgress, InquiryRunState, InquirySpec } from './inquiry-spec.ts';
import {
  type AttemptStep,
  findBlockingAttempt,
  findSupersedingStep,
  mayHaveMissedAnAttempt,
  recordStep,
  waitOut,
} from './ledger-look-ups.ts';
import { computeBackoffMs, describeRetry, findListedReason, isRetried, PauseWait } from './retries.ts';

/** Turns an answer without an outcome into a failure that an operator must judge. */
function toAnswerFailure(
  { attempt }: Pick<AnsweredAttempt, 'attempt'>,
  answer: Exclude<Answer, { kind: 'outcome' }>,
): InquiryFailure {
  const { kind, returnCode } = answer;
  return {
    ...{ attempt, claimed: true },
    ...omitUndefined({ returnCode }),
    ...(kind === 'returnCodeUnknown'
      ? { failureType: 'ReturnCodeUnknown', ...omitUndefined({ returnReasonCode: answer.returnReasonCode }) }
      : { failureType: 'UnexpectedResponse', problems: answer.problems.map(parseProblem) }),
  };
}

type Taken = { end: RunEnd } | { next?: AttemptStep };
type RunEnd = InquiryEnd | { kind: 'amend'; applicants: FailsafeApplicant[] };

/** Carries one inquiry, and those that amend it, to an end. Waits for as long as it takes. */
export async function runInquiry(host: InquiryContext, spec: InquirySpec): Promise<InquiryEnd> {
  const { workflowType } = workflowInfo();
  let current = spec;
  let amends = spec.resume?.amends;
  for (let ordinal = spec.resume?.ordinal ?? spec.firstOrdinal ?? 0; ; ordinal++) {
    const inquiry = describeInquiry({ ...host.config, workflowType }, current, ordinal, amends);
    if (spec.repeat && amends === undefined && !spec.resume) {
      if (!(await recordRepeat(host.config, inquiry, spec.repeat))) return { kind: 'abandoned' };
    }
    const end: RunEnd = await new InquiryRun(host, current, inquiry).runToEnd();
    if (end.kind !== 'amend') return end;
    amends = inquiry.customerTraceNumber;
    const { resume: _past, ...rest } = current;
    current = { ...rest, applicants: end.applicants };
  }
}

class InquiryRun {
  readonly #host: InquiryContext;
  readonly #spec: InquirySpec;
  readonly #inquiry: InquiryDescription;
  /** The attempt that comes next: claims are counted, waits before a claim are not. */
  #attempt = 1;
  #failures = 0;
  #retriedSinceMs: number;
  /** The first attempt may wait in the gateway's queue without a limit. */
  #isRetrying: boolean;
  #isOnWorkflowQueue: boolean;
  #tokenFetchedAfter: string | undefined;
  #retry: InquiryRunState['retry'];
  /** The time at which this code last resumed. Predicates judge the age of grants by it, and read no clock. */
  #nowMs = Date.now();
  readonly #pause: PauseWait;
  /** The start of the retries, in milliseconds, until an attempt succeeds or an operator must decide. */
  #waitsSinceMs: number | undefined;
  #waitsFor: InquiryRunState['waitsFor'];

  constructor(host: InquiryContext, spec: InquirySpec, inquiry: InquiryDescription) {
    this.#host = host;
    this.#spec = spec;
    this.#inquiry = inquiry;
    const { workflowType, priority } = workflowInfo();
    this.#isOnWorkflowQueue =
      host.config.submitsOnWorkflowQueue === true && !isBatch(workflowType, priority?.priorityKey);
    const { retriedSinceMs: since, attempt = 1, failures = 0, tokenFetchedAfter, retry, waitsFor } = spec.resume ?? {};
    this.#retriedSinceMs = since ?? this.#nowMs;
    this.#isRetrying = since !== undefined;
    this.#attempt = attempt;
    this.#failures = failures;
    this.#tokenFetchedAfter = tokenFetchedAfter;
    this.#retry = retry;
    this.#pause = new PauseWait(host.inFlight, spec.resume?.pausedSinceMs);
    this.#waitsFor = waitsFor;
    // An earlier run has listed it, so it has waited for long.
    if (waitsFor !== undefined) this.#waitsSinceMs = 0;
  }

  async runToEnd(): Promise<RunEnd> {
    const held = this.#spec.resume?.held;
    if (!held) this.#reportProgress('running', this.#attempt - 1);
    this.#reportStanding(held);
    if (this.#retry) await this.#waitForRetry(this.#retry, this.#attempt - 1);
    let result: Taken = held ? await this.#holdAgain(held) : {};
    for (;;) {
      if ('end' in result) return result.end;
      const step: AttemptStep = result.next ?? (await this.#takeStep());
      // Each further promise costs a stack trace, so a step that needs no wait is made without one.
      result = step.kind === 'answered' && step.recorded ? this.#takeAnswered(step) : await this.#take(step);
    }
  }

  /** Holds the inquiry again. Recording the decision finds any answer or decision that the ledger got meanwhile. */
  #holdAgain({ failure, since }: NonNullable<InquiryRunState['held']>): Promise<Taken> {
    this.#attempt = failure.claimed ? failure.attempt + 1 : failure.attempt;
    return this.#hold(failure, since);
  }

  #reportStanding(held?: InquiryRunState['held']): void {
    const { ordinal, amends } = this.#inquiry;
    this.#host.onStanding?.({
      ordinal,
      attempt: this.#attempt,
      ...(this.#isRetrying ? { retriedSinceMs: this.#retriedSinceMs } : {}),
      ...(this.#failures > 0 ? { failures: this.#failures } : {}),
      ...(this.#tokenFetchedAfter === undefined ? {} : { tokenFetchedAfter: this.#tokenFetchedAfter }),
      ...this.#pause.carried,
      ...omitUndefined({ retry: this.#retry, waitsFor: this.#waitsFor, amends, held }),
      ...(ordinal > 0 && this.#spec.applicants ? { applicants: this.#spec.applicants } : {}),
    });
  }

  #toContent(): InquiryContent {
    const { applicants, reference } = this.#spec;
    return { inquiry: this.#inquiry, ...omitUndefined({ applicants, reference }) };
  }

  #findPermit(): GrantKey[] | null {
    return this.#spec.permit ? this.#spec.permit(this.#nowMs) : [];
  }

  #findStop(): InquiryEnd | null {
    if (this.#host.isEnding()) return { kind: 'stopped' };
    return this.#findPermit() === null ? { kind: 'notPermitted' } : null;
  }

  #findStopNow(): InquiryEnd | null {
    this.#nowMs = Date.now();
    return this.#findStop();
  }

  /** Whether the attempt in flight is to be cancelled: its permission is gone, or the run is to hand over. */
  #isCalledBack(): boolean {
    return this.#findStop() !== null || this.#host.continuation?.isDue === true;
  }

  #takeStep(): Promise<AttemptStep> {
    this.#nowMs = Date.now();
    return this.#isCalledBack() ? this.#makePermittedAttempt() : this.#makeAttempt();
  }

  async #makePermittedAttempt(): Promise<AttemptStep> {
    const { continuation } = this.#host;
    // Continues as new before the claim, so that the next run knows every claim.
    if (continuation?.isDue) await continuation.wait(() => this.#findStop() !== null);
    const stop = this.#findStopNow();
    return stop ? { kind: 'stop', end: stop } : this.#makeAttempt();
  }

  #makeAttempt(): Promise<AttemptStep> {
    this.#pause.beginAttempt();
    this.#nowMs = Date.now();
    // The code awaits nothing before it schedules the activity, so the grants are valid in this workflow task.
    const consents = this.#findPermit() ?? [];
    const { consentValidForMs, compareWith } = this.#spec;
    return makeAttempt(this.#host, {
      ...this.#toContent(),
      attempt: this.#attempt,
      consents,
      ...omitUndefined({ consentValidForMs, tokenFetchedAfter: this.#tokenFetchedAfter, compareWith }),
      ...(this.#isOnWorkflowQueue ? { onWorkflowQueue: true } : {}),
      shouldStop: () => this.#isCalledBack(),
    });
  }

  /** Acts on a step. Returns the end, or another step; neither means one more attempt. */
  async #take(step: AttemptStep): Promise<Taken> {
    switch (step.kind) {
      case 'stop':
        return { end: step.end };
      case 'abandoned':
        this.#reportProgress('running', step.attempt);
        return { end: { kind: 'abandoned' } };
      case 'noSlot':
        this.#isOnWorkflowQueue = false;
        this.#reportProgress('running', this.#attempt - 1, { isQueued: true });
        return this.#takeUnclaimed();
      case 'closed':
        return this.#takeClosed(step.attempt);
      case 'notPermitted':
        this.#spec.onObjection?.(step);
        return { end: { kind: 'notPermitted' } };
      case 'wait':
        return { next: await waitOut(this.#host, this.#toContent(), step) };
      case 'answered':
        await recordStep(this.#host, this.#inquiry, step);
        return this.#takeAnswered(step);
      case 'failed':
        return this.#takeFailed(step);
    }
  }

  /** Ends the run if the run itself is cancelled. Otherwise the attempt is made from the gateway queue. */
  #takeUnclaimed(): Taken {
    if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('journey cancelled');
    return {};
  }

  /** Counts as an attempt that was not sent. The next one follows at once, unless activities are lost repeatedly. */
  async #takeClosed(attempt: number): Promise<Taken> {
    this.#attempt = attempt + 1;
    this.#reportProgress('running', attempt);
    this.#reportStanding();
    // The attempt was cancelled. Where the run itself is cancelled it ends here; otherwise it looks next at why the
    // permission is gone.
    if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('journey cancelled');
    this.#countRetriesFromHere();
    this.#nowMs = Date.now();
    if (this.#isCalledBack()) return {};
    if (this.#failures === 0) {
      this.#failures = 1;
      return {};
    }
    return this.#takeFailed({
      kind: 'failed',
      recorded: true,
      failure: { failureType: 'ActivityFailed', attempt: this.#attempt, claimed: false },
    });
  }

  #takeAnswered(step: Extract<AttemptStep, { kind: 'answered' }>): Taken {
    const { answer, attempt } = step;
    this.#reportProgress('running', attempt);
    if (answer.kind === 'outcome') {
      const { customerTraceNumber } = this.#inquiry;
      const told = omitUndefined({ applicants: this.#spec.applicants, changes: step.changes });
      return { end: { kind: 'answered', answer, customerTraceNumber, ...told } };
    }
    return { next: { kind: 'failed', recorded: true, failure: toAnswerFailure(step, answer) } };
  }

  async #takeFailed(step: Extract<AttemptStep, { kind: 'failed' }>): Promise<Taken> {
    await recordStep(this.#host, this.#inquiry, step);
    const { failure } = step;
    this.#attempt = failure.claimed ? failure.attempt + 1 : this.#attempt;
    // A pause of any length never becomes a hold: its time does not count towards `giveUpAfter`.
    this.#retriedSinceMs = Math.min(Date.now(), this.#retriedSinceMs + this.#pause.note(failure));
    this.#reportStanding();
    this.#reportProgress('running', failure.claimed ? failure.attempt : this.#attempt - 1);
    // The decision was made before this run asked, for example while no run was open. The claim spends only that
    // decision.
    if (step.resendStands) {
      this.#restart(failure);
      return {};
    }
    const { settings } = this.#host.config;
    const isPaused = failure.failureType === 'Paused';
    if (!isPaused) this.#countRetriesFromHere();
    if (isPaused || (isRetried(failure) && Date.now() - this.#retriedSinceMs < settings.giveUpAfterMs)) {
      await this.#waitBeforeRetry(failure);
      return {};
    }
    if (mayHaveMissedAnAttempt(failure)) {
      const found = await findBlockingAttempt(this.#host, this.#toContent(), this.#attempt);
      if (found) return { next: found };
    }
    return this.#hold(failure);
  }

  async #waitBeforeRetry(failure: InquiryFailure): Promise<void> {
    if (failure.failureType === 'TokenRejected') {
      this.#tokenFetchedAfter = new Date().toISOString();
      this.#reportStanding();
      return;
    }
    // The gateway accepted the token, so a later 401 is a new failure.
    if (failure.failureType === 'Throttled') this.#tokenFetchedAfter = undefined;
    const { settings } = this.#host.config;
    const isPaused = failure.failureType === 'Paused';
    const waitMs = isPaused ? this.#pause.waitMs(settings) : computeBackoffMs(failure, settings, this.#failures);
    // A wait set by the gateway or an operator does not count towards the back-off.
    if (failure.retryAfterMs === undefined && !isPaused) this.#failures++;
    const attempts = failure.claimed ? failure.attempt : this.#attempt - 1;
    const atMs = Date.now() + waitMs;
    this.#waitsSinceMs ??= Date.now();
    this.#waitsFor = findListedReason(failure, atMs - this.#waitsSinceMs);
    await this.#waitForRetry({ atMs, summary: describeRetry(failure, waitMs) }, attempts);
  }

  async #waitForRetry(retry: NonNullable<InquiryRunState['retry']>, attempts: number): Promise<void> {
    const { summary } = retry;
    this.#retry = retry;
    this.#reportStanding();
    this.#reportProgress('running', attempts, { waitingFor: summary });
    this.#nowMs = Date.now();
    const isOver = () => this.#findStop() !== null || this.#pause.isOver;
    const { continuation } = this.#host;
    for (let isDisturbed = false; !isDisturbed && this.#nowMs < retry.atMs; ) {
      const leftMs = Math.min(retry.atMs - this.#nowMs, this.#spec.permitEndsInMs?.(this.#nowMs) ?? Infinity);
      const wait = continuation
        ? continuation.wait(isOver, leftMs, { summary })
        : condition(isOver, leftMs, { summary });
      isDisturbed = await wait;
      // A grant may have become too old.
      isDisturbed ||= this.#findStopNow() !== null;
    }
    this.#retry = undefined;
    if (this.#pause.isOver) this.#endWait();
    this.#reportStanding();
    this.#reportProgress('running', attempts);
  }

  async #hold(failure: InquiryFailure, heldSince?: string): Promise<Taken> {
    const since = heldSince ?? new Date().toISOString();
    this.#reportProgress('held', failure.claimed ? failure.attempt : this.#attempt - 1);
    // The hold's own attribute replaces that of the wait, in one event.
    this.#endWait();
    this.#reportStanding({ failure, since });
    const { decision, effect: recorded } = await holdUntilDecided(this.#host, this.#inquiry, failure, {
      attempt: failure.claimed ? failure.attempt : this.#attempt,
      applicantIds: this.#listApplicantIds(),
      since,
    });
    this.#reportProgress('running', failure.claimed ? failure.attempt : this.#attempt - 1);
    if (recorded.kind === 'held') return { next: { kind: 'failed', recorded: true, failure: recorded.failure } };
    if (recorded.kind === 'overtaken') {
      return { next: await findSupersedingStep(this.#host, this.#toContent(), failure, this.#attempt) };
    }
    this.#restart(failure);
    switch (decision.action) {
      case 'abandon':
        return { end: { kind: 'abandoned' } };
      case 'amend':
        // If only the configuration was wrong, the applicants stay unchanged.
        return { end: { kind: 'amend', applicants: decision.applicants ?? this.#spec.applicants ?? [] } };
      case 'accept':
        return { next: { kind: 'answered', attempt: failure.attempt, answer: recorded.accepted, recorded: true } };
      case 'resend':
        return {};
    }
  }

  #endWait(): void {
    this.#waitsSinceMs = undefined;
    this.#waitsFor = undefined;
  }

  /** Counts at most one attempt's length of the time before the first failure: the rest was time in the queue. */
  #countRetriesFromHere(): void {
    const { settings } = this.#host.config;
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    this.#retriedSinceMs = Math.max(this.#retriedSinceMs, Date.now() - settings.submitTimeoutMs);
    this.#reportStanding();
  }

  /** A person has decided: retries are counted from here. */
  #restart({ failureType }: InquiryFailure): void {
    this.#failures = 0;
    this.#retriedSinceMs = Date.now();
    this.#isRetrying = false;
    if (failureType === 'CredentialsRefused') {
      // The credentials may have been replaced: the next attempt must not use an old token.
      this.#tokenFetchedAfter = new Date().toISOString();
    }
    this.#reportStanding();
  }

  #listApplicantIds(): string[] {
    const { applicants, reference } = this.#spec;
    return (applicants ?? reference?.applicants ?? []).map(({ applicantId }) => applicantId);
  }

  #reportProgress(state: 'running' | 'held', attempts: number, how: Partial<InquiryProgress> = {}): void {
    const { customerTraceNumber, ordinal } = this.#inquiry;
    this.#host.onProgress({ customerTraceNumber, ordinal, attempts, state, ...how });
  }
}
