/** A schedule of portfolio reviews, as callers write it. */
import type { ScheduleOverlapPolicy } from '@temporalio/client';
import type { ScheduledReviewInput } from './shapes.ts';

export interface PortfolioSchedule extends ScheduledReviewInput {
  /** Five fields, or `@monthly` and the like. */
  cron: string;
  /** IANA name. Default `UTC`. */
  timeZone?: string;
  overlap?: Overlap;
  /** Each start comes later by up to so much, at random. */
  jitterMs?: number;
  /** What was missed while the server was down is made up for, if it is no older. Default one hour. */
  catchUpMs?: number;
  paused?: boolean;
}

export type Overlap = keyof typeof OVERLAPS;

/** `skip` (default): a review that is due while one runs is left out. */
export const OVERLAPS = {
  skip: 'SKIP',
  bufferOne: 'BUFFER_ONE',
  bufferAll: 'BUFFER_ALL',
  cancelOther: 'CANCEL_OTHER',
  allowAll: 'ALLOW_ALL',
} as const satisfies Record<string, ScheduleOverlapPolicy>;
