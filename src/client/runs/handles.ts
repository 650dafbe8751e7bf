/** The handle of each kind of run: its messages, and its status once it has completed. */
import { advance, type PassGateMessage, type RepeatStageMessage } from '../../messages/advance.ts';
import { type ConsentMessage, consent, consentToShare } from '../../messages/consent.ts';
import { type ExtendMessage, type ExtendShareReportMessage, extend, extendShareReport } from '../../messages/extend.ts';
import type { JourneyReferences, JourneyResult, JourneyStatus, UpdateAnswer } from '../../messages/journey/shapes.ts';
import type { PortfolioResult, PortfolioStatus, PortfolioUpdateAnswer } from '../../messages/portfolio/shapes.ts';
import type { PullReferences, PullResult, PullStatus, PullUpdateAnswer } from '../../messages/pull/shapes.ts';
import { type RequestShareMessage, requestShare, type ShareInput } from '../../messages/request-share.ts';
import {
  type ResolveInquiryMessage,
  type ResolvePortfolioMessage,
  type ResolvePullMessage,
  resolveInquiry,
  resolvePortfolio,
  resolvePull,
  resolveShareReport,
} from '../../messages/resolve-inquiry.ts';
import type {
  ShareReportReferences,
  ShareReportResult,
  ShareReportStatus,
  ShareReportUpdateAnswer,
} from '../../messages/share/shapes.ts';
import {
  type PortfolioMessage,
  steerReview,
  type WithdrawMessage,
  type WithdrawPullMessage,
  type WithdrawShareMessage,
  type WithdrawShareReportMessage,
  withdrawJourney,
  withdrawPull,
  withdrawShare,
  withdrawShareReport,
} from '../../messages/withdraw.ts';
import { type CallOptions, MESSAGE_TIMEOUT_MS, serverLate } from '../connection/calls.ts';
import { JourneyFinishedError, ShareAfterEndError } from '../connection/errors.ts';
import { ConsentHandle, type LateConsentAnswer } from './consent-handle.ts';
import { type MessageOptions, type Redacted, type RunContext, RunHandle, type Settled } from './run-handle.ts';

/** Whether the message came after the journey's end and was recorded in the ledger alone. */
export type ConsentAnswer = (UpdateAnswer & { late: false }) | LateConsentAnswer;

/** The share that another one corrects; who says so, and why. */
export type Replacing = Required<Pick<RequestShareMessage, 'replaces' | 'by' | 'reason'>>;

/** One journey. Errors: run-handle.ts. */
export class JourneyHandle extends ConsentHandle<
  JourneyStatus,
  JourneyResult,
  UpdateAnswer,
  Omit<ConsentMessage, 'journeyId'>
> {
  readonly journeyId: string;

  /** @internal */
  constructor(context: RunContext, journeyId: string) {
    super(context, 'journey', journeyId);
    this.journeyId = journeyId;
  }

  /**
   * Passes the gate before a stage, or has the latest stage pulled once more; one that comes early is kept.
   * `applicants` are all who apply from then on.
   */
  advance(
    message: Omit<PassGateMessage, 'journeyId'> | Omit<RepeatStageMessage, 'journeyId'>,
    options?: MessageOptions,
  ): Promise<UpdateAnswer> {
    return this.send(advance, 'advance', message, options);
  }

  /**
   * `replacing` withdraws another share first, and takes this one only once the ledger has closed that one for good.
   *
   * @throws ShareAfterEndError, a `JourneyFinishedError`, with the call that shares it all the same
   */
  async requestShare(
    share: ShareInput,
    { replacing, ...options }: MessageOptions & { replacing?: Replacing } = {},
  ): Promise<UpdateAnswer> {
    try {
      return await this.send(requestShare, 'requestShare', { share, ...replacing }, options);
    } catch (error) {
      if (error instanceof JourneyFinishedError) throw new ShareAfterEndError(this.journeyId, share);
      throw error;
    }
  }

  /**
   * Takes one share back. Answers once the ledger keeps it from ever being sent, with `recorded: true`; refused where its
   * claim came first.
   */
  withdrawShare(message: Omit<WithdrawShareMessage, 'journeyId'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send(withdrawShare, 'withdrawShare', message, options);
  }

  /** Makes the wait at the gate, or of a share for consent, longer while it lasts. */
  extend(message: Omit<ExtendMessage, 'journeyId'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send(extend, 'extend', message, options);
  }

  /** A person's decision about an inquiry on hold. */
  resolve(decision: Omit<ResolveInquiryMessage, 'journeyId'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send(resolveInquiry, 'resolveInquiry', decision, options);
  }

  /** Ends the journey after any attempt in flight, at once. `recorded` says whether the ledger has it already. */
  withdraw(message: Omit<WithdrawMessage, 'journeyId'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send(withdrawJourney, 'withdraw', message, options);
  }

  /** Reads what to store for later shares (interface 2.4). `consumerId` is personal, and masked if `redacted`. */
  references(options?: CallOptions): Promise<Redacted<JourneyReferences>> {
    return this.queryReferences(options);
  }

  protected toMessage(message: Omit<ConsentMessage, 'journeyId'>): ConsentMessage {
    return this.parseOwnMessage(consent, message);
  }

  protected statusOfResult({ outcome, stages, ...rest }: JourneyResult): Settled<JourneyStatus> {
    return { ...rest, state: outcome, stages: stages.map(({ reference: _personal, ...stage }) => stage) };
  }
}

/** One single pull. Errors: run-handle.ts. */
export class PullHandle extends RunHandle<PullStatus, PullResult, PullUpdateAnswer> {
  readonly pullId: string;

  /** @internal */
  constructor(context: RunContext, pullId: string) {
    super(context, 'pull', pullId);
    this.pullId = pullId;
  }

  /** A person's decision about the inquiry on hold. */
  resolve(decision: Omit<ResolvePullMessage, 'pullId'>, options?: MessageOptions): Promise<PullUpdateAnswer> {
    return this.send(resolvePull, 'resolveInquiry', decision, options);
  }

  /** Ends the pull after any attempt in flight, at once. `recorded` says whether the ledger has it already. */
  withdraw(message: Omit<WithdrawPullMessage, 'pullId'>, options?: MessageOptions): Promise<PullUpdateAnswer> {
    return this.send(withdrawPull, 'withdraw', message, options);
  }

  /** Reads what a caller must store for later shares. `consumerId` is personal, and masked if `redacted`. */
  references(options?: CallOptions): Promise<Redacted<PullReferences>> {
    return this.queryReferences(options);
  }

  protected statusOfResult(result: PullResult): Settled<PullStatus> {
    const { outcome, reference, consumers: _personal, unattributed: __personal, ...rest } = result;
    const number = reference && { reportReferenceNumber: reference.reportReferenceNumber };
    return { ...rest, ...number, state: outcome };
  }
}

/** A consent to this share, which itself says who consents, to what and for whom. */
export type ShareConsentMessage = Omit<ConsentMessage, 'journeyId' | 'shareId'>;

/** Whether the message came without an open run, and was recorded in the ledger alone. */
export type ShareConsentAnswer = (ShareReportUpdateAnswer & { late: false }) | LateConsentAnswer;

/** One share by itself. Errors: run-handle.ts. */
export class ShareHandle extends ConsentHandle<
  ShareReportStatus,
  ShareReportResult,
  ShareReportUpdateAnswer,
  ShareConsentMessage
> {
  readonly shareId: string;

  /** @internal */
  constructor(context: RunContext, shareId: string) {
    super(context, 'share', shareId);
    this.shareId = shareId;
  }

  /** A person's decision about the inquiry on hold. `amend` is refused: a share has no applicants to correct. */
  resolve(
    decision: Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'>,
    options?: MessageOptions,
  ): Promise<ShareReportUpdateAnswer> {
    return this.send(resolveShareReport, 'resolveInquiry', decision, options);
  }

  /** Makes the wait for consent longer while it lasts. */
  extend(
    message: Omit<ExtendShareReportMessage, 'shareId'>,
    options?: MessageOptions,
  ): Promise<ShareReportUpdateAnswer> {
    return this.send(extendShareReport, 'extend', message, options);
  }

  /**
   * Ends the share after any attempt in flight. `recorded` says whether the ledger keeps it from ever being sent already;
   * refused where it was posted first.
   */
  withdraw(
    message: Omit<WithdrawShareReportMessage, 'shareId'>,
    options?: MessageOptions,
  ): Promise<ShareReportUpdateAnswer> {
    return this.send(withdrawShareReport, 'withdraw', message, options);
  }

  /** The report that is shared, and the share's own reference (interface 2.7). `consumerId` is personal. */
  references(options?: CallOptions): Promise<Redacted<ShareReportReferences>> {
    return this.queryReferences(options);
  }

  protected toMessage(message: ShareConsentMessage): ConsentMessage {
    return this.parseOwnMessage(consentToShare, { ...message, shareId: this.shareId });
  }

  protected statusOfResult({ outcome, sharedWith: _, ...rest }: ShareReportResult): Settled<ShareReportStatus> {
    return { ...rest, state: outcome, consentsMissing: [] };
  }
}

type ReviewMessage = Omit<PortfolioMessage, 'reviewId'>;

/** One portfolio review. Errors: run-handle.ts. */
export class PortfolioHandle extends RunHandle<PortfolioStatus, PortfolioResult, PortfolioUpdateAnswer> {
  readonly reviewId: string;

  /** @internal */
  constructor(context: RunContext, reviewId: string) {
    super(context, 'portfolio', reviewId);
    this.reviewId = reviewId;
  }

  /** A person's decision about one of the inquiries on hold. */
  resolve(
    decision: Omit<ResolvePortfolioMessage, 'reviewId'>,
    options?: MessageOptions,
  ): Promise<PortfolioUpdateAnswer> {
    return this.send(resolvePortfolio, 'resolveInquiry', decision, options);
  }

  /** Sends nothing more until `resume`. A pause of one that is paused changes nothing. */
  pause(message: ReviewMessage, options?: MessageOptions): Promise<PortfolioUpdateAnswer> {
    return this.send(steerReview, 'pause', message, options);
  }

  resume(message: ReviewMessage, options?: MessageOptions): Promise<PortfolioUpdateAnswer> {
    return this.send(steerReview, 'resume', message, options);
  }

  /** Ends the review after the attempts in flight, and once nothing is on hold. `recorded` as of a journey's. */
  withdraw(message: ReviewMessage, options?: MessageOptions): Promise<PortfolioUpdateAnswer> {
    return this.send(steerReview, 'withdraw', message, options);
  }

  /** Ends the review like `withdraw`, but leaves held inquiries undecided in the ledger. The run ends as cancelled. */
  async cancel(options: CallOptions = {}): Promise<void> {
    const about = { runKey: this.runKey, late: serverLate, defaultMs: MESSAGE_TIMEOUT_MS };
    await this.context().calls.make(about, options, () => this.handle().cancel());
  }

  protected statusOfResult(result: PortfolioResult): Settled<PortfolioStatus> {
    const { reviewId, environment, productCode, outcome, file, digest, rows, badRows } = result;
    const { record, noRecord, noReport, abandoned } = result;
    const done = record + noRecord + noReport + abandoned;
    const progress = { rows, badRows, done, record, noRecord, noReport, abandoned, held: 0, underWay: 0 };
    return { reviewId, environment, productCode, state: outcome, file, digest, progress };
  }
}
