/** State of a run of any kind: configuration, holds, events, search attributes, what it hands over. Nothing here waits. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { RefusedMessage, TerminalState } from '../../messages/journey/shapes.ts';
import type { Ended, WebhookRun } from '../../messages/webhooks/events.ts';
import { type Problem, selectShownProblems } from '../../model/problems.ts';
import { ID_NAMES, type RunKind, toRunKey } from '../../model/run-key.ts';
import type { SearchAttributeName, WaitsFor } from '../../model/search-attributes.ts';
import type { AnyStatus } from '../../words/runs.ts';
import { Continuation } from './continuation.ts';
import { type CarriedEvents, EventsOut } from './events-out.ts';
import { Holds, type HoldsState } from './holds.ts';
import { InFlightActivities } from './in-flight-activities.ts';
import { type AskedDecision, RunDecisions } from './run-decisions.ts';
import { RunWork } from './run-work.ts';

/** Messages that a run has refused and whose sender waited for no answer. */
type RefusedMessages = Pick<AnyStatus, 'refusedMessages' | 'refusedMessagesTotal'>;

/** Number of refused messages that `status` shows; the total counts the rest. */
const REFUSED_SHOWN = 50;

/** State of any run for continue-as-new. Plain data. */
export interface RunState<Withdrawal, Prepared extends RunConfig = RunConfig> {
  /** Absent if the input was not checked yet. */
  config?: Prepared;
  withdrawal?: Withdrawal;
  holds: HoldsState;
  events: CarriedEvents;
  refused: RefusedMessages;
  published: CarriedAttributes;
  /** Whether the ledger may have open rows of operator work that no decision closes. */
  mayLeaveRows?: boolean;
  /** Decisions about the run that the ledger does not have yet. */
  asked?: readonly AskedDecision[];
}

export abstract class Run<Input extends object, Prepared extends RunConfig, Outcome extends string, Withdrawal> {
  abstract readonly kind: RunKind;
  readonly input: Input;
  readonly inFlight = new InFlightActivities();
  readonly continuation = new Continuation(this.inFlight, () => this.config?.settings.handOverAfterEvents);
  readonly events: EventsOut;
  readonly holds: Holds;
  readonly work: RunWork;
  /** Decisions of people about the run itself. */
  readonly decided: RunDecisions;
  /** The configuration that the first activity fixed; absent until it has answered. */
  config: Prepared | undefined;
  withdrawal: Withdrawal | undefined;
  outcome: Outcome | undefined;
  endedAs: TerminalState | undefined;
  /** The problems of a refused input. The run has failed, or is about to unless another worker has its profile. */
  inputProblems: readonly Problem[] | undefined;
  protected readonly published: PublishedAttributes;
  refusedMessages: RefusedMessages;

  /**
   * The input is not checked yet, so nothing here may fail on any input.
   *
   * @param state from continue-as-new
   */
  constructor(input: Input, state: Partial<RunState<Withdrawal, Prepared>> = {}) {
    this.input = typeof input === 'object' && input !== null ? input : ({} as Input);
    this.events = new EventsOut(state.events);
    this.work = new RunWork(this, state.mayLeaveRows);
    this.holds = new Holds(this, state.holds);
    this.decided = new RunDecisions(state.asked);
    this.withdrawal = state.withdrawal;
    this.refusedMessages = state.refused ?? { refusedMessages: [], refusedMessagesTotal: 0 };
    this.published = new PublishedAttributes(() => this.config?.searchAttributes ?? [], state.published);
  }

  /** Returns the state for the next run. */
  toState(): RunState<Withdrawal, Prepared> {
    const { config, withdrawal, holds, events, decided, work } = this;
    return {
      ...(config ? { config } : {}),
      ...(withdrawal ? { withdrawal } : {}),
      holds: holds.carried,
      events: events.carried,
      refused: this.refusedMessages,
      published: this.published.carried,
      ...(work.mayLeaveRows ? { mayLeaveRows: true } : {}),
      ...(decided.isBusy ? { asked: decided.carried } : {}),
    };
  }

  /** Takes the configuration that the first activity fixed for the run. */
  begin(config: Prepared): void {
    this.config = config;
    this.events.begin(config, this.subject);
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

  /** Names the run as its messages and events do. */
  protected get subject(): WebhookRun {
    return { [ID_NAMES[this.kind]]: this.id } as unknown as WebhookRun;
  }

  /**
   * Upserts the search attributes that have changed and are registered.
   *
   * @param passing attributes whose change alone causes no upsert, since the run is not about to wait
   */
  abstract publish(passing?: readonly SearchAttributeName[]): void;

  /** Returns the parts of the run that every inquiry uses. */
  createHost(config: RunConfig) {
    const { inFlight, holds, continuation } = this;
    return {
      config,
      inFlight,
      holds,
      continuation,
      isEnding: () => this.isEnding,
      onWithdrawn: (withdrawal: RunWithdrawal) => {
        this.withdrawal ??= { ...this.subject, ...withdrawal } as Withdrawal;
        inFlight.recheck();
      },
    };
  }

  /** Emits the event of its end. */
  abstract emitEnded(outcome: Ended<Outcome>): void;

  abstract status(): AnyStatus;

  abstract result(outcome: Outcome): unknown;

  /** Whether nothing more is to be sent. */
  get isEnding(): boolean {
    return this.withdrawal !== undefined;
  }

  /** Whether it ended before its input was accepted: the input was refused, or the run was cancelled. */
  get hasEndedBeforeAcceptance(): boolean {
    return this.config === undefined && this.endedAs !== undefined;
  }

  /** Problems as the status shows them. */
  get problems(): { problems?: Problem[] } {
    return this.inputProblems ? { problems: selectShownProblems(this.inputProblems) } : {};
  }

  refuse(refused: RefusedMessage): void {
    const { refusedMessages, refusedMessagesTotal } = this.refusedMessages;
    this.refusedMessages = {
      refusedMessages: [...refusedMessages, refused].slice(-REFUSED_SHOWN),
      refusedMessagesTotal: refusedMessagesTotal + 1,
    };
  }
}

// A run's search attributes, upserted if they have changed and the server knows them.

/** `null` removes an attribute; one that is left out keeps its value. */
export interface RunAttributes {
  NeedsAttention: string | null;
  WaitsFor: WaitsFor | null;
  JourneyStage?: string;
  EndUserCode?: string;
  GatewayProfile?: string;
  /** All end users that the run may pull for. An empty list changes nothing. */
  EndUserCodes?: readonly string[];
  /** An empty list changes nothing. */
  CustomerTraceNumber: string[];
}

type CarriedAttributes = Partial<Record<SearchAttributeName, string>>;

class PublishedAttributes {
  /** Attributes that are registered on the server: upserting another would park the run for ever. */
  readonly #registered: () => readonly SearchAttributeName[];
  readonly #published: Map<SearchAttributeName, string>;

  /** @param state attributes of the previous run: the server hands them on */
  constructor(registered: () => readonly SearchAttributeName[], state: CarriedAttributes = {}) {
    this.#registered = registered;
    this.#published = new Map(Object.entries(state) as [SearchAttributeName, string][]);
  }

  get carried(): CarriedAttributes {
    return Object.fromEntries(this.#published);
  }

  /** @param passing left for the next upsert if nothing else has changed: an upsert costs an event, and the server a task */
  upsert(attributes: RunAttributes, passing: readonly SearchAttributeName[] = []): void {
    const news: [name: SearchAttributeName, published: string | null, pair: SearchAttributeUpdatePair][] = [];
    for (const name of Object.keys(attributes) as (keyof RunAttributes)[]) {
      const value = attributes[name];
      if (value === undefined) continue;
      const published = isList(value) ? value.join(' ') || null : value;
      if (!this.#isNews(name, published)) continue;
      const pair: SearchAttributeUpdatePair = isList(value)
        ? { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD_LIST), value: [...value] }
        : { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value };
      news.push([name, published, pair]);
    }
    if (news.every(([name]) => passing.includes(name))) return;
    for (const [name, value] of news) {
      if (value === null) this.#published.delete(name);
      else this.#published.set(name, value);
    }
    upsertSearchAttributes(news.map(([, , pair]) => pair));
  }

  #isNews(name: SearchAttributeName, value: string | null): boolean {
    return this.#registered().includes(name) && (this.#published.get(name) ?? null) !== value;
  }
}

function isList(value: string | null | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}
