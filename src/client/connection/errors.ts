/**
 * The client's errors, beside `InvalidInputError` (every path that is wrong) and plain bugs. A `journeyId` is the
 * owner's id (model/owner-id.ts): of a pull `pull:<pullId>`.
 */

import type { ShareReportInput } from '../../messages/inputs/share-report.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import { type RunKind, runName } from '../../model/owner-id.ts';
import type { Problem } from '../../model/problems.ts';
import type { ReportProduct } from '../../model/products.ts';

/** Thrown when Temporal knows no run of this journey: it was never started, or its retention is over. */
export class JourneyNotFoundError extends CreditJourneyError {
  override readonly name = 'JourneyNotFoundError';
  override readonly code = 'journeyNotFound';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`there is no ${runName(journeyId)}`);
    this.journeyId = journeyId;
  }
}

/** Thrown when the journey has ended: it takes no messages. */
export class JourneyFinishedError extends CreditJourneyError {
  override readonly name: string = 'JourneyFinishedError';
  override readonly code: string = 'journeyFinished';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`${runName(journeyId)} has finished`);
    this.journeyId = journeyId;
  }
}

/**
 * Thrown when a report of an ended journey is to be shared: that takes a share by itself (docs/shares.md). `input` is
 * what `CreditJourneys.shareReport` takes, but for what a journey's share may leave out.
 */
export class ShareAfterEndError extends JourneyFinishedError {
  override readonly name = 'ShareAfterEndError';
  override readonly code = 'shareAfterEnd';
  readonly input: Omit<ShareReportInput, 'report' | 'permissiblePurposeCode'> & {
    report: { journeyId: string; productCode?: ReportProduct };
    permissiblePurposeCode?: string;
  };

  constructor(journeyId: string, { reportOf, ...share }: ShareInput) {
    super(journeyId);
    this.input = { ...share, report: { journeyId, ...(reportOf === undefined ? {} : { productCode: reportOf }) } };
    this.message = `${runName(journeyId)} has finished: share its report by itself, with \`${this.command}\``;
  }

  /** The same on the command line; what has to be filled in is in angle brackets. */
  get command(): string {
    const { shareId, endUserCode, endUser, permissiblePurposeCode = '<code>', report, ...waits } = this.input;
    const options = {
      '--report-of': report.productCode ?? '<productCode>',
      '--share-id': shareId,
      '--end-user-code': endUserCode,
      '--end-user': endUser === undefined ? undefined : `'${endUser.replaceAll("'", "'\\''")}'`,
      '--permissible-purpose-code': permissiblePurposeCode,
      '--await-consent-for': waits.awaitConsentFor,
      '--consent-valid-for': waits.consentValidFor,
    };
    const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
    return ['credit-journey share', report.journeyId, '--ended', ...given].join(' ');
  }
}

/** Thrown when the journey refused the message as it stands now; nothing has changed. */
export class UpdateRefusedError extends CreditJourneyError {
  override readonly name = 'UpdateRefusedError';
  override readonly code = 'updateRefused';
  readonly journeyId: string;
  readonly reason: string;

  constructor(journeyId: string, reason: string) {
    super(`${runName(journeyId)} refused: ${reason}`);
    this.journeyId = journeyId;
    this.reason = reason;
  }
}

/** Thrown when the ledger refuses a decision about an inquiry without a run; nothing was written. */
export class DecisionRefusedError extends CreditJourneyError {
  override readonly name = 'DecisionRefusedError';
  override readonly code = 'decisionRefused';
  readonly customerTraceNumber: string;
  readonly reason: string;

  constructor(customerTraceNumber: string, reason: string) {
    super(`nothing was decided about ${customerTraceNumber}; ${reason}`);
    this.customerTraceNumber = customerTraceNumber;
    this.reason = reason;
  }
}

/**
 * Thrown when the run ended without a result. `failureType`: `Cancelled`, `Terminated`, `TimedOut`, or the failure's
 * own.
 */
export class JourneyFailedError extends CreditJourneyError {
  override readonly name = 'JourneyFailedError';
  override readonly code = 'journeyFailed';
  readonly journeyId: string;
  readonly failureType: string;

  constructor(journeyId: string, failureType: string) {
    super(`${runName(journeyId)} ended without a result: ${failureType}`);
    this.journeyId = journeyId;
    this.failureType = failureType;
  }
}

/**
 * Thrown when no worker answered in time. A query has no effect; a message may still arrive, and sending it again does
 * no harm,
 * since each is known by its business key.
 */
export class WorkerUnavailableError extends CreditJourneyError {
  override readonly name = 'WorkerUnavailableError';
  override readonly code = 'workerUnavailable';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`no worker answered for ${runName(journeyId)}: is one running on its task queue?`);
    this.journeyId = journeyId;
  }
}

/**
 * Thrown when Temporal refuses a message because the run has as many as one run takes. Nothing was accepted. The run
 * hands over to a new one once a worker has handled them: send the message again then.
 */
export class TooManyMessagesError extends CreditJourneyError {
  override readonly name = 'TooManyMessagesError';
  override readonly code = 'tooManyMessages';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`${runName(journeyId)} has more messages than Temporal takes at once: send this one again in a minute`);
    this.journeyId = journeyId;
  }
}

/**
 * - `addressUnknown`: there is no host of this name
 * - `connectionRefused`: nothing listens at the address
 * - `timedOut`: no answer in time; a firewall may drop what is sent there
 * - `tlsFailed`: the two do not agree on TLS, or the certificate is not trusted
 * - `tlsExpected`: the server wants TLS, and the client is configured without
 * - `notTemporal`: it takes connections, and does not answer as Temporal does
 * - `unavailable`: it answers that it cannot now, or the connection broke
 */
export type TemporalUnavailableCode =
  | 'addressUnknown'
  | 'connectionRefused'
  | 'timedOut'
  | 'tlsFailed'
  | 'tlsExpected'
  | 'notTemporal'
  | 'unavailable';

/** Thrown when Temporal itself cannot be reached, or did not answer in time. */
export class TemporalUnavailableError extends CreditJourneyError {
  override readonly name = 'TemporalUnavailableError';
  override readonly code: TemporalUnavailableCode;

  constructor(what: string, code: TemporalUnavailableCode = 'unavailable', options: { cause?: Error } = {}) {
    super(`Temporal cannot be reached: ${what}`, options);
    this.code = code;
  }
}

/**
 * Thrown when Temporal answers and refuses the call: without credentials that it takes (`unauthenticated`), to these
 * credentials (`permissionDenied`), for a namespace that it does not have (`namespaceNotFound`), or for another reason
 * (`refused`).
 */
export class TemporalRefusedError extends CreditJourneyError {
  override readonly name = 'TemporalRefusedError';
  override readonly code: 'unauthenticated' | 'permissionDenied' | 'namespaceNotFound' | 'refused';

  constructor(code: TemporalRefusedError['code'], options: { cause?: Error } = {}) {
    super(`Temporal refuses the call: ${REFUSALS[code]}`, options);
    this.code = code;
  }
}

const REFUSALS: Record<TemporalRefusedError['code'], string> = {
  unauthenticated: 'it takes no such credentials (TEMPORAL_API_KEY, or the client’s certificate)',
  permissionDenied: 'these credentials may not do this, or have no access to the namespace',
  namespaceNotFound: 'it has no such namespace (TEMPORAL_NAMESPACE)',
  refused: 'the cause has its gRPC status',
};

/** Thrown when an answer came that this client cannot read: it is not of this project's form. */
export class AnswerUnreadableError extends CreditJourneyError {
  override readonly name = 'AnswerUnreadableError';
  override readonly code = 'answerUnreadable';

  constructor() {
    super('the answer cannot be read: it is not JSON, or encoded in a way that this client does not know');
  }
}

/** Thrown by every call that is under way when the client is closed, and by every call after that. */
export class ClientClosedError extends CreditJourneyError {
  override readonly name = 'ClientClosedError';
  override readonly code = 'closed';

  constructor() {
    super('the client was closed');
  }
}

/** Thrown when the caller's `signal` was aborted; `cause` is the signal's reason. What was sent may still arrive. */
export class CallAbortedError extends CreditJourneyError {
  override readonly name = 'CallAbortedError';
  override readonly code = 'aborted';

  constructor(reason: unknown) {
    super('the caller aborted the call', { cause: reason });
  }
}

/** Thrown when the result is not there within `timeoutMs`. The run goes on. */
export class ResultNotReadyError extends CreditJourneyError {
  override readonly name = 'ResultNotReadyError';
  override readonly code = 'resultNotReady';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`${runName(journeyId)} has not ended within the time given`);
    this.journeyId = journeyId;
  }
}

/** Thrown when this client has no key to read an answer, or to send where other runs are encrypted. */
export class KeysMissingError extends CreditJourneyError {
  override readonly name = 'KeysMissingError';
  override readonly code = 'keysMissing';

  /** @param what of fixed words */
  constructor(what: string) {
    super(`${what}: name a codec server in CODEC_SERVER_URL, or the workers’ key ring in KEY_RING_FILE`);
  }
}

/** Thrown when this id is taken by a run with another input or, of a pull, of another product. Nothing was started. */
export class InputDiffersError extends CreditJourneyError {
  override readonly name = 'InputDiffersError';
  override readonly code = 'differs';
  readonly kind: RunKind;
  /** The caller's own id. */
  readonly id: string;
  /** Where the two inputs differ: members alone where this client may not see the first input whole. */
  readonly problems: readonly Problem[];

  constructor(kind: RunKind, id: string, paths: readonly string[]) {
    const list = paths.map((path) => path || '/').join(', ');
    const run = `${kind === 'portfolio' ? 'portfolio review' : kind} ${id}`;
    super(
      `${run} was started with another input: ${list} ${paths.length > 1 ? 'differ' : 'differs'}; choose another id`,
    );
    this.kind = kind;
    this.id = id;
    this.problems = paths.map((path) => ({
      path,
      rule: 'must be as it was started: choose another id for another input',
    }));
  }
}
