/** One single pull as platforms see it. */

import { defined } from '../../base/defined.ts';
import { parseResolvePull, parseWithdrawPull } from '../../messages/parse-messages.ts';
import type {
  PullReferences,
  PullResult,
  PullStatus,
  PullUpdateAnswer,
  ResolvePullMessage,
  WithdrawPullMessage,
} from '../../messages/pull/shapes.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { redactedPointer } from '../../protection/redaction/redaction.ts';
import { businessKeys } from '../connection/business-keys.ts';
import { type CallOptions, inOneTime } from '../connection/calls.ts';
import type { JourneyReport, ReportReader } from '../reports/stored-report.ts';
import { type MessageOptions, type RunContext, RunHandle, referencesOr } from './run-handle.ts';

/** `consumerId` is personal, and masked where `redacted`. */
export type StoredPullReferences = PullReferences & { redacted: boolean };

/** Errors: run-handle.ts. */
export class PullHandle extends RunHandle<PullStatus, PullResult> {
  readonly pullId: string;

  /** @internal */
  constructor(context: RunContext, pullId: string) {
    super(context, ownerIdOf('pull', pullId));
    this.pullId = pullId;
  }

  /** A person's decision about the inquiry on hold. */
  async resolve(decision: Omit<ResolvePullMessage, 'pullId'>, options?: MessageOptions): Promise<PullUpdateAnswer> {
    const checked = parseResolvePull({ ...decision, pullId: this.pullId }, this.context());
    return this.update('resolveInquiry', businessKeys.resolveInquiry(checked), checked, options);
  }

  /** Ends the pull after any attempt in flight, at once. `recorded` says whether the ledger has it already. */
  async withdraw(message: Omit<WithdrawPullMessage, 'pullId'>, options?: MessageOptions): Promise<PullUpdateAnswer> {
    const checked = parseWithdrawPull({ ...message, pullId: this.pullId });
    return this.update('withdraw', businessKeys.withdraw(), checked, options);
  }

  /**
   * The report as the gateway answered it, from the codec server or the ledger. Personal throughout.
   *
   * @throws ReportNotFoundError; CodecServerError, or what opening the ledger throws
   */
  async report(
    productCode?: PullResult['productCode'],
    { by, purpose, endUser, ...options }: ReportReader & CallOptions = {},
  ): Promise<JourneyReport> {
    const left = inOneTime(options);
    const reader = defined({ by, purpose, endUser });
    return this.storedReport(productCode ?? (await this.status(options)).productCode, left(), reader);
  }

  /**
   * What the interface says a caller must store for later shares. `consumerId` is personal. Once the run is gone from
   * Temporal, from where reports come from.
   */
  references(options: CallOptions = {}): Promise<StoredPullReferences> {
    return referencesOr(
      async () => {
        const references = await this.query<PullReferences>('references', options);
        return { ...references, redacted: redactedPointer(references) !== null };
      },
      async () => {
        const stored = await this.storedReferences(options);
        if (!stored) return undefined;
        const { consumers, redacted } = stored;
        const said = stored.said as PullReferences['said'];
        const references = stored.references as PullReferences['references'];
        return {
          pullId: this.pullId,
          references,
          ...(consumers ? { consumers } : {}),
          ...(said ? { said } : {}),
          redacted,
        };
      },
    );
  }

  protected statusOfResult(result: PullResult): PullStatus {
    const { outcome, reference, consumers: _personal, ...rest } = result;
    return {
      ...rest,
      state: outcome,
      ...(reference ? { reportReferenceNumber: reference.reportReferenceNumber } : {}),
      holds: [],
      refusedMessages: [],
      refusedMessagesTotal: 0,
    };
  }
}
