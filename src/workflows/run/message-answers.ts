/** Answers of a run to messages: it accepts, refuses, or notes a refusal in `status` if the sender gets no answer. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { findMessage, type MessageTo, WIRE_NAMES } from '../../messages/all-messages.ts';
import type { UpdateAnswer } from '../../messages/answers.ts';
import type { RefusedMessage } from '../../messages/journey/shapes.ts';
import type { MessageOf, NamedRun } from '../../messages/message.ts';
import type { MessageRefusal } from '../../model/refusals.ts';
import type { RunKind } from '../../model/run-key.ts';
import type { AnyStatus } from '../../words/runs.ts';

/** Thrown by a validator, it leaves no trace in the history; thrown by a handler, it fails the accepted update. */
export function createRefusal(refusal: MessageRefusal): ApplicationFailure {
  const message = `refused: ${refusal.reason}`;
  return ApplicationFailure.create({ type: 'UpdateRefused', message, nonRetryable: true, details: [refusal] });
}

export function refuseFor(refusal: MessageRefusal | null): void {
  if (refusal !== null) throw createRefusal(refusal);
}

export type Accepted = Omit<UpdateAnswer, 'status'> & { status: AnyStatus };

/** A run as its answers need it: each has its status, which shows refusals that no answer tells. */
export interface AnsweringRun {
  status(): AnyStatus;
  refuse(refused: RefusedMessage): void;
}

export function toAccepted(run: AnsweringRun, duplicate: boolean): Accepted {
  return { accepted: true, duplicate, status: run.status() };
}

/**
 * An update is answered after this long, whether or not the ledger has the message. The server takes ten updates of
 * a run at once: those that wait for the ledger must not keep a withdrawal or a decision out.
 */
const ANSWER_WITHIN_MS = 5_000;

/** `inNoLedger`: another ledger answers than the one that the run has used, so nothing was written. */
export type Verdict = 'recorded' | 'inNoLedger' | MessageRefusal;

/** A message on its way to the ledger. Plain data. */
export interface Underway {
  /** Absent until the ledger has answered. */
  verdict?: Verdict;
  /** No sender waits for the verdict: it came by signal, or was answered before. `status` shows a refusal. */
  isAnswered?: true;
}

export function isRefused(verdict: Verdict | undefined): verdict is MessageRefusal {
  return typeof verdict === 'object';
}

/**
 * Answers an update once the ledger has judged its message. If the ledger takes too long, the answer says
 * `recorded: false`, and the run tries again.
 */
export async function answerUnderway(run: AnsweringRun, message: Underway, duplicate: boolean): Promise<Accepted> {
  const summary = 'answering before the ledger has the message';
  // A run that is cancelled still writes the message before it ends.
  const isJudged = await CancellationScope.nonCancellable(() =>
    condition(() => message.verdict !== undefined, ANSWER_WITHIN_MS, { summary }),
  );
  if (!isJudged) message.isAnswered = true;
  const { verdict } = message;
  if (isRefused(verdict)) throw createRefusal(verdict);
  return { ...toAccepted(run, duplicate), recorded: verdict === 'recorded' };
}

interface UpdateHandler<T> {
  /** Returns why the message makes no sense now, or `null`. Its shape and its run were checked before. */
  check?(message: T): MessageRefusal | null;
  answer(message: T): Accepted | Promise<Accepted>;
  /** Takes a message that came by a signal of the same definition. */
  ask?(message: T): void;
  /** Notes that a signal was refused; its content may be anything. Default: in the status alone. */
  refuse?(message: unknown, reason: string): void;
}

type Sent<Kind extends RunKind, Name extends string> = MessageOf<MessageTo<Kind, Name>>;

/** Handles an update, and with `ask` the signals that say the same, by their definition for the run's kind. */
export function handleUpdate<Kind extends RunKind, Name extends string>(
  run: NamedRun & AnsweringRun & { readonly kind: Kind },
  name: Name,
  { check, answer, ask, refuse }: UpdateHandler<Sent<Kind, Name>>,
): void {
  const message = findMessage(run.kind, name);
  const findRefusal = (value: Sent<Kind, Name>) => message.check(run, value) ?? check?.(value) ?? null;
  const validator = (value: Sent<Kind, Name>) => refuseFor(findRefusal(value));
  const description = message.updates[name] as string;
  setHandler(defineUpdate<Accepted, [Sent<Kind, Name>]>(name), answer, { validator, description });
  if (!ask) return;
  for (const [signal, description] of Object.entries(message.signals ?? {})) {
    const take = (value: Sent<Kind, Name>) => {
      const refusal = findRefusal(value);
      if (refusal === null) ask(value);
      else if (refuse) refuse(value, refusal.reason);
      else refuseMessage(run, signal, refusal.reason);
    };
    setHandler(defineSignal<[Sent<Kind, Name>]>(signal), take, { description });
  }
}

/** Notes a refused message whose sender gets no answer. A `consentId` is shown if it has the form of one. */
export function refuseMessage(
  run: Pick<AnsweringRun, 'refuse'>,
  message: string,
  reason: string,
  consentId?: unknown,
): RefusedMessage {
  const isShown = typeof consentId === 'string' && /^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/.test(consentId);
  const refused = { message, at: new Date().toISOString(), reason, ...(isShown ? { consentId } : {}) };
  run.refuse(refused);
  return refused;
}

/** Names that callers may have meant: ours, misspelt or sent as a signal. Any other name is the sender's own text. */
const NEARLY_OURS = new RegExp(`^(${WIRE_NAMES.join('|')})s?$`, 'i');

/** Notes signals that the run does not know. Called after all other handlers are set: it is given what they are not. */
export function handleUnknownSignals(run: { refuse(refused: RefusedMessage): void }): void {
  setDefaultSignalHandler((name) => {
    refuseMessage(run, NEARLY_OURS.test(name) ? name : 'unknown', 'no signal of this run has this name');
  });
}
