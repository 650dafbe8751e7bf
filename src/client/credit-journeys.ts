/** The client: starts runs, finds them, and reads the ledger if the run no longer exists. */
import type { Client } from '@temporalio/client';
import type { LendingJourneyInput } from '../messages/inputs/lending-journey.ts';
import type { PortfolioReviewInput } from '../messages/inputs/portfolio-review.ts';
import type { PullInput } from '../messages/inputs/pull.ts';
import type { ShareReportInput } from '../messages/inputs/share-report.ts';
import { InvalidInputError } from '../model/problems.ts';
import { checkRunId, ID_NAMES, parseRunKey, type RunKind } from '../model/run-key.ts';
import type { WorkClass } from '../model/work-class.ts';
import { type CallOptions, Calls, createTimeoutError, MESSAGE_TIMEOUT_MS } from './connection/calls.ts';
import { type ClientParts, type ConnectOptions, connectParts } from './connection/connect.ts';
import { JourneyHandle, PortfolioHandle, PullHandle, ShareHandle } from './runs/handles.ts';
import type { RunContext } from './runs/run-handle.ts';
import { checkStart, type StartInputs, startRun } from './runs/start-run.ts';

/** The options of a start beside its input. */
export interface StartOptions extends CallOptions {
  /** Default `interactive`. A `batch` gives way to it wherever both wait for the gateway's limit. */
  workClass?: WorkClass;
}

/** The handle that a start returns. */
export type Started<Handle> = Handle & {
  /** `false`: a run with the same input had this id before. It may have ended. */
  readonly isNew: boolean;
};

interface Handles {
  journey: JourneyHandle;
  pull: PullHandle;
  share: ShareHandle;
  portfolio: PortfolioHandle;
}

const HANDLES: { [Kind in RunKind]: new (context: RunContext, kind: Kind, id: string) => Handles[Kind] } = {
  journey: JourneyHandle,
  pull: PullHandle,
  share: ShareHandle,
  portfolio: PortfolioHandle,
};

/** Set by the class. The members are private, so that printing a client shows no connection and no keys. */
let clientOf: (journeys: CreditJourneys) => Client;

/**
 * Returns the SDK's client, for other programs of this project. Printing it shows its connection and its keys.
 *
 * @internal
 */
export function getSdkClient(journeys: CreditJourneys): Client {
  return clientOf(journeys);
}

/**
 * The client: starts runs, finds them, and reads their results. A process needs only one; close it at the end.
 * Its calls throw a `CreditJourneyError`; any other error is a bug.
 */
export class CreditJourneys {
  static {
    clientOf = (journeys) => journeys.#parts.client;
  }

  readonly taskQueue: string;
  readonly #parts: ClientParts;
  readonly #context: RunContext;

  /** @internal */
  protected constructor(parts: ClientParts) {
    this.taskQueue = parts.taskQueue;
    this.#parts = parts;
    const { client, taskQueue, queryTimeoutMs } = parts;
    this.#context = { client, taskQueue, queryTimeoutMs, calls: new Calls(client, parts.codecServer) };
  }

  /**
   * Connects to Temporal. Needs no secret of the gateway; reads the environment for what `options` leave out.
   *
   * @throws ConfigError, InvalidInputError, KeyRingError, CallError
   */
  static async connect(options: ConnectOptions = {}): Promise<CreditJourneys> {
    return new CreditJourneys(await connectParts(options));
  }

  /**
   * Starts a journey. A repeated start finds the first run (`isNew: false`). A completed run never runs again. A run
   * that failed, was terminated or timed out does, and the ledger answers for sent requests. A journey that no person
   * waits for at a screen (a campaign, a night's run) is a `batch`.
   *
   * @throws InvalidInputError; CallError `differs` where a journey with another input has this id, `workerUnavailable`
   *   where only the run itself can compare the inputs
   */
  start(input: LendingJourneyInput, options: StartOptions = {}): Promise<Started<JourneyHandle>> {
    return this.#start('journey', input, options);
  }

  /** Starts a single pull: one report product, or FAILSAFE. Repeats and errors as of `start`. */
  pull(input: PullInput, options: StartOptions = {}): Promise<Started<PullHandle>> {
    return this.#start('pull', input, options);
  }

  /** Starts a portfolio review: ACCTRVW for each row of a file that the workers have. Repeats and errors as of `start`. */
  reviewPortfolio(
    input: PortfolioReviewInput,
    options: Omit<StartOptions, 'workClass'> = {},
  ): Promise<Started<PortfolioHandle>> {
    return this.#start('portfolio', input, { ...options, workClass: 'batch' });
  }

  /**
   * Shares a report with one secondary user, once every applicant consents: a report of the ledger, or one that is
   * given in full, years after its journey or pull. Repeats and errors as of `start`.
   */
  shareReport(input: ShareReportInput, options: Omit<StartOptions, 'workClass'> = {}): Promise<Started<ShareHandle>> {
    return this.#start('share', input, options);
  }

  /**
   * A journey by its id; whether it exists shows with the first call.
   *
   * @throws InvalidInputError
   */
  get(journeyId: string): JourneyHandle {
    return this.#get('journey', journeyId);
  }

  /** A pull by its id, as `get`. */
  getPull(pullId: string): PullHandle {
    return this.#get('pull', pullId);
  }

  /** A share by its id, as `get`. */
  getShare(shareId: string): ShareHandle {
    return this.#get('share', shareId);
  }

  /** A portfolio review by its id, as `get`. */
  getPortfolio(reviewId: string): PortfolioHandle {
    return this.#get('portfolio', reviewId);
  }

  /**
   * Any run by its run key, as lists and the command line have it: a `journeyId`, `pull:<pullId>`,
   * `share:<shareId>`, `portfolio:<reviewId>`.
   *
   * @throws InvalidInputError
   */
  run(runKey: string): JourneyHandle | PullHandle | ShareHandle | PortfolioHandle {
    const { kind, id } = parseRunKey(runKey);
    return this.#get(kind, id);
  }

  /** Closes the connections that the client opened. Calls in flight end as `closed`. */
  async close(): Promise<void> {
    await this.#context.calls.close();
    this.#parts.keys?.close();
    await Promise.all([this.#parts.codecServer?.close(), this.#parts.ownConnection?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start<Kind extends RunKind>(
    kind: Kind,
    input: StartInputs[Kind],
    { workClass = 'interactive', ...options }: StartOptions,
  ): Promise<Started<Handles[Kind]>> {
    const start = checkStart(kind, input);
    const handle = this.#get(kind, start.id);
    const about = { runKey: start.runKey, late: createTimeoutError, defaultMs: MESSAGE_TIMEOUT_MS };
    const isNew = await this.#context.calls.make(about, options, () => startRun(this.#context, start, workClass));
    return Object.assign(handle, { isNew });
  }

  #get<Kind extends RunKind>(kind: Kind, id: string): Handles[Kind] {
    const rule = checkRunId(kind, id);
    if (rule) throw new InvalidInputError([{ path: `/${ID_NAMES[kind]}`, rule }]);
    return new HANDLES[kind](this.#context, kind, id);
  }
}
