/** The JSON of single pulls (docs/pulls.md): one report product, or FAILSAFE. Types only, as in shapes.ts. */
import type { Applicant, FailsafeApplicant } from '../../model/applicant.ts';
import type { Environment, ReportProduct } from '../../model/products.ts';
import type { ReportOutcome, ReportReference } from '../../model/report-outcome.ts';
import type { HoldStatus, RefusedMessage, ResolveInquiryMessage, TerminalState } from '../journey/shapes.ts';

/** Input of the workflow `creditReport`. */
export interface CreditReportInput {
  pullId: string;
  /** Name of a gateway profile. Default `default`. */
  profile?: string;
  productCode: ReportProduct;
  endUserCode: string;
  permissiblePurposeCode: string;
  applicants: Applicant[];
}

/** Input of the workflow `failsafeCheck`. End user and purpose are for the ledger: FAILSAFE's request has neither. */
export interface FailsafeCheckInput {
  pullId: string;
  profile?: string;
  productCode: 'FAILSAFE';
  endUserCode?: string;
  permissiblePurposeCode?: string;
  applicants: FailsafeApplicant[];
}

export type PullInput = CreditReportInput | FailsafeCheckInput;
export type PullProduct = PullInput['productCode'];

export type PullOutcome = ReportOutcome | 'abandoned' | 'withdrawn';
export type PullState = 'running' | 'held' | PullOutcome | TerminalState;

/** Answer of a pull's query `status`: nothing personal. */
export interface PullStatus {
  pullId: string;
  environment: Environment | null;
  productCode: PullProduct;
  state: PullState;
  /** The decision or the retry that the pull waits for, in words. */
  waitingFor?: string;
  attempts: number;
  customerTraceNumber?: string;
  reportReferenceNumber?: string;
  holds: HoldStatus[];
  /** The last 50. */
  refusedMessages: RefusedMessage[];
  refusedMessagesTotal: number;
}

/** The outcome of one consumer (interface 2.8); `consumerId` is personal. */
export interface ConsumerResult {
  applicantId: string;
  outcome: ReportOutcome;
  reportReferenceNumber?: string;
  consumerId?: string;
}

/** Result of the workflows `creditReport` and `failsafeCheck`. */
export interface PullResult {
  pullId: string;
  environment: Environment;
  productCode: PullProduct;
  outcome: PullOutcome;
  attempts: number;
  customerTraceNumber: string;
  /** With `record`. */
  reference?: ReportReference;
  /** For an answered FAILSAFE: one for each applicant, in their order. */
  consumers?: ConsumerResult[];
}

/** Answer of a pull's query `references`; `consumerId` is personal. */
export interface PullReferences {
  pullId: string;
  references: { productCode: PullProduct; reference: ReportReference }[];
  consumers?: ConsumerResult[];
}

export interface ResolvePullMessage extends Omit<ResolveInquiryMessage, 'journeyId' | 'applicants'> {
  pullId: string;
  /** For `amend`: as at the start. */
  applicants?: FailsafeApplicant[];
}

export interface WithdrawPullMessage {
  pullId: string;
  by: string;
  reason: string;
}

/** Answer of every update of a pull: the message was accepted. It does not say that the gateway has answered. */
export interface PullUpdateAnswer {
  accepted: true;
  duplicate: boolean;
  status: PullStatus;
  /** Answer to a decision. `false`: the ledger could not be reached. The run keeps the decision and tries again. */
  recorded?: boolean;
}
