/** One share by itself as platforms see it. */

import { type ConsentMessage, consentToShare } from '../../messages/consent.ts';
import { type ExtendShareReportMessage, extendShareReport } from '../../messages/extend.ts';
import { type ResolveInquiryMessage, resolveShareReport } from '../../messages/resolve-inquiry.ts';
import type {
  ShareReportReferences,
  ShareReportResult,
  ShareReportStatus,
  ShareReportUpdateAnswer,
} from '../../messages/share/shapes.ts';
import { type WithdrawShareReportMessage, withdrawShareReport } from '../../messages/withdraw.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { redactedPointer } from '../../protection/redaction/redaction.ts';
import { type CallOptions, inOneTime } from '../connection/calls.ts';
import { CONSENT_PATIENCE_MS, isForLedger, type LateConsentAnswer, recordLate, signalConsent } from './late-consent.ts';
import { type MessageOptions, type RunContext, RunHandle } from './run-handle.ts';

/** Who consents, to what, for whom is said by the share itself. */
export type ShareConsentMessage = Omit<ConsentMessage, 'journeyId' | 'shareId'>;

/** Whether the message came without an open run, and was recorded in the ledger alone. */
export type ShareConsentAnswer = (ShareReportUpdateAnswer & { late: false }) | LateConsentAnswer;

/** Errors: run-handle.ts. */
export class ShareHandle extends RunHandle<ShareReportStatus, ShareReportResult> {
  readonly shareId: string;

  /** @internal */
  constructor(context: RunContext, shareId: string) {
    super(context, ownerIdOf('share', shareId));
    this.shareId = shareId;
  }

  /** Fire and forget: what is refused is shown in the status. Without an open run it is recorded all the same. */
  async consent(message: ShareConsentMessage, options: CallOptions = {}): Promise<{ late: false } | LateConsentAnswer> {
    return signalConsent(this.context(), this.handle(), this.#consentOf(message), options);
  }

  /**
   * Acknowledged. Before the share is started, or after its end: recorded in the ledger, where the share finds it once
   * it is started, and posted shares that a refusal concerns are flagged.
   */
  async recordConsent(message: ShareConsentMessage, options: MessageOptions = {}): Promise<ShareConsentAnswer> {
    const checked = this.#consentOf(message);
    const left = inOneTime(options);
    try {
      const key = consentToShare.keyOf('recordConsent', checked);
      const answer = await this.update<ShareReportUpdateAnswer>(
        'recordConsent',
        key,
        checked,
        options,
        CONSENT_PATIENCE_MS,
      );
      return { ...answer, late: false };
    } catch (error) {
      if (!isForLedger(error, checked)) throw error;
      return recordLate(this.context(), checked, { ...options, ...left() });
    }
  }

  /** A person's decision about the inquiry on hold. `amend` is refused: a share has no applicants to correct. */
  async resolve(
    decision: Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'>,
    options?: MessageOptions,
  ): Promise<ShareReportUpdateAnswer> {
    return this.send(resolveShareReport, 'resolveInquiry', decision, options);
  }

  /** Makes the wait for consent longer while it lasts. */
  async extend(
    message: Omit<ExtendShareReportMessage, 'shareId'>,
    options?: MessageOptions,
  ): Promise<ShareReportUpdateAnswer> {
    return this.send(extendShareReport, 'extend', message, options);
  }

  /**
   * Ends the share after any attempt in flight. `recorded` says whether the ledger keeps it from ever being sent already;
   * refused where it was posted first.
   */
  async withdraw(
    message: Omit<WithdrawShareReportMessage, 'shareId'>,
    options?: MessageOptions,
  ): Promise<ShareReportUpdateAnswer> {
    return this.send(withdrawShareReport, 'withdraw', message, options);
  }

  /** The report that is shared, and the share's own reference (interface 2.7). `consumerId` is personal. */
  async references(options: CallOptions = {}): Promise<ShareReportReferences & { redacted: boolean }> {
    const references = await this.query<ShareReportReferences>('references', options);
    return { ...references, redacted: redactedPointer(references) !== null };
  }

  protected statusOfResult({ outcome, sharedWith: _, ...rest }: ShareReportResult): ShareReportStatus {
    return {
      ...rest,
      state: outcome,
      consentsMissing: [],
      holds: [],
      refusedMessages: [],
      refusedMessagesTotal: 0,
    };
  }

  #consentOf(message: ShareConsentMessage): ConsentMessage {
    return this.checked(consentToShare, { ...message, shareId: this.shareId });
  }
}
