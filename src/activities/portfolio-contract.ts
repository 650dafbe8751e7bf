/** What the workflow `portfolioReview` and its activities say to each other. Types only. */

import type { PortfolioFormat, PortfolioReviewInput } from '../messages/inputs/portfolio-review.ts';
import type { PortfolioRow, RowResult } from '../messages/portfolio/shapes.ts';
import type { PortfolioExamination } from '../portfolio/examine-portfolio.ts';
import type { FileMark } from '../portfolio/files.ts';
import type { Place } from '../portfolio/read-rows.ts';
import type { PreparedRun } from './contract.ts';

/** Which file, how its lines are read, and how it is known to be the one that was examined. */
export interface KnownFile extends Pick<PortfolioExamination, 'digest' | 'mark' | 'columns' | 'badLines'> {
  /** The end user's, as `portfolioFolder` names it. */
  folder: string;
  file: string;
  format: PortfolioFormat;
}

export interface ExaminedFile extends Omit<PortfolioExamination, keyof KnownFile> {
  known: KnownFile;
}

interface RowsRead {
  rows: PortfolioRow[];
  /** Where the next ones begin; absent at the file's end. */
  next?: Place;
  /** As it is now: other than it was where an unchanged file was found under another mark. */
  mark: FileMark;
}

/** A review, and the file that its results are written beside. */
interface ReviewFile extends Pick<KnownFile, 'folder' | 'file'> {
  reviewId: string;
}

export interface PortfolioActivities {
  preparePortfolio(args: { input: PortfolioReviewInput }): Promise<PreparedRun>;
  /** Reads the whole file, and writes the bad rows' report. */
  examinePortfolio(args: { input: PortfolioReviewInput }): Promise<ExaminedFile>;
  /** `inFull`: the whole file is compared by its digest, even if its mark is the same. */
  readPortfolioRows(args: { known: KnownFile; from: Place; limit: number; inFull: boolean }): Promise<RowsRead>;
  /** Rows that were begun before; without places it only looks whether the file is the same, in full. */
  readPortfolioRowsAt(args: { known: KnownFile; places: (Place & { accountId: string })[] }): Promise<RowsRead>;
  writePortfolioResults(args: ReviewFile & { part: number; results: RowResult[] }): Promise<void>;
  /** Makes one file of the parts. */
  finishPortfolioResults(args: ReviewFile & { parts: number }): Promise<void>;
}
