import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { isRecord } from '../../base/is-record.ts';
import {
  type AddressedEvent,
  type CarriedEndpoint,
  type ChooseEndpoint,
  type ChosenEvents,
  type EndpointStatus,
  type FailedEvent,
  toWebhookDeliveryId,
  WEBHOOK_ATTENTION,
  WEBHOOK_FAILURE_TYPES,
  type WebhookDeliveryInput,
  type WebhookDeliveryResult,
  type WebhookDeliveryStatus,
  type WebhookFailureType,
} from '../../messages/webhooks/delivery.ts';
import type { WebhookEvent } from '../../messages/webhooks/events.ts';
import { refuse } from '../../model/refusals.ts';
import { parseWorkflowId } from '../../model/run-key.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { formatHoldRow } from '../../words/holds.ts';
import { createMarkdownWriter, formatCodeBlock } from '../../words/writer.ts';
import { deliverWebhookFor } from '../run/activity-stubs.ts';
import { runInBackground, showDetails } from '../run/around-the-sdk.ts';
import { isHistoryLong } from '../run/as-replayed.ts';
import { findApplicationFailure, toUndecodableFailure } from '../run/failures.ts';
import { createRefusal } from '../run/messages/message-answers.ts';

// Wire names: they are in histories and never change.
const deliverEvents = defineSignal<[{ events: AddressedEvent[] }]>('deliverEvents');
const resendWebhooks = defineUpdate<ChosenEvents, [ChooseEndpoint]>('resendWebhooks');
const dropWebhooks = defineUpdate<ChosenEvents, [ChooseEndpoint]>('dropWebhooks');
const webhookStatus = defineQuery<WebhookDeliveryStatus>('webhookStatus');

const { code, time } = createMarkdownWriter();

/** Event ids that the run remembers, so that a repeated event is sent once. One run has a few dozen. */
const MOST_SEEN = 500;

/**
 * Delivers the events of one run to the endpoints of its profile. Workflow id `webhooks-<workflow id>`; started by
 * the first event, it ends when nothing is left to do, and the next event starts it again. An event that was given up
 * keeps it open until an operator sends it again or drops it, or until its time is over.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<WebhookDeliveryResult> {
  if (isUndecodable(input)) throw toUndecodableFailure(input);
  const delivery = new Delivery(input);
  delivery.handleMessages();
  showDetails(() => delivery.details());
  return delivery.runToEnd();
}

class Delivery {
  readonly #input: WebhookDeliveryInput;
  readonly #chains = new Map<string, WebhookChain>();
  readonly #processedIds: Set<string>;
  #dropped = 0;
  #isShown = false;
  /** The time at which the run drops the events that it gave up. */
  #keptUntilMs = 0;

  constructor(input: WebhookDeliveryInput) {
    this.#input = input;
    this.#processedIds = new Set(input.carried?.seen);
    for (const carried of input.carried?.endpoints ?? []) this.#chain(carried.name, carried);
    this.#noteFailure();
  }

  handleMessages(): void {
    setHandler(deliverEvents, (message) => this.#take(message), {
      description: 'Sent by the worker: events that are to be delivered.',
    });
    setHandler(resendWebhooks, (choice) => this.#forChosen(choice, (chain) => chain.resend()), {
      validator: (choice) => this.#check(choice),
      description: 'Sends again what was given up, and now what waits for its next attempt: {"endpoint":"ops"} or {}.',
    });
    setHandler(
      dropWebhooks,
      (choice) => {
        const chosen = this.#forChosen(choice, (chain) => chain.drop());
        this.#dropped += chosen.events;
        return chosen;
      },
      {
        validator: (choice) => this.#check(choice),
        description: 'Forgets what was given up: {"endpoint":"ops"} or {}.',
      },
    );
    setHandler(webhookStatus, () => this.#toStatus(), {
      description: 'What waits and what was given up, by endpoint.',
    });
  }

  /** Markdown for the Temporal UI, with nothing personal. The query `webhookStatus` has each event. */
  details(): string {
    const failed = this.#all.flatMap(({ state }) =>
      state.failed.length > 0 ? [`${state.failed.length} to ${code(state.name)}`] : [],
    );
    if (failed.length === 0) return '**Events are being delivered. No person is needed.**';
    const keptUntil = time(new Date(this.#keptUntilMs).toISOString());
    const runKey = parseWorkflowId(workflowInfo().workflowId.slice(toWebhookDeliveryId('').length)) ?? '';
    return [
      `**Events were given up: ${failed.join(', ')}. They are kept until ${keptUntil}, for a person who sends them again or drops them.**`,
      'The query `webhookStatus` has each of them, and `docs/webhooks.md` what each failure means. Mend the endpoint first. Then in a shell (`drop` in place of `resend` forgets the events):',
      formatCodeBlock(`credit-journey webhooks resend ${runKey}`),
      'Here: _More Actions_, _Send an Update_, `resendWebhooks` (or `dropWebhooks`), with `{}`.',
    ].join('\n\n');
  }

  async runToEnd(): Promise<WebhookDeliveryResult> {
    for (;;) {
      this.#publish();
      for (const chain of this.#all) chain.go();
      const hasNews = () => this.#isShown !== this.#hasFailed || isHistoryLong();
      const isIdle = () => this.#all.every((chain) => chain.isIdle);
      await condition(() => isIdle() || hasNews());
      if (isHistoryLong()) return this.#continueAsNew();
      if (hasNews() || !isIdle()) continue;
      const leftMs = this.#keptUntilMs - Date.now();
      if (this.#hasFailed && leftMs > 0) {
        const summary = formatHoldRow(WEBHOOK_ATTENTION, 'events were given up');
        await condition(() => !isIdle() || hasNews(), leftMs, { summary });
        if (!isIdle() || hasNews()) continue;
      }
      await condition(allHandlersFinished);
      if (isIdle() && !hasNews()) return this.#toResult();
    }
  }

  get #all(): WebhookChain[] {
    return [...this.#chains.values()];
  }

  get #hasFailed(): boolean {
    return this.#all.some(({ state }) => state.failed.length > 0);
  }

  #chain(name: string, carried: CarriedEndpoint = createEmptyEndpoint(name)): WebhookChain {
    const known = this.#chains.get(name);
    if (known) return known;
    const chain = new WebhookChain(this.#input, carried, () => this.#noteFailure());
    this.#chains.set(name, chain);
    return chain;
  }

  /** Any sender with access to the namespace can send this signal, so the run ignores values that are no events. */
  #take(message: { events: AddressedEvent[] }): void {
    for (const event of [isRecord(message) ? message.events : []].flat().filter(isAddressed)) {
      const { endpoints, ...what } = event;
      if (this.#processedIds.has(what.id)) continue;
      this.#processedIds.add(what.id);
      for (const name of endpoints) {
        const chain = this.#chain(name);
        chain.push(what);
        chain.go();
      }
    }
  }

  #forChosen({ endpoint }: ChooseEndpoint, act: (chain: WebhookChain) => number): ChosenEvents {
    const chosen = this.#all.filter(({ state }) => endpoint === undefined || state.name === endpoint);
    let events = 0;
    for (const chain of chosen) {
      events += act(chain);
      chain.go();
    }
    return { events };
  }

  #check(choice: ChooseEndpoint | null): void {
    if (typeof choice !== 'object' || choice === null) throw createRefusal(refuse('notNow', 'must be an object'));
    if (choice.endpoint === undefined || this.#chains.has(choice.endpoint)) return;
    throw createRefusal(refuse('notNow', `/endpoint must be one of ${[...this.#chains.keys()].join(', ')}`));
  }

  #noteFailure(): void {
    if (!this.#hasFailed) return;
    this.#keptUntilMs = Date.now() + this.#input.settings.keepFailedForMs;
  }

  #publish(): void {
    if (this.#isShown === this.#hasFailed) return;
    this.#isShown = this.#hasFailed;
    const name: SearchAttributeName = 'NeedsAttention';
    if (!this.#input.searchAttributes.includes(name)) return;
    const key = defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
    upsertSearchAttributes([{ key, value: this.#isShown ? WEBHOOK_ATTENTION : null }]);
  }

  #toStatus(): WebhookDeliveryStatus {
    return { profile: this.#input.profile, endpoints: this.#all.map((chain) => chain.status()) };
  }

  /** Hands the remaining events of a long history to the next run, once nothing is on the wire. */
  async #continueAsNew(): Promise<never> {
    for (const chain of this.#all) chain.pause();
    await condition(() => allHandlersFinished() && this.#all.every((chain) => !chain.isRunning));
    const endpoints = this.#all.map(({ state }) => state);
    const seen = [...this.#processedIds].slice(-MOST_SEEN);
    return continueAsNew<typeof webhookDelivery>({ ...this.#input, carried: { endpoints, seen } });
  }

  #toResult(): WebhookDeliveryResult {
    const total = (count: (chain: WebhookChain) => number) => this.#all.reduce((sum, chain) => sum + count(chain), 0);
    return {
      delivered: total(({ state }) => state.delivered),
      dropped: this.#dropped,
      lost: total(({ state }) => state.failed.length),
    };
  }
}

function createEmptyEndpoint(name: string): CarriedEndpoint {
  return { name, waiting: [], failed: [], delivered: 0 };
}

function isAddressed(event: unknown): event is AddressedEvent {
  return (
    isRecord(event) &&
    [event.id, event.type, event.timestamp].every((text) => typeof text === 'string') &&
    isRecord(event.data) &&
    Array.isArray(event.endpoints) &&
    event.endpoints.every((name) => typeof name === 'string')
  );
}

/** One endpoint of one delivery run: its events in their order, one at a time. */
class WebhookChain {
  /** The next run takes it over. */
  readonly state: CarriedEndpoint;
  readonly #input: WebhookDeliveryInput;
  readonly #onFailed: () => void;
  #attempt: CancellationScope | undefined;
  isRunning = false;
  #isPaused = false;

  constructor(input: WebhookDeliveryInput, state: CarriedEndpoint, onFailed: () => void) {
    this.#input = input;
    this.state = { ...state };
    this.#onFailed = onFailed;
  }

  get isIdle(): boolean {
    return !this.isRunning && this.state.waiting.length === 0;
  }

  push(event: WebhookEvent): void {
    this.state.waiting = [...this.state.waiting, event];
  }

  /**
   * Lets no further delivery begin, and calls back the one that is tried, which may be for a day: the next run of the
   * chain tries it again under the same id.
   */
  pause(): void {
    this.#isPaused = true;
    this.#attempt?.cancel();
  }

  /** Sends what waits, unless that is being done. */
  go(): void {
    if (this.isRunning || this.state.waiting.length === 0) return;
    this.isRunning = true;
    runInBackground(() => this.#run());
  }

  /** Sends the events that were given up first, since they are the oldest, and tries a waiting one now. */
  resend(): number {
    const { state } = this;
    state.waiting = [...state.failed.map(({ event }) => event), ...state.waiting];
    this.drop();
    this.#attempt?.cancel();
    return state.waiting.length;
  }

  /** Forgets the events that were given up; waiting ones are kept. */
  drop(): number {
    const events = this.state.failed.length;
    this.state.failed = [];
    return events;
  }

  status(): EndpointStatus {
    const { name, waiting, delivered } = this.state;
    const [first] = waiting;
    return {
      endpoint: name,
      delivered,
      waiting: waiting.length,
      ...(first ? { waitingSince: first.timestamp } : {}),
      failed: this.state.failed.map(({ event: { id, type }, ...rest }) => ({ id, type, ...rest })),
    };
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const { state } = this;
        const [event] = state.waiting;
        if (!event || this.#isPaused) return;
        const failure = await this.#deliver(event);
        // The event was queued again before its next attempt.
        if (failure === 'calledBack') continue;
        state.waiting = state.waiting.filter((waiting) => waiting !== event);
        if (failure === null) state.delivered++;
        else this.#giveUp(event, failure);
      }
    } catch (error) {
      // The run itself was cancelled, and says so.
      if (!isCancellation(error)) throw error;
    } finally {
      this.isRunning = false;
    }
  }

  async #deliver(event: WebhookEvent): Promise<Failure | 'calledBack' | null> {
    const { profile, settings } = this.#input;
    const deliver = deliverWebhookFor(settings, workflowInfo().taskQueue, `${event.type} to ${this.state.name}`);
    this.#attempt = new CancellationScope({ cancellable: true });
    try {
      await this.#attempt.run(() => deliver({ profile, endpoint: this.state.name, event }));
      return null;
    } catch (error) {
      if (isCancellation(error)) {
        if (CancellationScope.current().consideredCancelled) throw error;
        return 'calledBack';
      }
      return toFailure(error);
    } finally {
      this.#attempt = undefined;
    }
  }

  #giveUp(event: WebhookEvent, failure: Failure): void {
    this.state.failed = [...this.state.failed, { event, ...failure, failedAt: new Date().toISOString() }];
    this.#onFailed();
  }
}

type Failure = Omit<FailedEvent, 'event' | 'failedAt'>;

/** Returns the failure of the last attempt after a time-out. A worker that crashed leaves none. */
function toFailure(error: unknown): Failure {
  const { type, details } = findApplicationFailure(error) ?? {};
  const { httpStatus } = (details?.[0] ?? {}) as { httpStatus?: number };
  const known = WEBHOOK_FAILURE_TYPES.find((candidate) => candidate === type);
  const failureType: WebhookFailureType = known ?? 'WebhookUnreachable';
  return { failureType, ...(httpStatus === undefined ? {} : { httpStatus }) };
}
