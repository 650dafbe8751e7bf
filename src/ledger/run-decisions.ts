/** What people decide about a run itself, and not about one of its inquiries: shapes. Nothing personal. */
import type { StageCode } from '../model/products.ts';

/**
 * `extend`: a wait is made longer, at the gate before `stage` or of the share for consent, until `until`. `skip`: `stage`
 * is never pulled. `acceptAge`: the gate before `stage` is passed with a report that is too old. `setClosingDate`.
 * `seen`: a person has seen to what was flagged about the run.
 */
export interface RunDecision {
  /** The run's owner (model/owner-id.ts). */
  ownerId: string;
  /** The same message has the same one. */
  decisionId: string;
  action: 'extend' | 'skip' | 'acceptAge' | 'setClosingDate' | 'seen';
  stage?: StageCode;
  shareId?: string;
  /** RFC 3339. */
  until?: string;
  /** A calendar day. */
  closingDate?: string;
  by: string;
  reason: string;
  /** When the run received it: RFC 3339. */
  decidedAt: string;
}
