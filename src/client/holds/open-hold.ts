/** One thing that needs a person. Pure: commands that only show it load nothing else. */
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import type { FailureType, HoldAction } from '../../model/failure-types.ts';
import type { ATTENTION_GUIDE, HeldInquiry } from '../../words/holds.ts';

export interface OpenHold extends Omit<HeldInquiry, 'reason' | 'refusedDecision'> {
  /** The owner's id (model/owner-id.ts): of a pull `pull:<pullId>`. */
  journeyId: string;
  /** The gateway profile, and for whom it was asked. Unknown of what is no hold, and of a hold from an older worker. */
  profile?: string;
  endUser?: string;
  /** The applicants that it is about; unknown like `profile`. */
  applicantIds?: string[];
  /** Other words than a failure type are no holds: a person should look, and no run waits for it. */
  reason: FailureType | keyof typeof ATTENTION_GUIDE;
  /** `run`: the journey waits for `resolve`. `ledger`: there is no run; `decideInLedger` or `markSeen`. */
  heldBy: 'run' | 'ledger';
  allowedActions: (HoldAction | 'seen')[];
}

/** A hold as a journey's status shows it. */
export function heldByRun(journeyId: string, hold: HoldStatus): OpenHold {
  const { failureType, attempts, ...rest } = hold;
  return { journeyId, ...rest, reason: failureType, attempt: attempts, heldBy: 'run' };
}
