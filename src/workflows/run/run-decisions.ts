/**
 * Decisions of people about a run itself: to extend a wait, to skip a stage, to accept an old report. The ledger has
 * each decision before it takes effect. While it is being recorded, no wait runs out and no stage begins: without the
 * ledger, none could be pulled.
 *
 * A decision that only stops or slows a run takes effect at once: a withdrawal, a review's pause and its end. The
 * ledger has it before the run ends. So it is with flags, which the run raises and lowers by itself.
 */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import { parseInstantMs, toUtcInstant } from '../../base/instants.ts';
import type { RunFlag } from '../../ledger/holds/holds.ts';
import type { RunDecision, RunWithdrawal } from '../../ledger/records.ts';
import type { PassGateMessage } from '../../messages/advance.ts';
import type { ExtendMessage } from '../../messages/extend.ts';
import type { NamedRun } from '../../messages/message.ts';
import { type MessageRefusal, refuse, refuseDifference } from '../../model/refusals.ts';
import { runUntilRecorded } from './activity-stubs.ts';
import { createBackgroundWork } from './around-the-sdk.ts';
import type { EventsOut } from './events-out.ts';
import {
  type Accepted,
  type AnsweringRun,
  answerUnderway,
  handleUpdate,
  isRefused,
  refuseFor,
  refuseMessage,
  toAccepted,
  type Underway,
  type Verdict,
} from './message-answers.ts';

export const OF_ANOTHER_LEDGER = refuse(
  'notNow',
  'the ledger is not the one that the run has used: nothing was recorded',
);

/** The effect of a recorded decision: the message without the id of its run, and further data for the run. */
export type RunDecisionEffect =
  | { update: 'extend'; message: Extension }
  | { update: 'advance'; message: PassGateMessage; receivedAt: string };

interface AskedDecision extends Underway {
  /** Decisions as the ledger gets them: one `advance` may bring two. */
  decisions: RunDecision[];
  /** Absent if the decision is in effect, and the ledger only records it. */
  effect?: RunDecisionEffect;
}

/** A row that the ledger is to get: a decision, or a flag that it cannot find by itself. Plain data for continue-as-new. */
export type AskedRecord = AskedDecision | (Underway & { flag: RunFlag });

interface DecidedRun extends AnsweringRun {
  readonly config: RunConfig | undefined;
  readonly endedAs: string | undefined;
}

export class RunDecisions {
  readonly #run: DecidedRun;
  /** In the order in which they were asked for. */
  readonly #asked: AskedRecord[];
  /** Writes the records that the ledger lacks, until it has them. Called also once the run has a configuration. */
  readonly write = createBackgroundWork(
    () => this.#asked.length > 0 && this.#run.config !== undefined,
    () => this.#writeNext(),
  );
  /** Returns why a decision cannot take effect any more, or `null`. */
  takeEffect: (effect: RunDecisionEffect) => MessageRefusal | null = () => null;

  constructor(run: DecidedRun, asked: AskedRecord[]) {
    this.#run = run;
    this.#asked = asked;
  }

  get #decisions(): AskedDecision[] {
    return this.#asked.filter((asked) => 'decisions' in asked);
  }

  /** Whether the ledger does not have a decision yet: until it has, no wait runs out, and no stage begins. */
  get isBusy(): boolean {
    return this.#decisions.length > 0;
  }

  /** Returns why the message is refused, or `null`. While an earlier one of its ids is not settled, only that counts. */
  check(ids: readonly string[], message: object, otherwise: () => MessageRefusal | null): MessageRefusal | null {
    const asked = this.#find(ids);
    return asked ? refuseDifference('this decision was accepted', asked.effect?.message, message) : otherwise();
  }

  #find(ids: readonly string[]): AskedDecision | undefined {
    return this.#decisions.find(({ decisions }) => decisions.some(({ decisionId }) => ids.includes(decisionId)));
  }

  /** Asks for the decision, and answers once it has taken effect. */
  answer(wanted: AskedDecision): Promise<Accepted> {
    const asked = this.#ask(wanted);
    return answerUnderway(this.#run, asked, asked !== wanted);
  }

  /** Asks for the row of a decision that has taken effect already. Its sender waits for no answer. */
  note(wanted: AskedDecision): void {
    this.#ask(wanted).isAnswered = true;
  }

  #ask(wanted: AskedDecision): AskedDecision {
    const known = this.#find(wanted.decisions.map(({ decisionId }) => decisionId));
    return known ?? this.#add(wanted);
  }

  /** Raises or lowers a flag. */
  flag(flag: RunFlag): void {
    this.#add({ flag });
  }

  #add<Asked extends AskedRecord>(asked: Asked): Asked {
    this.#asked.push(asked);
    this.write();
    return asked;
  }

  /** Waits until the ledger has everything of a run that ends. A run that ends unchecked has no ledger to ask. */
  async waitUntilSettled(): Promise<void> {
    if (!this.#run.config) {
      for (const asked of this.#asked.splice(0))
        this.#settle(asked, refuse('notNow', 'the run has ended before its input was checked'));
    }
    if (this.#asked.length > 0) await CancellationScope.nonCancellable(() => condition(() => this.#asked.length === 0));
  }

  async #writeNext(): Promise<void> {
    const { config } = this.#run;
    const [asked] = this.#asked;
    if (!asked || !config) return;
    const isRecorded = (await writeRecord(config, asked)) !== 'ledgerChanged';
    this.#asked.shift();
    const effect = 'decisions' in asked && isRecorded ? asked.effect : undefined;
    const ineffective = effect && (this.#run.endedAs ? refuse('notNow', 'the run has ended') : this.takeEffect(effect));
    const late = 'it is recorded, but came too late to take effect';
    const refusal = ineffective && refuse(ineffective.cause, `${late}: ${ineffective.reason}`);
    this.#settle(asked, refusal ?? (isRecorded ? 'recorded' : OF_ANOTHER_LEDGER));
  }

  /** A decision that has taken effect already cannot be refused: no ledger will have it. */
  #settle(asked: AskedRecord, verdict: Verdict): void {
    const effect = 'decisions' in asked ? asked.effect : undefined;
    asked.verdict = isRefused(verdict) && !effect ? 'inNoLedger' : verdict;
    if (effect && asked.isAnswered && isRefused(verdict)) refuseMessage(this.#run, effect.update, verdict.reason);
  }
}

/** If another ledger answers than the run has used, nothing is written, and only the run's status shows a flag. */
function writeRecord({ ledgerId }: RunConfig, asked: AskedRecord): Promise<unknown> {
  if ('flag' in asked) {
    const { flag } = asked;
    return runUntilRecorded('flagRun', { summary: `flag: ${flag.reason}` }, { ledgerId, flag });
  }
  const { decisions } = asked;
  const summary = `recording a decision: ${decisions.map(({ action }) => action).join(', ')}`;
  return runUntilRecorded('recordRunDecisions', { summary }, { ledgerId, decisions });
}

/** A decision that has taken effect already. The run is withdrawn once; a review may be paused many times. */
export function findTakenDecision(
  action: 'withdraw' | 'pause' | 'resume',
  runKey: string,
  { by, reason }: RunWithdrawal,
): AskedDecision {
  const decidedAt = new Date().toISOString();
  const decisionId = action === 'withdraw' ? action : `${action}-${decidedAt}`;
  return { decisions: [{ runKey, decisionId, action, by, reason, decidedAt }] };
}

// The waits that people have made longer. Each lasts at least until the latest instant given for it. No waiting.

/** The members that the extensions of journeys and shares have in common. */
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

function toExtensionId(message: Extension): string {
  return `extend-${message.gate ?? message.shareId}-${toUtcInstant(toMs(message))}`;
}

/** A run whose waits an operator can extend: `lendingJourney` or `shareReport`. */
interface ExtendableRun extends DecidedRun, NamedRun {
  readonly kind: 'journey' | 'share';
  readonly isEnding: boolean;
  readonly decided: RunDecisions;
  readonly state: { extensions: Extension[] };
  readonly events: Pick<EventsOut, 'emit'>;
  /** Returns what waits, with the end of its wait, RFC 3339. */
  findWaiting(wait: Wait): { until?: string } | undefined;
}

/** Returns why the message makes no sense now, or `null`; also `null` if the same was accepted before. */
export function checkExtend(run: ExtendableRun, message: Extension): MessageRefusal | null {
  return run.decided.check([toExtensionId(message)], message, () => checkExtension(run, message));
}

/** Returns the refusal of a message that the ledger already has; also `null` if the same was taken before. */
function checkExtension(run: ExtendableRun, message: Extension): MessageRefusal | null {
  const { extensions } = run.state;
  const known = findExtension(extensions, message);
  if (known) return refuseDifference('this extension was accepted', known, message);
  const until = run.isEnding ? undefined : run.findWaiting(message)?.until;
  if (until === undefined) {
    const { gate, shareId } = message;
    return shareId === undefined
      ? refuse('notNow', `nothing waits at a gate before ${gate}`)
      : refuse('unknownPart', '/shareId names no share that waits');
  }
  const untilMs = toMs(message);
  if (untilMs <= (parseInstantMs(until) ?? 0)) {
    return refuse('notNow', '/until must be later than the present end of the wait');
  }
  if (untilMs > Date.now() + MOST_FROM_NOW_MS) return refuse('notNow', '/until must be at most P3650D from now');
  return extensions.length < MOST ? null : refuse('notNow', `a run accepts at most ${MOST} extensions`);
}

/** Makes the wait longer once the ledger has that; returns why it cannot any more, or `null`. */
export function takeExtension(run: ExtendableRun, message: Extension): MessageRefusal | null {
  const refusal = checkExtension(run, message);
  const { extensions } = run.state;
  if (refusal || findExtension(extensions, message)) return refusal;
  extensions.push(message);
  const until = toUtcInstant(toMs(message));
  const { gate, shareId } = message;
  Object.assign(run.findWaiting(message) ?? {}, { until });
  run.events.emit('wait.extended', [gate ?? '', shareId ?? '', until], { gate, shareId, until });
  return null;
}

export function handleExtensions(run: ExtendableRun): void {
  const check = (message: Extension) => checkExtend(run, message);
  handleUpdate(run, 'extend', {
    check,
    answer: async (message: Extension) => {
      // The wait may have ended in this workflow task.
      refuseFor(check(message));
      if (findExtension(run.state.extensions, message)) return { ...toAccepted(run, true), recorded: true };
      const { runKey } = run;
      const { gate: stage, shareId, by, reason } = message;
      const decisionId = toExtensionId(message);
      const until = toUtcInstant(toMs(message));
      const who = { by, reason, decidedAt: new Date().toISOString() };
      const decisions = [{ runKey, decisionId, action: 'extend' as const, stage, shareId, until, ...who }];
      return run.decided.answer({ decisions, effect: { update: 'extend', message } });
    },
  });
}
