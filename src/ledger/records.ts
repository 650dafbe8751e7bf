/** What goes into the ledger and comes out of it (types). Nothing here is a row: port.ts says what is done with it. */
import type { ConsentRecord, ShareObjection } from '../consent/consent-record.ts';
import type { SeenAttempt } from '../messages/ledger-watch.ts';
import type { DecisionAction, FailureType } from '../model/failure-types.ts';
import type { Answer, AttemptState, AttemptView, InquiryDescription } from '../model/inquiry.ts';
import type { ProductCode } from '../model/products.ts';
import type { ProviderSaid } from '../model/provider-word.ts';
import type { ReportReference } from '../model/report-outcome.ts';

/** By the version of the form; each lower-case hex. */
export type RequestDigests = Readonly<Record<string, string>>;

export interface ClaimRequest {
  /** The ledger that the run started with. */
  ledgerId: string;
  inquiry: InquiryDescription;
  /** Which attempt is to be made: claims are counted, waits before a claim are not. From 1. */
  attempt: number;
  /** Of the request, in every canonical form; the row keeps one, with its version. */
  digests: RequestDigests;
  run: { workflowId: string; runId: string };
  /** The newest attempt that the run has seen; where it is not here, this is an older copy. */
  seen?: SeenAttempt;
  /** How long after the claim the first byte may still be written. */
  sendByMs: number;
  /** How long after the claim the request may still arrive where its outcome is unknown: no `resend` is taken before. */
  resendAfterMs?: number;
  /** How long after the claim an answer may still come: `sendBy` and every time-out of the attempt. */
  answerWithinMs: number;
  /** The grants that permit this attempt; written in the claim's transaction. Empty but for SECONDUSE. */
  consents: readonly ConsentRecord[];
  /** SECONDUSE: how old a grant may be, by the database's clock. Default: any age. */
  consentValidForMs?: number;
  /** Of the applicants that the request names, in its order; of a share those of the report. */
  applicantIds?: readonly string[];
  /** SECONDUSE: which report is shared, by its `reportReferenceNumber`. Kept as a keyed digest. */
  sharedReference?: string;
}

export type ClaimVerdict =
  /** The row is written as `sending`: this caller, and nobody else, may send now. */
  | {
      kind: 'claimed';
      attempt: number;
      claimedAt: string;
      firstClaimedAt: string;
      position: number;
      resendFrom?: string;
    }
  /** Nothing may be sent: this is how the latest attempt stands (never `sending` past its time). */
  | { kind: 'latest'; latest: AttemptView }
  | { kind: 'requestDiffers' }
  /** The inquiry stands under this number already, for another customer: a decision may permit one more. */
  | { kind: 'anotherNumber'; customerTraceNumber: string }
  /** What the ledger has about the share does not permit it; the run that asks may never have heard of it. */
  | ({ kind: 'notPermitted' } & ShareObjection)
  /** An older copy of the ledger was put back: nothing is claimed until `acceptRestore`. */
  | { kind: 'ledgerRestored' }
  /** Not the ledger that was used: another id, or attempt n−1 is missing. */
  | { kind: 'ledgerChanged' }
  /** This program lacks a fence that the ledger has by now: a newer one has to make the claim. */
  | { kind: 'writerTooOld' };

/** An attempt whose activity was lost or cancelled, and of which the ledger may have nothing. */
export type CloseRequest = Pick<ClaimRequest, 'ledgerId' | 'inquiry' | 'attempt' | 'digests' | 'run'>;

/** How an attempt ended, or what is now known of it. */
export interface OutcomeRecord {
  ledgerId: string;
  customerTraceNumber: string;
  attempt: number;
  state: Exclude<AttemptState, 'sending' | 'accepted' | 'abandoned'>;
  failureType?: FailureType;
  httpStatus?: number;
  retryAfterMs?: number;
  /** With `answered`. */
  answer?: Answer;
  /** The instant just before the first byte, RFC 3339. */
  requestedAt?: string;
}

/**
 * `recorded`: the row now says this. `already`: it said this before. `late`: the attempt had been superseded by a
 * decision or a later attempt; kept beside the row, never returned as its outcome, and marked for attention.
 * `missing`: there is no such attempt (nothing was written).
 */
export type RecordVerdict = 'recorded' | 'already' | 'late' | 'missing';

export interface DecisionRecord {
  decisionId: string;
  customerTraceNumber: string;
  /** The attempt that is judged; one that was never claimed where the hold came before a claim; 0 for `repeat`. */
  attempt: number;
  action: DecisionAction;
  by: string;
  reason: string;
  providerSaid: ProviderSaid;
  /**
   * Why it was held. What was never claimed permits nothing by being resent, and with `RequestDiffers` the row under
   * this trace number is another request's: the decision is kept and leaves that row alone. Without it, the rows
   * alone say what the decision may do.
   */
  failureType?: FailureType;
  /** With `accept`: what the provider says came of it. */
  answer?: Answer;
  /** With `accept`: its `consumerId`s are right, although the ledger has them of other people's inquiries alone. */
  confirmConsumerIds?: true;
  /** The key that has signed the decision, as it was checked. Absent: `by` is what the sender wrote. */
  provenBy?: string;
  /** When the journey received it, RFC 3339. */
  decidedAt: string;
}

export type DecisionVerdict =
  /** Written, or the same decision was there already. */
  | { kind: 'recorded' }
  /** Another decision on this attempt, or an answer that came meanwhile, stands; nothing was written. */
  | { kind: 'overtaken'; latest: AttemptView }
  /** Against the rules: a path and a rule. Nothing was written, and the inquiry still waits for a decision. */
  | { kind: 'refused'; reason: string };

/** `paths`: where a consent differs from the one that stands under its key; none of a duplicate. */
export type ConsentVerdict = { kind: 'recorded' } | { kind: 'known'; paths: string[] };

/** An inquiry with all of its attempts, for people and programs that read. */
export interface InquiryView extends InquiryDescription {
  createdAt: string;
  /** Of whom it asks about, in the request's order. Absent where nothing was claimed since the ledger keeps them. */
  applicantIds?: string[];
  firstClaimedAt?: string;
  /** Of the latest claim. */
  workflowId?: string;
  runId?: string;
  abandonedAt?: string;
  /** What needs a person although nothing waits for it: when an answer came too late, and a withdrawn consent. */
  lateAnswerAt?: string;
  lateConsentAt?: string;
  /** Under a legal hold: nothing of the journey is disposed of. */
  legalHoldAt?: string;
  /** Since then its attempts tell their states, and no answer. */
  disposedAt?: string;
  /** When somebody last saw to that; what came later has not been seen to. */
  seenAt?: string;
  attempts: (AttemptView & { requestedAt?: string; lateAnswerAt?: string })[];
  decisions: DecisionRecord[];
}

export interface OpenInquiriesQuery {
  /** RFC 3339. Leaves out what was claimed, or drew attention, before it. */
  since?: string;
  /** How the latest attempt stands; a `sending` whose time is over stands as `unknown`. Default: all that are open. */
  states?: readonly AttemptState[];
}

/** Why somebody should look at an inquiry that waits for nothing. */
export type AttentionReason = 'lateAnswer' | 'lateConsent';

export interface OpenInquiry extends InquiryView {
  /** The latest attempt needs a decision that nobody has taken, for this reason. */
  undecided?: { attempt: number; failureType: FailureType };
  /** What has come too late and nobody has seen to. */
  attention: AttentionReason[];
}

/** What needs a person, as little of it as counting takes. */
export interface OpenWork {
  reason: FailureType | AttentionReason;
  /** When the attempt was claimed that nobody has decided about, or the news came. RFC 3339. */
  since: string;
  /** Of the latest claim. */
  workflowId?: string;
}

export interface SeenRecord {
  decisionId: string;
  customerTraceNumber: string;
  by: string;
  reason: string;
}

/** `paths`: where it differs from what was written under its id before, which stands; none of a duplicate. */
export type SeenVerdict = { kind: 'recorded' } | { kind: 'known'; paths: string[] } | { kind: 'nothingToSee' };

/** One report: that of an attempt. */
export interface ReportOrigin {
  customerTraceNumber: string;
  attempt: number;
}

/** What is worked out from reports and sealed like one. */
export interface DerivedDocument {
  kind: 'changes';
  /** The report that it is about. */
  of: ReportOrigin;
  /** The other report that is in it: it is destroyed with either. */
  from: ReportOrigin;
}

export interface StoredDocument extends DerivedDocument {
  storedAt: string;
  /** JSON text, unsealed. As personal as the reports. */
  body: string;
}

export interface StoredReport {
  customerTraceNumber: string;
  productCode: ProductCode;
  attempt: number;
  storedAt: string;
  /** The answer's JSON text as it came, unsealed. Personal throughout. */
  body: string;
}

/** An inquiry whose answer, in time or late, brought a certain `reportReferenceNumber`. */
export interface ReferredInquiry {
  inquiry: InquiryView;
  /** `null` where it was destroyed by a disposal. */
  reference: ReportReference | null;
}

/** That a report is to be shared, before anybody has consented. */
export interface ShareRecord {
  /** The share's owner (model/owner-id.ts) and id. */
  callerId: string;
  shareId: string;
  reportReferenceNumber: string;
  /** The end user that the report was pulled for, as the caller says. */
  reportEndUserCode: string;
}

export interface ConsentsQuery {
  /** The share that consents are looked for. */
  callerId: string;
  shareId: string;
  /** The report that it is of; the ledger finds whose it is. */
  reportReferenceNumber?: string;
}

/** What the ledger has about sharing one report. */
export interface ShareFacts {
  /** Whose consents may count: the share's owner, and the report's where the ledger has it. */
  owners: string[];
  /** Everything that was said about sharing the report, in the order in which it came. */
  stored: StoredConsent[];
  /** The report was disposed of, or is about to be, or is under a legal hold. */
  reportIsGone: boolean;
  /** By the database's clock. */
  nowMs: number;
}

/** A consent as it stands in the ledger. */
export interface StoredConsent {
  consent: ConsentRecord;
  /** The owner of another share that was, or may have been, posted under it. */
  usedBy?: string;
}

/** What `rewrapDataKeys` did. */
export interface RewrapResult {
  /** The key of the key ring that everything readable is wrapped under now. */
  keyId: string;
  /** Data keys of reports, and of what was derived from them, that were wrapped anew. */
  reports: number;
  /** Whether the ledger's own secret was. */
  secret: boolean;
  /** Reports whose key the key ring lacks: left as they were. */
  unreadable: { keyId: string; reports: number }[];
}

/**
 * What does not fit the chain. `headChanged` with a position: before that entry, the head had been tampered with.
 * `otherChain`: the head that was expected is not on this chain.
 */
export interface ChainFinding {
  kind: 'changed' | 'removed' | 'inserted' | 'outOfOrder' | 'headChanged' | 'otherChain';
  /** From 1. */
  position?: number;
  /** Of `removed` without a key: so many, from `position` on. */
  rows?: number;
  table?: 'consents' | 'decisions' | 'ledger_restores';
  /** The row's primary key; ids, opaque. */
  key?: string[];
}

export interface ChainReport {
  /** What the head says: how many rows are chained, and the hash of the last one, lower-case hex. */
  entries: number;
  head: string;
  findings: ChainFinding[];
}

/** A person goes on with a ledger that was put back from an older copy. */
export interface RestoreAcceptance {
  acceptanceId: string;
  by: string;
  reason: string;
}
