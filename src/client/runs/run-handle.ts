/** One run of any kind as platforms see it: its state and result, and the messages to it. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { findMessage, type MessageTo } from '../../messages/all-messages.ts';
import { ANSWERS, type RunAnswers } from '../../messages/answers.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import type { MessageOf } from '../../messages/message.ts';
import { checkOpaqueId, MAX_ID_LENGTH } from '../../model/opaque-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { ID_NAMES, type RunKind, toRunKey, toWorkflowId } from '../../model/run-key.ts';
import { readRedactedPointer } from '../../protection/redaction/redaction.ts';
import { type CallOptions, type Calls, createTimeoutError, MESSAGE_TIMEOUT_MS } from '../connection/calls.ts';
import { describeRun } from '../connection/describe-run.ts';
import { CallError, hasCode, hasStatus } from '../connection/errors.ts';
import { askRun, sendPatiently, toUpdateId } from '../connection/run-messages.ts';
import { type WatchOptions, watchRun } from './watch.ts';

/**
 * The parts of a client that its handles use.
 *
 * @internal
 */
export interface RunContext {
  client: Client;
  calls: Calls;
  taskQueue: string;
  queryTimeoutMs: number;
}

/** The members that the handle adds: they name its run. */
type NamesOfRun<Kind extends RunKind> = Kind extends 'share' ? 'shareId' | 'journeyId' : (typeof ID_NAMES)[Kind];

type WithoutNames<Message, Kind extends RunKind> = Message extends unknown ? Omit<Message, NamesOfRun<Kind>> : never;

/** The content of a message, by the kind of run and the wire name. */
export type Content<Kind extends RunKind, Update extends string> = WithoutNames<
  MessageOf<MessageTo<Kind, Update>>,
  Kind
>;

/** References whose personal values may be masked, if a codec server has read them for this client. */
export type Redacted<References> = References & { redacted: boolean };

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

/** Options of a message beside its content. */
export interface MessageOptions extends CallOptions {
  /**
   * The id of the message. A caller that repeats an unanswered message sends the same id; a corrected message needs
   * another. Default: a new random id for each call.
   */
  messageId?: string | undefined;
}

/**
 * Every message is checked before it is sent (`InvalidInputError`). A failed call throws a `CallError` with a `code`.
 * Printing a handle shows only its ids: all other members are private, also for `util.inspect`.
 */
export abstract class RunHandle<Kind extends RunKind> {
  /** The key in the ledger and on the command line: a `journeyId`, `pull:<pullId>`. */
  readonly runKey: string;
  readonly #kind: Kind;
  readonly #id: string;
  readonly #context: RunContext;

  /** @internal */
  constructor(context: RunContext, kind: Kind, id: string) {
    this.runKey = toRunKey(kind, id);
    this.#kind = kind;
    this.#id = id;
    this.#context = context;
    Object.assign(this, { [ID_NAMES[kind]]: id });
  }

  get workflowId(): string {
    return toWorkflowId(this.runKey);
  }

  /**
   * A method, as an inspection of objects calls getters.
   *
   * @internal
   */
  protected context(): RunContext {
    return this.#context;
  }

  /** @internal */
  protected handle(): WorkflowHandle {
    return this.#context.client.workflow.getHandle(this.workflowId);
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
    return watchRun({ calls, handle: this.handle(), runKey: this.runKey, status }, options);
  }

  /**
   * Waits for the run's end, be it in weeks. With `timeoutMs` it gives up waiting; the run continues.
   *
   * @throws InvalidInputError where the input was refused; CallError `journeyFailed` where the run has no result,
   *   `resultNotReady` after `timeoutMs`
   */
  async result(options: CallOptions = {}): Promise<RunAnswers[Kind]['result']> {
    const late = () => new CallError('resultNotReady', { runKey: this.runKey });
    return this.#context.calls.make({ runKey: this.runKey, late }, options, () => this.handle().result());
  }

  /** An operator's decision about an inquiry on hold. */
  resolve(decision: Content<Kind, 'resolveInquiry'>, options?: MessageOptions): Promise<RunAnswers[Kind]['update']> {
    return this.send('resolveInquiry', decision, options);
  }

  /**
   * Ends the run after any attempt in flight; a review, once nothing is on hold. Refused where a share was posted first.
   * `recorded` says whether the ledger has it already.
   */
  withdraw(message: Content<Kind, 'withdraw'>, options?: MessageOptions): Promise<RunAnswers[Kind]['update']> {
    return this.send('withdraw', message, options);
  }

  protected async queryReferences(options: CallOptions = {}): Promise<Redacted<RunAnswers[Kind]['references']>> {
    const references = await this.#query('references', options);
    return Object.assign({}, references, { redacted: readRedactedPointer(references) !== null });
  }

  #query<Name extends 'status' | 'references'>(name: Name, options: CallOptions): Promise<RunAnswers[Kind][Name]> {
    return this.#ask(options, (signal) => askRun(this.handle(), name, signal));
  }

  #ask<T>(options: CallOptions, question: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { calls, queryTimeoutMs } = this.#context;
    return calls.make({ runKey: this.runKey, defaultMs: queryTimeoutMs }, options, question);
  }

  /**
   * Checks a message, and sends it as the update of this name.
   *
   * @throws InvalidInputError
   */
  protected async send(update: string, content: object, options?: MessageOptions): Promise<RunAnswers[Kind]['update']> {
    return this.update(update, this.parseContent(update, content), options);
  }

  /** Builds the message to this run by its definition. */
  protected parseContent(update: string, content: object): object {
    const definition = findMessage(this.#kind, update);
    const names = { [ID_NAMES[this.#kind]]: this.#id, [definition.address]: this.#addressIn(definition) };
    return parseMessage(definition, { ...content, ...names }) as object;
  }

  #addressIn({ address }: { address: string }): string {
    return address === 'journeyId' ? this.runKey : this.#id;
  }

  /** Makes a call that waits for the server alone, and not for a worker. */
  protected callServer<T>(options: CallOptions, work: () => Promise<T>): Promise<T> {
    const { calls } = this.#context;
    return calls.make({ runKey: this.runKey, late: createTimeoutError, defaultMs: MESSAGE_TIMEOUT_MS }, options, work);
  }

  /** @param patienceMs how long it is sent again where Temporal takes no more messages for the run */
  protected async update(
    name: string,
    message: object,
    { messageId, ...options }: MessageOptions = {},
    patienceMs = MESSAGE_TIMEOUT_MS,
  ): Promise<RunAnswers[Kind]['update']> {
    const rule = messageId === undefined ? null : checkOpaqueId(messageId, MAX_ID_LENGTH);
    if (rule) throw new InvalidInputError([{ path: '/messageId', rule }]);
    const updateId = toUpdateId(findMessage(this.#kind, name).toKey(name, message), messageId);
    const execute = (id: string) =>
      this.handle().executeUpdate<RunAnswers[Kind]['update'], [object]>(name, { updateId: id, args: [message] });
    const send = async (signal: AbortSignal) => {
      try {
        return await sendPatiently(() => execute(updateId), patienceMs, signal).catch(async (error) => {
          // A reset run refused the message when it received it again before it was valid. The server accepts no
          // message under that id any more (docs/decisions/client.md). The run recognises a message that it has
          // accepted. The server reports an undeliverable update by the same status.
          if (!hasStatus(error, 'internal')) throw error;
          return execute(`${updateId}-${(await this.handle().describe()).runId}`);
        });
      } catch (error) {
        // The server gives the same answer for a closed run and for an unknown one.
        if (error instanceof WorkflowNotFoundError && (await describeRun(this.#context.client, this.workflowId))) {
          throw new CallError('journeyFinished', { runKey: this.runKey });
        }
        throw error;
      }
    };
    return this.#context.calls.make({ runKey: this.runKey, defaultMs: MESSAGE_TIMEOUT_MS }, options, send);
  }

  async #isCompleted(options: CallOptions): Promise<boolean> {
    try {
      return (await this.#ask(options, () => this.handle().describe())).status.name === 'COMPLETED';
    } catch {
      return false;
    }
  }
}
