/** One run of any kind as platforms see it: its state and result, and the messages to it. */
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { TerminatedFailure, WorkflowNotFoundError } from '@temporalio/common';
import { findMessage, listUpdates, type MessageTo, type UpdateOf } from '../../messages/all-messages.ts';
import { ANSWERS, type RunAnswers } from '../../messages/answers.ts';
import type { ConsentMessage } from '../../messages/consent.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import type { Loose, Message, MessageOf } from '../../messages/message.ts';
import { checkOpaqueId, MAX_ID_LENGTH } from '../../model/opaque-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { type MessageRefusal, refuseDifference } from '../../model/refusals.ts';
import { checkRunId, ID_NAMES, type RunKind, toRunKey, toWorkflowId } from '../../model/run-key.ts';
import { readRedactedPointer } from '../../protection/redaction/redaction.ts';
import { readAnsweredUpdates } from '../../temporal/histories.ts';
import { type CallOptions, createTimeoutError, MESSAGE_TIMEOUT_MS, type MessageOptions } from '../connection/calls.ts';
import type { ClientParts } from '../connection/connect.ts';
import { CallError, hasCode, hasStatus, isClosedBeforeAnswer, toRefusedError } from '../connection/errors.ts';
import { askRun, sendPatiently, toUpdateId } from '../connection/run-messages.ts';
import { describeRun, isOpen } from '../connection/temporal-runs.ts';
import { type ConsentAnswer, sendConsent } from './consents.ts';
import { type WatchOptions, watchRun } from './watch.ts';

/** The members that the handle adds: they name its run. */
type NamesOfRun<Kind extends RunKind> = Kind extends 'share' ? 'shareId' | 'journeyId' : (typeof ID_NAMES)[Kind];

type WithoutNames<Message, Kind extends RunKind> = Message extends unknown ? Omit<Message, NamesOfRun<Kind>> : never;

/** The content of a message, by the kind of run and the wire name. */
export type Content<Kind extends RunKind, Update extends string> = WithoutNames<
  MessageOf<MessageTo<Kind, Update>>,
  Kind
>;

/** A method for each message that this kind of run takes: `advance`, `recordConsent`, `resolveInquiry`, `withdraw`, … */
type Messages<Kind extends RunKind> = {
  readonly [Update in UpdateOf<Kind>]: (
    content: Content<Kind, Update>,
    options?: MessageOptions,
  ) => Promise<Update extends 'recordConsent' ? ConsentAnswer<Kind> : RunAnswers[Kind]['update']>;
};

type Ids<Kind extends RunKind> = { readonly [Name in (typeof ID_NAMES)[Kind]]: string };

/** A run, and the messages that it takes. */
export type RunHandle<Kind extends RunKind> = Run<Kind> & Messages<Kind> & Ids<Kind>;
export type JourneyHandle = RunHandle<'journey'>;
export type PullHandle = RunHandle<'pull'>;
export type ShareHandle = RunHandle<'share'>;
export type PortfolioHandle = RunHandle<'portfolio'>;

/**
 * @throws InvalidInputError
 * @internal
 */
export function createHandle<Kind extends RunKind>(context: ClientParts, kind: Kind, id: string): RunHandle<Kind> {
  const rule = checkRunId(kind, id);
  if (rule) throw new InvalidInputError([{ path: `/${ID_NAMES[kind]}`, rule }]);
  return new Run(context, kind, id) as RunHandle<Kind>;
}

/** After the run's end only the ledger can say what became of these. */
const LEDGERS = ['recordConsent', 'resolveInquiry'];

/** Members of the status of a completed run that are the same for all of them. */
const SETTLED = { holds: [], refusedMessages: [], refusedMessagesTotal: 0, consentsMissing: [] };

/** The status of a completed run, made of its result. The schema of the status drops personal members. */
function toSettledStatus<Kind extends RunKind>(
  kind: Kind,
  result: RunAnswers[Kind]['result'],
): RunAnswers[Kind]['status'] {
  const number = 'reference' in result && result.reference?.reportReferenceNumber;
  return ANSWERS[kind].status.parse({
    ...SETTLED,
    ...(number && { reportReferenceNumber: number }),
    ...result,
    state: result.outcome,
    progress: 'rows' in result && { ...result, done: result.rows - result.notReviewed, held: 0, underWay: 0 },
  }) as RunAnswers[Kind]['status'];
}

/**
 * Every message is checked before it is sent (`InvalidInputError`). A failed call throws a `CallError` with a `code`.
 * Printing a handle shows only its ids: all other members are private, also for `util.inspect`.
 */
export class Run<Kind extends RunKind> {
  /** The key in the ledger and on the command line: a `journeyId`, `pull:<pullId>`. */
  readonly runKey: string;
  readonly #kind: Kind;
  readonly #id: string;
  readonly #context: ClientParts;

  /** @internal */
  constructor(context: ClientParts, kind: Kind, id: string) {
    this.runKey = toRunKey(kind, id);
    this.#kind = kind;
    this.#id = id;
    this.#context = context;
    Object.assign(this, { [ID_NAMES[kind]]: id });
    for (const update of listUpdates(kind)) {
      // Printing shows no property that is not enumerable.
      const value = (content: object, options?: MessageOptions) => this.send(update, content, options);
      Object.defineProperty(this, update, { value });
    }
  }

  get workflowId(): string {
    return toWorkflowId(this.runKey);
  }

  /**
   * Reads the run's state, which has nothing personal. If the run has completed, this needs no worker. The status lacks
   * consents withdrawn after the run's end: only the ledger has them, and `credit-journey status` beside it shows them.
   */
  async status(options: CallOptions = {}): Promise<RunAnswers[Kind]['status']> {
    try {
      return await this.#query('status', options);
    } catch (error) {
      if (!hasCode(error, 'workerUnavailable') || !(await this.#isCompleted(options))) throw error;
      const { signal, timeoutMs = this.#context.queryTimeoutMs } = options;
      return toSettledStatus(this.#kind, await this.result({ signal, timeoutMs }));
    }
  }

  /** The status now and after each change, until the run closes. The iteration throws when the client is closed. */
  watch(options: WatchOptions = {}): AsyncIterable<RunAnswers[Kind]['status']> {
    const { calls } = this.#context;
    const status = (asked: CallOptions) => this.status(asked);
    return watchRun({ calls, handle: this.#handle(), runKey: this.runKey, status }, options);
  }

  /**
   * Waits for the run's end, be it in weeks. With `timeoutMs` it gives up waiting; the run continues.
   *
   * @throws InvalidInputError where the input was refused; CallError `runFailed` where the run has no result,
   *   `resultNotReady` after `timeoutMs`
   */
  async result(options: CallOptions = {}): Promise<RunAnswers[Kind]['result']> {
    const late = () => new CallError('resultNotReady', { runKey: this.runKey });
    return this.#context.calls.make({ runKey: this.runKey, late }, options, () => this.#waitForResult());
  }

  async #waitForResult(): Promise<RunAnswers[Kind]['result']> {
    try {
      return await this.#handle().result();
    } catch (error) {
      // A reset terminates the run, and a run under the same id continues.
      if (!(error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure)) throw error;
      const latest = await describeRun(this.#context.client, this.workflowId);
      if (!latest || latest.status.name === 'TERMINATED') throw error;
      return this.#waitForResult();
    }
  }

  /**
   * Reads what to store for later shares (interface 2.4, 2.7). `consumerId` is personal. It is masked if `redacted`: a
   * codec server has read it for this client.
   */
  async references(options: CallOptions = {}): Promise<RunAnswers[Kind]['references'] & { redacted: boolean }> {
    const references = await this.#query('references', options);
    return Object.assign({}, references, { redacted: readRedactedPointer(references) !== null });
  }

  /** Has Temporal cancel the run. Held inquiries stay undecided in the ledger: `withdraw` waits for their decisions. */
  async cancel(options: CallOptions = {}): Promise<void> {
    const about = { runKey: this.runKey, late: createTimeoutError, defaultMs: MESSAGE_TIMEOUT_MS };
    await this.#context.calls.make(about, options, () => this.#handle().cancel());
  }

  /**
   * Checks a message, and sends it as the update of this name.
   *
   * @throws InvalidInputError, CallError
   * @internal
   */
  async send(update: string, content: object, options: MessageOptions = {}): Promise<RunAnswers[Kind]['update']> {
    const definition = findMessage(this.#kind, update);
    const address = definition.address === 'journeyId' ? this.runKey : this.#id;
    const names = { [ID_NAMES[this.#kind]]: this.#id, [definition.address]: address };
    const message = parseMessage(definition, { ...content, ...names }) as Loose;
    const execute = (patienceMs: number) => this.#update(definition, update, message, options, patienceMs);
    if (update !== 'recordConsent') return execute(MESSAGE_TIMEOUT_MS);
    return sendConsent(this.#context, message as unknown as ConsentMessage, options, execute);
  }

  #handle(): WorkflowHandle {
    return this.#context.client.workflow.getHandle(this.workflowId);
  }

  #query<Name extends 'status' | 'references'>(name: Name, options: CallOptions): Promise<RunAnswers[Kind][Name]> {
    return this.#ask(options, (signal) => askRun(this.#handle(), name, signal));
  }

  #ask<T>(options: CallOptions, question: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { calls, queryTimeoutMs } = this.#context;
    return calls.make({ runKey: this.runKey, defaultMs: queryTimeoutMs }, options, question);
  }

  /** @param patienceMs how long it is sent again where Temporal takes no more messages for the run */
  async #update(
    definition: Message,
    name: string,
    message: Loose,
    { messageId, ...options }: MessageOptions,
    patienceMs: number,
  ): Promise<RunAnswers[Kind]['update']> {
    const rule = messageId === undefined ? null : checkOpaqueId(messageId, MAX_ID_LENGTH);
    if (rule) throw new InvalidInputError([{ path: '/messageId', rule }]);
    const { runKey } = this;
    const updateId = toUpdateId(definition.toKey(name, message), messageId);
    const execute = (id: string) =>
      this.#handle().executeUpdate<RunAnswers[Kind]['update'], [object]>(name, { updateId: id, args: [message] });
    const send = async (signal: AbortSignal) => {
      try {
        return await sendPatiently(() => execute(updateId), patienceMs, signal).catch(async (error) => {
          // After a reset, Temporal delivers earlier updates again. If the run refused this one, Temporal answers
          // `internal` for its id from then on (docs/decisions/client.md), so the client sends it under another id. The
          // run recognises a message that it has accepted. An update that cannot be delivered has the same status.
          if (!hasStatus(error, 'internal')) throw error;
          return execute(`${updateId}-${(await this.#handle().describe()).runId}`);
        });
      } catch (error) {
        const mayHaveClosed = error instanceof WorkflowNotFoundError || isClosedBeforeAnswer(error);
        const run = mayHaveClosed ? await describeRun(this.#context.client, this.workflowId) : undefined;
        // After a reset the next run has the message already, and its answer under this id.
        if (run && isOpen(run) && isClosedBeforeAnswer(error)) {
          return sendPatiently(() => execute(updateId), patienceMs, signal);
        }
        // The server gives the same answer for a closed run and for an unknown one.
        if (!run) throw error;
        const first = await this.#readFirstAnswer(definition, name, message);
        if (!first) throw new CallError('journeyFinished', { runKey });
        return first;
      }
    };
    return this.#context.calls
      .make({ runKey, defaultMs: MESSAGE_TIMEOUT_MS }, options, send)
      .catch((error: unknown) => {
        // An ended journey's report is shared by itself.
        const isShare = name === 'requestShare' && hasCode(error, 'journeyFinished');
        throw isShare ? new CallError('shareAfterEnd', { runKey }) : error;
      });
  }

  /**
   * Reads the answer to the same message from the run's history, after its end.
   *
   * @throws CallError `differs` where the run has accepted another message under its key
   */
  async #readFirstAnswer(definition: Message, name: string, message: Loose) {
    if (LEDGERS.includes(name)) return undefined;
    let refusal: MessageRefusal | null = null;
    for await (const kept of readAnsweredUpdates(this.#context.client, this.workflowId, name)) {
      const first = kept.message as Loose;
      // A codec server has masked it for this client.
      if (readRedactedPointer(first) !== null || definition.toKey(name, first) !== definition.toKey(name, message))
        continue;
      const other = refuseDifference(`${name} was accepted`, { ...first, proof: '' }, { ...message, proof: '' });
      if (!other) return { ...(kept.answer as RunAnswers[Kind]['update']), duplicate: true };
      refusal ??= other;
    }
    if (refusal) throw toRefusedError({ runKey: this.runKey }, refusal);
    return undefined;
  }

  async #isCompleted(options: CallOptions): Promise<boolean> {
    try {
      return (await this.#ask(options, () => this.#handle().describe())).status.name === 'COMPLETED';
    } catch {
      return false;
    }
  }
}
