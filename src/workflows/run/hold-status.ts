/** A hold as the status of its run shows it. */
import type { InquiryFailure } from '../../activities/contract.ts';
import type { HoldStatus } from '../../messages/journey/shapes.ts';
import { ALLOWED_ACTIONS } from '../../model/failure-types.ts';
import type { InquiryDescription } from '../../model/inquiry.ts';
import { ownerOf } from '../../model/owner-id.ts';
import { problemsShown } from '../../model/problems.ts';
import { MAX_ORDINAL } from '../../model/trace-number.ts';

export interface Judged {
  attempt: number;
  applicantIds: readonly string[];
  since: string;
  isTold?: boolean;
  /** The ledger has refused a decision about it: it takes one of its own. */
  isRefused?: boolean;
}

export function statusOf(
  inquiry: InquiryDescription,
  failure: InquiryFailure,
  { attempt, since, applicantIds }: Judged,
): HoldStatus {
  const { httpStatus, refusalKept, returnCode, returnReasonCode, resendFrom, otherTraceNumber } = failure;
  const { problems } = failure;
  const { accountId } = ownerOf(inquiry.ownerId);
  return {
    customerTraceNumber: inquiry.customerTraceNumber,
    productCode: inquiry.productCode,
    ...(accountId === undefined ? {} : { accountId }),
    ...(inquiry.shareId === undefined ? {} : { shareId: inquiry.shareId }),
    profile: inquiry.profile,
    ...(inquiry.endUserCode === undefined ? {} : { endUserCode: inquiry.endUserCode }),
    ...(inquiry.endUser === undefined ? {} : { endUser: inquiry.endUser }),
    applicantIds: [...applicantIds],
    failureType: failure.failureType,
    since,
    attempts: attempt,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(refusalKept ? { refusalKept } : {}),
    ...(returnCode === undefined ? {} : { returnCode }),
    ...(returnReasonCode === undefined ? {} : { returnReasonCode }),
    ...(otherTraceNumber === undefined ? {} : { otherTraceNumber }),
    ...(resendFrom === undefined ? {} : { resendFrom }),
    ...(problems ? { problems: problemsShown(problems) } : {}),
    // A share sends a reference, not applicants: there is nothing in it that a person could correct. And a stage has no
    // more trace numbers than two digits count.
    allowedActions: ALLOWED_ACTIONS[failure.failureType].filter(
      (action) => action !== 'amend' || (inquiry.productCode !== 'SECONDUSE' && inquiry.ordinal < MAX_ORDINAL),
    ),
  };
}
