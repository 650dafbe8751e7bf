import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ActivityFailure,
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
  type ChosenEvents,
  type FailedEvent,
  toWebhookDeliveryId,
  WEBHOOK_ATTENTION,
  WEBHOOK_FAILURE_TYPES,
  type WebhookDeliveryInput,
  type WebhookDeliveryResult,
  type WebhookDeliveryStatus,
} from '../../messages/webhooks/delivery.ts';
import type { WebhookEvent } from '../../messages/webhooks/events.ts';
import { parseWorkflowId } from '../../model/run-key.ts';
import type { SearchAttributeName } from '../../model/search-attributes.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { formatHoldRow } from '../../words/holds.ts';
import { createMarkdownWriter, formatCodeBlock } from '../../words/writer.ts';
import { deliverWebhookFor } from '../run/activity-stubs.ts';
import { runInBackground, showDetails } from '../run/around-the-sdk.ts';
import { isHistoryLong } from '../run/as-replayed.ts';
import { fitsNextRun } from '../run/continuation.ts';
import { findApplicationFailure, toUndecodableFailure } from '../run/failures.ts';

// Wire names: they are in histories and never change.
const deliverEvents = defineSignal<[{ events: AddressedEvent[] }]>('deliverEvents');
const resendWebhooks = defineUpdate<ChosenEvents>('resendWebhooks');
const webhookStatus = defineQuery<WebhookDeliveryStatus>('webhookStatus');

const { code, time } = createMarkdownWriter();

/** Event ids that the run remembers, so that a repeated event is sent once. One run has a few dozen. */
const MOST_PROCESSED_IDS = 500;

/**
 * Delivers the events of one run to the endpoints of its profile. Workflow id `webhooks-<workflow id>`; started by
 * the first event, it ends when nothing is left to do, and the next event starts it again. An event that was given up
 * keeps it open until an operator sends it again, or until its time is over.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<WebhookDeliveryResult> {
  if (isUndecodable(input)) throw toUndecodableFailure(input);
  const delivery = new Delivery(input);
  delivery.handleMessages();
  showDetails(() => delivery.details());
  return delivery.runToEnd();
}

/** One endpoint of the run: its events in their order, one at a time. */
interface Endpoint extends CarriedEndpoint {
  /** Present while an event is being sent, or waits for its next attempt. */
  attempt?: CancellationScope;
}

class Delivery {
  readonly #input: WebhookDeliveryInput;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #processedIds: Set<string>;
  #isShown = false;
  #isLeaving = false;

  constructor(input: WebhookDeliveryInput) {
    this.#input = input;
    this.#processedIds = new Set(input.carried?.processedIds);
    for (const carried of input.carried?.endpoints ?? []) this.#endpoint(carried.name, carried);
  }

  handleMessages(): void {
    setHandler(deliverEvents, (message) => this.#take(message), {
      description: 'Sent by the worker: events that are to be delivered.',
    });
    setHandler(resendWebhooks, () => this.#resend(), {
      description: 'Sends again what was given up, and now what waits for its next attempt: {}.',
    });
    setHandler(webhookStatus, () => this.#toStatus(), {
      description: 'What waits and what was given up, by endpoint.',
    });
  }

  /** Markdown for the Temporal UI, with nothing personal. The query `webhookStatus` has each event. */
  details(): string {
    const failed = this.#all.flatMap((endpoint) =>
      endpoint.failed.length > 0 ? [`${endpoint.failed.length} to ${code(endpoint.name)}`] : [],
    );
    if (failed.length === 0) return '**Events are being delivered. No person is needed.**';
    const keptUntil = time(new Date(this.#keptUntilMs).toISOString());
    const runKey = parseWorkflowId(workflowInfo().workflowId.slice(toWebhookDeliveryId('').length)) ?? '';
    return [
      `**Events were given up: ${failed.join(', ')}. They are kept until ${keptUntil}, for an operator who sends them again.**`,
      'The query `webhookStatus` has each of them, and `docs/webhooks.md` what each failure means. Fix the endpoint first. Then in a shell:',
      formatCodeBlock(`credit-journey webhooks resend ${runKey}`),
      'Here: _More Actions_, _Send an Update_, `resendWebhooks`, with `{}`.',
    ].join('\n\n');
  }

  async runToEnd(): Promise<WebhookDeliveryResult> {
    for (const endpoint of this.#all) this.#deliver(endpoint);
    const mustAct = () => this.#isShown !== this.#hasFailed || this.#isDue;
    for (;;) {
      this.#publish();
      await condition(() => this.#isIdle || mustAct());
      if (this.#isDue) return this.#continueAsNew();
      const leftMs = this.#keptUntilMs - Date.now();
      if (mustAct()) continue;
      if (this.#hasFailed && leftMs > 0) {
        const summary = formatHoldRow(WEBHOOK_ATTENTION, 'events were given up');
        await condition(() => !this.#isIdle || mustAct(), leftMs, { summary });
        continue;
      }
      await condition(allHandlersFinished);
      if (!this.#isIdle || mustAct()) continue;
      return { delivered: this.#count(({ delivered }) => delivered), lost: this.#count(({ failed }) => failed.length) };
    }
  }

  /** Whether the run continues as new: with more events than one payload holds, it first waits for deliveries. */
  get #isDue(): boolean {
    return isHistoryLong() && fitsNextRun(this.#carried);
  }

  get #carried(): NonNullable<WebhookDeliveryInput['carried']> {
    const endpoints = this.#all.map(({ attempt: _, ...carried }) => carried);
    return { endpoints, processedIds: [...this.#processedIds].slice(-MOST_PROCESSED_IDS) };
  }

  get #isIdle(): boolean {
    return this.#all.every(({ attempt, waiting }) => !attempt && waiting.length === 0);
  }

  get #all(): Endpoint[] {
    return [...this.#endpoints.values()];
  }

  get #hasFailed(): boolean {
    return this.#all.some(({ failed }) => failed.length > 0);
  }

  #endpoint(name: string, carried: CarriedEndpoint = { name, waiting: [], failed: [], delivered: 0 }): Endpoint {
    const endpoint: Endpoint = this.#endpoints.get(name) ?? carried;
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }

  /** Any sender with access to the namespace can send this signal, so the run ignores values that are no events. */
  #take(message: { events: AddressedEvent[] }): void {
    for (const event of [isRecord(message) ? message.events : []].flat().filter(isAddressed)) {
      const { endpoints, ...what } = event;
      if (this.#processedIds.has(what.id)) continue;
      this.#processedIds.add(what.id);
      for (const name of endpoints) {
        const endpoint = this.#endpoint(name);
        endpoint.waiting.push(what);
        this.#deliver(endpoint);
      }
    }
  }

  /** Sends the events that were given up first, since they are the oldest, and tries a waiting one now. */
  #resend(): ChosenEvents {
    for (const endpoint of this.#all) {
      endpoint.waiting.unshift(...endpoint.failed.map(({ event }) => event));
      endpoint.failed = [];
      endpoint.attempt?.cancel();
      this.#deliver(endpoint);
    }
    return { events: this.#count(({ waiting }) => waiting.length) };
  }

  /** The time at which the run drops the events that it gave up, counted from the last of them. */
  get #keptUntilMs(): number {
    const last = this.#all.flatMap(({ failed }) => failed.slice(-1));
    return Math.max(...last.map(({ failedAt }) => Date.parse(failedAt))) + this.#input.settings.keepFailedForMs;
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
    const endpoints = this.#all.map(({ name, waiting, delivered, failed }) => ({
      endpoint: name,
      delivered,
      waiting: waiting.length,
      waitingSince: waiting[0]?.timestamp,
      failed: failed.map(({ event: { id, type }, ...rest }) => ({ id, type, ...rest })),
    }));
    return { profile: this.#input.profile, endpoints };
  }

  /**
   * Hands the remaining events of a long history to the next run, once nothing is on the wire. Calls back the attempts,
   * which may last for a day: the next run tries each event again under the same id.
   */
  async #continueAsNew(): Promise<never> {
    this.#isLeaving = true;
    for (const { attempt } of this.#all) attempt?.cancel();
    await condition(() => allHandlersFinished() && this.#all.every(({ attempt }) => !attempt));
    // The next run inherits the attribute, and begins as if it were not set.
    this.#publish();
    return continueAsNew<typeof webhookDelivery>({ ...this.#input, carried: this.#carried });
  }

  #count(count: (endpoint: Endpoint) => number): number {
    return this.#all.reduce((sum, endpoint) => sum + count(endpoint), 0);
  }

  /** Sends what waits for the endpoint, unless that is being done. */
  #deliver(endpoint: Endpoint): void {
    if (endpoint.attempt) return;
    runInBackground(async () => {
      try {
        for (let [event] = endpoint.waiting; event && !this.#isLeaving; [event] = endpoint.waiting) {
          await this.#deliverEvent(endpoint, event);
        }
      } catch (error) {
        // The run itself was cancelled, and says so.
        if (!isCancellation(error)) throw error;
      } finally {
        delete endpoint.attempt;
      }
    });
  }

  async #deliverEvent(endpoint: Endpoint, event: WebhookEvent): Promise<void> {
    const { profile, settings } = this.#input;
    const { name } = endpoint;
    const deliver = deliverWebhookFor(settings, workflowInfo().taskQueue, `${event.type} to ${name}`);
    endpoint.attempt = new CancellationScope({ cancellable: true });
    try {
      await endpoint.attempt.run(() => deliver({ profile, endpoint: name, event }));
      endpoint.delivered++;
    } catch (error) {
      if (isCancellation(error)) {
        if (CancellationScope.current().consideredCancelled) throw error;
        // The attempt was called back, and the event still waits.
        return;
      }
      // Temporal repeats no attempt that was called back, and its failure gives no event up.
      if (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED') return;
      endpoint.failed.push({ event, ...toFailure(error), failedAt: new Date().toISOString() });
    }
    endpoint.waiting.splice(endpoint.waiting.indexOf(event), 1);
  }
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

/** Returns the failure of the last attempt after a time-out. A worker that crashed leaves none. */
function toFailure(error: unknown): Omit<FailedEvent, 'event' | 'failedAt'> {
  const { type, details } = findApplicationFailure(error) ?? {};
  const { httpStatus } = (details?.[0] ?? {}) as { httpStatus?: number };
  const failureType = WEBHOOK_FAILURE_TYPES.find((candidate) => candidate === type) ?? 'WebhookUnreachable';
  return { failureType, httpStatus };
}
