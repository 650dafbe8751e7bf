/**
 * The sliding window of a review. It reads rows ahead, begins them, carries them to their end and writes their results,
 * each as soon as it may. The review has the rows (review.ts), so that the next run continues them.
 */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { DEFAULT_WINDOW } from '../../messages/portfolio/limits.ts';
import type { RowOutcome, RowResult } from '../../messages/portfolio/shapes.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import { toAnsweredInquiry } from '../../model/consumer-results.ts';
import { toRowInquiry } from '../../model/stage-end-user.ts';
import { runInquiry } from '../inquiry/inquiry-protocol.ts';
import type { InquiryEnd, InquiryProgress } from '../inquiry/inquiry-spec.ts';
import type { FileState, OpenRow, Review, WaitingRow } from './review.ts';

/** Bounds the two windows that are read ahead: their rows are in memory, and in the history. */
const MAX_READ_AT_ONCE = 100;

/** Rows that are done, and were not written when a worker died, are found in the ledger. */
const RESULTS_AT_ONCE = 200;

export class ReviewRows {
  readonly #review: Review;
  readonly #file: FileState;
  /** The work on the files that is in progress. */
  readonly #busy = new Set<'reading' | 'writing'>();
  #failure: { error: unknown } | undefined;

  constructor(review: Review, file: FileState) {
    this.#review = review;
    this.#file = file;
  }

  /** Works until no further row may begin; nothing is in flight then, and all results are written. */
  async work(): Promise<void> {
    const review = this.#review;
    // The file has the rows that an earlier run has begun, and an operator may have decided about them by now.
    while (this.#file.carried.length > 0 && !review.isStopping) await review.stopIfChanged(this.#readCarried());
    this.#beginHeld();
    for (;;) {
      this.#stepForward();
      if (this.#isOver()) return;
      const { changes, isEnding } = review;
      await review.continuation.wait(() => review.changes !== changes || review.isEnding !== isEnding);
    }
  }

  /** After a cancellation, lets attempts in flight end and writes their results. */
  async drain(): Promise<void> {
    this.#beginHeld();
    await CancellationScope.nonCancellable(async () => {
      await condition(() => this.#review.open.size === 0 && this.#busy.size === 0);
      while (this.#file.results.length > 0) await this.#write();
    });
  }

  /** Begins everything that can begin now, without a wait. */
  #stepForward(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#review.isStopping) this.#releaseHolds();
    while (this.#mayBegin()) this.#begin(this.#review.queue.shift() as WaitingRow);
    if (this.#mayRead()) this.#runInBackground('reading', () => this.#review.stopIfChanged(this.#readNext()));
    const { length } = this.#file.results;
    const isDue = length >= RESULTS_AT_ONCE || (length > 0 && this.#isQuiet());
    if (isDue && !this.#busy.has('writing')) this.#runInBackground('writing', () => this.#write());
  }

  /** Whether each row has an outcome, or the review begins no further row and none is in progress. */
  #isOver(): boolean {
    const { isStopping, isEnding, open } = this.#review;
    if (this.#busy.size > 0 || this.#file.results.length > 0 || open.size > 0) return false;
    return isStopping || isEnding || this.#isAllBegun();
  }

  #isAllBegun(): boolean {
    return this.#review.queue.length === 0 && this.#file.next === undefined;
  }

  /** Whether no row is in progress, so that the remaining results are written now. */
  #isQuiet(): boolean {
    const { underWay, isHalted, isFull } = this.#review;
    return underWay === 0 && (isHalted || isFull || this.#isAllBegun());
  }

  #mayBegin(): boolean {
    const { queue, isHalted, isFull, underWay, input, continuation } = this.#review;
    if (queue.length === 0 || isHalted || isFull || continuation.isDue) return false;
    return underWay < (input.window ?? DEFAULT_WINDOW);
  }

  #begin(row: WaitingRow): void {
    const scope = new CancellationScope({ cancellable: true });
    const open: OpenRow = { customerTraceNumber: '', ...row, scope, isHeld: false, isReleased: false };
    this.#review.open.set(row.accountId, open);
    void this.#review.continuation.part(() => this.#carry(open));
  }

  async #carry(open: OpenRow): Promise<void> {
    const review = this.#review;
    const { accountId, applicants } = open;
    const spec = {
      ...toRowInquiry({ ...review.input, reviewId: review.id }, accountId),
      applicants,
      part: open,
      onProgress: (progress: InquiryProgress) => this.#noteProgress(open, progress),
    };
    try {
      const end = await open.scope.run(() => runInquiry(review, spec));
      review.open.delete(accountId);
      this.#takeEnd(open, end);
    } catch (error) {
      review.open.delete(accountId);
      if (!isCancellation(error)) this.#failure = { error };
      else if (open.isReleased) this.#putBack(open);
    }
    review.publish();
  }

  #noteProgress(open: OpenRow, { customerTraceNumber, state, waitingFor }: InquiryProgress): void {
    open.customerTraceNumber = customerTraceNumber;
    const isHeld = state === 'held';
    if (waitingFor === undefined && isHeld === open.isHeld) return;
    open.isHeld = isHeld;
    this.#review.publish();
  }

  #takeEnd(open: OpenRow, end: InquiryEnd): void {
    if (end.kind === 'answered') {
      const { answer, applicants = open.applicants } = end;
      const asked = applicants.map(({ applicantId }, index) => applicantId ?? `${index + 1}A`);
      this.#count(open, answer.outcome, { ...toAnsweredInquiry(answer, asked), attention: answer.flagged });
    } else if (end.kind === 'abandoned') this.#count(open, 'abandoned');
    // After a withdrawal the review does not begin it again.
    else if (!this.#review.isEnding) this.#putBack(open);
  }

  #count({ accountId, line, customerTraceNumber }: OpenRow, outcome: RowOutcome, told: Partial<RowResult> = {}): void {
    const file = this.#file;
    file.done[outcome]++;
    if (told.attention) file.flagged = (file.flagged ?? 0) + 1;
    file.results.push({ accountId, line, outcome, customerTraceNumber, ...told, at: new Date().toISOString() });
  }

  /** Queues a begun row again in its present state, before the rows that have not begun. */
  #putBack({ accountId, line, offset, applicants, customerTraceNumber, inquiry }: OpenRow): void {
    // A paused row is not retried.
    if (this.#review.state.isPaused) delete inquiry?.retriedSinceMs;
    const row = { accountId, line, offset, applicants: inquiry?.applicants ?? applicants };
    this.#review.queue.unshift({ ...row, customerTraceNumber, inquiry });
  }

  #releaseHolds(): void {
    const deciding = this.#review.holds.view.flatMap((hold) => (hold.isDecided ? [hold.customerTraceNumber] : []));
    for (const open of this.#review.open.values()) {
      if (!open.isHeld || open.isReleased || deciding.includes(open.customerTraceNumber)) continue;
      open.isReleased = true;
      open.scope.cancel();
    }
  }

  #mayRead(): boolean {
    const { queue, isHalted, continuation } = this.#review;
    if (this.#busy.has('reading') || isHalted || this.#file.next === undefined) return false;
    return !continuation.isDue && queue.length < this.#readAhead();
  }

  #readAhead(): number {
    return Math.min(this.#review.input.window ?? DEFAULT_WINDOW, MAX_READ_AT_ONCE);
  }

  async #readNext(): Promise<void> {
    const file = this.#file;
    const { next: from, known } = file;
    if (!from) return;
    const limit = Math.min(2 * this.#readAhead(), MAX_READ_AT_ONCE);
    const summary = `reading rows from line ${from.line}`;
    const { rows, next, mark } = await this.#review.ask('readPortfolioRows', summary, { known, from, limit });
    Object.assign(file, { known: { ...known, mark }, next });
    this.#review.queue.push(...rows);
  }

  /** Reads begun rows again, unless an amendment has their applicants: no file has those. */
  async #readCarried(): Promise<void> {
    const file = this.#file;
    const { known } = file;
    const carried = file.carried.slice(0, MAX_READ_AT_ONCE);
    const places = carried.flatMap(({ accountId, offset, line, inquiry }) =>
      inquiry.applicants ? [] : [{ accountId, offset, line }],
    );
    const read = new Map<string, FailsafeApplicant[]>();
    if (places.length > 0) {
      const summary = `reading ${places.length} rows again that were begun`;
      const { rows, mark } = await this.#review.ask('readPortfolioRowsAt', summary, { known, places });
      file.known = { ...known, mark };
      for (const { accountId, applicants } of rows) read.set(accountId, applicants);
    }
    file.carried = file.carried.slice(carried.length);
    for (const row of carried.toReversed()) {
      const waiting = { ...row, applicants: row.inquiry.applicants ?? read.get(row.accountId) ?? [] };
      // An operator may decide about it at any time, also while the rest is halted; it sends nothing by itself.
      if (row.inquiry.held) this.#begin(waiting);
      else this.#review.queue.unshift(waiting);
    }
  }

  /** Begins held rows of a run that ends before it could read them again: a decision that was accepted is recorded. */
  #beginHeld(): void {
    const { carried } = this.#file;
    this.#file.carried = carried.filter(({ inquiry }) => !inquiry.held);
    for (const row of carried) if (row.inquiry.held) this.#begin({ ...row, applicants: row.inquiry.applicants ?? [] });
  }

  async #write(): Promise<void> {
    const { id: reviewId } = this.#review;
    const file = this.#file;
    const { resultBytes: size, known } = file;
    const results = file.results.slice(0, RESULTS_AT_ONCE);
    const args = { reviewId, folder: known.folder, file: known.file, size, results };
    const summary = `writing ${results.length} results`;
    file.resultBytes = await this.#review.ask('writePortfolioResults', summary, args);
    file.results = file.results.slice(results.length);
  }

  #runInBackground(what: 'reading' | 'writing', work: () => Promise<void>): void {
    this.#busy.add(what);
    void this.#review.continuation.part(async () => {
      try {
        await work();
      } catch (error) {
        if (!isCancellation(error)) this.#failure = { error };
      }
      this.#busy.delete(what);
      this.#review.publish();
    });
  }
}
