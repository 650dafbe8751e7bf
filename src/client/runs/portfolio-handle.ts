/** One portfolio review as platforms see it. */

import type { PortfolioResult, PortfolioStatus, PortfolioUpdateAnswer } from '../../messages/portfolio/shapes.ts';
import { type ResolvePortfolioMessage, resolvePortfolio } from '../../messages/resolve-inquiry.ts';
import { type PortfolioMessage, steerReview } from '../../messages/withdraw.ts';
import { ownerIdOf } from '../../model/owner-id.ts';
import { type CallOptions, MESSAGE_TIMEOUT_MS } from '../connection/calls.ts';
import { TemporalUnavailableError } from '../connection/errors.ts';
import { type MessageOptions, type RunContext, RunHandle } from './run-handle.ts';

type Message = Omit<PortfolioMessage, 'reviewId'>;

/** Errors: run-handle.ts. */
export class PortfolioHandle extends RunHandle<PortfolioStatus, PortfolioResult> {
  readonly reviewId: string;

  /** @internal */
  constructor(context: RunContext, reviewId: string) {
    super(context, ownerIdOf('portfolio', reviewId));
    this.reviewId = reviewId;
  }

  /** A person's decision about one of the inquiries on hold. */
  async resolve(
    decision: Omit<ResolvePortfolioMessage, 'reviewId'>,
    options?: MessageOptions,
  ): Promise<PortfolioUpdateAnswer> {
    return this.send(resolvePortfolio, 'resolveInquiry', decision, options);
  }

  /** Sends nothing more until `resume`. A pause of one that is paused changes nothing. */
  async pause(message: Message, options?: MessageOptions): Promise<PortfolioUpdateAnswer> {
    return this.send(steerReview, 'pause', message, options);
  }

  async resume(message: Message, options?: MessageOptions): Promise<PortfolioUpdateAnswer> {
    return this.send(steerReview, 'resume', message, options);
  }

  /** Ends the review after the attempts in flight, and once nothing is on hold. `recorded` as of a journey's. */
  async withdraw(message: Message, options?: MessageOptions): Promise<PortfolioUpdateAnswer> {
    return this.send(steerReview, 'withdraw', message, options);
  }

  /** As `withdraw`, and leaves what is on hold undecided in the ledger. The run ends as cancelled. */
  async cancel(options: CallOptions = {}): Promise<void> {
    const late = () => new TemporalUnavailableError('it did not answer in time', 'timedOut');
    const call = { timeoutMs: MESSAGE_TIMEOUT_MS, ...options, ownerId: this.ownerId, late };
    await this.context().calls.make(call, () => this.handle().cancel());
  }

  protected statusOfResult(result: PortfolioResult): PortfolioStatus {
    const { reviewId, environment, productCode, outcome, file, digest, rows, badRows } = result;
    const { record, noRecord, noReport, abandoned } = result;
    const done = record + noRecord + noReport + abandoned;
    return {
      ...{ reviewId, environment, productCode, state: outcome, file, digest },
      progress: { ...{ rows, badRows, done, record, noRecord, noReport, abandoned }, held: 0, underWay: 0 },
      ...{ holds: [], refusedMessages: [], refusedMessagesTotal: 0 },
    };
  }
}
