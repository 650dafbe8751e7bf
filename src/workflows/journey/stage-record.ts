/** One stage of a journey, and how it stands (types). */

import type { RepeatStageMessage } from '../../messages/advance.ts';
import type { StageStatus } from '../../messages/journey/shapes.ts';
import type { consumersWithoutRecord, wordsOf } from '../../messages/pull/consumer-results.ts';
import type { Applicant } from '../../model/applicant.ts';
import type { StageCode } from '../../model/products.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { CarriedInquiry } from '../inquiry/inquiry-spec.ts';

/** Who wanted a stage pulled once more. */
export type WantedRepeat = RepeatStageMessage & { receivedAt: string };

export interface StageRecord {
  status: StageStatus;
  reference?: ReportReference;
  /** The provider's words beside its codes. They may name a person. */
  said?: ReturnType<typeof wordsOf>;
  /** The consumers that the answer names and has no record of. */
  withoutRecord?: ReturnType<typeof consumersWithoutRecord>;
  /** When it came into its state. */
  since?: string;
  /** Its latest trace number's; `undefined` until it has begun. */
  ordinal?: number;
  /** The trace number that it will have, until it has begun. */
  plannedTraceNumber?: string;
  /** Who wanted it, where it is no first pull. */
  repeat?: WantedRepeat;
  /** While it is under way: how the inquiry stands. */
  inquiry?: CarriedInquiry;
  /** While it is under way: who applied before, which a repeat that is given up leaves as it was. */
  applicantsBefore?: Applicant[];
  /** How many persons the journey's ids had named by the time of its report: those named last are the report's. */
  personsAt?: number;
  /** Its report is being compared with the one before. */
  isCompared?: boolean;
}

/** A stage that is never pulled: what was accepted about it. */
export interface Skip {
  skip: StageCode;
  to: StageCode;
  by: string;
  reason: string;
}
