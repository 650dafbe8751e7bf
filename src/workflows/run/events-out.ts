/**
 * The events of one run on their way to the delivery run, noted as they happen and handed over in order, without a
 * wait.
 */
import { ActivityFailure, CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import {
  toCarriedOccurrences,
  toOccurrenceName,
  toWebhookEventId,
  type WebhookEventData,
  type WebhookEventType,
  type WebhookRun,
} from '../../messages/webhooks/events.ts';
import { runUntilDone } from './activity-stubs.ts';
import { runInBackground } from './around-the-sdk.ts';

/** Events in one hand-over; a workflow task brings one or two. */
const MOST_AT_ONCE = 20;

/** Far more events than a run has before its input is checked. */
const MOST_EARLY = 1_000;

interface Noted {
  type: WebhookEventType;
  key: readonly (string | number)[];
  data: WebhookEventData[WebhookEventType];
  timestamp: string;
}

/** Plain data for continue-as-new. */
export interface EventsState {
  /** How often each event was emitted. */
  occurrences: Record<string, number>;
  /** Events that were emitted and not acknowledged by the delivery run yet. It ignores an event that it has received before. */
  waiting: Noted[];
}

export class EventsOut {
  /** Absent until the input is checked: until then it is not known whether and as whose events go out. */
  #config: RunConfig | undefined;
  readonly #state: EventsState;

  constructor(state: EventsState) {
    this.#state = state;
  }

  /** Starts handing over events if the run's profile has endpoints, first those that were noted before. */
  begin(config: RunConfig, subject: WebhookRun): void {
    this.#config = config;
    if (config.sendsEvents)
      runInBackground(() => CancellationScope.nonCancellable(() => this.#handOver(config, subject)));
    else this.#state.waiting.length = 0;
  }

  /**
   * Notes an event; it goes out with the other events of this workflow task.
   *
   * @param key what it is about, by names that a second run of the workflow uses again; repetitions are counted
   */
  emit<T extends WebhookEventType>(type: T, key: readonly (string | number)[], data: WebhookEventData[T]): void {
    const { occurrences, waiting } = this.#state;
    if (this.#config ? !this.#config.sendsEvents : waiting.length >= MOST_EARLY) return;
    const name = toOccurrenceName(type, key);
    const occurrence = occurrences[name] ?? 0;
    occurrences[name] = occurrence + 1;
    waiting.push({ type, key: [...key, occurrence], data, timestamp: new Date().toISOString() });
  }

  /**
   * Returns the state for the next run: it must emit no event under the id of an earlier one.
   *
   * @param subjects the only subjects that may have further events, as the first part of their events' keys
   */
  toState(subjects?: ReadonlySet<string>): EventsState {
    const { occurrences, waiting } = this.#state;
    const kept = Object.entries(occurrences).filter(
      ([name]) => subjects?.has((JSON.parse(name) as string[])[1] ?? '') ?? true,
    );
    return { occurrences: toCarriedOccurrences(new Map(kept)), waiting };
  }

  /** Whether the delivery run has received all events, which its endpoints may still lack. */
  get areOut(): boolean {
    return !this.#config || this.#state.waiting.length === 0;
  }

  async #handOver({ environment, profile }: RunConfig, subject: WebhookRun): Promise<never> {
    const { workflowId } = workflowInfo();
    const { waiting } = this.#state;
    for (;;) {
      await condition(() => waiting.length > 0);
      const events = waiting.slice(0, MOST_AT_ONCE).map(({ type, key, data, timestamp }) => {
        const id = toWebhookEventId({ environment, workflowId }, type, key);
        return { id, type, timestamp, data: { ...subject, environment, ...data } };
      });
      const summary = `events: ${events.map(({ type }) => type).join(', ')}`;
      try {
        await runUntilDone('queueWebhooks', { summary }, { profile, events });
      } catch (error) {
        // No repetition mends it.
        if (!(error instanceof ActivityFailure)) throw error;
        log.warn('events were not handed over: their endpoints will not receive them');
      }
      waiting.splice(0, events.length);
    }
  }
}
