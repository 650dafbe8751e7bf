/** State of a run of any kind: configuration, holds, events, search attributes. Nothing here waits. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { RefusedMessage, TerminalState } from '../../messages/journey/shapes.ts';
import type { Ended, WebhookRun } from '../../messages/webhooks/events.ts';
import { type Problem, selectShownProblems } from '../../model/problems.ts';
import { ID_NAMES, type RunKind, toRunKey } from '../../model/run-key.ts';
import type { SEARCH_ATTRIBUTES, SearchAttributeName } from '../../model/search-attributes.ts';
import type { AnyStatus, RunView } from '../../words/runs.ts';
import { Continuation, InFlightActivities } from './continuation.ts';
import { EventsOut, type EventsState } from './events-out.ts';
import { Holds, type HoldsState } from './holds.ts';
import { type AskedRecord, RunDecisions } from './run-decisions.ts';

/** Number of refused messages that `status` shows; the total counts the rest. */
const REFUSED_SHOWN = 50;

/** Plain data. A run continues as new with its state. */
export interface RunState<Config extends RunConfig = RunConfig> {
  /** The configuration that the first activity fixed; absent until it has answered. */
  config?: Config;
  withdrawal?: RunWithdrawal;
  holds: HoldsState;
  events: EventsState;
  /** Messages that the run has refused and whose sender waited for no answer. */
  refused: Pick<AnyStatus, 'refusedMessages' | 'refusedMessagesTotal'>;
  /** Search attributes as the server has them, which hands them on. */
  published: Partial<Record<SearchAttributeName, string>>;
  /** Whether rows may be open that no decision closes: of holds that ended without one, or that a reset has forgotten. */
  mayLeaveRows?: boolean;
  /** Decisions and flags that the ledger does not have yet. */
  asked: AskedRecord[];
}

export function createRunState<Config extends RunConfig>(): RunState<Config> {
  return {
    holds: { open: [], settled: [] },
    events: { occurrences: {}, waiting: [] },
    refused: { refusedMessages: [], refusedMessagesTotal: 0 },
    published: {},
    asked: [],
  };
}

export abstract class Run<Input extends object, State extends RunState, Outcome extends string> {
  abstract readonly kind: RunKind;
  readonly input: Input;
  readonly state: State;
  readonly inFlight = new InFlightActivities();
  readonly continuation = new Continuation(this.inFlight, () => this.config?.settings.handOverAfterEvents);
  readonly events: EventsOut;
  readonly holds: Holds;
  /** Decisions of people about the run itself. */
  readonly decided: RunDecisions;
  outcome: Outcome | undefined;
  endedAs: TerminalState | undefined;
  /** The problems of a refused input. The run has failed, or is about to unless another worker has its profile. */
  inputProblems: readonly Problem[] | undefined;

  /** The input is not checked yet, so nothing here may fail on any input. */
  constructor(input: Input, state: State) {
    this.input = typeof input === 'object' && input !== null ? input : ({} as Input);
    this.state = state;
    this.events = new EventsOut(state.events);
    this.holds = new Holds(this, state.holds);
    this.decided = new RunDecisions(this, state.asked);
  }

  /** Returns the state for the next run. */
  toState(): State {
    return { ...this.state, events: this.events.toState() };
  }

  /** Takes the configuration that the first activity fixed for the run. */
  begin(config: NonNullable<State['config']>): void {
    this.state.config = config;
    const subject = { [ID_NAMES[this.kind]]: this.id };
    this.events.begin(config, subject as unknown as WebhookRun);
    this.decided.write();
    this.continuation.leaveIfDue();
  }

  /** Called after an operator's reset: the run has lost the messages that it received after the reset point. */
  onReset(): void {
    this.holds.onReset();
  }

  get config(): State['config'] {
    return this.state.config;
  }

  /** The configuration of a run whose input was accepted. */
  get accepted(): NonNullable<State['config']> {
    const { config } = this.state;
    if (!config) throw new Error('the input was not checked yet');
    return config;
  }

  /** The id that the caller gave in the input. */
  get id(): string {
    return (this.input as Record<string, string>)[ID_NAMES[this.kind]] as string;
  }

  get runKey(): string {
    return toRunKey(this.kind, this.id);
  }

  get profile(): string {
    return (this.input as { profile?: string }).profile ?? 'default';
  }

  /** Emits the event of its end. */
  abstract emitEnded(outcome: Ended<Outcome>): void;

  abstract status(): AnyStatus;

  /** The facts that the Temporal UI shows beside the status, once the input was accepted. */
  abstract get details(): ShownDetails;

  /** Absent of a run without references to store. */
  references?(): object;

  abstract result(outcome: Outcome): unknown;

  /** Whether the run is about to end, and begins nothing more. */
  get isEnding(): boolean {
    return this.state.withdrawal !== undefined;
  }

  /** Whether the ledger has everything that the run received, or all that it will have. */
  get isIdle(): boolean {
    return this.state.asked.length === 0;
  }

  /** Whether the run sends no inquiry now. */
  get isHalted(): boolean {
    return this.isEnding || this.endedAs !== undefined;
  }

  /** Returns `false` if the run was withdrawn before. */
  withdraw({ by, reason }: RunWithdrawal): boolean {
    const isNew = this.state.withdrawal === undefined;
    this.state.withdrawal ??= { by, reason };
    this.inFlight.recheck();
    return isNew;
  }

  /** The members of a status that are the same for each kind. Nothing personal. */
  get commonStatus() {
    return {
      environment: this.config?.environment,
      problems: this.inputProblems && selectShownProblems(this.inputProblems),
      holds: this.holds.list,
      ...this.state.refused,
    };
  }

  refuse(refused: RefusedMessage): void {
    const { refusedMessages, refusedMessagesTotal } = this.state.refused;
    this.state.refused = {
      refusedMessages: [...refusedMessages, refused].slice(-REFUSED_SHOWN),
      refusedMessagesTotal: refusedMessagesTotal + 1,
    };
  }

  // Search attributes, upserted if they have changed and the server knows them.

  protected abstract get attributes(): RunAttributes;

  /** @param passing left for the next upsert if nothing else has changed: an upsert costs an event, and the server a task */
  publish(passing: readonly SearchAttributeName[] = []): void {
    const { config } = this;
    // The attributes of an input that is not checked yet may be of any shape.
    if (!config) return;
    const { attributes } = this;
    const { published } = this.state;
    const news: [name: SearchAttributeName, value: string | null, pair: SearchAttributeUpdatePair][] = [];
    for (const name of Object.keys(attributes) as (keyof RunAttributes)[]) {
      const given = attributes[name];
      if (given === undefined) continue;
      const isList = typeof given === 'object' && given !== null;
      const value = isList ? given.join(' ') || null : given;
      // Upserting an attribute that the server lacks would park the run for ever.
      if (!config.searchAttributes.includes(name) || (published[name] ?? null) === value) continue;
      const pair: SearchAttributeUpdatePair = isList
        ? { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD_LIST), value: [...given] }
        : { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value: given };
      news.push([name, value, pair]);
    }
    if (news.every(([name]) => passing.includes(name))) return;
    for (const [name, value] of news) {
      if (value === null) delete published[name];
      else published[name] = value;
    }
    upsertSearchAttributes(news.map(([, , pair]) => pair));
  }
}

export type ShownDetails = Omit<RunView, 'status' | 'holds'> & { endUserCode?: string | undefined };

export type AnyRun = Run<object, RunState, string>;

/** `null` removes an attribute; `undefined` keeps its value, and so does an empty list. */
export type RunAttributes = {
  [Name in SearchAttributeName]?: (typeof SEARCH_ATTRIBUTES)[Name] extends 'Keyword'
    ? string | null
    : readonly string[];
};
