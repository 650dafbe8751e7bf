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
import { hasRunOut, queueWebhooks, waitToTryAgain } from './activity-stubs.ts';
import { runInBackground } from './around-the-sdk.ts';

/** Events in one hand-over; a workflow task brings one or two. */
const MOST_AT_ONCE = 20;

/** Equals the activity's own limit. */
const GIVEN_UP_AFTER_MS = 24 * 60 * 60_000;

/** Far more events than a run has before its input is checked. */
const MOST_EARLY = 1_000;

interface Noted {
  type: WebhookEventType;
  key: readonly (string | number)[];
  data: WebhookEventData[WebhookEventType];
  timestamp: string;
}

/** State that the next run takes over. */
export interface CarriedEvents {
  /** How often each event was emitted. */
  occurrences?: Readonly<Record<string, number>>;
  /** Events that were emitted and not acknowledged by the delivery run yet. */
  waiting?: readonly Noted[];
}

export class EventsOut {
  /** Absent until the input is checked: until then it is not known whether and as whose events go out. */
  #config: RunConfig | undefined;
  readonly #waiting: Noted[];
  readonly #occurrences: Map<string, number>;

  /** @param past state from continue-as-new */
  constructor({ occurrences = {}, waiting = [] }: CarriedEvents = {}) {
    this.#occurrences = new Map(Object.entries(occurrences));
    this.#waiting = [...waiting];
  }

  /** Starts handing over events if the run's profile has endpoints, first those that were noted before. */
  begin(config: RunConfig, subject: WebhookRun): void {
    this.#config = config;
    if (config.sendsEvents)
      runInBackground(() => CancellationScope.nonCancellable(() => this.#handOver(config, subject)));
    else this.#waiting.length = 0;
  }

  /**
   * Notes an event; it goes out with the other events of this workflow task.
   *
   * @param key what it is about, by names that a second run of the workflow uses again; repetitions are counted
   */
  emit<T extends WebhookEventType>(type: T, key: readonly (string | number)[], data: WebhookEventData[T]): void {
    if (this.#config ? !this.#config.sendsEvents : this.#waiting.length >= MOST_EARLY) return;
    const name = toOccurrenceName(type, key);
    const occurrence = this.#occurrences.get(name) ?? 0;
    this.#occurrences.set(name, occurrence + 1);
    this.#waiting.push({ type, key: [...key, occurrence], data, timestamp: new Date().toISOString() });
  }

  /**
   * How often each event was emitted, so that the next run emits none under the id of an earlier one.
   *
   * @param subjects the subjects that may have further events, as the first part of their events' keys: the rest is
   * over
   */
  continuation(subjects: ReadonlySet<string>): Record<string, number> {
    const isKept = (name: string) => subjects.has((JSON.parse(name) as unknown[])[1] as string);
    return Object.fromEntries([...this.#occurrences].filter(([name]) => isKept(name)));
  }

  /** Includes events in flight: the delivery run ignores an event that it has received before. */
  get carried(): CarriedEvents {
    return { occurrences: toCarriedOccurrences(this.#occurrences), waiting: [...this.#waiting] };
  }

  /** Whether the delivery run has received all events. */
  get areOut(): boolean {
    return !this.#config || this.#waiting.length === 0;
  }

  /** Resolves once the delivery run has received all events, which its endpoints may still lack. */
  async flush(): Promise<void> {
    await CancellationScope.nonCancellable(() => condition(() => this.areOut));
  }

  async #handOver({ environment, profile }: RunConfig, subject: WebhookRun): Promise<never> {
    const { workflowId } = workflowInfo();
    for (;;) {
      await condition(() => this.#waiting.length > 0);
      const events = this.#waiting.slice(0, MOST_AT_ONCE).map(({ type, key, data, timestamp }) => {
        const id = toWebhookEventId({ environment, workflowId }, type, key);
        return { id, type, timestamp, data: { ...subject, environment, ...data } };
      });
      const summary = `events: ${events.map(({ type }) => type).join(', ')}`;
      const untilMs = Date.now() + GIVEN_UP_AFTER_MS;
      for (let round = 0; ; round++) {
        try {
          await queueWebhooks.executeWithOptions({ summary }, [{ profile, events }]);
          break;
        } catch (error) {
          if (!(error instanceof ActivityFailure)) throw error;
          // An operator may have bounded its retries or shortened its time-outs without the run's knowledge. A server
          // that operators changed was also seen to end a day after 24 s.
          if (Date.now() < untilMs && hasRunOut(error)) {
            await waitToTryAgain('queueWebhooks', round);
            continue;
          }
          log.warn('events were not handed over for a day: their endpoints will not receive them');
          break;
        }
      }
      this.#waiting.splice(0, events.length);
    }
  }
}
