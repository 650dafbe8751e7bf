/** One endpoint of one delivery run: its events in their order, one at a time. */
import { CancellationScope, isCancellation, workflowInfo } from '@temporalio/workflow';
import {
  type CarriedEndpoint,
  type EndpointStatus,
  type FailedEvent,
  WEBHOOK_FAILURE_TYPES,
  type WebhookDeliveryInput,
  type WebhookFailureType,
} from '../../messages/webhooks/delivery.ts';
import type { WebhookEvent } from '../../messages/webhooks/events.ts';
import { deliverWebhookOf } from '../run/activity-stubs.ts';
import { applicationFailureOf } from '../run/application-failure.ts';
import { inBackground } from '../run/in-background.ts';

export class WebhookChain {
  readonly name: string;
  readonly #input: WebhookDeliveryInput;
  readonly #onFailed: () => void;
  #waiting: WebhookEvent[];
  #failed: FailedEvent[];
  /** It answered 410: nothing more of this run is sent until an operator sends again. */
  #isGone: boolean;
  #delivered: number;
  #attempt: CancellationScope | undefined;
  #isRunning = false;
  #isPaused = false;

  constructor(input: WebhookDeliveryInput, carried: CarriedEndpoint, onFailed: () => void) {
    this.name = carried.name;
    this.#input = input;
    this.#onFailed = onFailed;
    this.#waiting = [...carried.waiting];
    this.#failed = [...carried.failed];
    this.#isGone = carried.isGone;
    this.#delivered = carried.delivered;
  }

  get isIdle(): boolean {
    return !this.#isRunning && this.#waiting.length === 0;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get delivered(): number {
    return this.#delivered;
  }

  get failed(): readonly FailedEvent[] {
    return this.#failed;
  }

  push(event: WebhookEvent): void {
    if (this.#isGone) this.#failed.push({ event, failureType: 'WebhookGone', failedAt: new Date().toISOString() });
    else this.#waiting.push(event);
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
    if (this.#isRunning || this.#waiting.length === 0) return;
    this.#isRunning = true;
    inBackground(() => this.#run());
  }

  /** What was given up goes first, since it is the oldest; what waits for its next attempt is tried now. */
  resend(): number {
    const events = this.#failed.length + this.#waiting.length;
    this.#waiting = [...this.#failed.map(({ event }) => event), ...this.#waiting];
    this.#failed = [];
    this.#isGone = false;
    this.#attempt?.cancel();
    return events;
  }

  /** Forgets what was given up. What still waits goes on. */
  drop(): number {
    const events = this.#failed.length;
    this.#failed = [];
    this.#isGone = false;
    return events;
  }

  carried(): CarriedEndpoint {
    return {
      name: this.name,
      waiting: this.#waiting,
      failed: this.#failed,
      isGone: this.#isGone,
      delivered: this.#delivered,
    };
  }

  status(): EndpointStatus {
    const [first] = this.#waiting;
    const failed = this.#failed.map(({ event: { id, type }, ...rest }) => ({ id, type, ...rest }));
    const state = this.#isRunning ? 'delivering' : failed.length > 0 ? 'failed' : 'idle';
    return {
      endpoint: this.name,
      state: this.#isGone ? 'gone' : state,
      delivered: this.#delivered,
      waiting: this.#waiting.length,
      ...(first ? { waitingSince: first.timestamp } : {}),
      failed,
    };
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const [event] = this.#waiting;
        if (!event || this.#isPaused) return;
        const failure = await this.#deliver(event);
        // Sent again meanwhile, before its next attempt.
        if (failure === 'calledBack') continue;
        this.#waiting = this.#waiting.filter((one) => one !== event);
        if (failure === null) this.#delivered++;
        else this.#giveUp(event, failure);
      }
    } catch (error) {
      // The run itself was cancelled, and says so.
      if (!isCancellation(error)) throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  async #deliver(event: WebhookEvent): Promise<Omit<FailedEvent, 'event' | 'failedAt'> | 'calledBack' | null> {
    const { profile, settings } = this.#input;
    const deliver = deliverWebhookOf(settings, workflowInfo().taskQueue, `${event.type} to ${this.name}`);
    this.#attempt = new CancellationScope({ cancellable: true });
    try {
      await this.#attempt.run(() => deliver({ profile, endpoint: this.name, event }));
      return null;
    } catch (error) {
      if (isCancellation(error)) {
        if (CancellationScope.current().consideredCancelled) throw error;
        return 'calledBack';
      }
      return failureOf(error);
    } finally {
      this.#attempt = undefined;
    }
  }

  #giveUp(event: WebhookEvent, failure: Omit<FailedEvent, 'event' | 'failedAt'>): void {
    const failedAt = new Date().toISOString();
    this.#failed.push({ event, ...failure, failedAt });
    if (failure.failureType === 'WebhookGone') {
      this.#isGone = true;
      for (const rest of this.#waiting) this.#failed.push({ event: rest, failureType: 'WebhookGone', failedAt });
      this.#waiting = [];
    }
    this.#onFailed();
  }
}

/** The last attempt's failure, where the time was over; a worker that died says nothing. */
function failureOf(error: unknown): Omit<FailedEvent, 'event' | 'failedAt'> {
  const { type, details } = applicationFailureOf(error) ?? {};
  const { httpStatus } = (details?.[0] ?? {}) as { httpStatus?: number };
  const known = WEBHOOK_FAILURE_TYPES.find((one) => one === type);
  const failureType: WebhookFailureType = known ?? 'WebhookUnreachable';
  return { failureType, ...(httpStatus === undefined ? {} : { httpStatus }) };
}
