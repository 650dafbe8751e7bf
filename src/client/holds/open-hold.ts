/** One thing that needs a person. Pure: commands that only show it load nothing else. */
import type { AttentionReason } from '../../ledger/records.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { FailureType, HoldAction } from '../../model/failure-types.ts';
import type { REPORT_CHANGED, SSN_MISMATCH } from '../../model/inquiry.ts';
import type { Problem } from '../../model/problems.ts';
import type { ProductCode } from '../../model/products.ts';

export interface OpenHold {
  /** The owner's id (model/owner-id.ts): of a pull `pull:<pullId>`. */
  journeyId: string;
  customerTraceNumber: string;
  productCode: ProductCode;
  shareId?: string;
  /** The gateway profile, and for whom it was asked. Unknown of what is no hold, and of a hold from an older worker. */
  profile?: string;
  endUserCode?: string;
  endUser?: string;
  /** The applicants that it is about; unknown like `profile`. */
  applicantIds?: string[];
  /** The row, of a portfolio review. */
  accountId?: string;
  /** Other words than a failure type are no holds: a person should look, and no run waits for it. */
  reason: FailureType | AttentionReason | 'revokedAfterPosting' | typeof SSN_MISMATCH | typeof REPORT_CHANGED;
  /** RFC 3339; of a ledger's row when its attempt was claimed. Unknown of a share that a running journey flags. */
  since?: string;
  /** The attempt that a decision judges. */
  attempt?: number;
  httpStatus?: number;
  /** The ledger keeps what the gateway wrote beside that status: `report --attempt` shows it. */
  refusalKept?: true;
  returnCode?: string;
  returnReasonCode?: string;
  /** With `AnotherNumber`: the one that the inquiry has for another customer. */
  otherTraceNumber?: string;
  /** With `InvalidInput` and `UnexpectedResponse`: what is wrong with the request, or with the answer. */
  problems?: readonly Problem[];
  /** With `OutcomeUnknown`: no `resend` is taken before. RFC 3339. */
  resendFrom?: string;
  /** `run`: the journey waits for `resolve`. `ledger`: there is no run; `decideInLedger` or `markSeen`. */
  heldBy: 'run' | 'ledger';
  allowedActions: (HoldAction | 'seen')[];
}

/** A hold as a journey's status shows it. */
export function heldByRun(journeyId: string, hold: HoldStatus): OpenHold {
  const { failureType, attempts, ...rest } = hold;
  return { journeyId, ...rest, reason: failureType, attempt: attempts, heldBy: 'run' };
}
