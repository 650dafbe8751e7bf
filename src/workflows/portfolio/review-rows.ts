/**
 * The sliding window of a review. It reads rows ahead, begins them, carries them to their end and writes their results,
 * each as soon as it may.
 */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { omitUndefined } from '../../base/defined.ts';
import type { AnsweredInquiry } from '../../messages/journey/shapes.ts';
import { DEFAULT_WINDOW } from '../../messages/portfolio/limits.ts';
import type { PortfolioRow, RowOutcome, RowResult } from '../../messages/portfolio/shapes.ts';
import { toAnsweredInquiry } from '../../messages/pull/consumer-results.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { toRowInquiry } from '../../model/stage-end-user.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import type { InquiryEnd, InquiryProgress, InquiryState } from '../inquiry/inquiry-spec.ts';
import { areMessagesAnswered, waitUntilAtRest } from '../run/as-replayed.ts';
import { findApplicationFailure } from '../run/failures.ts';
import type { CarriedRow, FileState, Review } from './review.ts';

/** Bounds the two windows that are read ahead: their rows are in memory, and in the history. */
const MAX_READ_AT_ONCE = 100;

/** Rows that are done, and were not written when a worker died, are found in the ledger. */
const RESULTS_AT_ONCE = 200;

/** Bounds a history also by what it has begun. */
const ROWS_IN_A_RUN = 2_000;

interface WaitingRow extends Omit<PortfolioRow, 'applicants'> {
  applicants: FailsafeApplicant[];
  resume?: InquiryState;
}

interface OpenRow {
  row: WaitingRow;
  scope: CancellationScope;
  /** The row waits for an operator, while other rows may begin. */
  isHeld: boolean;
  /** Released while it waits for an operator, because the review stops. */
  isReleased: boolean;
  customerTraceNumber: string;
  inquiry?: InquiryState;
}

/**
 * The reason why the review begins no further row. `over`: each row has an outcome, or the review was withdrawn and no
 * row is on hold.
 */
type WindowEnd = 'over' | 'leaving' | 'changed';

export class ReviewRows {
  readonly #review: Review;
  readonly #state: FileState;
  readonly #queue: WaitingRow[] = [];
  readonly #open = new Map<string, OpenRow>();
  #carried: CarriedRow[];
  #results: RowResult[] = [];
  #isReading = false;
  #isWriting = false;
  #begun = 0;
  #failure: { error: unknown } | undefined;

  constructor(review: Review, state: FileState) {
    this.#review = review;
    this.#state = state;
    this.#carried = [...state.carried];
  }

  /**
   * Works until there is nothing left for this run to do; nothing is in flight then, and all results are written. After
   * `leaving` the run hands over before it waits for anything: rows still wait for people.
   */
  async work(): Promise<WindowEnd> {
    for (;;) {
      this.#stepForward();
      const end = this.#end();
      if (end === 'leaving') await waitUntilAtRest();
      if (end && end === this.#end()) return end;
      const { changes, isEnding } = this.#review;
      const hasNews = () => this.#review.changes !== changes || this.#review.isEnding !== isEnding;
      // Messages that it refuses as signals change nothing, but its history.
      await condition(() => hasNews() || (this.#review.isLeaving ? this.#mayLeave() : this.#shouldLeave()));
    }
  }

  /** After a cancellation, lets attempts in flight end and writes their results. */
  async drain(): Promise<void> {
    await CancellationScope.nonCancellable(async () => {
      await condition(() => this.#open.size === 0 && !this.#isReading && !this.#isWriting);
      while (this.#results.length > 0) await this.#write();
    });
  }

  /** Returns the state for the next run, after `work` has returned `leaving`. */
  toState(): FileState {
    const [first] = this.#queue.filter(({ resume }) => resume === undefined);
    const held = [...this.#open.values()].map((open) => this.#toWaitingRow(open));
    const begun = [...held, ...this.#queue].flatMap((row) => (row.resume ? [toCarriedRow(row, row.resume)] : []));
    const { next: unread, ...state } = this.#state;
    const next = first ? { offset: first.offset, line: first.line } : unread;
    return { ...state, carried: [...this.#carried, ...begun], ...(next ? { next } : {}) };
  }

  /** Begins everything that can begin now, without a wait. */
  #stepForward(): void {
    const review = this.#review;
    if (this.#failure) throw this.#failure.error;
    if (!review.isLeaving && this.#shouldLeave()) review.isLeaving = true;
    if (review.isStopping && !review.isLeaving) this.#releaseHolds();
    while (this.#mayBegin()) this.#begin(this.#queue.shift() as WaitingRow);
    if (this.#mayRead()) void this.#runInBackground('reading', () => this.#readLine());
    const isDue = this.#results.length >= RESULTS_AT_ONCE || (this.#results.length > 0 && this.#isQuiet());
    if (isDue && !this.#isWriting) void this.#runInBackground('writing', () => this.#write());
  }

  #end(): WindowEnd | null {
    const review = this.#review;
    if (this.#isReading || this.#isWriting || this.#results.length > 0) return null;
    if (review.isLeaving) return this.#mayLeave() ? 'leaving' : null;
    if (review.isStopping) return this.#open.size === 0 ? 'changed' : null;
    if (this.#open.size > 0) return null;
    if (review.isEnding) return this.#carried.length === 0 ? 'over' : null;
    return this.#isAllBegun() ? 'over' : null;
  }

  /** Whether nothing is in flight and no decision is being recorded. The next run takes over each hold unchanged. */
  #mayLeave(): boolean {
    const { underWay, holds, events } = this.#review;
    if (underWay > 0 || this.#isReading || this.#isWriting || this.#results.length > 0) return false;
    return areMessagesAnswered() && events.areOut && !holds.isBusy;
  }

  #isAllBegun(): boolean {
    return this.#queue.length === 0 && this.#carried.length === 0 && this.#state.next === undefined;
  }

  /** Whether no row is in progress, so that the remaining results are written now. */
  #isQuiet(): boolean {
    return this.#review.underWay === 0 && (this.#review.isHalted || this.#review.isFull || this.#isAllBegun());
  }

  #shouldLeave(): boolean {
    // An operator may have decided about carried rows by now, so this run reads them first.
    if (this.#carried.length > 0) return false;
    return this.#review.continuation.isDue || this.#begun >= ROWS_IN_A_RUN;
  }

  #mayBegin(): boolean {
    if (this.#queue.length === 0) return false;
    const { isHalted, isFull, underWay, input } = this.#review;
    return !isHalted && !isFull && underWay < (input.window ?? DEFAULT_WINDOW);
  }

  #begin(row: WaitingRow): void {
    const scope = new CancellationScope({ cancellable: true });
    const open: OpenRow = {
      row,
      scope,
      isHeld: false,
      isReleased: false,
      customerTraceNumber: '',
      inquiry: row.resume,
    };
    this.#open.set(row.accountId, open);
    this.#review.inquiries.set(row.accountId, open);
    this.#begun++;
    this.#review.underWay++;
    const { applicants } = row;
    scope
      .run(() =>
        runInquiry(this.#review, {
          ...toRowInquiry({ ...this.#review.input, reviewId: this.#review.reviewId }, row.accountId),
          applicants,
          part: open,
          onProgress: (progress) => this.#noteProgress(open, progress),
        }),
      )
      .then(
        (end) => this.#endRow(open, end),
        (error: unknown) => this.#recordError(open, error),
      );
  }

  #noteProgress(open: OpenRow, { customerTraceNumber, state, waitingFor }: InquiryProgress): void {
    const review = this.#review;
    open.customerTraceNumber = customerTraceNumber;
    const isHeld = state === 'held';
    if (waitingFor !== undefined) review.updateSearchAttributes();
    if (isHeld === open.isHeld) return;
    open.isHeld = isHeld;
    review.underWay += isHeld ? -1 : 1;
    review.publish();
  }

  #endRow(open: OpenRow, end: InquiryEnd): void {
    this.#close(open);
    switch (end.kind) {
      case 'answered':
        this.#countAnswered(open, end);
        break;
      case 'abandoned':
        this.#count(open, 'abandoned');
        break;
      case 'stopped':
      case 'notPermitted':
        // After a withdrawal the review does not begin it again.
        if (!this.#review.isEnding) this.#putBack(open);
    }
  }

  #recordError(open: OpenRow, error: unknown): void {
    this.#close(open);
    if (!isCancellation(error)) this.#failure = { error };
    else if (open.isReleased) this.#putBack(open);
  }

  #close(open: OpenRow): void {
    this.#open.delete(open.row.accountId);
    this.#review.inquiries.delete(open.row.accountId);
    if (!open.isHeld) this.#review.underWay--;
    this.#review.publish();
  }

  #countAnswered(
    open: OpenRow,
    { answer, applicants = open.row.applicants }: Extract<InquiryEnd, { kind: 'answered' }>,
  ): void {
    const asked = applicants.map(({ applicantId }, index) => applicantId ?? `${index + 1}A`);
    this.#count(open, answer.outcome, { told: toAnsweredInquiry(answer, asked), attention: answer.flagged });
  }

  #count(
    open: OpenRow,
    outcome: RowOutcome,
    { told = {}, attention }: { told?: AnsweredInquiry; attention?: RowResult['attention'] } = {},
  ): void {
    const { accountId, line } = open.row;
    const { customerTraceNumber } = open;
    this.#state.done[outcome]++;
    if (attention) this.#state.flagged = (this.#state.flagged ?? 0) + 1;
    const at = new Date().toISOString();
    this.#results.push({ accountId, line, outcome, customerTraceNumber, ...told, ...omitUndefined({ attention }), at });
  }

  /** Queues a begun row again in its present state, before the rows that have not begun. */
  #putBack(open: OpenRow): void {
    this.#queue.unshift(this.#toWaitingRow(open));
  }

  #toWaitingRow({ row, inquiry = { ordinal: 0, attempt: 1, failures: 0 } }: OpenRow): WaitingRow {
    const { applicants = row.applicants, retriedSinceMs, ...rest } = inquiry;
    // A paused row is not retried.
    const isCounted = !this.#review.state.isPaused;
    return { ...row, applicants, resume: { ...rest, retriedSinceMs: isCounted ? retriedSinceMs : undefined } };
  }

  #releaseHolds(): void {
    const deciding = new Set(
      this.#review.holds.view
        .filter(({ isDecided }) => isDecided)
        .map(({ customerTraceNumber }) => customerTraceNumber),
    );
    for (const open of this.#open.values()) {
      if (!open.isHeld || open.isReleased || deciding.has(open.customerTraceNumber)) continue;
      open.isReleased = true;
      open.scope.cancel();
    }
  }

  #mayRead(): boolean {
    const { isLeaving, isStopping, isEnding, state } = this.#review;
    if (this.#isReading || isLeaving || isStopping) return false;
    if (this.#carried.length > 0) return true;
    if (isEnding || state.isPaused || this.#state.next === undefined) return false;
    return this.#queue.length < this.#readAhead();
  }

  #readAhead(): number {
    return Math.min(this.#review.input.window ?? DEFAULT_WINDOW, MAX_READ_AT_ONCE);
  }

  async #readLine(): Promise<void> {
    try {
      if (this.#carried.length > 0) await this.#readCarried();
      else await this.#readNext();
    } catch (error) {
      if (findApplicationFailure(error)?.type !== 'PortfolioChanged') throw error;
      this.#review.isStopping = true;
      this.#review.inFlight.recheck();
    }
  }

  async #readNext(): Promise<void> {
    const { next, known } = this.#state;
    if (!next) return;
    const limit = Math.min(2 * this.#readAhead(), MAX_READ_AT_ONCE);
    const summary = `reading rows from line ${next.line}`;
    const read = await this.#review.files.ask('readPortfolioRows', summary, { known, from: next, limit });
    this.#state.known = { ...known, mark: read.mark };
    if (read.next) this.#state.next = read.next;
    else delete this.#state.next;
    this.#queue.push(...read.rows);
  }

  /** Reads begun rows again, unless an amendment has their applicants: no file has those. */
  async #readCarried(): Promise<void> {
    const carried = this.#carried.slice(0, MAX_READ_AT_ONCE);
    const { known } = this.#state;
    const places = carried.flatMap(({ accountId, offset, line, applicants }) =>
      applicants ? [] : [{ accountId, offset, line }],
    );
    const rows = new Map<string, FailsafeApplicant[]>();
    if (places.length > 0) {
      const summary = `reading ${places.length} rows again that were begun`;
      const read = await this.#review.files.ask('readPortfolioRowsAt', summary, { known, places });
      this.#state.known = { ...known, mark: read.mark };
      for (const { accountId, applicants } of read.rows) rows.set(accountId, applicants);
    }
    this.#carried = this.#carried.slice(carried.length);
    for (const { applicants: amended, ...row } of carried.toReversed()) {
      const applicants = amended ?? rows.get(row.accountId) ?? [];
      // An operator may decide about it at any time, also while the rest is halted; it sends nothing by itself.
      if (row.resume.held && !this.#review.isLeaving) this.#begin({ ...row, applicants });
      else this.#queue.unshift({ ...row, applicants });
    }
  }

  async #write(): Promise<void> {
    const { reviewId, files } = this.#review;
    const { resultBytes: size, known } = this.#state;
    const results = this.#results.slice(0, RESULTS_AT_ONCE);
    const args = { reviewId, folder: known.folder, file: known.file, size, results };
    this.#state.resultBytes = await files.ask('writePortfolioResults', `writing ${results.length} results`, args);
    this.#results = this.#results.slice(results.length);
  }

  async #runInBackground(what: 'reading' | 'writing', work: () => Promise<void>): Promise<void> {
    const mark = (isBusy: boolean) => {
      if (what === 'reading') this.#isReading = isBusy;
      else this.#isWriting = isBusy;
    };
    mark(true);
    try {
      await work();
    } catch (error) {
      if (!isCancellation(error)) this.#failure = { error };
    } finally {
      mark(false);
      this.#review.publish();
    }
  }
}

function toCarriedRow({ accountId, line, offset, applicants }: WaitingRow, resume: InquiryState): CarriedRow {
  return { accountId, line, offset, resume, ...(resume.ordinal > 0 ? { applicants } : {}) };
}
