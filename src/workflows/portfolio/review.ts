/** State of one run of a portfolio review, its files, and its state for continue-as-new. */

import type { RetryPolicy } from '@temporalio/common';
import { type ActivityFunctionWithOptions, proxyActivities, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import type { ExaminedFile, KnownFile } from '../../activities/contract.ts';
import type { PortfolioActivities } from '../../activities/index.ts';
import { isRecord } from '../../base/is-record.ts';
import type { PortfolioReviewInput } from '../../messages/inputs/portfolio-review.ts';
import { MAX_HELD, PORTFOLIO_FAULTS, PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import { toOutputNames } from '../../messages/portfolio/output-files.ts';
import type {
  PortfolioOutcome,
  PortfolioProgress,
  PortfolioResult,
  PortfolioState,
  PortfolioStatus,
  RowOutcome,
} from '../../messages/portfolio/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { SSN_MISMATCH } from '../../model/inquiry.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import type { InquiryState } from '../inquiry/inquiry-spec.ts';
import { hasRunOut, waitToTryAgain } from '../run/activity-stubs.ts';
import { findApplicationFailure } from '../run/failures.ts';
import { createRunState, Run, type RunAttributes, type RunState } from '../run/run.ts';

/** A row that has begun and has no outcome yet. The next run reads it again at its place in the file. */
export interface CarriedRow {
  accountId: string;
  line: number;
  offset: number;
  resume: InquiryState;
  /** The corrected applicants of a row that a person amended: the file has the former ones. */
  applicants?: FailsafeApplicant[];
}

/** Progress of the review within its file. */
export interface FileState {
  known: KnownFile;
  badRows: number;
  rows: number;
  /** Place of the first row that has not begun; absent once all have. */
  next?: { offset: number; line: number };
  carried: CarriedRow[];
  done: Record<RowOutcome, number>;
  /** Finished rows that an operator should examine. */
  flagged?: number;
  /** The size of the results so far. */
  resultBytes: number;
}

export interface ReviewState extends RunState {
  /** Absent until the file has been examined. */
  file?: FileState;
  /** Set by a message to this review only. */
  isPaused: boolean;
}

// The stubs of a review's activities. Every figure has its reason beside it.

const FINAL = { nonRetryableErrorTypes: ['InvalidInput', 'PortfolioChanged'] } satisfies RetryPolicy;

function fileActivities(retry: RetryPolicy) {
  return proxyActivities<PortfolioActivities>({
    // A gigabyte at the speed of a slow network share, and the checks of a million rows.
    startToCloseTimeout: '1 hour',
    // The activities report after each 64 KiB.
    heartbeatTimeout: '1 minute',
    retry: { ...retry, backoffCoefficient: 2, ...FINAL },
  });
}

/** 15 s in all: a network share that is mounted again, or a file that is still being copied, needs no operator. */
const firstTries = fileActivities({ initialInterval: '1 second', maximumAttempts: 5 });

/** About one try a minute. An hour of tries costs the history three events, and the last of them has the cause. */
const triesForAnHour = fileActivities({
  initialInterval: '10 seconds',
  maximumInterval: '1 minute',
  maximumAttempts: 60,
});

// A review's files as its workflow asks for them: again until it gets them. While they cannot be reached, it says so.

class ReviewFiles {
  /** Causes of file errors, by the activity that reported them. */
  readonly #causes = new Map<keyof PortfolioActivities, string>();
  readonly #onChange: () => void;

  /** @param onChange called when the files cannot be reached, and when they can be again */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The code of the file error, such as `ENOENT`, without a path. */
  get cause(): string | undefined {
    const [code] = this.#causes.values();
    return code;
  }

  /** Runs one of the activities for as long as it takes. Throws what no repetition mends, or a cancellation. */
  ask<K extends keyof PortfolioActivities>(
    name: K,
    summary: string,
    args: Parameters<PortfolioActivities[K]>[0],
  ): ReturnType<PortfolioActivities[K]> {
    const once = (stubs: typeof firstTries) => {
      // The compiler would want arguments that fit every function of the union.
      const activity = stubs[name] as unknown as ActivityFunctionWithOptions<(args: unknown) => Promise<unknown>>;
      return activity.executeWithOptions({ summary }, [args]);
    };
    return this.#runUntilDone(name, once) as ReturnType<PortfolioActivities[K]>;
  }

  async #runUntilDone<T>(name: keyof PortfolioActivities, once: (stubs: typeof firstTries) => Promise<T>): Promise<T> {
    try {
      for (let round = 0; ; round++) {
        try {
          return await once(round === 0 ? firstTries : triesForAnHour);
        } catch (error) {
          if (!hasRunOut(error)) throw error;
          this.#causes.set(name, describeCause(error));
          this.#onChange();
        }
        await waitToTryAgain(name, round);
      }
    } finally {
      if (this.#causes.delete(name)) this.#onChange();
    }
  }
}

function describeCause(error: unknown): string {
  const { code } = (findApplicationFailure(error)?.details?.[0] ?? {}) as { code?: unknown };
  if (typeof code === 'string') return PORTFOLIO_FAULTS[code] ? `a worker ${PORTFOLIO_FAULTS[code]}` : code;
  return (error as { cause?: unknown }).cause instanceof TimeoutFailure ? 'no answer in time' : 'unknown';
}

export class Review extends Run<PortfolioReviewInput, ReviewState, PortfolioOutcome> {
  readonly kind = 'portfolio';
  /** Whether the ledger has, or will have, the flag about unreachable files. */
  #isFlagged = false;
  readonly files = new ReviewFiles(() => this.#updateFilesFlag());
  /** Counts changes that may wake waiting code. */
  changes = 0;
  /** The number of rows that have begun, and are neither held nor done. */
  underWay = 0;
  /** Open rows with their inquiries, by account. */
  readonly inquiries = new Map<string, { inquiry?: InquiryState }>();
  /** The review is about to continue as new. */
  isLeaving = false;
  /** The file has changed, so the review sends no further inquiry. */
  isStopping = false;

  constructor(input: PortfolioReviewInput, state?: ReviewState) {
    super(withReviewId(input), state ?? { ...createRunState(), isPaused: false });
  }

  emitEnded(outcome: Ended<PortfolioOutcome>): void {
    this.events.emit('portfolio.ended', [outcome], { outcome });
  }

  get reviewId(): string {
    return this.id;
  }

  override get isHalted(): boolean {
    return this.isEnding || this.state.isPaused || this.isLeaving || this.isStopping;
  }

  /** Whether no further row may begin: too many rows wait for people. */
  get isFull(): boolean {
    return this.holds.list.length >= MAX_HELD;
  }

  beginFrom({ known, badRows, rows, first }: ExaminedFile): FileState {
    const file: FileState = {
      known,
      badRows,
      rows,
      next: first,
      carried: [],
      resultBytes: 0,
      done: { record: 0, noRecord: 0, noReport: 0, abandoned: 0 },
    };
    this.state.file = file;
    this.publish();
    return file;
  }

  /**
   * Returns the state for the next run.
   *
   * @param traceNumbers of the rows that it takes over
   */
  toNextState(file: FileState, traceNumbers: ReadonlySet<string>): ReviewState {
    return { ...this.state, events: this.events.toState(traceNumbers), file };
  }

  /** Problems that block the whole review, such as missing files. Listed before held rows. */
  get attention(): typeof PORTFOLIO_UNAVAILABLE | undefined {
    return this.files.cause === undefined ? undefined : PORTFOLIO_UNAVAILABLE;
  }

  get done(): number {
    const { record, noRecord, noReport, abandoned } = this.state.file?.done ?? NOTHING_DONE;
    return record + noRecord + noReport + abandoned;
  }

  /** Wakes waiting code, and brings the search attributes up to date. */
  override publish(): void {
    this.changes++;
    super.publish();
  }

  updateSearchAttributes(): void {
    super.publish();
  }

  protected override get attributes(): RunAttributes {
    const { endUserCode } = this.input;
    const flagged = this.state.file?.flagged === undefined ? null : SSN_MISMATCH;
    return {
      NeedsAttention: this.attention ?? this.holds.list[0]?.failureType ?? flagged,
      WaitsFor: this.#waitsFor,
      JourneyStage: 'ACCTRVW',
      ...(typeof endUserCode === 'string' ? { EndUserCode: endUserCode, EndUserCodes: [endUserCode] } : {}),
      GatewayProfile: this.config?.profile,
      CustomerTraceNumber: [],
    };
  }

  get #waitsFor(): WaitsFor | null {
    if (this.state.isPaused || this.#isKeptWaiting) return 'pause';
    // Only where all rows under way wait for their retries.
    const reasons = [...this.inquiries.values()].flatMap(({ inquiry }) => inquiry?.waitsFor ?? []);
    return (reasons.length >= this.underWay ? reasons[0] : undefined) ?? null;
  }

  /** Whether rows wait because all inquiries are paused. */
  get #isKeptWaiting(): boolean {
    return [...this.inquiries.values()].some(({ inquiry }) => inquiry?.pausedSinceMs !== undefined);
  }

  #updateFilesFlag(): void {
    const isAway = this.attention !== undefined;
    if (isAway !== this.#isFlagged) {
      const { runKey, profile } = this;
      const { endUserCode } = this.input;
      const at = new Date().toISOString();
      this.decided.flag({
        reason: PORTFOLIO_UNAVAILABLE,
        runKey,
        profile,
        endUserCode,
        at,
        isOver: !isAway,
      });
      this.#isFlagged = isAway;
    }
    this.publish();
  }

  progress(): PortfolioProgress {
    const { rows = 0, badRows = 0, done = NOTHING_DONE, flagged } = this.state.file ?? {};
    const held = this.holds.list.length;
    return {
      rows,
      badRows,
      done: this.done,
      ...done,
      held,
      underWay: this.underWay,
      flagged,
    };
  }

  status(): PortfolioStatus {
    const { reviewId, attention } = this;
    const { state: shown, waitingFor } = this.#standing();
    const files = attention && `the portfolio’s files: ${this.files.cause}`;
    const waits = [files, waitingFor].filter((wait) => wait !== undefined);
    return {
      reviewId,
      ...this.commonStatus,
      productCode: 'ACCTRVW',
      state: shown,
      waitingFor: waits.length > 0 ? waits.join(', and ') : undefined,
      attention,
      file: this.input.file,
      digest: this.state.file?.known.digest,
      progress: this.progress(),
    };
  }

  #standing(): { state: PortfolioState; waitingFor?: string } {
    const { outcome, endedAs } = this;
    const { file, isPaused } = this.state;
    const end = endedAs ?? outcome;
    if (end) return { state: end };
    if (!file) return { state: 'examining' };
    const held = this.holds.list.length;
    if (this.isStopping || this.isEnding) {
      if (this.underWay === 0 && held > 0) return { state: 'held', waitingFor: describeDecisions(held) };
      return { state: 'stopping', waitingFor: 'attempts in flight' };
    }
    if (isPaused) return { state: 'paused', waitingFor: 'an operator who resumes it' };
    if (held > 0 && this.done + held >= file.rows) return { state: 'held', waitingFor: describeDecisions(held) };
    if (this.isFull) return { state: 'held', waitingFor: `${describeDecisions(held)}: no further row is begun before` };
    if (!this.#isKeptWaiting) return { state: 'running' };
    return { state: 'running', waitingFor: 'an operator who resumes inquiries, which are paused' };
  }

  result(outcome: PortfolioOutcome): PortfolioResult {
    const { reviewId, accepted } = this;
    const { file } = this.input;
    if (!this.state.file) throw new Error('a result before the file was examined');
    const { rows, badRows, done, known, flagged } = this.state.file;
    const { results, badRows: badRowsFile } = toOutputNames(`${known.folder}/${file}`, reviewId);
    return {
      reviewId,
      environment: accepted.environment,
      productCode: 'ACCTRVW',
      outcome,
      file,
      digest: known.digest,
      rows,
      badRows,
      ...done,
      flagged,
      notReviewed: rows - this.done,
      resultFile: results,
      badRowsFile: badRows > 0 ? badRowsFile : undefined,
    };
  }
}

/** Adds the review's id to the input. A Temporal Schedule cannot give one: its time is in the workflow id alone. */
function withReviewId(input: PortfolioReviewInput): PortfolioReviewInput {
  if (!isRecord(input) || isUndecodable(input) || input.reviewId !== undefined) return input;
  return { ...input, reviewId: workflowInfo().workflowId.replace(/^portfolio-/, '') };
}

const NOTHING_DONE = { record: 0, noRecord: 0, noReport: 0, abandoned: 0 };

function describeDecisions(count: number): string {
  return count === 1 ? 'a decision about 1 inquiry' : `decisions about ${count} inquiries`;
}
