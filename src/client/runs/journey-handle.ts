/** One journey as platforms see it: its state and result, and the messages to it. */

import { advance, type PassGateMessage, type RepeatStageMessage } from '../../messages/advance.ts';
import { type ConsentMessage, consent } from '../../messages/consent.ts';
import { type ExtendMessage, extend } from '../../messages/extend.ts';
import type { JourneyReferences, JourneyResult, JourneyStatus, UpdateAnswer } from '../../messages/journey/shapes.ts';
import { type RequestShareMessage, requestShare, type ShareInput } from '../../messages/request-share.ts';
import { type ResolveInquiryMessage, resolveInquiry } from '../../messages/resolve-inquiry.ts';
import { type WithdrawMessage, withdrawJourney } from '../../messages/withdraw.ts';
import { type WithdrawShareMessage, withdrawShare } from '../../messages/withdraw-share.ts';
import { redactedPointer } from '../../protection/redaction/redaction.ts';
import { type CallOptions, inOneTime } from '../connection/calls.ts';
import { JourneyFinishedError, ShareAfterEndError } from '../connection/errors.ts';
import { CONSENT_PATIENCE_MS, isForLedger, type LateConsentAnswer, recordLate, signalConsent } from './late-consent.ts';
import { type MessageOptions, type RunContext, RunHandle } from './run-handle.ts';

/** Whether the message came after the journey's end and was recorded in the ledger alone. */
export type ConsentAnswer = (UpdateAnswer & { late: false }) | LateConsentAnswer;

/** The share that another one corrects; who says so, and why. */
export type Replacing = Required<Pick<RequestShareMessage, 'replaces' | 'by' | 'reason'>>;

/** Errors: run-handle.ts. */
export class JourneyHandle extends RunHandle<JourneyStatus, JourneyResult> {
  readonly journeyId: string;

  /** @internal */
  constructor(context: RunContext, journeyId: string) {
    super(context, journeyId);
    this.journeyId = journeyId;
  }

  /**
   * Passes the gate before a stage, or has the latest stage pulled once more; one that comes early is kept.
   * `applicants` are all who apply from then on.
   */
  async advance(
    message: Omit<PassGateMessage, 'journeyId'> | Omit<RepeatStageMessage, 'journeyId'>,
    options?: MessageOptions,
  ): Promise<UpdateAnswer> {
    return this.send(advance, 'advance', message, options);
  }

  /**
   * Fire and forget: what is refused is shown in the status. Without an open run it goes to the ledger, and that is
   * answered as by `recordConsent`.
   */
  async consent(
    message: Omit<ConsentMessage, 'journeyId'>,
    options: CallOptions = {},
  ): Promise<{ late: false } | LateConsentAnswer> {
    return signalConsent(this.context(), this.handle(), this.checked(consent, message), options);
  }

  /**
   * Acknowledged once the ledger has it (`recorded`). Without an open run it goes to the ledger alone: posted shares that
   * it concerns are flagged, a journey that is started later finds it, and `unmatched` says what the ledger does not know.
   */
  async recordConsent(
    message: Omit<ConsentMessage, 'journeyId'>,
    options: MessageOptions = {},
  ): Promise<ConsentAnswer> {
    const checked = this.checked(consent, message);
    const left = inOneTime(options);
    try {
      const key = consent.keyOf('recordConsent', checked);
      const answer = await this.update<UpdateAnswer>('recordConsent', key, checked, options, CONSENT_PATIENCE_MS);
      return { ...answer, late: false };
    } catch (error) {
      if (!isForLedger(error, checked)) throw error;
      return recordLate(this.context(), checked, { ...options, ...left() });
    }
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
  async withdrawShare(
    message: Omit<WithdrawShareMessage, 'journeyId'>,
    options?: MessageOptions,
  ): Promise<UpdateAnswer> {
    return this.send(withdrawShare, 'withdrawShare', message, options);
  }

  /** Makes the wait at the gate, or of a share for consent, longer while it lasts. */
  async extend(message: Omit<ExtendMessage, 'journeyId'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send(extend, 'extend', message, options);
  }

  /** A person's decision about an inquiry on hold. */
  async resolve(decision: Omit<ResolveInquiryMessage, 'journeyId'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send(resolveInquiry, 'resolveInquiry', decision, options);
  }

  /** Ends the journey after any attempt in flight, at once. `recorded` says whether the ledger has it already. */
  async withdraw(message: Omit<WithdrawMessage, 'journeyId'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send(withdrawJourney, 'withdraw', message, options);
  }

  /** What a caller must store for later shares (interface 2.4). `consumerId` is personal, and masked where `redacted`. */
  async references(options: CallOptions = {}): Promise<JourneyReferences & { redacted: boolean }> {
    const references = await this.query<JourneyReferences>('references', options);
    return { ...references, redacted: redactedPointer(references) !== null };
  }

  protected statusOfResult({ journeyId, environment, outcome, stages, shares }: JourneyResult): JourneyStatus {
    return {
      journeyId,
      environment,
      state: outcome,
      stages: stages.map(({ reference: _personal, ...stage }) => stage),
      shares,
      holds: [],
      refusedMessages: [],
      refusedMessagesTotal: 0,
    };
  }
}
