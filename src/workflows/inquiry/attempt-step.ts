/** What has come of an attempt, as the run goes on with it: from its failure, or from its row in the ledger. */
import type { AnsweredAttempt, InquiryFailure, PreparedRun, SubmitFailureDetails } from '../../activities/contract.ts';
import { defined } from '../../base/defined.ts';
import type { ShareObjection } from '../../consent/consent-record.ts';
import type { RunWithdrawal } from '../../ledger/records.ts';
import type { FailureType } from '../../model/failure-types.ts';
import type { AttemptView } from '../../model/inquiry.ts';
import type { InFlightActivities } from '../run/in-flight-activities.ts';
import type { InquiryEnd } from './inquiry-spec.ts';

type FailedAttempt = Pick<SubmitFailureDetails, 'requestedAt' | 'refusal'>;

export type AttemptStep =
  | ({ kind: 'answered' } & AnsweredAttempt)
  /** `resendStands`: a person has decided already that the next attempt is to be made. */
  | ({ kind: 'failed'; failure: InquiryFailure; recorded: boolean; resendStands?: true } & FailedAttempt)
  /** An earlier attempt may still be answered. */
  | { kind: 'wait'; attempt: number; waitMs: number }
  | { kind: 'abandoned'; attempt: number }
  /** No worker has claimed it, and none can any more: the next one follows. */
  | { kind: 'closed'; attempt: number }
  /** Called back before it was scheduled. */
  | { kind: 'cancelled' }
  /** Nothing was claimed: the gateway queue is to have it. */
  | { kind: 'elsewhere' }
  /** Nothing was claimed: a consent or another row in the ledger does not permit the share. */
  | ({ kind: 'notPermitted' } & ShareObjection)
  | { kind: 'stop'; end: InquiryEnd };

export interface AttemptHost {
  run: PreparedRun;
  inFlight: InFlightActivities;
  /** Called where the ledger has a withdrawal of the run, which the run may not know. */
  onWithdrawn(withdrawal: RunWithdrawal): void;
}

export function stepOfFailure(
  failureType: FailureType,
  attempt: number,
  details: Partial<SubmitFailureDetails> = {},
): Extract<AttemptStep, { kind: 'failed' }> {
  const { claimed = false, recorded = true, requestedAt, refusal } = details;
  const { httpStatus, retryAfterMs, refusalKept, resendFrom, otherTraceNumber, problems } = details;
  return {
    ...{ kind: 'failed', recorded, ...defined({ requestedAt, refusal }) },
    failure: {
      ...{ failureType, attempt: details.attempt ?? attempt, claimed },
      ...defined({ httpStatus, retryAfterMs, refusalKept, resendFrom, otherTraceNumber, problems }),
    },
  };
}

/** What a row of the ledger means for the run: the claim table's third column. */
export function stepOf(view: AttemptView): AttemptStep {
  switch (view.state) {
    case 'answered':
    case 'accepted':
      if (view.answer) return { kind: 'answered', attempt: view.attempt, answer: view.answer, recorded: true };
      return failedAs('OutcomeUnknown', view);
    case 'abandoned':
      return { kind: 'abandoned', attempt: view.attempt };
    case 'sending':
      return { kind: 'wait', attempt: view.attempt, waitMs: view.waitMs ?? 0 };
    case 'notSent':
      return view.closedAt === undefined
        ? failedAs('GatewayUnreachable', view)
        : { kind: 'closed', attempt: view.attempt };
    case 'notProcessed':
      return failedAs(view.failureType ?? 'Throttled', view);
    case 'unknown':
      return failedAs(view.failureType === 'AnsweredLate' ? 'AnsweredLate' : 'OutcomeUnknown', view);
    case 'refused':
      return failedAs('RequestRefused', view);
    case 'notEntitled':
      return failedAs('NotEntitled', view);
    case 'credentialsRefused':
      return failedAs('CredentialsRefused', view);
    case 'untrusted':
      return failedAs('GatewayUntrusted', view);
  }
}

function failedAs(failureType: FailureType, view: AttemptView): AttemptStep {
  const { attempt, httpStatus, retryAfterMs, refusalKept, resendFrom } = view;
  const step = stepOfFailure(failureType, attempt, {
    claimed: true,
    ...defined({ httpStatus, retryAfterMs, refusalKept, resendFrom }),
  });
  return view.resendStands ? { ...step, resendStands: true } : step;
}
