/** One single pull as platforms see it. */

import type { PullReferences, PullResult, PullStatus, PullUpdateAnswer } from '../../messages/pull/shapes.ts';
import { type ResolvePullMessage, resolvePull } from '../../messages/resolve-inquiry.ts';
import { type WithdrawPullMessage, withdrawPull } from '../../messages/withdraw.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { redactedPointer } from '../../protection/redaction/redaction.ts';
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
    return this.send(resolvePull, 'resolveInquiry', decision, options);
  }

  /** Ends the pull after any attempt in flight, at once. `recorded` says whether the ledger has it already. */
  async withdraw(message: Omit<WithdrawPullMessage, 'pullId'>, options?: MessageOptions): Promise<PullUpdateAnswer> {
    return this.send(withdrawPull, 'withdraw', message, options);
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
