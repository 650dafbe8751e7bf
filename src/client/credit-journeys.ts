/** The client itself: starts runs, finds them, and asks the ledger where no run is left. */
import type { Client } from '@temporalio/client';
import type { Ledger } from '../ledger/port.ts';
import { type LendingJourneyInput, lendingJourney } from '../messages/inputs/lending-journey.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { type PortfolioReviewInput, portfolioReview } from '../messages/inputs/portfolio-review.ts';
import { type PullInput, pullInputOf } from '../messages/inputs/pull.ts';
import { type ShareReportInput, shareReport } from '../messages/inputs/share-report.ts';
import { MAX_ID_LENGTH, MAX_SHARE_ID_LENGTH, opaqueIdProblem, reviewIdProblem } from '../model/opaque-id.ts';
import { ownerOf } from '../model/owner-id.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { WorkClass } from '../model/work-class.ts';
import { type ClientParts, connectedParts } from './connected-parts.ts';
import { type CallOptions, Calls, MESSAGE_TIMEOUT_MS } from './connection/calls.ts';
import type { ConnectOptions } from './connection/connect-options.ts';
import { TemporalUnavailableError } from './connection/errors.ts';
import { JourneyHandle } from './runs/journey-handle.ts';
import { PortfolioHandle } from './runs/portfolio-handle.ts';
import { PullHandle } from './runs/pull-handle.ts';
import type { RunContext } from './runs/run-handle.ts';
import { ShareHandle } from './runs/share-handle.ts';
import { startJourney } from './runs/start-journey.ts';
import { startPortfolio } from './runs/start-portfolio.ts';
import { startPull } from './runs/start-pull.ts';
import { startShare } from './runs/start-share.ts';

/** What a start may say beside its input. */
export interface StartOptions extends CallOptions {
  /** Default `interactive`. A `batch` gives way to it wherever both wait for the gateway's limit. */
  workClass?: WorkClass;
}

/** The handle that a start returns. */
export type Started<Handle> = Handle & {
  /** `false`: a run with the same input had this id before. It may have ended. */
  readonly isNew: boolean;
};

/** A start waits for the server alone, never for a worker. */
const lateServer = () => new TemporalUnavailableError('it did not answer in time', 'timedOut');

/** Set by the class: what it holds is private, so that no inspection of a client shows connection or keys. */
let clientOf: (journeys: CreditJourneys) => Client;

/**
 * The SDK's own client, for programs of this project that make other calls. It shows its connection and its keys.
 *
 * @internal
 */
export function sdkClientOf(journeys: CreditJourneys): Client {
  return clientOf(journeys);
}

/**
 * The client: starts runs, finds them, and reads what came of them. One for a process is enough; close it at the end.
 * Its calls throw a `CreditJourneyError`; any other error is a bug.
 */
export class CreditJourneys {
  static {
    clientOf = (journeys) => journeys.#parts.client;
  }

  readonly taskQueue: string;
  readonly #parts: ClientParts;
  readonly #calls: Calls;

  /** @internal */
  protected constructor(parts: ClientParts) {
    this.taskQueue = parts.taskQueue;
    this.#parts = parts;
    this.#calls = new Calls(parts.client, parts.codecServer);
  }

  /**
   * Connects to Temporal. Needs no secret of the gateway; reads the environment for what `options` leave out.
   *
   * @throws ConfigError, InvalidInputError, KeyRingError, TemporalUnavailableError, TemporalRefusedError, CallAbortedError
   */
  static async connect(options: ConnectOptions = {}): Promise<CreditJourneys> {
    return new CreditJourneys(await connectedParts(options));
  }

  /**
   * Starts a journey. A start that is repeated finds the first (`isNew: false`), which is never run again once it has
   * completed; one that failed, was terminated or timed out is, and the ledger answers for what was sent. A journey that
   * no person waits for at a screen (a campaign, a night's run) is a `batch`.
   *
   * @throws InvalidInputError; InputDiffersError where a journey with another input has this id;
   *   TemporalUnavailableError; WorkerUnavailableError where only the run itself can compare the inputs
   */
  async start(input: LendingJourneyInput, options: StartOptions = {}): Promise<Started<JourneyHandle>> {
    const { workClass = 'interactive' } = options;
    const checked = parseMessage(lendingJourney, input, this.#parts);
    return this.#start(this.get(checked.journeyId), options, () => startJourney(this.context(), checked, workClass));
  }

  /**
   * Starts a single pull: one report product, or FAILSAFE. A start that is repeated finds the first, which is never run
   * again once it has completed; one that failed, was terminated or timed out is, and the ledger answers for what was
   * sent.
   *
   * @throws InvalidInputError; InputDiffersError where a pull of another product or input has this id;
   *   TemporalUnavailableError
   */
  async pull(input: PullInput, options: StartOptions = {}): Promise<Started<PullHandle>> {
    const checked = parseMessage(pullInputOf(input), input, this.#parts);
    return this.#start(this.getPull(checked.pullId), options, () => startPull(this.context(), checked, options));
  }

  /**
   * A pull by its id; whether it exists shows with the first call.
   *
   * @throws InvalidInputError
   */
  getPull(pullId: string): PullHandle {
    const rule = opaqueIdProblem(pullId, MAX_ID_LENGTH);
    if (rule) throw new InvalidInputError([{ path: '/pullId', rule }]);
    return new PullHandle(this.context(), pullId);
  }

  /**
   * Starts a portfolio review: ACCTRVW for each row of a file that the workers have. Started again as with `pull`.
   *
   * @throws InvalidInputError; InputDiffersError where a review with another input has this id;
   *   TemporalUnavailableError
   */
  async reviewPortfolio(
    input: PortfolioReviewInput,
    options: Omit<StartOptions, 'workClass'> = {},
  ): Promise<Started<PortfolioHandle>> {
    const checked = parseMessage(portfolioReview, input);
    return this.#start(this.getPortfolio(checked.reviewId), options, () => startPortfolio(this.context(), checked));
  }

  /**
   * A portfolio review by its id; whether it exists shows with the first call.
   *
   * @throws InvalidInputError
   */
  getPortfolio(reviewId: string): PortfolioHandle {
    const rule = reviewIdProblem(reviewId);
    if (rule) throw new InvalidInputError([{ path: '/reviewId', rule }]);
    return new PortfolioHandle(this.context(), reviewId);
  }

  /**
   * Shares a report with one secondary user, once every applicant consents: a report of the ledger, or one that is
   * given in full, years after its journey or pull. A start that is repeated finds the first, which is never run again
   * once it has completed; one that failed, was terminated or timed out is, and the ledger answers for what was sent.
   *
   * @throws InvalidInputError; InputDiffersError where a share of another input has this id; TemporalUnavailableError
   */
  async shareReport(
    input: ShareReportInput,
    options: Omit<StartOptions, 'workClass'> = {},
  ): Promise<Started<ShareHandle>> {
    const checked = parseMessage(shareReport, input);
    return this.#start(this.getShare(checked.shareId), options, () => startShare(this.context(), checked));
  }

  /**
   * A share by its id; whether it exists shows with the first call.
   *
   * @throws InvalidInputError
   */
  getShare(shareId: string): ShareHandle {
    const rule = opaqueIdProblem(shareId, MAX_SHARE_ID_LENGTH);
    if (rule) throw new InvalidInputError([{ path: '/shareId', rule }]);
    return new ShareHandle(this.context(), shareId);
  }

  /**
   * A journey by its id; whether it exists shows with the first call.
   *
   * @throws InvalidInputError
   */
  get(journeyId: string): JourneyHandle {
    const rule = opaqueIdProblem(journeyId, MAX_ID_LENGTH);
    if (rule) throw new InvalidInputError([{ path: '/journeyId', rule }]);
    return new JourneyHandle(this.context(), journeyId);
  }

  /**
   * Any run by its owner's id, as lists and the command line have it: a `journeyId`, `pull:<pullId>`,
   * `share:<shareId>`, `portfolio:<reviewId>`.
   *
   * @throws InvalidInputError
   */
  run(ownerId: string): JourneyHandle | PullHandle | ShareHandle | PortfolioHandle {
    const { kind, id } = ownerOf(ownerId);
    switch (kind) {
      case 'journey':
        return this.get(id);
      case 'pull':
        return this.getPull(id);
      case 'portfolio':
        return this.getPortfolio(id);
      case 'share':
        return this.getShare(id);
    }
  }

  /** Closes what it opened itself. Calls that are under way throw `ClientClosedError`. */
  async close(): Promise<void> {
    await this.#calls.close();
    this.#parts.keys?.close();
    await Promise.all([this.#parts.codecServer?.close(), this.#parts.ownConnection?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start<Handle extends { ownerId: string }>(
    handle: Handle,
    { signal, timeoutMs = MESSAGE_TIMEOUT_MS }: StartOptions,
    start: () => Promise<boolean>,
  ): Promise<Started<Handle>> {
    const call = { timeoutMs, ...(signal && { signal }), ownerId: handle.ownerId, late: lateServer };
    const isNew = await this.#calls.make(call, start);
    return Object.assign(handle, { isNew });
  }

  /** @internal */
  protected context(): RunContext & { ledger?: () => Promise<Ledger> } {
    const { client, taskQueue, maxApplicants, queryTimeoutMs } = this.#parts;
    return { client, calls: this.#calls, taskQueue, maxApplicants, queryTimeoutMs };
  }
}
