/** A schedule of portfolio reviews, as callers write it. */
import type { ScheduleOverlapPolicy } from '@temporalio/client';
import type { ScheduledReviewInput } from './shapes.ts';

export interface PortfolioSchedule extends ScheduledReviewInput {
  /** Five fields, or `@monthly` and the like. */
  cron: string;
  /** IANA name. Default `UTC`. */
  timeZone?: string;
  overlap?: Overlap;
  /** Delays each start at random, by up to this long. */
  jitterMs?: number;
  /** How old a missed start may be to be made up for after the server was down. Default one hour. */
  catchUpMs?: number;
  paused?: boolean;
}

export type Overlap = keyof typeof OVERLAPS;

/** `skip` (default): no review starts while another one runs. */
export const OVERLAPS = {
  skip: 'SKIP',
  bufferOne: 'BUFFER_ONE',
  bufferAll: 'BUFFER_ALL',
  cancelOther: 'CANCEL_OTHER',
  allowAll: 'ALLOW_ALL',
} as const satisfies Record<string, ScheduleOverlapPolicy>;
