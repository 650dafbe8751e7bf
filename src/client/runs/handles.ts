/** The handle of each kind of run: the messages that no other kind has. */
import type { UpdateAnswer } from '../../messages/answers.ts';
import type { PullReferences } from '../../messages/pull/shapes.ts';
import type { ShareInput } from '../../messages/request-share.ts';
import type { CallOptions } from '../connection/calls.ts';
import { CallError, hasCode } from '../connection/errors.ts';
import { ConsentHandle } from './consent-handle.ts';
import { type Content, type MessageOptions, type Redacted, RunHandle } from './run-handle.ts';

/** One journey. Errors: run-handle.ts. */
export class JourneyHandle extends ConsentHandle<'journey'> {
  declare readonly journeyId: string;

  /**
   * Passes the gate before a stage, or has the latest stage pulled once more; one that comes early is kept.
   * `applicants` are all who apply from then on.
   */
  advance(message: Content<'journey', 'advance'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send('advance', message, options);
  }

  /** @throws CallError `shareAfterEnd`: an ended journey's report is shared by itself */
  async requestShare(share: ShareInput, options?: MessageOptions): Promise<UpdateAnswer> {
    try {
      return await this.send('requestShare', { share }, options);
    } catch (error) {
      if (hasCode(error, 'journeyFinished')) throw new CallError('shareAfterEnd', { runKey: this.runKey });
      throw error;
    }
  }

  /**
   * Takes one share back. Answers once the ledger keeps it from ever being sent, with `recorded: true`; refused where its
   * claim came first.
   */
  withdrawShare(message: Content<'journey', 'withdrawShare'>, options?: MessageOptions): Promise<UpdateAnswer> {
    return this.send('withdrawShare', message, options);
  }
}

/** One single pull. Errors: run-handle.ts. */
export class PullHandle extends RunHandle<'pull'> {
  declare readonly pullId: string;

  /** Reads what a caller must store for later shares. `consumerId` is personal, and masked if `redacted`. */
  references(options?: CallOptions): Promise<Redacted<PullReferences>> {
    return this.queryReferences(options);
  }
}

/** One share by itself. Errors: run-handle.ts. */
export class ShareHandle extends ConsentHandle<'share'> {
  declare readonly shareId: string;
}

/** One portfolio review. Errors: run-handle.ts. */
export class PortfolioHandle extends RunHandle<'portfolio'> {
  declare readonly reviewId: string;

  /** Stops sending until `resume`. Pausing a paused review has no effect. */
  pause(message: Content<'portfolio', 'pause'>, options?: MessageOptions): Promise<UpdateAnswer<'portfolio'>> {
    return this.send('pause', message, options);
  }

  resume(message: Content<'portfolio', 'resume'>, options?: MessageOptions): Promise<UpdateAnswer<'portfolio'>> {
    return this.send('resume', message, options);
  }

  /** Ends the review like `withdraw`, but leaves held inquiries undecided in the ledger. The run ends as cancelled. */
  async cancel(options: CallOptions = {}): Promise<void> {
    await this.callServer(options, () => this.handle().cancel());
  }
}
