/** One run of any kind as platforms see it: its state and result, and the messages to it. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { ConfigError } from '../../config/environment-reader.ts';
import { LedgerNotFoundError } from '../../ledger/errors.ts';
import { MAX_ID_LENGTH, opaqueIdProblem } from '../../model/opaque-id.ts';
import { workflowIdOf } from '../../model/owner-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import type { ProductCode } from '../../model/products.ts';
import { KeyRingError } from '../../protection/errors.ts';
import { updateIdOf } from '../connection/business-keys.ts';
import { CodecServerError } from '../connection/codec-server-error.ts';
import { isInternal, translatedError } from '../connection/error-translation.ts';
import {
  JourneyFinishedError,
  JourneyNotFoundError,
  ReportNotFoundError,
  WorkerUnavailableError,
} from '../connection/errors.ts';
import { sendPatiently } from '../connection/send-message.ts';
import type { JourneyReport, StoredReferences, StoredReports } from '../ledger/stored-report.ts';
import { askRun } from './ask-run.ts';
import { type WatchOptions, watchRun } from './watch.ts';

/** An update waits for a worker; after this long the caller should know that none answers. */
export const UPDATE_TIMEOUT_MS = 30_000;

export interface RunContext {
  client: Client;
  taskQueue: string;
  maxApplicants: number;
  queryTimeoutMs: number;
  reports: () => Promise<StoredReports>;
}

/** Options of a message beside its content. */
export interface MessageOptions {
  /**
   * The message's own id: kept by a caller that sends the same message again because it got no answer. Default: a new
   * random one for each call. A corrected message takes another.
   */
  messageId?: string;
}

/**
 * Every message is checked before it is sent (`InvalidInputError`), and refused messages throw `UpdateRefusedError`.
 * `JourneyNotFoundError` where there is no such run, `JourneyFinishedError` where it has ended,
 * `WorkerUnavailableError` where no worker answers, `TooManyMessagesError` where Temporal takes no more. Their `journeyId` is the owner's id.
 */
export abstract class RunHandle<Status extends object, Result extends object> {
  /** As the ledger has it and the command line takes it: a `journeyId`, `pull:<pullId>`. */
  readonly ownerId: string;
  protected readonly context: RunContext;
  protected readonly handle: WorkflowHandle;

  constructor(context: RunContext, ownerId: string) {
    this.ownerId = ownerId;
    this.context = context;
    this.handle = context.client.workflow.getHandle(workflowIdOf(ownerId));
  }

  get workflowId(): string {
    return this.handle.workflowId;
  }

  /** The status of a completed run, made of its result without personal data. */
  protected abstract statusOfResult(result: Result): Status;

  /** Where the run stands; nothing personal. Of a completed one also without a worker. */
  async status(): Promise<Status> {
    try {
      return await this.query<Status>('status');
    } catch (error) {
      if (!(error instanceof WorkerUnavailableError) || !(await this.#isCompleted())) throw error;
      return this.statusOfResult(await this.result());
    }
  }

  /** The status now and after each change, until the run closes. */
  watch(options: WatchOptions = {}): AsyncIterable<Status> {
    const { client } = this.context;
    const run = { client, handle: this.handle, ownerId: this.ownerId, status: () => this.status() };
    return watchRun(run, options);
  }

  /**
   * Waits for the run's end.
   *
   * @throws InvalidInputError where the input was refused, JourneyFailedError where the run has no result
   */
  async result(): Promise<Result> {
    try {
      return (await this.handle.result()) as Result;
    } catch (error) {
      throw translatedError(error, this.ownerId);
    }
  }

  /** The newest report of a product, from the codec server or the ledger. */
  protected async storedReport(productCode: ProductCode, customerTraceNumber?: string): Promise<JourneyReport> {
    const reports = await this.context.reports();
    const report = await reports.report(this.ownerId, productCode, customerTraceNumber);
    if (!report) throw new ReportNotFoundError(this.ownerId, productCode);
    return report;
  }

  /** `undefined` also where the client is not configured for reports. */
  protected async storedReferences(): Promise<StoredReferences | undefined> {
    try {
      return await (await this.context.reports()).references(this.ownerId);
    } catch (error) {
      if (hasNoReports(error)) return undefined;
      throw error;
    }
  }

  protected async query<T>(name: 'status' | 'references'): Promise<T> {
    const { client, queryTimeoutMs } = this.context;
    try {
      return await client.withDeadline(Date.now() + queryTimeoutMs, () => askRun<T>(this.handle, name));
    } catch (error) {
      throw translatedError(error, this.ownerId);
    }
  }

  /** @param patienceMs how long it is sent again where Temporal takes no more messages for the run */
  protected async update<Answer>(
    name: string,
    businessKey: string,
    message: object,
    { messageId }: MessageOptions = {},
    patienceMs = UPDATE_TIMEOUT_MS,
  ): Promise<Answer> {
    const rule = messageId === undefined ? null : opaqueIdProblem(messageId, MAX_ID_LENGTH);
    if (rule) throw new InvalidInputError([{ path: '/messageId', rule }]);
    const updateId = updateIdOf(businessKey, messageId);
    const execute = (id: string) =>
      this.context.client.withDeadline(Date.now() + UPDATE_TIMEOUT_MS, () =>
        this.handle.executeUpdate<Answer, [object]>(name, { updateId: id, args: [message] }),
      );
    try {
      return await sendPatiently(() => execute(updateId), patienceMs).catch(async (error) => {
        // A reset run received the message again before it was valid, and refused it: the server takes nothing more
        // under that id (docs/decisions/client.md). The run itself knows a message that it has accepted.
        if (!isInternal(error)) throw error;
        return execute(`${updateId}-${(await this.handle.describe()).runId}`);
      });
    } catch (error) {
      if (error instanceof WorkflowNotFoundError && (await this.#exists())) {
        throw new JourneyFinishedError(this.ownerId);
      }
      throw translatedError(error, this.ownerId);
    }
  }

  /** Distinguishes a closed run from one that never existed: the server answers the message alike. */
  async #exists(): Promise<boolean> {
    try {
      await this.handle.describe();
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw translatedError(error, this.ownerId);
    }
  }

  async #isCompleted(): Promise<boolean> {
    try {
      return (await this.handle.describe()).status.name === 'COMPLETED';
    } catch {
      return false;
    }
  }
}

/** Once the run is gone from Temporal, `stored` is asked. */
export async function referencesOr<T>(ask: () => Promise<T>, stored: () => Promise<T | undefined>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof JourneyNotFoundError)) throw error;
    const found = await stored();
    if (!found) throw error;
    return found;
  }
}

/** Whether the client only talks to Temporal: reports are not configured, or there are none at that address. */
function hasNoReports(error: unknown): boolean {
  if (error instanceof CodecServerError) return error.code === 'noLedger';
  return error instanceof ConfigError || error instanceof LedgerNotFoundError || error instanceof KeyRingError;
}
