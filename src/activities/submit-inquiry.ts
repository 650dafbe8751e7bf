import { setTimeout } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { finishWithin } from '../base/within.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { GatewayReply } from '../gateway/gateway-client.ts';
import type { GatewayProfile } from '../gateway/profile.ts';
import type { GatewayRequest } from '../gateway/requests.ts';
import type { ClaimVerdict, OutcomeRecord } from '../ledger/records.ts';
import { mayBeCarried, type SealedRefusal } from '../ledger/reports/reports.ts';
import { toCanonicalRequest } from '../model/canonical-request.ts';
import { FAILURES, type FailureType } from '../model/failure-types.ts';
import type { HighWaterMark } from '../model/ledger-watch.ts';
import { compareWithEarlier } from './compare-reports.ts';
import type { SubmitFailureDetails, SubmitInquiryArgs, SubmitInquiryResult } from './contract.ts';
import { type ActivityDependencies, getCallingRun } from './dependencies.ts';
import { createFinalFailure, translateFailure } from './failures.ts';
import { buildRequest, findRunProfile, toSentContent } from './inquiry-request.ts';

/** The time left at the activity's end to report to Temporal. */
const REPORTING_MARGIN_MS = 1_000;
const RECORD_RETRY_MS = 250;
/** A slower key management service does not delay the outcome. */
const SEAL_WITHIN_MS = 1_000;

/** The failure type for each verdict that forbids a claim. */
const FAILURE_OF_VERDICT = {
  requestDiffers: 'RequestDiffers',
  anotherNumber: 'AnotherNumber',
  ledgerRestored: 'LedgerRestored',
  ledgerChanged: 'LedgerChanged',
  paused: 'Paused',
  writerTooOld: 'LedgerUnavailable',
} as const satisfies Record<string, FailureType>;

/** The log lines of the other verdicts that forbid a claim. */
const NOTHING_WAS_SENT = {
  latest: 'nothing was sent: the ledger has the state of the inquiry',
  withdrawn: 'nothing was sent: according to the ledger, the run was withdrawn',
  notPermitted: 'nothing was sent: according to the ledger, the share is not permitted',
  writerTooOld: 'nothing was sent: the ledger asks for a newer worker',
} as const satisfies Partial<Record<ClaimVerdict['kind'], string>>;

/**
 * Makes one attempt of one inquiry: claims it in the ledger, sends it once, and records the outcome. docs/protocol.md.
 *
 * Never repeated by Temporal: it refuses a second activity attempt, and each failure it throws is final, with
 * {@link SubmitFailureDetails}. After the outcome is recorded, nothing changes it: later steps may fail or be late.
 *
 * @throws every failure type of docs/protocol.md's table
 */
export function createSubmitInquiry(dependencies: ActivityDependencies) {
  return async function submitInquiry(args: SubmitInquiryArgs): Promise<SubmitInquiryResult> {
    const info = activityInfo();
    // A widened retry policy or an activity reset must not become a second send (fence 2). The failure has no details,
    // since this execution cannot know how far the first one got.
    if (info.attempt > 1) throw createFinalFailure('ActivityFailed');
    const endsAt = performance.now() + (info.startToCloseTimeoutMs || args.settings.submitTimeoutMs);
    const slots = dependencies.slots.get(args.run.profile);
    // These begin before the wait for a slot, which may be longer than their time-out.
    const heartbeats = setInterval(() => heartbeat(), Math.max(250, args.settings.heartbeatTimeoutMs / 4));
    let release: (() => void) | null | undefined;
    try {
      release = args.onWorkflowQueue ? slots?.takeNow() : await slots?.take();
      // If no other queue is left to ask, a worker without the profile fails below.
      if (slots ? !release : args.onWorkflowQueue) return { kind: 'noSlot' };
      return await makeOneAttempt(dependencies, args, endsAt);
    } finally {
      clearInterval(heartbeats);
      release?.();
    }
  };
}

/**
 * Makes the attempt for a first activity execution that has a slot.
 *
 * @param endsAt of `performance.now()`
 */
async function makeOneAttempt(
  dependencies: ActivityDependencies,
  given: SubmitInquiryArgs,
  endsAt: number,
): Promise<SubmitInquiryResult> {
  const args = toSentContent(given.run, given);
  const { profile, request, accessToken, claim, limits } = await claimAttempt(dependencies, args, endsAt);
  const { customerTraceNumber } = args.inquiry;
  /** Writes a log line. Logging is the one step after the answer that could fail, and it must not. */
  const say = (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => {
    try {
      log[level](message, { customerTraceNumber, ...fields });
    } catch {
      // A failing log has no reader to report the failure to.
    }
  };
  if (claim.kind === 'latest') {
    say('info', NOTHING_WAS_SENT.latest, { state: claim.latest.state });
    const changes = await compareWithEarlier(dependencies, args, claim.latest.answer, endsAt - REPORTING_MARGIN_MS);
    return { kind: 'latest', latest: claim.latest, changes };
  }
  if (claim.kind === 'withdrawn' || claim.kind === 'notPermitted') {
    say('warn', NOTHING_WAS_SENT[claim.kind], {});
    // The run asks the ledger why it is not permitted.
    return claim.kind === 'withdrawn' ? claim : { kind: claim.kind };
  }
  if (claim.kind !== 'claimed') {
    const type = FAILURE_OF_VERDICT[claim.kind];
    const text = claim.kind === 'writerTooOld' ? NOTHING_WAS_SENT.writerTooOld : 'nothing was sent';
    say('warn', text, { failureType: type });
    const otherTraceNumber = claim.kind === 'anotherNumber' ? claim.customerTraceNumber : undefined;
    throw submitFailure(type, { attempt: args.attempt, claimed: false, recorded: true, otherTraceNumber });
  }
  const highWaterMark = { position: claim.position, claimedAt: claim.claimedAt };
  const recorder = new OutcomeRecorder(dependencies, args, { endsAt, highWaterMark, resendFrom: claim.resendFrom });
  const submittedAt = performance.now();
  const computeElapsedMs = () => Math.round(performance.now() - submittedAt);
  let reply: GatewayReply;
  try {
    const gateway = dependencies.gateways.get(profile.name);
    if (!gateway) throw new Error('no gateway client for the profile');
    reply = await gateway.submit({
      request: toClaimedRequest(profile, args, { request, claim }),
      accessToken,
      ...limits,
      signal: cancellationSignal(),
      attempt: args.attempt,
      expectedApplicants: args.applicants,
    });
  } catch (error) {
    const durationMs = computeElapsedMs();
    const failure = await recorder.recordFailure(error, () => dependencies.tokens.invalidate(profile, accessToken));
    say('warn', 'the attempt has failed', { durationMs, ...toFailureFields(failure) });
    throw failure;
  }
  const durationMs = computeElapsedMs();
  const recorded = await recorder.recordAnswer(reply);
  say('info', 'the gateway has answered', { durationMs, recorded, ...toAnswerFields(reply) });
  const changes = recorded
    ? await compareWithEarlier(dependencies, args, reply.answer, endsAt - REPORTING_MARGIN_MS)
    : undefined;
  return {
    kind: 'answered',
    attempt: args.attempt,
    answer: reply.answer,
    recorded,
    requestedAt: reply.requestedAt,
    highWaterMark,
    changes,
  };
}

/** Builds the request again only for facts that the claim alone gives: a share's instant, and a resend's number. */
function toClaimedRequest(
  profile: GatewayProfile,
  args: SubmitInquiryArgs,
  { request, claim }: { request: GatewayRequest; claim: Extract<ClaimVerdict, { kind: 'claimed' }> },
): GatewayRequest {
  const { sentTraceNumber: customerTraceNumber = args.inquiry.customerTraceNumber, claimedAt } = claim;
  const inquiry = { ...args.inquiry, customerTraceNumber };
  const isKnown = inquiry.productCode !== 'SECONDUSE' && customerTraceNumber === args.inquiry.customerTraceNumber;
  return isKnown ? request : buildRequest(profile, { ...args, inquiry }, new Date(claimedAt));
}

/** Does everything before the first byte: profile, request, token and claim. */
async function claimAttempt(dependencies: ActivityDependencies, args: SubmitInquiryArgs, endsAt: number) {
  try {
    const profile = findRunProfile(dependencies, args.run);
    // The request is built before the token is requested: an unbuildable request is not claimed either.
    const request = buildRequest(profile, args, new Date());
    const { accessToken } = await dependencies.tokens.get(profile, {
      fetchedAfter: args.tokenFetchedAfter,
      signal: cancellationSignal(),
    });
    cancellationSignal().throwIfAborted();
    const [claimAskedAt, claimAskedAtMs] = [performance.now(), Date.now()];
    const answerWithinMs = Math.max(0, Math.ceil(endsAt - claimAskedAt));
    const sendByMs = Math.min(args.settings.sendByMs, answerWithinMs);
    const claim: ClaimVerdict = await dependencies.ledger.claim({
      ledgerId: args.run.ledgerId,
      inquiry: args.inquiry,
      attempt: args.attempt,
      digest: dependencies.ledger.digest(toCanonicalRequest(args)),
      run: getCallingRun(),
      resendAfterMs: args.settings.resendAfterMs,
      highWaterMark: args.run.highWaterMark,
      answerWithinMs,
      resendsUnderNewNumber: profile.resendTraceNumber === 'new',
      consents: args.consents,
      consentValidForMs: args.consentValidForMs,
      applicantIds: (args.applicants ?? args.reference?.applicants ?? []).map(({ applicantId }) => applicantId),
      sharedReference: args.reference?.reportReferenceNumber,
    });
    // Measured from before the claim, so that no time of the claim's own is added.
    const limits = { sendBy: claimAskedAt + sendByMs, sendByEpochMs: claimAskedAtMs + sendByMs };
    return { profile, request, accessToken, claim, limits };
  } catch (error) {
    throw withDetails(translateFailure(error), { attempt: args.attempt, claimed: false, recorded: true });
  }
}

/** The claim's results, and the activity's end. */
type Claimed = { endsAt: number; highWaterMark: HighWaterMark; resendFrom: string | undefined };

/** Records the outcome of the claimed attempt, and retries while the activity may live. */
class OutcomeRecorder {
  readonly #dependencies: ActivityDependencies;
  readonly #args: SubmitInquiryArgs;
  readonly #claimed: Claimed;
  /** The key of the outcome's row. */
  readonly #row: Pick<OutcomeRecord, 'ledgerId' | 'customerTraceNumber' | 'attempt'>;

  constructor(dependencies: ActivityDependencies, args: SubmitInquiryArgs, claimed: Claimed) {
    this.#dependencies = dependencies;
    this.#args = args;
    this.#claimed = claimed;
    const { run, inquiry, attempt } = args;
    this.#row = { ledgerId: run.ledgerId, customerTraceNumber: inquiry.customerTraceNumber, attempt };
  }

  recordAnswer(reply: GatewayReply): Promise<boolean> {
    const { httpStatus, answer, requestedAt, body: report } = reply;
    const facts = { httpStatus, answer, requestedAt, failureType: toFailureType(reply) };
    return this.#record({ ...this.#row, state: 'answered', ...facts }, { report });
  }

  /** Returns the failure to throw: translated, recorded if possible, and with its details. */
  async recordFailure(error: unknown, rejectToken: () => void): Promise<unknown> {
    const { highWaterMark, resendFrom } = this.#claimed;
    const details = { attempt: this.#args.attempt, claimed: true, highWaterMark };
    if (!(error instanceof GatewayError)) {
      // An abort before the first byte arrives as the signal's own reason; after an unforeseen error the request may
      // have been sent.
      const state = cancellationSignal().aborted && error === cancellationSignal().reason ? 'notSent' : 'unknown';
      const failureType = state === 'notSent' ? 'GatewayUnreachable' : 'OutcomeUnknown';
      const recorded = await this.#record({ ...this.#row, state, failureType });
      if (state === 'notSent') return error;
      return submitFailure('OutcomeUnknown', { ...details, recorded, resendFrom });
    }
    // Also where 401 does not mean "not processed": the next attempt must not use that token.
    if (error.httpStatus === 401) rejectToken();
    // A second 401, with a newly fetched token, is not about the token (docs/protocol.md).
    const again = error.code === 'TokenRejected' && this.#args.tokenFetchedAfter !== undefined;
    const failureType: FailureType = again ? 'CredentialsRefused' : error.code;
    const { httpStatus, retryAfterMs, requestedAt } = error;
    const facts = { httpStatus, retryAfterMs, requestedAt };
    const state = (FAILURES[failureType].state ?? 'unknown') as OutcomeRecord['state'];
    const refusal = await this.#toSealedRefusal(error);
    const recorded = await this.#record({ ...this.#row, state, failureType, ...facts }, { refusal });
    return submitFailure(failureType, {
      ...details,
      recorded,
      ...facts,
      refusalKept: refusal && recorded ? true : undefined,
      refusal: refusal && !recorded && mayBeCarried(refusal) ? refusal : undefined,
      resendFrom: failureType === 'OutcomeUnknown' ? resendFrom : undefined,
    });
  }

  /** Returns `undefined` if the refusal cannot be sealed soon: the outcome is recorded without it. */
  async #toSealedRefusal(error: GatewayError): Promise<SealedRefusal | undefined> {
    const body = error.refusal();
    if (!body) return undefined;
    const { customerTraceNumber, attempt } = this.#row;
    const sealed = this.#dependencies.ledger.sealRefusal({ customerTraceNumber, attempt }, body);
    const leftMs = this.#claimed.endsAt - performance.now() - 2 * REPORTING_MARGIN_MS;
    return finishWithin<SealedRefusal | undefined>(sealed, Math.min(SEAL_WITHIN_MS, leftMs), undefined);
  }

  async #record(record: OutcomeRecord, kept: { report?: string; refusal?: SealedRefusal | undefined } = {}) {
    for (;;) {
      try {
        await this.#dependencies.ledger.recordOutcome(record, kept.report, kept.refusal);
        return true;
      } catch {
        // The answer must reach the workflow after any error: `recorded: false` makes it record without limit.
        const leftMs = this.#claimed.endsAt - performance.now() - REPORTING_MARGIN_MS;
        if (leftMs < RECORD_RETRY_MS) return false;
        await setTimeout(RECORD_RETRY_MS);
      }
    }
  }
}

/** The facts that the provider asks for beside the trace number, when it is called about an attempt. */
function toAnswerFields(reply: GatewayReply): Record<string, unknown> {
  const { answer, httpStatus } = reply;
  // A code that is in no table is the gateway's free text. Only the hold shows it, since its payload is encrypted.
  if (answer.kind !== 'outcome') return { httpStatus, failureType: toFailureType(reply) };
  return { httpStatus, outcome: answer.outcome, returnCode: answer.returnCode };
}

function toFailureFields(failure: unknown): Record<string, unknown> {
  const { type, details } = failure as { type?: unknown; details?: SubmitFailureDetails[] };
  const { httpStatus, recorded } = details?.[0] ?? {};
  return { failureType: type, httpStatus, recorded };
}

function toFailureType(reply: GatewayReply): FailureType | undefined {
  if (reply.answer.kind === 'unexpectedResponse') return 'UnexpectedResponse';
  return reply.answer.kind === 'returnCodeUnknown' ? 'ReturnCodeUnknown' : undefined;
}

function submitFailure(type: FailureType, details: SubmitFailureDetails) {
  return createFinalFailure(type, details);
}

/** Adds the details. All failures of this activity are final: the workflow decides whether to repeat. */
function withDetails(error: unknown, details: SubmitFailureDetails): unknown {
  const type = (error as { type?: unknown }).type;
  const own = (error as { details?: unknown[] }).details?.[0];
  if (typeof type !== 'string') return error;
  const { nextRetryDelay } = error as { nextRetryDelay?: unknown };
  const retryAfterMs = typeof nextRetryDelay === 'number' ? nextRetryDelay : undefined;
  return submitFailure(type as FailureType, {
    ...details,
    retryAfterMs,
    ...(own && typeof own === 'object' ? own : {}),
  });
}
