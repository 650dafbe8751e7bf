/** Made of schemas/api.openapi.json by `npm run schemas`: not edited by hand. */

export type AuditedDecision = {
  decisionId: string;
  action: string;
  by: string;
  reason: string;
  providerSaid: 'posted' | 'notPosted' | 'unknown' | 'notAsked';
  decidedAt: string;
  /** The id of the key that signed it. */
  provenBy?: string;
};

export type DecidedBefore = {
  decisionId: string;
  action: string;
  by: string;
  at: string;
};

export type DecidedMany = {
  inquiries: readonly {
    runKey: string;
    customerTraceNumber: string;
    attempt: number;
    /** decidable: in a preview, it would be decided. refused: nothing was decided. failed: the outcome is not known; send the same again. */
    result: 'decided' | 'duplicate' | 'decidable' | 'refused' | 'failed';
    /** Whether the ledger has the decision. */
    recorded?: boolean;
    /** run: the run continues with the decision. ledger: there is no run; its next start continues with the decision. */
    heldBy?: 'run' | 'ledger';
    /** The code of the problem document, if nothing was decided. */
    code?: string;
    detail?: string;
    decided?: DecidedBefore;
  }[];
};

export type Hold = {
  holdId: string;
  /** held: an inquiry waits for a decision. flagged: an operator should look, and nothing waits for it. */
  kind: 'held' | 'flagged';
  /** Or, of a flagged row, its flag. The runbook has a page about each. */
  failureType: string;
  since: string;
  /** The run: a journeyId, pull:<pullId>, share:<shareId>, portfolio:<reviewId>. */
  runKey: string;
  profile: string;
  endUserCode?: string;
  endUser?: string;
  productCode?: 'CR' | 'PREQUAL' | 'PREAPP' | 'PRECLOSE' | 'ACCTRVW' | 'REFUPD' | 'SECONDUSE' | 'FAILSAFE';
  shareId?: string;
  customerTraceNumber?: string;
  /** The attempt that a decision judges. */
  attempt?: number;
  /** The applicants that the inquiry is about. */
  applicantIds?: readonly string[];
  httpStatus?: number;
  returnCode?: string;
  /** A code of the provider, if it gives one. */
  returnReasonCode?: string;
  /** With AnotherNumber: the number that the inquiry has for another customer. */
  otherTraceNumber?: string;
  /** With OutcomeUnknown: the first request may still arrive until then, and the ledger refuses a resend. */
  resendFrom?: string;
  /** With InvalidInput: of the request. With UnexpectedResponse: of the answer. The first 20; never a value. */
  problems?: readonly {
    /** A JSON pointer; empty for the whole. */
    path: string;
    rule: string;
  }[];
  /** The ledger keeps what the gateway wrote beside that status, sealed like a report. */
  refusalKept?: true;
  /** Follows from the failure type. A lost run accepts no amend; if it sent nothing either, the row can only be marked as seen. */
  allowedActions: readonly ('resend' | 'accept' | 'amend' | 'abandon' | 'seen')[];
  /** The address to POST the decision to. */
  decideAt?: string;
  /** The meaning of the hold, and what each decision will do, in plain sentences. */
  guide: HoldGuide;
};

export type HoldCounts = {
  asOf: string;
  counts: readonly {
    kind: 'held' | 'flagged';
    failureType: string;
    count: number;
    /** The time since which the oldest row waits. */
    oldest: string;
  }[];
};

export type HoldGuide = {
  meaning: string;
  /** What may be on the consumer’s file. */
  onFile?: string;
  /** What to ask the provider. */
  ask?: string;
  /** Its page in this repository. */
  runbook?: string;
  /** The wording of each value of `providerSaid`. */
  providerWords: Record<string, string>;
  actions: readonly {
    action: 'resend' | 'accept' | 'amend' | 'abandon' | 'seen';
    /** A short label for the choice. */
    words: string;
    /** What the decision will do, in sentences. */
    does: string;
    /** The decision needs one of these. */
    providerSaid: readonly ('posted' | 'notPosted' | 'unknown' | 'notAsked')[];
    /** Further members that the decision needs. */
    needs?: readonly ('outcome' | 'reference')[];
    /** Whether the operator has to ask the provider. */
    needsProviderSaid: boolean;
    /** For `accept`: one for each outcome. */
    outcomes?: readonly {
      outcome: 'record' | 'noRecord' | 'noReport';
      /** A short label for the choice. */
      words: string;
      /** What the decision will do, in sentences. */
      does: string;
      /** The decision needs one of these. */
      providerSaid: readonly ('posted' | 'notPosted' | 'unknown' | 'notAsked')[];
      /** Further members that the decision needs. */
      needs?: readonly ('outcome' | 'reference')[];
    }[];
  }[];
};

export type HoldList = {
  asOf: string;
  /** The oldest first. */
  data: readonly Hold[];
  hasMore: boolean;
  /** Send it as the query parameter `after` to get the next page. Absent on the last page. */
  next?: string;
};

export type InquiriesPage = {
  /** The oldest first. */
  data: readonly InquiryAttempt[];
  hasMore: boolean;
  /** Send it as the query parameter `after` to get the next page. Absent on the last page. */
  next?: string;
};

export type InquiryAttempt = {
  claimedAt: string;
  requestedAt?: string;
  runKey: string;
  workflowType: string;
  customerTraceNumber: string;
  attempt: number;
  environment: 'sandbox' | 'uat' | 'production';
  profile: string;
  customerId: string;
  productCode: 'CR' | 'PREQUAL' | 'PREAPP' | 'PRECLOSE' | 'ACCTRVW' | 'REFUPD' | 'SECONDUSE' | 'FAILSAFE';
  shareId?: string;
  endUserCode?: string;
  endUser?: string;
  permissiblePurposeCode?: string;
  outcome:
    | 'record'
    | 'noRecord'
    | 'noReport'
    | 'unexpectedResponse'
    | 'returnCodeUnknown'
    | 'sending'
    | 'notSent'
    | 'notProcessed'
    | 'unknown'
    | 'refused'
    | 'notEntitled'
    | 'credentialsRefused'
    | 'untrusted';
  /** Whether the consumer’s file has an inquiry, as far as the ledger knows. */
  posted: 'yes' | 'no' | 'unknown';
  httpStatus?: number;
  failureType?:
    | 'TokenUnavailable'
    | 'CredentialsRefused'
    | 'LedgerUnavailable'
    | 'GatewayUnreachable'
    | 'GatewayUntrusted'
    | 'TokenRejected'
    | 'Throttled'
    | 'NotEntitled'
    | 'RequestRefused'
    | 'OutcomeUnknown'
    | 'AnsweredLate'
    | 'UnexpectedResponse'
    | 'ReturnCodeUnknown'
    | 'ProfileChanged'
    | 'RequestDiffers'
    | 'AnotherNumber'
    | 'LedgerChanged'
    | 'LedgerRestored'
    | 'Paused'
    | 'InvalidInput'
    | 'ActivityFailed';
  /** The trace number that it amends. */
  amends?: string;
  permittedBy?: AuditedDecision;
  decision?: AuditedDecision;
  returnCode?: string;
  returnReasonCode?: string;
  applicantOutcomes?: readonly {
    applicantId: string;
    outcome: 'record' | 'noRecord' | 'noReport';
    /** Present where the gateway gives one for each applicant. */
    returnCode?: string;
    /** A code of the provider, if it gives one. */
    returnReasonCode?: string;
  }[];
  noRecordReference?: string;
  /** The number of applicants that the inquiry is about. */
  applicants?: number;
  /** An answer that came after a decision or a later attempt. */
  late?: {
    at: string;
    outcome?:
      | 'record'
      | 'noRecord'
      | 'noReport'
      | 'unexpectedResponse'
      | 'returnCodeUnknown'
      | 'sending'
      | 'notSent'
      | 'notProcessed'
      | 'unknown'
      | 'refused'
      | 'notEntitled'
      | 'credentialsRefused'
      | 'untrusted';
    returnCode?: string;
    returnReasonCode?: string;
    applicantOutcomes?: readonly {
      applicantId: string;
      outcome: 'record' | 'noRecord' | 'noReport';
      /** Present where the gateway gives one for each applicant. */
      returnCode?: string;
      /** A code of the provider, if it gives one. */
      returnReasonCode?: string;
    }[];
    noRecordReference?: string;
  };
  abandonedAt?: string;
  disposedAt?: string;
  /** Every hold in force that covers the inquiry. The inquiry cannot be disposed of until all of them are released. */
  legalHolds: readonly {
    /** The id that the hold was set on: a run, one row of a review, or a review. */
    runKey: string;
    matter: string;
    setAt: string;
    by: string;
    reason: string;
  }[];
  /** Counts amendments and deliberate repeats; 0 for the first. */
  ordinal: number;
  /** The number under which it was sent, where that is not the inquiry’s own. */
  sentTraceNumber?: string;
  consents: readonly {
    applicantId: string;
    consentId: string;
  }[];
};

export type Problem = {
  /** The address on this server at which the reference explains the code. */
  type: string;
  title: string;
  status: number;
  /** Text for people. It never contains a value of the request. */
  detail: string;
  /** For programs: one of a closed list of codes. */
  code:
    | 'address'
    | 'malformed'
    | 'headers'
    | 'bodyNotTaken'
    | 'notJson'
    | 'tooDeep'
    | 'repeated'
    | 'after'
    | 'attributeMissing'
    | 'method'
    | 'slow'
    | 'bodyTooLarge'
    | 'contentType'
    | 'noToken'
    | 'tokenMalformed'
    | 'expired'
    | 'notYetValid'
    | 'audience'
    | 'issuer'
    | 'claims'
    | 'algorithm'
    | 'signature'
    | 'twoTokens'
    | 'keySet'
    | 'scope'
    | 'by'
    | 'reach'
    | 'otherEndUser'
    | 'proxy'
    | 'origin'
    | 'crossSite'
    | 'role'
    | 'namespace'
    | 'namespaceMissing'
    | 'notFound'
    | 'noReport'
    | 'noRefusal'
    | 'noChanges'
    | 'noJourney'
    | 'disposed'
    | 'invalidInput'
    | 'idTaken'
    | 'differs'
    | 'decided'
    | 'notOnHold'
    | 'notListed'
    | 'inFuture'
    | 'unproven'
    | 'noLongerCounts'
    | 'unknownPart'
    | 'ending'
    | 'notNow'
    | 'journeyFinished'
    | 'shareAfterEnd'
    | 'runFailed'
    | 'resultNotReady'
    | 'rate'
    | 'waiting'
    | 'busy'
    | 'outOfTime'
    | 'gone'
    | 'audit'
    | 'stopping'
    | 'tooManyMessages'
    | 'workerUnavailable'
    | 'temporalUnavailable'
    | 'ledgerUnavailable'
    | 'portfolioUnavailable'
    | 'portfolioDirectory'
    | 'keyUnknown'
    | 'keyServiceFailed'
    | 'closed'
    | 'aborted'
    | 'failed'
    | 'tooManyPayloads'
    | 'decoded'
    | 'redacted'
    | 'notEncodable'
    | 'unknownKey';
  /** Each wrong place, and the rule that it breaks. */
  problems?: readonly {
    /** A JSON pointer; empty for the whole. */
    path: string;
    rule: string;
    /** The wrong query parameter. */
    parameter?: string;
  }[];
  requestId: string;
};

export type RefusedMessage = {
  message: string;
  at: string;
  reason: string;
  consentId?: string;
};

export type RunStory = {
  asOf: string;
  runKey: string;
  /** The state of the run, in a sentence or two. */
  headline: string;
  /** The state from the run’s status. Without a status: held, running, closed, or gone where Temporal has no such run any more. */
  state: string;
  /** What has happened, the oldest first. */
  lines: readonly {
    at: string;
    text: string;
    /** Who decided it. */
    by?: string;
    /** Why, as that person wrote it. */
    reason?: string;
    customerTraceNumber?: string;
    attempt?: number;
  }[];
  /** false: the run has more entries of some kind than this answer lists. */
  isWhole: boolean;
  /** Messages that the run has refused: the last 50. */
  messages: readonly RefusedMessage[];
  /** The run’s address in the Temporal UI. */
  temporalUi?: string;
  /** true: no worker answered, or there is no run. The story is from the ledger alone. */
  fromLedger: boolean;
};

export type SameDecision = {
  /** Your own id of the decision: sent twice, it decides once. Opaque: nothing that looks like a social security number (ddd-dd-dddd, or nine digits in a row). */
  decisionId: string;
  action: 'resend' | 'accept' | 'amend' | 'abandon';
  providerSaid: 'posted' | 'notPosted' | 'unknown' | 'notAsked';
  /** Why; kept in the ledger, so nothing personal about the consumer. */
  reason: string;
  outcome?: 'noRecord' | 'noReport';
  inquiries: readonly {
    /** A run: a journeyId, pull:<pullId>, share:<shareId> or portfolio:<reviewId>. A row of a review: portfolio:<reviewId>/<accountId>. */
    runKey: string;
    /** Names an inquiry. */
    customerTraceNumber: string;
    /** The attempt that the decision is about, as the hold shows it. */
    attempt: number;
  }[];
  /** A preview: the API decides nothing and says what it would decide. */
  preview?: true;
};

export type SearchAnswer = {
  /** At most 20; runs first. */
  data: readonly {
    what: 'journey' | 'pull' | 'portfolio' | 'share' | 'inquiry' | 'decision';
    /** The key of the run. */
    runKey: string;
    customerTraceNumber?: string;
    shareId?: string;
    decisionId?: string;
  }[];
  /** false: there may be more matches. No request lists them. */
  isWhole: boolean;
};

export type Seen = {
  /** Your own id of the decision: sent twice, it decides once. Opaque: nothing that looks like a social security number (ddd-dd-dddd, or nine digits in a row). */
  decisionId: string;
  /** Why; kept in the ledger, so nothing personal about the consumer. */
  reason: string;
};

export type Session = {
  /** The name that decisions are recorded under. Absent if the token names no person. */
  by?: string;
  scopes: readonly string[];
  profiles: readonly string[] | '*';
  endUsers: readonly string[] | '*';
  environment: 'sandbox' | 'uat' | 'production';
  /** The address of the Temporal UI. */
  temporalUi?: string;
  /** The address of the runbook’s pages. */
  runbookUrl?: string;
  /** The address at which the proxy signs people out. */
  signOutAt?: string;
  /** Whether DELETE /session signs out. */
  signOut: boolean;
};

export type StoredRefusal = {
  customerTraceNumber: string;
  attempt: number;
  storedAt: string;
  productCode: 'CR' | 'PREQUAL' | 'PREAPP' | 'PRECLOSE' | 'ACCTRVW' | 'REFUPD' | 'SECONDUSE' | 'FAILSAFE';
  httpStatus?: number;
  /** false: the ledger has only the part that could be read. */
  isWhole: boolean;
  /** Whether personal data is masked. */
  redacted: boolean;
  body: unknown;
};

export type StoredReport = {
  customerTraceNumber: string;
  attempt: number;
  storedAt: string;
  productCode: 'CR' | 'PREQUAL' | 'PREAPP' | 'PRECLOSE' | 'ACCTRVW' | 'REFUPD' | 'SECONDUSE' | 'FAILSAFE';
  /** Whether personal data is masked. */
  redacted: boolean;
  /** The report as the gateway sent it. */
  report: unknown;
};
