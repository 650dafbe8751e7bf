/**
 * The client's errors, beside `InvalidInputError` (every path that is wrong) and plain bugs. A `journeyId` is the
 * owner's id (model/owner-id.ts): of a pull `pull:<pullId>`.
 */

import type { ShareInput } from '../../messages/journey/shapes.ts';
import type { ShareReportInput } from '../../messages/share/shapes.ts';
import { type RunKind, runName } from '../../model/owner-id.ts';
import type { Problem } from '../../model/problems.ts';
import type { ReportProduct } from '../../model/products.ts';

/** Thrown when Temporal knows no run of this journey: it was never started, or its retention is over. */
export class JourneyNotFoundError extends Error {
  override readonly name = 'JourneyNotFoundError';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`there is no ${runName(journeyId)}`);
    this.journeyId = journeyId;
  }
}

/** Thrown when the journey has ended: it takes no messages, and a completed one is never run again. */
export class JourneyFinishedError extends Error {
  override readonly name: string = 'JourneyFinishedError';
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
      '--purpose': permissiblePurposeCode,
      '--await-consent-for': waits.awaitConsentFor,
      '--consent-valid-for': waits.consentValidFor,
    };
    const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
    return ['credit-journey share', report.journeyId, '--ended', ...given].join(' ');
  }
}

/** Thrown when the journey refused the message as it stands now; nothing has changed. */
export class UpdateRefusedError extends Error {
  override readonly name = 'UpdateRefusedError';
  readonly journeyId: string;
  readonly reason: string;

  constructor(journeyId: string, reason: string) {
    super(`${runName(journeyId)} refused: ${reason}`);
    this.journeyId = journeyId;
    this.reason = reason;
  }
}

/** Thrown when the ledger refuses a decision about an inquiry without a run; nothing was written. */
export class DecisionRefusedError extends Error {
  override readonly name = 'DecisionRefusedError';
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
export class JourneyFailedError extends Error {
  override readonly name = 'JourneyFailedError';
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
export class WorkerUnavailableError extends Error {
  override readonly name = 'WorkerUnavailableError';
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
export class TooManyMessagesError extends Error {
  override readonly name = 'TooManyMessagesError';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`${runName(journeyId)} has more messages than Temporal takes at once: send this one again in a minute`);
    this.journeyId = journeyId;
  }
}

/** Thrown when Temporal itself cannot be reached, or did not answer in time. */
export class TemporalUnavailableError extends Error {
  override readonly name = 'TemporalUnavailableError';

  constructor(what: string) {
    super(`Temporal cannot be reached: ${what}`);
  }
}

/** Thrown when the ledger holds no such report. */
export class ReportNotFoundError extends Error {
  override readonly name = 'ReportNotFoundError';
  readonly journeyId: string;
  readonly productCode: string;

  constructor(journeyId: string, productCode: string) {
    super(`the ledger holds no ${productCode} report of ${runName(journeyId)}`);
    this.journeyId = journeyId;
    this.productCode = productCode;
  }
}

/**
 * Thrown when the ledger holds no list of changes: there was no preclose report, or none before it to compare it with.
 */
export class ChangesNotFoundError extends Error {
  override readonly name = 'ChangesNotFoundError';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`the ledger holds no list of changes of journey ${journeyId}`);
    this.journeyId = journeyId;
  }
}

/** Thrown when what the caller asks for was disposed of for good (docs/retention.md). */
export class JourneyDisposedError extends Error {
  override readonly name = 'JourneyDisposedError';
  readonly journeyId: string;

  constructor(journeyId: string) {
    super(`this was disposed of: ${runName(journeyId)} has nothing of it left`);
    this.journeyId = journeyId;
  }
}

/** Thrown when the answer is encrypted and this client has no key to read it. */
export class KeysMissingError extends Error {
  override readonly name = 'KeysMissingError';

  constructor() {
    super(
      'the answer is encrypted: name a codec server in CODEC_SERVER_URL, or the workers’ key ring in KEY_RING_FILE',
    );
  }
}

/**
 * Thrown when this id is taken by a run with another input, or, of a pull, of another product; of a journey, where that
 * one is running. Nothing was started.
 */
export class InputDiffersError extends Error {
  override readonly name = 'InputDiffersError';
  readonly kind: RunKind;
  /** The caller's own id. */
  readonly id: string;
  /** Where the two inputs differ, as far as this client may see it. */
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
