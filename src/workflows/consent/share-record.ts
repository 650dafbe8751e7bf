/** One share of a run, and how it stands (types). */

import type { ShareInput, ShareState } from '../../messages/journey/shapes.ts';
import type { ReportReference } from '../../model/report-outcome.ts';
import type { CarriedInquiry } from '../inquiry/inquiry-spec.ts';

export interface ShareRecord {
  readonly input: ShareInput;
  /** The report that it is of, from the first posting on: a repeat changes nothing about that any more. */
  report?: ReportReference;
  state: ShareState;
  customerTraceNumber?: string;
  reportReferenceNumber?: string;
  attention?: 'revokedAfterPosting';
  /** When it came into its state. */
  since?: string;
  /** Until when it waits for consent, once its report exists. */
  until?: string;
  /** The report was disposed of, or came under a legal hold, before the share was posted. */
  reportIsGone?: boolean;
  /** Listed already while it waits, so that its posting costs no upsert of its own. */
  plannedTraceNumber?: string;
  /** Whom the last event named whose consent is missing, less those who have granted it since. */
  toldMissing?: string[];
  /** While it is posted or held: how the inquiry stands. */
  inquiry?: CarriedInquiry;
}
