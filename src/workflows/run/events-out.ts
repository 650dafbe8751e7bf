/**
 * The events of one run on their way to the delivery run, noted as they happen and handed over in order, without a
 * wait.
 */
import { ActivityFailure, CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import type { RunConfig } from '../../activities/contract.ts';
import {
  carriedOccurrences,
  occurrenceName,
  type WebhookEvent,
  type WebhookEventData,
  type WebhookEventType,
  type WebhookRun,
  webhookEventId,
} from '../../messages/webhooks/events.ts';
import { hasRunOut, queueWebhooks, waitToTryAgain } from './activity-stubs.ts';
import { inBackground } from './around-the-sdk.ts';

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
  /** Emitted, and not known to be handed over. */
  waiting?: readonly WebhookEvent[];
  /** Noted before the input was checked. */
  early?: readonly Noted[];
}

export class EventsOut {
  #run: RunConfig | undefined;
  #subject: WebhookRun | undefined;
  readonly #waiting: WebhookEvent[];
  readonly #occurrences: Map<string, number>;
  /** Noted before it is known whether and as whose events go out; `undefined` from then on. */
  #early: Noted[] | undefined;

  /** @param past state from continue-as-new */
  constructor({ occurrences = {}, waiting = [], early = [] }: CarriedEvents = {}) {
    this.#occurrences = new Map(Object.entries(occurrences));
    this.#waiting = [...waiting];
    this.#early = [...early];
  }

  /** Starts handing over events if the run's profile has endpoints, first those that were noted before. */
  begin(config: RunConfig, subject: WebhookRun): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    if (!config.sendsEvents) return;
    this.#run = config;
    this.#subject = subject;
    for (const noted of early) this.#put(noted);
    inBackground(() => CancellationScope.nonCancellable(() => this.#handOver(config)));
  }

  /**
   * Notes an event; it goes out with the other events of this workflow task.
   *
   * @param key what it is about, by names that a second run of the workflow uses again; repetitions are counted
   */
  emit<T extends WebhookEventType>(type: T, key: readonly (string | number)[], data: WebhookEventData[T]): void {
    const noted: Noted = { type, key, data, timestamp: new Date().toISOString() };
    if (!this.#early) this.#put(noted);
    else if (this.#early.length < MOST_EARLY) this.#early.push(noted);
  }

  #put({ type, key, data, timestamp }: Noted): void {
    if (!this.#run || !this.#subject) return;
    const { environment } = this.#run;
    const name = occurrenceName(type, key);
    const occurrence = this.#occurrences.get(name) ?? 0;
    this.#occurrences.set(name, occurrence + 1);
    const { workflowId } = workflowInfo();
    this.#waiting.push({
      id: webhookEventId({ environment, workflowId }, type, [...key, occurrence]),
      type,
      timestamp,
      data: { ...this.#subject, environment, ...data },
    });
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

  /** Also those on their way: the delivery run passes over an event that it was handed before. */
  get carried(): CarriedEvents {
    return {
      occurrences: carriedOccurrences(this.#occurrences),
      waiting: [...this.#waiting],
      ...(this.#early?.length ? { early: [...this.#early] } : {}),
    };
  }

  /** Whether everything is handed over to the delivery run. */
  get areOut(): boolean {
    return !this.#run || this.#waiting.length === 0;
  }

  /** Resolves once everything is handed over to the delivery run: to Temporal, not to an endpoint. */
  async flush(): Promise<void> {
    await CancellationScope.nonCancellable(() => condition(() => this.areOut));
  }

  async #handOver(config: RunConfig): Promise<never> {
    for (;;) {
      await condition(() => this.#waiting.length > 0);
      const events = this.#waiting.slice(0, MOST_AT_ONCE);
      const summary = `events: ${events.map(({ type }) => type).join(', ')}`;
      const untilMs = Date.now() + GIVEN_UP_AFTER_MS;
      for (let round = 0; ; round++) {
        try {
          await queueWebhooks.executeWithOptions({ summary }, [{ profile: config.profile, events }]);
          break;
        } catch (error) {
          if (!(error instanceof ActivityFailure)) throw error;
          // An operator may have bounded its retries or shortened its time-outs without the run's knowledge. A server
          // that operators changed was also seen to end a day after 24 s.
          if (Date.now() < untilMs && hasRunOut(error)) {
            await waitToTryAgain('queueWebhooks', round);
            continue;
          }
          log.warn('events were not handed over for a day: their endpoints will not hear of them');
          break;
        }
      }
      this.#waiting.splice(0, events.length);
    }
  }
}
