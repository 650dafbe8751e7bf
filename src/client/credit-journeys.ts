/** The client: starts runs, finds them, and reads the ledger if the run no longer exists. */
import type { Client } from '@temporalio/client';
import type { StartInput } from '../messages/inputs/all-inputs.ts';
import type { LendingJourneyInput } from '../messages/inputs/lending-journey.ts';
import type { PortfolioReviewInput } from '../messages/inputs/portfolio-review.ts';
import type { PullInput } from '../messages/inputs/pull.ts';
import type { ShareReportInput } from '../messages/inputs/share-report.ts';
import { parseRunKey, type RunKind } from '../model/run-key.ts';
import type { WorkClass } from '../model/work-class.ts';
import { type CallOptions, createTimeoutError, MESSAGE_TIMEOUT_MS } from './connection/calls.ts';
import { type ClientParts, type ConnectOptions, connectParts } from './connection/connect.ts';
import {
  createHandle,
  type JourneyHandle,
  type PortfolioHandle,
  type PullHandle,
  type RunHandle,
  type ShareHandle,
} from './runs/run-handle.ts';
import { checkStart, startRun } from './runs/start-run.ts';

/** The options of a start beside its input. */
export interface StartOptions extends CallOptions {
  /**
   * Default `interactive`, of a review `batch`. A `batch` gives way wherever both wait for the gateway's limit: a journey
   * that no person waits for at a screen (a campaign, a night's run) is one.
   */
  workClass?: WorkClass;
}

/** The handle that a start returns. */
export type Started<Handle> = Handle & {
  /** `false`: a run with the same input had this id before. It may have ended. */
  readonly isNew: boolean;
};

/** The handle by the form of the run key: of a plain `string` any. */
type HandleOf<Key extends string> = string extends Key
  ? JourneyHandle | PullHandle | ShareHandle | PortfolioHandle
  : Key extends `${infer Kind extends Exclude<RunKind, 'journey'>}:${string}`
    ? RunHandle<Kind>
    : JourneyHandle;

/**
 * The client: starts runs, finds them, and reads their results. A process needs only one; close it at the end.
 * Its calls throw a `CreditJourneyError`; any other error is a bug.
 */
export class CreditJourneys {
  readonly taskQueue: string;
  readonly #parts: ClientParts;

  /** @internal */
  protected constructor(parts: ClientParts) {
    this.taskQueue = parts.taskQueue;
    this.#parts = parts;
  }

  /**
   * Returns the SDK's client, for other programs of this project. A method, so that printing shows no connection and no
   * keys.
   *
   * @internal
   */
  getSdkClient(): Client {
    return this.#parts.client;
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
   * Starts a run: a journey, a pull, a share of one report by itself, or a portfolio review, by the id in its input. A
   * repeated start finds the first run (`isNew: false`). A completed run never runs again. A run that failed, was
   * terminated or timed out does, and the ledger answers for sent requests.
   *
   * @throws InvalidInputError; CallError `differs` where a run with another input has this id, `workerUnavailable`
   *   where only the run itself can compare the inputs
   */
  start(input: LendingJourneyInput, options?: StartOptions): Promise<Started<JourneyHandle>>;
  start(input: PullInput, options?: StartOptions): Promise<Started<PullHandle>>;
  start(input: ShareReportInput, options?: StartOptions): Promise<Started<ShareHandle>>;
  start(input: PortfolioReviewInput, options?: StartOptions): Promise<Started<PortfolioHandle>>;
  async start(input: StartInput, { workClass, ...options }: StartOptions = {}): Promise<never> {
    const start = checkStart(input, workClass);
    const handle = createHandle(this.#parts, start.kind, start.id);
    const about = { runKey: start.runKey, late: createTimeoutError, defaultMs: MESSAGE_TIMEOUT_MS };
    const isNew = await this.#parts.calls.make(about, options, () => startRun(this.#parts, start));
    // The overloads say which handle it is.
    return Object.assign(handle, { isNew }) as never;
  }

  /**
   * A journey by its id; whether it exists shows with the first call.
   *
   * @throws InvalidInputError
   */
  get(journeyId: string): JourneyHandle {
    return createHandle(this.#parts, 'journey', journeyId);
  }

  /**
   * Any run by its run key, as lists and the command line have it: a `journeyId`, `pull:<pullId>`,
   * `share:<shareId>`, `portfolio:<reviewId>`.
   *
   * @throws InvalidInputError
   */
  run<const Key extends string>(runKey: Key): HandleOf<Key> {
    const { kind, id } = parseRunKey(runKey);
    return createHandle(this.#parts, kind, id) as unknown as HandleOf<Key>;
  }

  /** Closes the connections that the client opened. Calls in flight end as `closed`. */
  async close(): Promise<void> {
    await this.#parts.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
