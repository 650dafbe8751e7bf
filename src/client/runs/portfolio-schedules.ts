/** Schedules of portfolio reviews: Temporal's own, with what they start. */

import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleSummary } from '@temporalio/client';
import { differingPaths } from '../../base/differing-paths.ts';
import { isRecord } from '../../base/is-record.ts';
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
  /** As it was created. Absent of one that another program has made. */
  schedule?: PortfolioSchedule;
}

const DEFAULT_CATCH_UP_MS = 3_600_000;
const PREFIX = 'portfolio-';

/** No schedule has this id, or another one has it already. */
export class PortfolioScheduleError extends CreditJourneyError {
  override readonly name = 'PortfolioScheduleError';
  override readonly code: 'scheduleNotFound' | 'scheduleExists';
  readonly scheduleId: string;
  /** Of one that exists: where it differs. */
  readonly paths: readonly string[];

  constructor(scheduleId: string, what: 'notFound' | 'exists', paths: readonly string[] = []) {
    super(what === 'exists' ? `schedule ${scheduleId} exists already` : `there is no schedule ${scheduleId}`);
    this.code = what === 'exists' ? 'scheduleExists' : 'scheduleNotFound';
    this.scheduleId = scheduleId;
    this.paths = paths;
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

  /** @returns whether it was there already, with the same content */
  async create(schedule: PortfolioSchedule, options: CallOptions = {}): Promise<{ duplicate: boolean }> {
    const checked = parsePortfolioSchedule(schedule);
    const { scheduleId } = checked;
    try {
      await this.#ask(scheduleId, options, () => this.#create(checked));
      return { duplicate: false };
    } catch (error) {
      if (!(error instanceof PortfolioScheduleError)) throw error;
      const { schedule: kept } = await this.get(scheduleId, options);
      const paths = differingPaths(kept, checked);
      if (paths.length > 0) throw new PortfolioScheduleError(scheduleId, 'exists', paths);
      return { duplicate: true };
    }
  }

  async #create(schedule: PortfolioSchedule): Promise<void> {
    const { scheduleId, order, cron, timeZone, overlap, jitterMs, catchUpMs, paused } = schedule;
    await this.#client.schedule.create({
      scheduleId: `${PREFIX}${scheduleId}`,
      // The server makes calendars of the expression, and forgets it.
      memo: { schedule },
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
    });
  }

  async get(scheduleId: string, options: CallOptions = {}): Promise<ListedSchedule> {
    return this.#ask(scheduleId, options, async () => {
      const described = await this.#handle(scheduleId).describe();
      return listedSchedule(scheduleId, described);
    });
  }

  async list(options: CallOptions = {}): Promise<ListedSchedule[]> {
    const found: ListedSchedule[] = [];
    await this.#ask('', options, async () => {
      for await (const one of this.#client.schedule.list()) {
        if (!one.scheduleId.startsWith(PREFIX) || one.action?.workflowType !== 'scheduledReview') continue;
        found.push(listedSchedule(one.scheduleId.slice(PREFIX.length), one));
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

  async #ask<T>(scheduleId: string, options: CallOptions, work: () => Promise<T>): Promise<T> {
    const late = () => new TemporalUnavailableError('it did not answer in time', 'timedOut');
    const call = { timeoutMs: MESSAGE_TIMEOUT_MS, ...options, ownerId: `portfolio:${scheduleId}`, late };
    try {
      return await this.#calls.make(call, work);
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) throw new PortfolioScheduleError(scheduleId, 'exists');
      if (error instanceof ScheduleNotFoundError) throw new PortfolioScheduleError(scheduleId, 'notFound');
      // The SDK's word for what the server refuses of a schedule.
      if (error instanceof TypeError) throw new InvalidInputError([problemOf(error.message)]);
      throw error;
    }
  }
}

function listedSchedule(
  scheduleId: string,
  { memo, state, info }: Pick<ScheduleSummary, 'memo' | 'state' | 'info'>,
): ListedSchedule {
  return {
    scheduleId,
    paused: state.paused,
    ...(state.note ? { note: state.note } : {}),
    nextAt: info.nextActionTimes.slice(0, 3).map((time) => time.toISOString()),
    lastReviewIds: info.recentActions.slice(-3).map(({ action }) => reviewIdOf(scheduleId, action.workflow.workflowId)),
    ...(isRecord(memo?.schedule) ? { schedule: memo.schedule as unknown as PortfolioSchedule } : {}),
  };
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
