/** One journey as platforms see it: what it says, and what it can be told. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { redactedPointer } from '../codec-server/redaction.ts';
import { ConfigError } from '../config/environment-reader.ts';
import { LedgerNotFoundError } from '../ledger/errors.ts';
import type { ProductCode } from '../model/products.ts';
import type {
  AdvanceMessage,
  ConsentMessage,
  JourneyReferences,
  JourneyResult,
  JourneyStatus,
  ResolveInquiryMessage,
  ShareInput,
  UpdateAnswer,
  WithdrawMessage,
} from '../model/shapes.ts';
import { KeyRingError } from '../protection/errors.ts';
import {
  parseAdvance,
  parseConsent,
  parseRequestShare,
  parseResolveInquiry,
  parseWithdraw,
} from '../validation/messages.ts';
import { journeyWorkflowId, updateIds } from './business-keys.ts';
import { CodecServerError } from './codec-server-error.ts';
import { translated } from './error-translation.ts';
import { JourneyFinishedError, JourneyNotFoundError, ReportNotFoundError, WorkerUnavailableError } from './errors.ts';
import { type LateConsentResult, startLateConsent } from './late-consent.ts';
import type { JourneyReport, ReportSource, StoredReferences } from './stored-report.ts';
import { type WatchOptions, watchJourney } from './watch.ts';

/** An update waits for a worker; after this long somebody should know that there is none. */
const UPDATE_TIMEOUT_MS = 30_000;

export interface JourneyContext {
  client: Client;
  taskQueue: string;
  maxApplicants: number;
  queryTimeoutMs: number;
  reports: () => Promise<ReportSource>;
}

/** Whether the message came after the journey's end and was recorded in the ledger alone. */
export type ConsentAnswer = (UpdateAnswer & { late: false }) | ({ accepted: true; late: true } & LateConsentResult);

/**
 * Every message is checked before it is sent (`InvalidInputError`), and refused messages throw `UpdateRefusedError`.
 * `JourneyNotFoundError` where there is no such run, `JourneyFinishedError` where it has ended,
 * `WorkerUnavailableError` where no worker answers.
 */
export class JourneyHandle {
  readonly journeyId: string;
  readonly #context: JourneyContext;
  readonly #handle: WorkflowHandle;

  constructor(context: JourneyContext, journeyId: string) {
    this.journeyId = journeyId;
    this.#context = context;
    this.#handle = context.client.workflow.getHandle(journeyWorkflowId(journeyId));
  }

  get workflowId(): string {
    return this.#handle.workflowId;
  }

  /** Where the journey stands; nothing personal. Of a completed journey also without a worker. */
  async status(): Promise<JourneyStatus> {
    try {
      return await this.#query<JourneyStatus>('status');
    } catch (error) {
      if (!(error instanceof WorkerUnavailableError) || !(await this.#isCompleted())) throw error;
      return statusOfResult(await this.result());
    }
  }

  /** The status now and after each change, until the run closes. */
  watch(options: WatchOptions = {}): AsyncIterable<JourneyStatus> {
    const { client } = this.#context;
    const journey = { client, handle: this.#handle, journeyId: this.journeyId, status: () => this.status() };
    return watchJourney(journey, options);
  }

  /** Passes the gate before a stage; one that comes early is kept. `applicants` are amended data. */
  advance(message: Omit<AdvanceMessage, 'journeyId'>): Promise<UpdateAnswer> {
    const checked = parseAdvance({ ...message, journeyId: this.journeyId }, this.#context);
    return this.#update('advance', updateIds.advance(checked), checked);
  }

  /** Fire and forget: what is refused is shown in the status. After the journey's end it is recorded all the same. */
  async consent(message: Omit<ConsentMessage, 'journeyId'>): Promise<{ late: boolean }> {
    const checked = parseConsent({ ...message, journeyId: this.journeyId });
    try {
      await this.#handle.signal('consent', checked);
      return { late: false };
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw translated(error, this.journeyId);
      await startLateConsent(this.#context.client, this.#context.taskQueue, checked);
      return { late: true };
    }
  }

  /** Acknowledged. After the journey's end: recorded in the ledger, and posted shares that it concerns are flagged. */
  async recordConsent(message: Omit<ConsentMessage, 'journeyId'>): Promise<ConsentAnswer> {
    const checked = parseConsent({ ...message, journeyId: this.journeyId });
    try {
      const answer = await this.#update('recordConsent', updateIds.recordConsent(checked), checked);
      return { ...answer, late: false };
    } catch (error) {
      if (!(error instanceof JourneyNotFoundError || error instanceof JourneyFinishedError)) throw error;
      return this.#recordLate(checked);
    }
  }

  requestShare(share: ShareInput): Promise<UpdateAnswer> {
    const checked = parseRequestShare({ journeyId: this.journeyId, share });
    return this.#update('requestShare', updateIds.requestShare(checked), checked);
  }

  /** A person's decision about an inquiry on hold. */
  resolve(decision: Omit<ResolveInquiryMessage, 'journeyId'>): Promise<UpdateAnswer> {
    const checked = parseResolveInquiry({ ...decision, journeyId: this.journeyId }, this.#context);
    return this.#update('resolveInquiry', updateIds.resolveInquiry(checked), checked);
  }

  /** Ends the journey after any attempt in flight. */
  withdraw(message: Omit<WithdrawMessage, 'journeyId'>): Promise<UpdateAnswer> {
    const checked = parseWithdraw({ ...message, journeyId: this.journeyId });
    return this.#update('withdraw', updateIds.withdraw(), checked);
  }

  /**
   * The newest report of a product, from the codec server or the ledger. Personal throughout.
   *
   * @throws ReportNotFoundError; CodecServerError, or what opening the ledger throws
   */
  async report(productCode: ProductCode): Promise<JourneyReport> {
    const report = await (await this.#context.reports()).report(this.journeyId, productCode);
    if (!report) throw new ReportNotFoundError(this.journeyId, productCode);
    return report;
  }

  /**
   * What the interface says a caller must store for later shares. `consumerId` is personal. Once the run is gone from
   * Temporal, from where reports come from.
   */
  async references(): Promise<StoredReferences> {
    try {
      const references = await this.#query<JourneyReferences>('references');
      return { ...references, redacted: redactedPointer(references) !== null };
    } catch (error) {
      if (!(error instanceof JourneyNotFoundError)) throw error;
      const stored = await this.#storedReferences();
      if (!stored) throw error;
      return stored;
    }
  }

  /**
   * Waits for the journey's end.
   *
   * @throws InvalidInputError where the input was refused, JourneyFailedError where the run has no result
   */
  async result(): Promise<JourneyResult> {
    try {
      return (await this.#handle.result()) as JourneyResult;
    } catch (error) {
      throw translated(error, this.journeyId);
    }
  }

  /** `undefined` also where nobody has said where reports are. */
  async #storedReferences(): Promise<StoredReferences | undefined> {
    try {
      return await (await this.#context.reports()).references(this.journeyId);
    } catch (error) {
      if (hasNoReports(error)) return undefined;
      throw error;
    }
  }

  async #query<T>(name: 'status' | 'references'): Promise<T> {
    const { client, queryTimeoutMs } = this.#context;
    try {
      return await client.withDeadline(Date.now() + queryTimeoutMs, () => this.#handle.query<T, []>(name));
    } catch (error) {
      throw translated(error, this.journeyId);
    }
  }

  async #update(name: string, updateId: string, message: object): Promise<UpdateAnswer> {
    const { client } = this.#context;
    try {
      return await client.withDeadline(Date.now() + UPDATE_TIMEOUT_MS, () =>
        this.#handle.executeUpdate<UpdateAnswer, [object]>(name, { updateId, args: [message] }),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError && (await this.#exists())) {
        throw new JourneyFinishedError(this.journeyId);
      }
      throw translated(error, this.journeyId);
    }
  }

  async #recordLate(consent: ConsentMessage): Promise<ConsentAnswer> {
    const { client, taskQueue } = this.#context;
    try {
      const { postedSharesFlagged } = await client.withDeadline(Date.now() + UPDATE_TIMEOUT_MS, async () => {
        const run = await startLateConsent(client, taskQueue, consent);
        return (await run.result()) as LateConsentResult;
      });
      return { accepted: true, late: true, postedSharesFlagged };
    } catch (error) {
      throw translated(error, this.journeyId);
    }
  }

  /** The server answers for a closed run as for one that never was. */
  async #exists(): Promise<boolean> {
    try {
      await this.#handle.describe();
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw translated(error, this.journeyId);
    }
  }

  async #isCompleted(): Promise<boolean> {
    try {
      return (await this.#handle.describe()).status.name === 'COMPLETED';
    } catch {
      return false;
    }
  }
}

/** Nobody has said where reports are, or there are none there: a client that only talks to Temporal. */
function hasNoReports(error: unknown): boolean {
  if (error instanceof CodecServerError) return error.code === 'noLedger';
  return error instanceof ConfigError || error instanceof LedgerNotFoundError || error instanceof KeyRingError;
}

/** What a completed journey's result says of its status; references, being personal in part, are left out. */
function statusOfResult({ journeyId, environment, outcome, stages, shares }: JourneyResult): JourneyStatus {
  return {
    journeyId,
    environment,
    state: outcome,
    stages: stages.map(({ reference: _personal, ...stage }) => stage),
    shares,
    holds: [],
    refusedMessages: [],
    refusedMessagesTotal: 0,
  };
}
