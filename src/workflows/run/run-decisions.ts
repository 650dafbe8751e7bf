/**
 * Decisions of people about a run itself: to extend a wait, to skip a stage, to accept an old report. The ledger has
 * each decision before it takes effect. While it is being recorded, nothing that it would change takes place: its wait
 * does not run out, its stage is not pulled.
 *
 * A decision that only stops or slows a run takes effect at once: a withdrawal, a review's pause and its end. The
 * ledger has it before the run ends.
 */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import { omitUndefined } from '../../base/defined.ts';
import { parseInstantMs, toUtcInstant } from '../../base/instants.ts';
import type { RunDecision, RunWithdrawal } from '../../ledger/records.ts';
import type { PassGateMessage } from '../../messages/advance.ts';
import type { ExtendMessage } from '../../messages/extend.ts';
import type { RefusedMessage } from '../../messages/journey/shapes.ts';
import type { MessageWith } from '../../messages/message.ts';
import type { StageCode } from '../../model/products.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import { runUntilRecorded } from './activity-stubs.ts';
import { runInBackground } from './around-the-sdk.ts';
import type { EventsOut } from './events-out.ts';
import {
  type Accepted,
  answerUnderway,
  handleUpdate,
  isRefused,
  refuseFor,
  refuseMessage,
  toAccepted,
  type Underway,
  type Verdict,
} from './messages/message-answers.ts';

export const OF_ANOTHER_LEDGER = refuse(
  'notNow',
  'the ledger is not the one that the run has used: nothing was recorded',
);

/** The effect of a recorded decision: the message without the id of its run, and further data for the run. */
export type RunDecisionEffect =
  | { update: 'extend'; message: Extension }
  | { update: 'advance'; message: PassGateMessage; receivedAt: string };

/** The decision is in effect, and the ledger only records it. */
interface TakenEffect {
  update: 'withdraw' | 'pause' | 'resume';
  message: RunWithdrawal;
}

/** Plain data for continue-as-new. */
export interface AskedDecision extends Underway {
  /** Decisions as the ledger gets them: one `advance` may bring two. */
  decisions: RunDecision[];
  effect: RunDecisionEffect | TakenEffect;
}

interface DecidedRun {
  readonly config: RunConfig | undefined;
  readonly endedAs: string | undefined;
  refuse(refused: RefusedMessage): void;
}

export class RunDecisions {
  readonly #asked: AskedDecision[];
  /** Another number once a decision was settled. */
  settled = 0;

  /** @param state from continue-as-new */
  constructor(state: readonly AskedDecision[] = []) {
    this.#asked = state.map((decision) => ({ ...decision, isAnswered: true }));
  }

  get carried(): readonly AskedDecision[] {
    return this.#asked;
  }

  get isBusy(): boolean {
    return this.#asked.length > 0;
  }

  get effects(): readonly RunDecisionEffect[] {
    return this.#asked.flatMap(({ effect }) => (hasTakenEffect(effect) ? [] : [effect]));
  }

  asksToSkip(stage: StageCode): boolean {
    return this.effects.some((effect) => effect.update === 'advance' && effect.message.skip === stage);
  }

  /** Whether the wait at the gate before the stage depends on one of them. */
  isAboutGate(stage: StageCode): boolean {
    return this.effects.some((effect) => {
      if (effect.update === 'extend') return effect.message.gate === stage;
      return effect.message.to === stage || effect.message.skip === stage;
    });
  }

  isAboutShare(shareId: string): boolean {
    return this.effects.some((effect) => effect.update === 'extend' && effect.message.shareId === shareId);
  }

  /**
   * Returns why the message is refused while an earlier one of its ids is not settled. `null` if it is the same one,
   * `undefined` if there is none.
   */
  objection(ids: readonly string[], message: object): MessageRefusal | null | undefined {
    const asked = this.#find(ids);
    return asked && refuseDifference('this decision was accepted', asked.effect.message, message);
  }

  #find(ids: readonly string[]): AskedDecision | undefined {
    return this.#asked.find(({ decisions }) => decisions.some(({ decisionId }) => ids.includes(decisionId)));
  }

  /** Asks for the decision, and answers once it has taken effect. */
  answer<Status>(run: { status(): Status }, wanted: AskedDecision): Promise<Accepted<Status>> {
    const asked = this.#ask(wanted);
    return answerUnderway(run, asked, asked !== wanted);
  }

  /** Asks for the row of a decision that has taken effect already. Its sender waits for no answer. */
  note(wanted: AskedDecision): void {
    this.#ask(wanted).isAnswered = true;
  }

  #ask(wanted: AskedDecision): AskedDecision {
    const known = this.#find(wanted.decisions.map(({ decisionId }) => decisionId));
    if (!known) this.#asked.push(wanted);
    return known ?? wanted;
  }

  /**
   * Starts writing. Runs for as long as the workflow does, and no cancellation stops it.
   *
   * @param takeEffect returns why it cannot take effect any more, or `null`
   */
  begin(run: DecidedRun, takeEffect: (effect: RunDecisionEffect) => MessageRefusal | null = () => null): void {
    runInBackground(() => CancellationScope.nonCancellable(() => this.#writeAll(run, takeEffect)));
  }

  /** Waits until the ledger has the decisions of a run that ends. A run that ends unchecked has no ledger to ask. */
  async waitUntilSettled(run: DecidedRun): Promise<void> {
    while (!run.config && this.isBusy)
      this.#settle(run, refuse('notNow', 'the run has ended before its input was checked'));
    if (this.isBusy) await CancellationScope.nonCancellable(() => condition(() => !this.isBusy));
  }

  async #writeAll(run: DecidedRun, takeEffect: (effect: RunDecisionEffect) => MessageRefusal | null): Promise<never> {
    for (;;) {
      await condition(() => this.isBusy && run.config !== undefined);
      const [asked] = this.#asked;
      if (!asked || !run.config) continue;
      const { decisions, effect } = asked;
      const summary = `recording a decision: ${effect.update}`;
      const args = { ledgerId: run.config.ledgerId, decisions };
      const isRecorded = (await runUntilRecorded('recordRunDecisions', { summary }, args)) !== 'ledgerChanged';
      if (!isRecorded || hasTakenEffect(effect)) {
        this.#settle(run, isRecorded ? 'recorded' : OF_ANOTHER_LEDGER);
        continue;
      }
      const objection = run.endedAs ? refuse('notNow', 'the run has ended') : takeEffect(effect);
      const late = 'it is recorded, but came too late to take effect';
      this.#settle(run, objection ? refuse(objection.cause, `${late}: ${objection.reason}`) : 'recorded');
    }
  }

  /** A decision that has taken effect already cannot be refused: no ledger will have it. */
  #settle(run: DecidedRun, verdict: Verdict): void {
    const asked = this.#asked.shift();
    this.settled++;
    if (!asked) return;
    asked.verdict = isRefused(verdict) && hasTakenEffect(asked.effect) ? 'inNoLedger' : verdict;
    if (asked.isAnswered && isRefused(asked.verdict)) refuseMessage(run, asked.effect.update, asked.verdict.reason);
  }
}

function hasTakenEffect(effect: RunDecisionEffect | TakenEffect): effect is TakenEffect {
  return effect.update === 'withdraw' || effect.update === 'pause' || effect.update === 'resume';
}

/** A decision that has taken effect already. The run is withdrawn once; a review may be paused many times. */
export function findTakenDecision(
  action: TakenEffect['update'],
  runKey: string,
  { by, reason }: RunWithdrawal,
): AskedDecision {
  const decidedAt = new Date().toISOString();
  const decisionId = action === 'withdraw' ? action : `${action}-${decidedAt}`;
  return {
    decisions: [{ runKey, decisionId, action, by, reason, decidedAt }],
    effect: { update: action, message: { by, reason } },
  };
}

function toExtensionDecision(runKey: string, message: Extension, decidedAt: string): RunDecision {
  const { gate, shareId, by, reason } = message;
  const until = toUtcInstant(toMs(message));
  const decisionId = toExtensionId(message);
  const about = omitUndefined({ stage: gate, shareId });
  return { runKey, decisionId, action: 'extend', ...about, until, by, reason, decidedAt };
}

function toExtensionId(message: Extension): string {
  return `extend-${message.gate ?? message.shareId}-${toUtcInstant(toMs(message))}`;
}

// The waits that people have made longer. Each lasts at least until the latest instant given for it. No waiting.

/** An extension without the id of the run. */
export type Extension = Omit<ExtendMessage, 'journeyId'>;

export type Wait = Pick<Extension, 'gate' | 'shareId'>;

/** A limit against a sender that never stops: each is kept, and handed on from run to run. */
const MOST = 100;

/** Equals the longest wait that an input may have. */
const MOST_FROM_NOW_MS = 3_650 * 86_400_000;

/** Returns the end of a wait until `untilMs`, but not before the instant that it was extended to. RFC 3339 in UTC. */
export function findEndOfWait(extensions: readonly Extension[], wait: Wait, untilMs: number): string {
  const extended = extensions.filter((extension) => isSame(extension, wait)).map(toMs);
  return toUtcInstant(Math.max(untilMs, ...extended));
}

function findExtension(extensions: readonly Extension[], message: Extension): Extension | undefined {
  return extensions.find((extension) => isSame(extension, message) && toMs(extension) === toMs(message));
}

function isSame(a: Wait, b: Wait): boolean {
  return a.gate === b.gate && a.shareId === b.shareId;
}

function toMs({ until }: Extension): number {
  return parseInstantMs(until) ?? 0;
}

/** A run whose waits an operator can extend: `lendingJourney` or `shareReport`. */
interface ExtendableRun extends DecidedRun {
  readonly runKey: string;
  readonly isEnding: boolean;
  readonly decided: RunDecisions;
  readonly extensions: Extension[];
  readonly events: Pick<EventsOut, 'emit'>;
  /** Returns when the wait ends by now, RFC 3339; `undefined` if nothing waits. */
  computeEndOfWait(wait: Wait): string | undefined;
  extendWait(wait: Wait, until: string): void;
}

/** Returns why the message makes no sense now, or `null`; also `null` if the same was accepted before. */
export function extendObjection(run: ExtendableRun, message: Extension): MessageRefusal | null {
  const asked = run.decided.objection([toExtensionId(message)], message);
  return asked === undefined ? checkExtension(run, message) : asked;
}

/** Returns the objection to a message that the ledger already has; also `null` if the same was taken before. */
function checkExtension(run: ExtendableRun, message: Extension): MessageRefusal | null {
  const known = findExtension(run.extensions, message);
  if (known) return refuseDifference('this extension was accepted', known, message);
  const until = run.isEnding ? undefined : run.computeEndOfWait(message);
  if (until === undefined) {
    const { gate, shareId } = message;
    return shareId === undefined
      ? refuse('notNow', `nothing waits at a gate before ${gate}`)
      : refuse('unknownPart', '/shareId names no share that waits');
  }
  const [untilMs, nowMs] = [toMs(message), Date.now()];
  if (untilMs <= (parseInstantMs(until) ?? 0)) {
    return refuse('notNow', '/until must be later than the present end of the wait');
  }
  if (untilMs > nowMs + MOST_FROM_NOW_MS) return refuse('notNow', '/until must be at most P3650D from now');
  return run.extensions.length < MOST ? null : refuse('notNow', `a run accepts at most ${MOST} extensions`);
}

/** Takes a message that `extendObjection` permits; returns `false` if it was taken before. */
export function takeExtension(run: ExtendableRun, message: Extension): boolean {
  if (findExtension(run.extensions, message)) return false;
  run.extensions.push(message);
  const until = toUtcInstant(toMs(message));
  const { gate, shareId } = message;
  run.extendWait(message, until);
  run.events.emit('wait.extended', [gate ?? '', shareId ?? '', until], { ...omitUndefined({ gate, shareId }), until });
  return true;
}

/** Makes the wait longer once the ledger has that; returns why it cannot any more, or `null`. */
export function takeRecordedExtension(run: ExtendableRun, message: Extension): MessageRefusal | null {
  const objection = checkExtension(run, message);
  if (objection === null) takeExtension(run, message);
  return objection;
}

/** @param toExtension leaves out the id of the run, where the message has one beside the wait's name */
export function handleExtensions<Message, Status>(
  run: ExtendableRun & { status(): Status },
  definition: MessageWith<Message>,
  toExtension: (message: Message) => Extension,
): void {
  const objection = (message: Message) => extendObjection(run, toExtension(message));
  handleUpdate(run, definition, 'extend', {
    objection,
    answer: async (sent) => {
      // The wait may have ended in this workflow task.
      refuseFor(objection(sent));
      const message = toExtension(sent);
      if (findExtension(run.extensions, message)) return { ...toAccepted(run, true), recorded: true };
      const decisions = [toExtensionDecision(run.runKey, message, new Date().toISOString())];
      return run.decided.answer(run, { decisions, effect: { update: 'extend', message } });
    },
  });
}
