/**
 * The typed client for origination platforms: starts journeys, moves them on and reads what came of them.
 *
 *     await using journeys = await CreditJourneys.connect();
 *     const journey = await journeys.start({ journeyId: 'J-1', … });
 *     for await (const status of journey.watch()) console.log(status.state);
 */
import { Client, Connection, type ConnectionLike } from '@temporalio/client';
import { type DataConverter, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { journeyWorkflowId } from './client/business-keys.ts';
import { configuredDataConverter } from './client/configured-data-converter.ts';
import { openConfiguredLedger } from './client/configured-ledger.ts';
import { translated } from './client/error-translation.ts';
import { JourneyFinishedError, TemporalUnavailableError } from './client/errors.ts';
import { JourneyHandle } from './client/journey-handle.ts';
import {
  decideInLedger,
  type LedgerDecision,
  type LedgerDecisionAnswer,
  markSeen,
  openInLedger,
} from './client/ledger-decisions.ts';
import type { OpenHold } from './client/open-hold.ts';
import { findOpenHolds, type HoldsQuery, type OpenHolds } from './client/open-holds.ts';
import { loadClientSettings } from './config.ts';
import type { ClientSettings } from './config-shape.ts';
import type { Ledger, SeenRecord } from './ledger/port.ts';
import { MAX_ID_LENGTH, opaqueIdProblem } from './model/opaque-id.ts';
import { InvalidInputError } from './model/problems.ts';
import type { LendingJourneyInput } from './model/shapes.ts';
import { parseLendingJourneyInput } from './validation/messages.ts';

export {
  DecisionRefusedError,
  JourneyFailedError,
  JourneyFinishedError,
  JourneyNotFoundError,
  KeysMissingError,
  ReportNotFoundError,
  TemporalUnavailableError,
  UpdateRefusedError,
  WorkerUnavailableError,
} from './client/errors.ts';
export { type ConsentAnswer, JourneyHandle } from './client/journey-handle.ts';
export type { LedgerDecision, LedgerDecisionAnswer } from './client/ledger-decisions.ts';
export type { OpenHold } from './client/open-hold.ts';
export type { HoldsQuery, OpenHolds } from './client/open-holds.ts';
export type { JourneyReport } from './client/stored-report.ts';
export type { WatchOptions } from './client/watch.ts';
export { ConfigError, type ConfigProblem } from './config/environment-reader.ts';
export { InvalidInputError, type Problem } from './model/problems.ts';
export type {
  AdvanceMessage,
  Applicant,
  ConsentMessage,
  GateInput,
  HoldStatus,
  JourneyOutcome,
  JourneyReferences,
  JourneyResult,
  JourneyState,
  JourneyStatus,
  LendingJourneyInput,
  RefusedMessage,
  ReportOutcome,
  ReportReference,
  RequestShareMessage,
  ResolveInquiryMessage,
  SecondaryUser,
  ShareInput,
  ShareState,
  ShareStatus,
  StageResult,
  StageState,
  StageStatus,
  UpdateAnswer,
  WithdrawMessage,
} from './model/shapes.ts';

export interface ConnectOptions {
  /** `host:port`. Default: `TEMPORAL_ADDRESS` and the rest of `@temporalio/envconfig`. */
  address?: string;
  namespace?: string;
  /** Default: `TASK_QUEUE`, else `credit-journeys-<environment>`. */
  taskQueue?: string;
  /** Names the default task queue. Default: `GATEWAY_ENVIRONMENT`, else `sandbox`. */
  environment?: ClientSettings['environment'];
  /** A connection of the caller's own, which stays the caller's to close. */
  connection?: ConnectionLike;
  /** The most applicants that a message may carry; the worker has the last word. */
  maxApplicants?: number;
  /** How long to wait for the server. Default 5 s: one that is there answers at once. */
  connectTimeoutMs?: number;
  /** How long a query waits for a worker. Default 5 s: enough to replay a long history first. */
  queryTimeoutMs?: number;
  /**
   * How payloads are encrypted and decrypted. Default: with the key ring that `KEY_RING_FILE` names (in the sandbox
   * the one in `.credit-journey`); without one, in the clear, which the sandbox alone takes.
   */
  dataConverter?: DataConverter;
  /** How `report()` opens the ledger, once. Default: as `LEDGER_URL`, `LEDGER_ID` and `KEY_RING_FILE` say. */
  openLedger?: () => Promise<Ledger>;
}

const DEFAULT_TIMEOUT_MS = 5_000;

export class CreditJourneys {
  readonly taskQueue: string;
  /** The SDK's own client, for what this one does not do. */
  readonly client: Client;
  readonly #ownConnection: ConnectionLike | undefined;
  readonly #maxApplicants: number;
  readonly #queryTimeoutMs: number;
  readonly #openLedger: () => Promise<Ledger>;
  #ledger: Promise<Ledger> | undefined;

  private constructor(parts: {
    client: Client;
    ownConnection: ConnectionLike | undefined;
    taskQueue: string;
    maxApplicants: number;
    queryTimeoutMs: number;
    openLedger: () => Promise<Ledger>;
  }) {
    this.client = parts.client;
    this.taskQueue = parts.taskQueue;
    this.#ownConnection = parts.ownConnection;
    this.#maxApplicants = parts.maxApplicants;
    this.#queryTimeoutMs = parts.queryTimeoutMs;
    this.#openLedger = parts.openLedger;
  }

  /**
   * Connects to Temporal. Needs no secret of the gateway; reads the environment for what `options` leave out.
   *
   * @throws ConfigError, TemporalUnavailableError
   */
  static async connect(options: ConnectOptions = {}): Promise<CreditJourneys> {
    const settings = settingsOf(options);
    const { address, connectionOptions } = settings.temporal;
    const connection = options.connection ?? (await connectTo(address, connectionOptions, options.connectTimeoutMs));
    return new CreditJourneys({
      client: new Client({
        connection,
        namespace: settings.temporal.namespace,
        dataConverter: options.dataConverter ?? (await configuredDataConverter(settings)),
      }),
      ownConnection: options.connection ? undefined : connection,
      taskQueue: settings.taskQueue,
      maxApplicants: settings.maxApplicants,
      queryTimeoutMs: options.queryTimeoutMs ?? DEFAULT_TIMEOUT_MS,
      openLedger: options.openLedger ?? (() => openConfiguredLedger(process.env)),
    });
  }

  /**
   * Starts a journey. One that is running under this id is returned as it is, whatever the input; one that failed,
   * was terminated or timed out is run again, and the ledger answers for what was sent.
   *
   * @throws InvalidInputError, JourneyFinishedError where it has completed, TemporalUnavailableError
   */
  async start(input: LendingJourneyInput): Promise<JourneyHandle> {
    const checked = parseLendingJourneyInput(input, { maxApplicants: this.#maxApplicants });
    const { journeyId, endUserCode } = checked;
    try {
      await this.client.workflow.start('lendingJourney', {
        workflowId: journeyWorkflowId(journeyId),
        taskQueue: this.taskQueue,
        args: [checked],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `lending journey · ${endUserCode}`,
      });
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) throw new JourneyFinishedError(journeyId);
      throw translated(error, journeyId);
    }
    return this.get(journeyId);
  }

  /**
   * A journey by its id; whether it exists shows with the first call.
   *
   * @throws InvalidInputError
   */
  get(journeyId: string): JourneyHandle {
    const rule = opaqueIdProblem(journeyId, MAX_ID_LENGTH);
    if (rule) throw new InvalidInputError([{ path: '/journeyId', rule }]);
    return new JourneyHandle(this.#context(), journeyId);
  }

  /**
   * Everything that needs a person, by visibility and by the ledger: the holds of this task queue's running journeys,
   * what runs that are gone have left without an outcome, and what came too late. Visibility may lag by a second.
   *
   * @throws TemporalUnavailableError; unless `ledger` is false, what opening the ledger throws
   */
  async holds(query: HoldsQuery = {}): Promise<OpenHolds> {
    const context = { ...this.#context(), status: (journeyId: string) => this.get(journeyId).status() };
    try {
      return await findOpenHolds(context, query);
    } catch (error) {
      throw translated(error, '');
    }
  }

  /**
   * What somebody has to decide about an inquiry without a run, and what has come too late for it.
   *
   * @throws DecisionRefusedError where there is nothing of either, or only what its open run must be told
   */
  openInLedger(customerTraceNumber: string): Promise<OpenHold[]> {
    return openInLedger(this.#context(), customerTraceNumber);
  }

  /**
   * Decides about an inquiry whose run is gone; a new start of the journey finds the decision in the ledger.
   *
   * @throws InvalidInputError; DecisionRefusedError where it makes no sense: nothing has changed
   */
  decideInLedger(decision: LedgerDecision): Promise<LedgerDecisionAnswer> {
    return decideInLedger(this.#context(), decision);
  }

  /** @throws DecisionRefusedError where nothing has come too late that nobody has seen to */
  markSeen(seen: SeenRecord): Promise<LedgerDecisionAnswer> {
    return markSeen(this.#context(), seen);
  }

  /** Closes what it opened itself. */
  async close(): Promise<void> {
    const ledger = await this.#ledger?.catch(() => undefined);
    await Promise.all([ledger?.close(), this.#ownConnection?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #context() {
    return {
      client: this.client,
      taskQueue: this.taskQueue,
      maxApplicants: this.#maxApplicants,
      queryTimeoutMs: this.#queryTimeoutMs,
      ledger: () => this.#openedLedger(),
    };
  }

  #openedLedger(): Promise<Ledger> {
    this.#ledger ??= this.#openLedger().catch((error) => {
      this.#ledger = undefined;
      throw error;
    });
    return this.#ledger;
  }
}

/** The environment is read only for what the caller leaves out. */
type Needed = Omit<ClientSettings, 'environment'>;

function settingsOf(options: ConnectOptions): Needed {
  const { connection, namespace, taskQueue, maxApplicants, dataConverter } = options;
  if (connection && namespace && taskQueue && maxApplicants && dataConverter) {
    const none = { address: '', connectionOptions: { address: '' } };
    const temporal = { ...none, namespace };
    return { taskQueue, maxApplicants, temporal, payloadsAreEncrypted: true, keyRingFile: undefined };
  }
  const env = options.environment ? { ...process.env, GATEWAY_ENVIRONMENT: options.environment } : process.env;
  const settings = loadClientSettings(env);
  const address = options.address ?? settings.temporal.address;
  return {
    taskQueue: taskQueue ?? settings.taskQueue,
    maxApplicants: maxApplicants ?? settings.maxApplicants,
    payloadsAreEncrypted: settings.payloadsAreEncrypted,
    keyRingFile: settings.keyRingFile,
    temporal: {
      address,
      namespace: namespace ?? settings.temporal.namespace,
      connectionOptions: { ...settings.temporal.connectionOptions, address },
    },
  };
}

async function connectTo(
  address: string,
  connectionOptions: ClientSettings['temporal']['connectionOptions'],
  connectTimeout = DEFAULT_TIMEOUT_MS,
): Promise<Connection> {
  try {
    return await Connection.connect({ ...connectionOptions, connectTimeout });
  } catch {
    // The cause may hold metadata, and so an API key.
    throw new TemporalUnavailableError(`nothing answers at ${address}`);
  }
}
