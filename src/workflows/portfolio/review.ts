/** State of one run of a portfolio review, its files, and its state for continue-as-new. */

import type { RetryPolicy } from '@temporalio/common';
import { type CancellationScope, proxyActivities, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import type { ExaminedFile, KnownFile } from '../../activities/contract.ts';
import type { PortfolioActivities } from '../../activities/index.ts';
import { isRecord } from '../../base/is-record.ts';
import type { PortfolioReviewInput } from '../../messages/inputs/portfolio-review.ts';
import { MAX_HELD, PORTFOLIO_FAULTS, PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import { toOutputNames, toPortfolioFolder } from '../../messages/portfolio/output-files.ts';
import type {
  PortfolioOutcome,
  PortfolioProgress,
  PortfolioResult,
  PortfolioRow,
  PortfolioStatus,
  RowOutcome,
  RowResult,
} from '../../messages/portfolio/shapes.ts';
import type { Ended } from '../../messages/webhooks/events.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { SSN_MISMATCH } from '../../model/inquiry.ts';
import type { WaitsFor } from '../../model/search-attributes.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import type { InquiryState } from '../inquiry/inquiry-spec.ts';
import { callActivity, repeatUntilDone } from '../run/activity-stubs.ts';
import { fitsNextRun } from '../run/continuation.ts';
import { findApplicationFailure } from '../run/failures.ts';
import { createRunState, Run, type RunAttributes, type RunState } from '../run/run.ts';

/** A row of the file, and the state of its inquiry once that has begun. */
export interface WaitingRow extends Omit<PortfolioRow, 'applicants'> {
  applicants: FailsafeApplicant[];
  customerTraceNumber?: string;
  inquiry?: InquiryState;
}

/** A row whose inquiry this run carries. */
export interface OpenRow extends WaitingRow {
  customerTraceNumber: string;
  scope: CancellationScope;
  /** The row waits for an operator, while other rows may begin. */
  isHeld: boolean;
  /** Released while it waits for an operator, because the review stops. */
  isReleased: boolean;
}

/** A row that has begun and has no outcome yet. The next run reads its applicants again at its place in the file. */
type CarriedRow = Omit<WaitingRow, 'applicants'> & { inquiry: InquiryState };

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
  /** Results that are not written yet. */
  results: RowResult[];
}

export interface ReviewState extends RunState {
  /** Absent until the file has been examined. */
  file?: FileState;
  /** Set by a message to this review only. */
  isPaused: boolean;
}

// The stubs of a review's activities. Every figure has its reason beside it.

const fileActivities = proxyActivities<PortfolioActivities>({
  // A gigabyte at the speed of a slow network share, and the checks of a million rows.
  startToCloseTimeout: '1 hour',
  // The activities report after each 64 KiB.
  heartbeatTimeout: '1 minute',
  retry: { backoffCoefficient: 2, nonRetryableErrorTypes: ['InvalidInput', 'PortfolioChanged'] },
});

/** 15 s in all: a network share that is mounted again, or a file that is still being copied, needs no operator. */
const FIRST_TRIES: RetryPolicy = { initialInterval: '1 second', maximumAttempts: 5 };

/** About one try a minute. An hour of tries costs the history three events, and the last of them has the cause. */
const TRIES_FOR_AN_HOUR: RetryPolicy = {
  initialInterval: '10 seconds',
  maximumInterval: '1 minute',
  maximumAttempts: 60,
};

function describeCause(error: unknown): string {
  const { code } = (findApplicationFailure(error)?.details?.[0] ?? {}) as { code?: unknown };
  if (typeof code === 'string') return PORTFOLIO_FAULTS[code] ? `a worker ${PORTFOLIO_FAULTS[code]}` : code;
  return (error as { cause?: unknown }).cause instanceof TimeoutFailure ? 'no answer in time' : 'unknown';
}

export class Review extends Run<PortfolioReviewInput, ReviewState, PortfolioOutcome> {
  readonly kind = 'portfolio';
  /** Causes for which the files cannot be reached, by the activity that reported them. */
  readonly #causes = new Map<keyof PortfolioActivities, string>();
  /** Whether the ledger has, or will have, the flag about unreachable files. */
  #isFlagged = false;
  /** Rows that were read and wait to begin. */
  readonly queue: WaitingRow[] = [];
  /** By account. */
  readonly open = new Map<string, OpenRow>();
  /** Counts changes that may wake waiting code. */
  changes = 0;
  /** The file has changed, so the review sends no further inquiry. */
  isStopping = false;

  constructor(input: PortfolioReviewInput, state?: ReviewState) {
    super(withReviewId(input), state ?? { ...createRunState(), isPaused: false });
  }

  override toState(): ReviewState {
    const { file } = this.state;
    const begun = [...this.open.values(), ...this.queue].flatMap(toCarriedRow);
    const carried = [...(file?.carried ?? []), ...begun];
    const first = this.queue.find(({ inquiry }) => inquiry === undefined) ?? file?.next;
    const next = first && { offset: first.offset, line: first.line };
    // Rows that have ended emit no further event.
    const numbers = new Set(carried.map(({ customerTraceNumber = '' }) => customerTraceNumber));
    return { ...this.state, events: this.events.toState(numbers), file: file && { ...file, carried, next } };
  }

  emitEnded(outcome: Ended<PortfolioOutcome>): void {
    this.events.emit('portfolio.ended', [outcome], { outcome });
  }

  override get isHalted(): boolean {
    return super.isHalted || this.state.isPaused || this.isStopping;
  }

  /** Whether no further row may begin: too many rows wait for people. */
  get isFull(): boolean {
    return this.holds.list.length >= MAX_HELD;
  }

  /** Whether held rows make the state too large for the next run: no further row begins before some are decided. */
  get #isTooLarge(): boolean {
    return this.continuation.isDue && !fitsNextRun(this.toState());
  }

  /** The number of rows that have begun, and are neither held nor done. */
  get underWay(): number {
    return [...this.open.values()].filter(({ isHeld }) => !isHeld).length;
  }

  beginFrom({ first: next, ...examined }: ExaminedFile): FileState {
    const file = { ...examined, next, carried: [], resultBytes: 0, results: [], done: { ...NOTHING_DONE } };
    this.state.file = file;
    this.publish();
    return file;
  }

  /**
   * Runs an activity on the files for as long as it takes. Says so in the status while they cannot be reached.
   *
   * @throws what no repetition mends, or a cancellation
   */
  async ask<K extends keyof PortfolioActivities>(
    name: K,
    summary: string,
    args: Parameters<PortfolioActivities[K]>[0],
  ): Promise<Awaited<ReturnType<PortfolioActivities[K]>>> {
    const run = (round: number) => {
      const retry = round === 0 ? FIRST_TRIES : TRIES_FOR_AN_HOUR;
      return callActivity<PortfolioActivities, K>(fileActivities, name, { summary, retry }, args);
    };
    const onOutage = (error: unknown) => {
      this.#causes.set(name, describeCause(error));
      this.#updateFilesFlag();
    };
    try {
      return await repeatUntilDone(name, run, onOutage);
    } finally {
      if (this.#causes.delete(name)) this.#updateFilesFlag();
    }
  }

  /** Waits for a reading of the file. The review sends no further inquiry if the file has changed. */
  async stopIfChanged(reading: Promise<unknown>): Promise<void> {
    try {
      await reading;
    } catch (error) {
      if (findApplicationFailure(error)?.type !== 'PortfolioChanged') throw error;
      this.isStopping = true;
      this.inFlight.recheck();
    }
  }

  /** Why the files cannot be reached: the code of the file error, such as `ENOENT`, without a path. */
  get cause(): string | undefined {
    const [code] = this.#causes.values();
    return code;
  }

  /** Problems that block the whole review, such as missing files. Listed before held rows. */
  get attention(): typeof PORTFOLIO_UNAVAILABLE | undefined {
    return this.cause === undefined ? undefined : PORTFOLIO_UNAVAILABLE;
  }

  get done(): number {
    return Object.values(this.state.file?.done ?? {}).reduce((sum, count) => sum + count, 0);
  }

  /** Wakes waiting code, and brings the search attributes up to date. */
  override publish(): void {
    this.changes++;
    super.publish();
  }

  protected override get attributes(): RunAttributes {
    const { endUserCode } = this.input;
    const flagged = this.state.file?.flagged === undefined ? null : SSN_MISMATCH;
    return {
      NeedsAttention: this.attention ?? this.holds.list[0]?.failureType ?? flagged,
      WaitsFor: this.#waitsFor,
      JourneyStage: 'ACCTRVW',
      EndUserCode: endUserCode,
      EndUserCodes: [endUserCode],
      GatewayProfile: this.config?.profile,
    };
  }

  get #waitsFor(): WaitsFor | null {
    if (this.state.isPaused || this.#isKeptWaiting) return 'pause';
    // Only where all rows under way wait for their retries.
    const reasons = [...this.open.values()].flatMap(({ inquiry }) => inquiry?.waitsFor ?? []);
    return (reasons.length >= this.underWay ? reasons[0] : undefined) ?? null;
  }

  /** Whether rows wait because all inquiries are paused. */
  get #isKeptWaiting(): boolean {
    return [...this.open.values()].some(({ inquiry }) => inquiry?.pausedSinceMs !== undefined);
  }

  #updateFilesFlag(): void {
    const isAway = this.attention !== undefined;
    if (isAway !== this.#isFlagged) {
      const { runKey, profile } = this;
      const { endUserCode } = this.input;
      const at = new Date().toISOString();
      this.decided.flag({ reason: PORTFOLIO_UNAVAILABLE, runKey, profile, endUserCode, at, isOver: !isAway });
      this.#isFlagged = isAway;
    }
    this.publish();
  }

  progress(): PortfolioProgress {
    const { rows = 0, badRows = 0, done = NOTHING_DONE, flagged } = this.state.file ?? {};
    const held = this.holds.list.length;
    return { rows, badRows, done: this.done, ...done, held, underWay: this.underWay, flagged };
  }

  status(): PortfolioStatus {
    const { state, waitingFor } = this.#standing();
    const files = this.attention && `the portfolio’s files: ${this.cause}`;
    const waits = [files, waitingFor].filter((wait) => wait !== undefined);
    return {
      reviewId: this.id,
      ...this.commonStatus,
      productCode: 'ACCTRVW',
      state,
      waitingFor: waits.length > 0 ? waits.join(', and ') : undefined,
      attention: this.attention,
      file: this.input.file,
      digest: this.state.file?.known.digest,
      progress: this.progress(),
    };
  }

  get details() {
    const { input, cause: away } = this;
    const path = `${toPortfolioFolder(input)}/${input.file}`;
    return { endUserCode: input.endUserCode, files: away === undefined ? undefined : { path, away } };
  }

  #standing(): { state: PortfolioStatus['state']; waitingFor?: string } {
    const { outcome, endedAs, isFull } = this;
    const { file, isPaused } = this.state;
    const end = endedAs ?? outcome;
    if (end) return { state: end };
    if (!file) return { state: 'examining' };
    const held = this.holds.list.length;
    const decisions = held === 1 ? 'a decision about 1 inquiry' : `decisions about ${held} inquiries`;
    if (this.isStopping || this.isEnding) {
      if (this.underWay === 0 && held > 0) return { state: 'held', waitingFor: decisions };
      return { state: 'stopping', waitingFor: 'attempts in flight' };
    }
    if (isPaused) return { state: 'paused', waitingFor: 'an operator who resumes it' };
    if (held > 0 && this.done + held >= file.rows) return { state: 'held', waitingFor: decisions };
    if (isFull || (held > 0 && this.#isTooLarge)) {
      return { state: 'held', waitingFor: `${decisions}: no further row is begun before` };
    }
    if (!this.#isKeptWaiting) return { state: 'running' };
    return { state: 'running', waitingFor: 'an operator who resumes inquiries, which are paused' };
  }

  result(outcome: PortfolioOutcome): PortfolioResult {
    const { input } = this;
    if (!this.state.file) throw new Error('a result before the file was examined');
    const { rows, badRows, done, known, flagged } = this.state.file;
    const files = toOutputNames(`${known.folder}/${input.file}`, this.id);
    return {
      reviewId: this.id,
      environment: this.accepted.environment,
      productCode: 'ACCTRVW',
      outcome,
      file: input.file,
      digest: known.digest,
      rows,
      badRows,
      ...done,
      flagged,
      notReviewed: rows - this.done,
      resultFile: files.results,
      badRowsFile: badRows > 0 ? files.badRows : undefined,
    };
  }
}

function toCarriedRow({ accountId, line, offset, customerTraceNumber, inquiry }: WaitingRow): CarriedRow[] {
  return inquiry ? [{ accountId, line, offset, customerTraceNumber, inquiry }] : [];
}

/** Adds the review's id to the input. A Temporal Schedule cannot give one: its time is in the workflow id alone. */
function withReviewId(input: PortfolioReviewInput): PortfolioReviewInput {
  if (!isRecord(input) || isUndecodable(input) || input.reviewId !== undefined) return input;
  return { ...input, reviewId: workflowInfo().workflowId.replace(/^portfolio-/, '') };
}

const NOTHING_DONE = { record: 0, noRecord: 0, noReport: 0, abandoned: 0 };
