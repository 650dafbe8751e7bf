/** The words of the inquiry protocol that workflow, activities, gateway and ledger share. Types and pure tables. */

import type { FailsafeApplicant } from './applicant.ts';
import type { FailureType } from './failure-types.ts';
import type { Environment, ProductCode } from './products.ts';
import type { ReportOutcome, ReportReference } from './report-outcome.ts';

/** What an attempt that was answered over HTTP came to. Small, and without any report. */
export type Answer =
  | {
      kind: 'outcome';
      /** `record` if any applicant has one. For SECONDUSE `record` means posted. */
      outcome: ReportOutcome;
      /** As the gateway wrote it; absent where a person accepted the outcome. */
      returnCode?: string;
      /** With `record` always; its `consumerId`s are those of the applicants that have a record. */
      reference?: ReportReference;
      /** Present where the gateway answers per applicant; of FAILSAFE with what its entry is named by (interface 2.8). */
      applicants?: AnsweredApplicant[];
      /** A consumer's SSN equals none that was asked for, and the profile says `flag`. */
      flagged?: 'ssnMismatch';
    }
  /** Posted, but its meaning is not in the product's table. */
  | { kind: 'returnCodeUnknown'; returnCode: string }
  /** Posted, but not an answer that may be trusted. `problems` are paths and rules, never values. */
  | { kind: 'unexpectedResponse'; problems: string[]; returnCode?: string };

export interface AnsweredApplicant {
  applicantId: string;
  outcome: ReportOutcome;
  reportReferenceNumber?: string;
  consumerId?: string;
}

/**
 * Where one attempt stands in the ledger. `sending` until an outcome is recorded; a `sending` whose time is over
 * reads as `unknown`. `abandoned` belongs to the whole inquiry.
 */
export const ATTEMPT_STATES = [
  'sending',
  'notSent',
  'notProcessed',
  'unknown',
  'refused',
  'notEntitled',
  'credentialsRefused',
  'untrusted',
  'answered',
  'accepted',
  'abandoned',
] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** What names an inquiry, for whom and why: the ledger's row, apart from its digest. Nothing personal. */
export interface InquiryDescription {
  customerTraceNumber: string;
  environment: Environment;
  profile: string;
  customerId: string;
  /** `lendingJourney`, `creditReport`, … */
  workflowType: string;
  /** The owner's id (owner-id.ts): the `journeyId`, `pull:<pullId>`, `portfolio:<reviewId>/<accountId>`. */
  callerId: string;
  productCode: ProductCode;
  shareId?: string;
  /** Counts amendments and deliberate repeats of this stage or share; 0 for the first. */
  ordinal: number;
  endUserCode?: string;
  endUser?: string;
  permissiblePurposeCode?: string;
  /** The trace number that this inquiry amends. */
  amends?: string;
}

/** Everything that a run carries of one inquiry, and that its request is made of. */
export interface InquiryContent {
  inquiry: InquiryDescription;
  /** Report products; FAILSAFE, without what its request lacks. */
  applicants?: FailsafeApplicant[];
  /** SECONDUSE: the reference of the report that is shared. */
  reference?: ReportReference;
}

/** An attempt as the ledger knows it. */
export interface AttemptView {
  attempt: number;
  state: AttemptState;
  /** Absent where it was never claimed: it was closed, or the inquiry was abandoned before its first attempt. */
  claimedAt?: string;
  /** A look-up found no claim of it and closed it: no worker can claim it any more. Its state is `notSent`. */
  closedAt?: string;
  /** For `sending`: until when its answer may still come, from the database's clock. */
  waitMs?: number;
  failureType?: FailureType;
  /** For `unknown`: until then its request may still arrive, and no `resend` is taken. RFC 3339, by the database's clock. */
  resendFrom?: string;
  httpStatus?: number;
  retryAfterMs?: number;
  answer?: Answer;
  /** The run that claimed or closed it. */
  runId?: string;
  /** A resend of exactly this attempt stands, and nobody has spent it: the next one needs no further decision. */
  resendStands?: true;
}

/** What of the ledger has overtaken a decision, in words. */
export function whatStands({ attempt, state, resendStands }: AttemptView): string {
  if (resendStands) return `by now another resend of its attempt ${attempt} stands`;
  return state === 'abandoned' ? 'by now the inquiry is abandoned' : `by now its attempt ${attempt} is ${state}`;
}

/** How a failure that ended a claimed attempt stands in the ledger. `null`: the failure claims nothing. */
export const ATTEMPT_STATE_OF_FAILURE: Record<FailureType, AttemptState | null> = {
  GatewayUnreachable: 'notSent',
  TokenRejected: 'notProcessed',
  Throttled: 'notProcessed',
  OutcomeUnknown: 'unknown',
  RequestRefused: 'refused',
  NotEntitled: 'notEntitled',
  CredentialsRefused: 'credentialsRefused',
  GatewayUntrusted: 'untrusted',
  UnexpectedResponse: 'answered',
  ReturnCodeUnknown: 'answered',
  TokenUnavailable: null,
  LedgerUnavailable: null,
  ProfileChanged: null,
  RequestDiffers: null,
  AnotherNumber: null,
  LedgerChanged: null,
  LedgerRestored: null,
  InvalidInput: null,
  ActivityFailed: null,
};

export type Outcome = Extract<Answer, { kind: 'outcome' }>;
