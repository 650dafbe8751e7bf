/** The terms of the inquiry protocol that workflow, activities, gateway and ledger share. Types and pure tables. */
import { omitUndefined } from '../base/defined.ts';
import type { FailsafeApplicant } from './applicant.ts';
import { FAILURE_TYPES, FAILURES, type FailureType } from './failure-types.ts';
import type { Problem } from './problems.ts';
import type { Environment, ProductCode } from './products.ts';
import type { ApplicantOutcome, ReportOutcome, ReportReference } from './report-outcome.ts';

/** `NeedsAttention` if a run continues with a report in which a consumer's SSN matches none of the request's. */
export const SSN_MISMATCH = 'ssnMismatch';

/** `NeedsAttention` if a preclose report has more changes than the input permits, or could not be compared. */
export const REPORT_CHANGED = 'reportChanged';

/** Flags of a report that outlast its run: they remain until an operator has acknowledged them. */
export const LASTING_FLAGS: readonly string[] = [SSN_MISMATCH, REPORT_CHANGED];

/** Flags for late news: they, too, remain until an operator has acknowledged them. */
export const LATE_NEWS = ['lateAnswer', 'revokedAfterPosting'] as const;

/** The outcome of an attempt that was answered over HTTP. Small, and without the report. */
export type Answer =
  | {
      kind: 'outcome';
      /** `record` if any applicant has one. For SECONDUSE `record` means posted. */
      outcome: ReportOutcome;
      /** The gateway's own code; absent if an operator accepted the outcome. */
      returnCode?: string;
      /** The provider's code for the reason, of at most four letters and digits. */
      returnReasonCode?: string;
      /** The reference number of an answer without a record: nothing can be shared under it. */
      noRecordReference?: string;
      /**
       * Present with `record`, unless FAILSAFE's entries have separate numbers or cannot be distinguished. Its
       * `consumerId`s are those of the applicants that have a record.
       */
      reference?: ReportReference;
      /**
       * Present if the gateway answers per applicant; for FAILSAFE with the fields that identify its entry (interface
       * 2.8), unless two entries cannot be distinguished. A `consumerId` without a record is here too (2.4).
       */
      applicants?: AnsweredApplicant[];
      /** The contents of entries that cannot be distinguished: the answer does not show whose they are. */
      unattributed?: Omit<AnsweredApplicant, 'applicantId' | 'outcome'>[];
      /** Notes on the answer for the caller, as paths and rules, never values. They decide nothing. */
      remarks?: Problem[];
      /** A consumer's SSN matches no SSN of the request, and the profile says `flag`. */
      flagged?: typeof SSN_MISMATCH;
    }
  /** Posted, but the product's table does not have this code. */
  | { kind: 'returnCodeUnknown'; returnCode: string; returnReasonCode?: string }
  /** Posted, but the answer cannot be trusted. `problems` are paths and rules, never values. */
  | { kind: 'unexpectedResponse'; problems: string[]; returnCode?: string };

export interface AnsweredApplicant extends ApplicantOutcome {
  reportReferenceNumber?: string;
  consumerId?: string;
}

/**
 * The state of one attempt in the ledger. `sending` until an outcome is recorded; a `sending` whose time is over reads
 * as `unknown`. `abandoned` belongs to the whole inquiry.
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

/** States of an attempt that certainly posted nothing: it was not sent, or the gateway did not process it. */
export const NOT_POSTED_STATES = ['notSent', 'notProcessed'] as const satisfies readonly AttemptState[];

export function isKnownNotPosted(state: AttemptState): boolean {
  return (NOT_POSTED_STATES as readonly AttemptState[]).includes(state);
}

/** For whom an inquiry is made, and why. They travel as one from the input to the request and to the ledger's row. */
export interface InquiryTerms {
  endUserCode?: string;
  endUser?: string;
  permissiblePurposeCode?: string;
}

export function pickTerms({ endUserCode, endUser, permissiblePurposeCode }: InquiryTerms): InquiryTerms {
  return omitUndefined({ endUserCode, endUser, permissiblePurposeCode });
}

/** The name and terms of an inquiry: the ledger's row without its digest. Nothing personal. */
export interface InquiryDescription extends InquiryTerms {
  customerTraceNumber: string;
  environment: Environment;
  profile: string;
  customerId: string;
  /** `lendingJourney`, `creditReport`, … */
  workflowType: string;
  /** The run key (run-key.ts): the `journeyId`, `pull:<pullId>`, `portfolio:<reviewId>/<accountId>`. */
  runKey: string;
  productCode: ProductCode;
  shareId?: string;
  /** Counts amendments and deliberate repeats of a stage. 0 for the first. */
  ordinal: number;
  /** The trace number that this inquiry amends. */
  amends?: string;
}

/** Everything that a run carries for one inquiry. The gateway's request is built from it. */
export interface InquiryContent {
  inquiry: InquiryDescription;
  /** The applicants; FAILSAFE's may lack what its request does not need. */
  applicants?: FailsafeApplicant[];
  /** SECONDUSE: the reference of the report that is shared. */
  reference?: ReportReference;
}

/** The gateway's text beside an unsuccessful status. Presumably personal (interface 7.5). */
export interface RefusalBody {
  text: string;
  /** `false` if it broke off, was too large, or is not UTF-8. The readable part is kept. */
  isWhole: boolean;
}

export interface AttemptView {
  attempt: number;
  /** The number of the inquiry's latest attempt, if this is an earlier one that decides the inquiry's state. */
  latest?: number;
  state: AttemptState;
  /** Absent if it was never claimed: it was closed, or the inquiry was abandoned before its first attempt. */
  claimedAt?: string;
  /** A look-up found no claim of this attempt and closed it, so that no worker can claim it. Its state is `notSent`. */
  closedAt?: string;
  /** For `sending`: how long its answer may still come, by the database's clock. */
  waitMs?: number;
  failureType?: FailureType;
  /**
   * For `unknown`: its request may still arrive until this instant, and no `resend` is taken before. RFC 3339, by the
   * database's clock.
   */
  resendFrom?: string;
  httpStatus?: number;
  /** The ledger keeps the gateway's text beside that status. */
  refusalKept?: true;
  retryAfterMs?: number;
  answer?: Answer;
  /** The number under which it was sent, if not the inquiry's own (profile: `resendTraceNumber`). */
  sentTraceNumber?: string;
  /** The run that claimed or closed it. */
  runId?: string;
  /** A decision to resend exactly this attempt is unspent: the next attempt needs no further decision. */
  resendStands?: true;
}

/** Describes the fact in the ledger that superseded a decision. */
export function describeSupersedingFact({ attempt, state, failureType, resendStands }: AttemptView): string {
  if (failureType === 'AnsweredLate') return `by now its attempt ${attempt} was answered late`;
  if (resendStands) return `by now its attempt ${attempt} has another resend`;
  return state === 'abandoned' ? 'by now the inquiry is abandoned' : `by now its attempt ${attempt} is ${state}`;
}

/**
 * Why a person must decide about an attempt in one of these states: the catalogue's first type with that state. Other
 * states are repeated, or have an answer.
 */
export const REASON_OF_STATE: Readonly<Partial<Record<AttemptState, FailureType>>> = Object.fromEntries(
  FAILURE_TYPES.toReversed().flatMap((type) => {
    const { state } = FAILURES[type];
    return state === null || state === 'answered' || isKnownNotPosted(state) ? [] : [[state, type]];
  }),
);

export type Outcome = Extract<Answer, { kind: 'outcome' }>;

/**
 * Figures of the inquiry protocol. `prepareJourney` reads them from configuration and fixes them for a run.
 * Milliseconds.
 */
export interface ProtocolSettings {
  /** How long the run retries an inquiry before it becomes a hold. */
  giveUpAfterMs: number;
  backoffInitialMs: number;
  backoffMaxMs: number;
  /** The longest `Retry-After` that the run obeys. */
  retryAfterMaxMs: number;
  /** How long after its claim the worker may still begin to write an attempt. */
  sendByMs: number;
  /** How long after its claim an attempt of unknown outcome may still arrive. No `resend` is taken before. */
  resendAfterMs: number;
  /** Start-to-close of `submitInquiry`: above every HTTP time-out, with room to record the answer. */
  submitTimeoutMs: number;
  heartbeatTimeoutMs: number;
  /** The number of history events after which a run continues as a new one. */
  handOverAfterEvents: number;
}
