/** What people decide about a run itself, and not about one of its inquiries: shapes. Nothing personal. */
import type { StageCode } from '../model/products.ts';

/**
 * `extend`: a wait is made longer, at the gate before `stage` or of the share for consent, until `until`. `skip`: `stage`
 * is never pulled. `acceptAge`: the gate before `stage` is passed with a report that is too old.
 * `seen`: a person has seen to what was flagged about the run. `withdraw`: nothing more is ever sent for the run; its
 * claims read that. `pause`, `resume` and `cancel`: of a portfolio review.
 */
export interface RunDecision {
  /** The run's owner (model/owner-id.ts). */
  ownerId: string;
  /** The same message has the same one. */
  decisionId: string;
  action: 'extend' | 'skip' | 'acceptAge' | 'seen' | 'withdraw' | 'pause' | 'resume' | 'cancel';
  stage?: StageCode;
  shareId?: string;
  /** RFC 3339. */
  until?: string;
  by: string;
  reason: string;
  /** When the run received it: RFC 3339. */
  decidedAt: string;
}

/** A withdrawal that stands in the ledger: who withdrew the run, and why. */
export type RunWithdrawal = Pick<RunDecision, 'by' | 'reason'>;

/** A message that ends a run, or takes back a share: whether the ledger has this very one. */
export interface EndingMessage extends RunWithdrawal {
  ownerId: string;
  action: 'withdraw' | 'cancel';
  /** The share that was taken back, where it is not the run itself. */
  shareId?: string;
}
