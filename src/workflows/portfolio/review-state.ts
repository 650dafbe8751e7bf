/** What a review hands on to its next run (continue-as-new), and how much of it is done. Nothing personal but amendments. */
import type { PreparedRun } from '../../activities/contract.ts';
import type { KnownFile } from '../../activities/portfolio-contract.ts';
import type { RefusedMessage } from '../../messages/journey/shapes.ts';
import type { PortfolioProgress, RowOutcome } from '../../messages/portfolio/shapes.ts';
import type { FailsafeApplicant } from '../../model/applicant.ts';
import type { InquiryResumption } from '../inquiry/inquiry-spec.ts';
import type { AskedOnce, CarriedHold, SettledDecision } from '../run/holds.ts';
import type { CarriedNotes } from '../run/noted-work.ts';
import type { CarriedAttributes } from '../run/published-attributes.ts';
import type { AskedDecision } from '../run/run-decisions.ts';

/** A row that was begun and has no outcome: it is read again where it was. */
export interface CarriedRow {
  accountId: string;
  line: number;
  offset: number;
  resume: InquiryResumption;
  /** Of an amendment: they are in no file. */
  applicants?: FailsafeApplicant[];
}

export interface ReviewState {
  run: PreparedRun;
  known: KnownFile;
  badRows: number;
  rows: number;
  /** Where the rows begin that the review has not begun; absent once it has begun all. */
  next?: { offset: number; line: number };
  carried: CarriedRow[];
  done: Record<RowOutcome, number>;
  /** Rows done that a person should look at. */
  flagged?: number;
  /** Parts of the result file so far. */
  parts: number;
  /** At how many rows done the whole file was last compared. */
  comparedAt: number;
  isPaused: boolean;
  withdrawal?: { by: string; reason: string };
  /** Of the review itself: what the ledger does not have yet. */
  decided?: readonly AskedDecision[];
  pace: PaceMark[];
  /** The holds of `carried` rows. An operator may decide about them before the run has read their rows again. */
  open?: CarriedHold[];
  /** Decisions that have taken effect, the latest. */
  settled?: SettledDecision[];
  /** Whether rows that the ledger has under another number are posted all the same. */
  asked?: AskedOnce;
  /** How often each event was emitted, of rows that may have further events. */
  events?: Record<string, number>;
  /** Its search attributes: the server hands them on. */
  published?: CarriedAttributes;
  /** What the ledger was told of. */
  noted?: CarriedNotes;
  refused?: { refusedMessages: RefusedMessage[]; refusedMessagesTotal: number };
}

/** How many rows were done at an instant. */
export interface PaceMark {
  atMs: number;
  done: number;
}

const MARK_EVERY = 50;
const MAX_MARKS = 10;

/** How fast rows are done, over the last few hundred of them. */
export class Pace {
  readonly marks: PaceMark[];

  constructor(marks: readonly PaceMark[]) {
    this.marks = [...marks];
  }

  /** `done` rows are done by now. */
  note(done: number): void {
    const last = this.marks.at(-1);
    if (last && done - last.done < MARK_EVERY) return;
    this.marks.push({ atMs: Date.now(), done });
    if (this.marks.length > MAX_MARKS) this.marks.shift();
  }

  /** Waiting for a person or a pause is no pace. */
  startAnew(done: number): void {
    this.marks.splice(0, this.marks.length, { atMs: Date.now(), done });
  }

  figures(done: number, left: number): Pick<PortfolioProgress, 'rowsPerSecond' | 'secondsLeft'> {
    const [first] = this.marks;
    if (!first || done <= first.done) return {};
    const perSecond = (done - first.done) / Math.max(0.001, (Date.now() - first.atMs) / 1_000);
    return { rowsPerSecond: Math.round(perSecond * 10) / 10, secondsLeft: Math.round(left / perSecond) };
  }
}
