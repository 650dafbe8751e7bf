/** What a schedule of portfolio reviews does while a review runs, in our words and in Temporal's. */
import type { ScheduleOverlapPolicy } from '@temporalio/client';

export type Overlap = keyof typeof OVERLAPS;

/** `skip` (default): no review starts while another one runs. */
export const OVERLAPS = {
  skip: 'SKIP',
  bufferOne: 'BUFFER_ONE',
  bufferAll: 'BUFFER_ALL',
  cancelOther: 'CANCEL_OTHER',
  allowAll: 'ALLOW_ALL',
} as const satisfies Record<string, ScheduleOverlapPolicy>;
