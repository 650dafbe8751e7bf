/** Schedules of portfolio reviews: Temporal's own, with what they start. */

import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import { parsePortfolioSchedule } from '../../messages/parse-messages.ts';
import { OVERLAPS } from '../../messages/portfolio/schedule.ts';
import type { PortfolioSchedule } from '../../messages/portfolio/shapes.ts';
import { CreditJourneyError } from '../../model/credit-journey-error.ts';
import { InvalidInputError, type Problem } from '../../model/problems.ts';
import { type CallOptions, type Calls, MESSAGE_TIMEOUT_MS } from '../connection/calls.ts';
import { TemporalUnavailableError } from '../connection/errors.ts';

export interface ListedSchedule {
  scheduleId: string;
  paused: boolean;
  note?: string;
  nextAt: string[];
  lastReviewIds: string[];
}

const DEFAULT_CATCH_UP_MS = 3_600_000;
const PREFIX = 'portfolio-';

/** No schedule has this id, or one has it already. */
export class PortfolioScheduleError extends CreditJourneyError {
  override readonly name = 'PortfolioScheduleError';
  override readonly code: 'scheduleNotFound' | 'scheduleExists';
  readonly scheduleId: string;

  constructor(scheduleId: string, what: 'notFound' | 'exists') {
    super(what === 'exists' ? `schedule ${scheduleId} exists already` : `there is no schedule ${scheduleId}`);
    this.code = what === 'exists' ? 'scheduleExists' : 'scheduleNotFound';
    this.scheduleId = scheduleId;
  }
}

/** Each throws InvalidInputError, PortfolioScheduleError or TemporalUnavailableError. */
export class PortfolioSchedules {
  readonly #client: Client;
  readonly #calls: Calls;
  readonly #taskQueue: string;

  /** @internal */
  constructor({ client, calls, taskQueue }: { client: Client; calls: Calls; taskQueue: string }) {
    this.#client = client;
    this.#calls = calls;
    this.#taskQueue = taskQueue;
  }

  async create(schedule: PortfolioSchedule, options: CallOptions = {}): Promise<void> {
    const { scheduleId, order, cron, timeZone, overlap, jitterMs, catchUpMs, paused } =
      parsePortfolioSchedule(schedule);
    await this.#ask(scheduleId, options, () =>
      this.#client.schedule.create({
        scheduleId: `${PREFIX}${scheduleId}`,
        spec: {
          cronExpressions: [cron],
          timezone: timeZone ?? 'UTC',
          ...(jitterMs === undefined ? {} : { jitter: jitterMs }),
        },
        policies: { overlap: OVERLAPS[overlap ?? 'skip'], catchupWindow: catchUpMs ?? DEFAULT_CATCH_UP_MS },
        ...(paused ? { state: { paused } } : {}),
        action: {
          type: 'startWorkflow',
          workflowType: 'scheduledReview',
          // The server adds the time.
          workflowId: `scheduled-${PREFIX}${scheduleId}`,
          taskQueue: this.#taskQueue,
          args: [{ scheduleId, order }],
          staticSummary: `portfolio schedule ${scheduleId} · ${order.endUserCode}`,
        },
      }),
    );
  }

  async list(options: CallOptions = {}): Promise<ListedSchedule[]> {
    const found: ListedSchedule[] = [];
    await this.#ask('', options, async () => {
      for await (const { scheduleId, state, info, action } of this.#client.schedule.list()) {
        if (!scheduleId.startsWith(PREFIX) || action?.workflowType !== 'scheduledReview') continue;
        found.push({
          scheduleId: scheduleId.slice(PREFIX.length),
          paused: state.paused,
          ...(state.note ? { note: state.note } : {}),
          nextAt: info.nextActionTimes.slice(0, 3).map((time) => time.toISOString()),
          lastReviewIds: info.recentActions
            .slice(-3)
            .map(({ action: taken }) => reviewIdOf(scheduleId.slice(PREFIX.length), taken.workflow.workflowId)),
        });
      }
    });
    return found;
  }

  /** @param note who, and why; everybody may read it */
  async pause(scheduleId: string, note?: string, options: CallOptions = {}): Promise<void> {
    await this.#ask(scheduleId, options, () => this.#handle(scheduleId).pause(note));
  }

  async unpause(scheduleId: string, note?: string, options: CallOptions = {}): Promise<void> {
    await this.#ask(scheduleId, options, () => this.#handle(scheduleId).unpause(note));
  }

  /** Starts a review now, by the schedule's own overlap policy. */
  async trigger(scheduleId: string, options: CallOptions = {}): Promise<void> {
    await this.#ask(scheduleId, options, () => this.#handle(scheduleId).trigger());
  }

  /** Reviews that it has started go on. */
  async delete(scheduleId: string, options: CallOptions = {}): Promise<void> {
    await this.#ask(scheduleId, options, () => this.#handle(scheduleId).delete());
  }

  #handle(scheduleId: string) {
    return this.#client.schedule.getHandle(`${PREFIX}${scheduleId}`);
  }

  async #ask(scheduleId: string, options: CallOptions, work: () => Promise<unknown>): Promise<void> {
    const late = () => new TemporalUnavailableError('it did not answer in time', 'timedOut');
    const call = { timeoutMs: MESSAGE_TIMEOUT_MS, ...options, ownerId: `portfolio:${scheduleId}`, late };
    try {
      await this.#calls.make(call, work);
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) throw new PortfolioScheduleError(scheduleId, 'exists');
      if (error instanceof ScheduleNotFoundError) throw new PortfolioScheduleError(scheduleId, 'notFound');
      // The SDK's word for what the server refuses of a schedule.
      if (error instanceof TypeError) throw new InvalidInputError([problemOf(error.message)]);
      throw error;
    }
  }
}

/** Which expressions and time zones there are, the server knows; what it says of one repeats it. */
function problemOf(refusal: string): Problem {
  return /time ?zone/i.test(refusal)
    ? { path: '/timeZone', rule: 'must be the IANA name of a time zone that the server knows' }
    : { path: '/cron', rule: 'must be a cron expression that the server understands' };
}

/** As `scheduledReview` makes it. */
function reviewIdOf(scheduleId: string, workflowId: string): string {
  return `${scheduleId}-${workflowId.slice(`scheduled-${PREFIX}${scheduleId}-`.length).replace(/[-:]/g, '')}`;
}
