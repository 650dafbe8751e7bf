/** One single pull as platforms see it. */

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
import type { CallOptions } from '../connection/calls.ts';
import { type MessageOptions, type RunContext, RunHandle } from './run-handle.ts';

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

  /** What a caller must store for later shares. `consumerId` is personal, and masked where `redacted`. */
  async references(options: CallOptions = {}): Promise<PullReferences & { redacted: boolean }> {
    const references = await this.query<PullReferences>('references', options);
    return { ...references, redacted: redactedPointer(references) !== null };
  }

  protected statusOfResult(result: PullResult): PullStatus {
    const { outcome, reference, consumers: _personal, unattributed: __personal, ...rest } = result;
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
