/** Made of schemas/api.openapi.json by `npm run schemas`: not edited by hand. */

export type Applicant = {
  applicantId: string;
  names: readonly {
    first: string;
    middle?: string;
    last: string;
    gen?: string;
  }[];
  ssn: string;
  /** YYYY-MM-DD, in 1900 or later, not in the future. */
  dob: string;
  phones: readonly {
    phoneNumber: string;
    phoneType?: 'HOME' | 'MOBL' | 'WORK';
  }[];
  emailAddress: string;
  ipAddress: string;
  addresses: readonly {
    addressIdentifier: 'C' | 'P';
    line1: string;
    line2?: string;
    city: string;
    state: string;
    zip: string;
    zip4?: string;
  }[];
};

export type AuditedDecision = {
  decisionId: string;
  action: string;
  by: string;
  reason: string;
  providerSaid: string;
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
    /** refused: nothing was decided. failed: it is not known; the same again tells. */
    result: 'decided' | 'duplicate' | 'refused' | 'failed';
    /** Whether the ledger has the decision. */
    recorded?: boolean;
    /** As a problem document’s, where it was not decided. */
    code?: string;
    detail?: string;
    decided?: DecidedBefore;
  }[];
};

export type DecisionPreview = {
  /** How many would be decided. */
  decidable: number;
  inquiries: readonly {
    runKey: string;
    customerTraceNumber: string;
    attempt: number;
    decidable: boolean;
    /** Of the hold. */
    reason?: string;
    heldBy?: 'run' | 'ledger';
    allowedActions?: readonly ('resend' | 'accept' | 'amend' | 'abandon' | 'seen')[];
    /** As a problem document’s, where it was not decided. */
    code?: string;
    detail?: string;
    decided?: DecidedBefore;
  }[];
};

export type Hold = {
  holdId: string;
  /** held: an inquiry waits for a decision. flagged: a person should look, and nothing waits for it. */
  kind: 'held' | 'flagged';
  /** The runbook has a page about each. */
  reason: string;
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
  /** The applicants that it is about. */
  applicantIds?: readonly string[];
  httpStatus?: number;
  returnCode?: string;
  /** The provider’s, where it gives one. */
  returnReasonCode?: string;
  /** With AnotherNumber: the number that the inquiry has for another customer. */
  otherTraceNumber?: string;
  /** With OutcomeUnknown: the first request may still arrive until then, and no resend is taken. */
  resendFrom?: string;
  /** With InvalidInput: of the request. With UnexpectedResponse: of the answer. The first 20; never a value. */
  problems?: readonly {
    /** A JSON pointer; empty for the whole. */
    path: string;
    rule: string;
  }[];
  /** The ledger keeps what the gateway wrote. */
  refusalKept?: true;
  /** By its reason. Where the run is lost, amend is refused; where nothing was sent either, it is only marked as seen. */
  allowedActions: readonly ('resend' | 'accept' | 'amend' | 'abandon' | 'seen')[];
  /** Where to POST the decision. */
  decideAt?: string;
  /** What it means, and what each decision will do, in plain sentences. */
  guide: HoldGuide;
};

export type HoldCounts = {
  asOf: string;
  counts: readonly {
    kind: 'held' | 'flagged';
    reason: string;
    count: number;
    /** Since when the oldest of them waits. */
    oldest: string;
  }[];
  /** false: at least so many. */
  isWhole: boolean;
};

export type HoldGuide = {
  meaning: string;
  /** What may be on the consumer’s file. */
  onFile?: string;
  /** What to ask the provider. */
  ask?: string;
  /** Its page in this repository. */
  runbook?: string;
  /** How each value of `providerSaid` is said. */
  providerWords: Record<string, string>;
  actions: readonly {
    action: 'resend' | 'accept' | 'amend' | 'abandon' | 'seen';
    /** Few, to choose from. */
    words: string;
    /** What follows, as sentences. */
    does: string;
    /** The decision is taken with one of these alone. */
    providerSaid: readonly ('posted' | 'notPosted' | 'unknown' | 'notAsked')[];
    /** Members it needs beside. */
    needs?: readonly ('outcome' | 'reference')[];
    /** Whether the provider has to be asked. */
    needsProviderSaid: boolean;
    /** Of `accept`: one for each. */
    outcomes?: readonly {
      outcome: 'record' | 'noRecord' | 'noReport';
      /** Few, to choose from. */
      words: string;
      /** What follows, as sentences. */
      does: string;
      /** The decision is taken with one of these alone. */
      providerSaid: readonly ('posted' | 'notPosted' | 'unknown' | 'notAsked')[];
      /** Members it needs beside. */
      needs?: readonly ('outcome' | 'reference')[];
    }[];
  }[];
};

export type HoldList = {
  asOf: string;
  /** How many there are on all pages. */
  total: number;
  /** The oldest first. */
  data: readonly Hold[];
  hasMore: boolean;
  /** For the query parameter `after`, where there is more. */
  next?: string;
};

export type InquiriesPage = {
  /** The oldest first. */
  data: readonly InquiryAttempt[];
  hasMore: boolean;
  /** For the query parameter `after`, where there is more. */
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
    | 'unknown'
    | 'sending'
    | 'notSent'
    | 'notProcessed'
    | 'refused'
    | 'notEntitled'
    | 'credentialsRefused'
    | 'untrusted';
  /** Whether the consumer’s file has an inquiry, as far as is known. */
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
    /** Where the gateway gives one for each applicant. */
    returnCode?: string;
    /** The provider’s, where it gives one. */
    returnReasonCode?: string;
  }[];
  noRecordReference?: string;
  /** How many it is about. */
  applicants?: number;
  accesses?: {
    count: number;
    reissues: number;
    lastAt: string;
  };
  /** An answer that came after a decision or a later attempt. */
  late?: {
    at: string;
    outcome?:
      | 'record'
      | 'noRecord'
      | 'noReport'
      | 'unexpectedResponse'
      | 'returnCodeUnknown'
      | 'unknown'
      | 'sending'
      | 'notSent'
      | 'notProcessed'
      | 'refused'
      | 'notEntitled'
      | 'credentialsRefused'
      | 'untrusted';
    returnCode?: string;
    returnReasonCode?: string;
    applicantOutcomes?: readonly {
      applicantId: string;
      outcome: 'record' | 'noRecord' | 'noReport';
      /** Where the gateway gives one for each applicant. */
      returnCode?: string;
      /** The provider’s, where it gives one. */
      returnReasonCode?: string;
    }[];
    noRecordReference?: string;
  };
  abandonedAt?: string;
  disposedAt?: string;
  /** Every hold in force that covers the inquiry. None of it can be disposed of until then. */
  legalHolds: readonly {
    /** What it was set on: a run, one row of a review, or a review. */
    journeyId: string;
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

export type JourneyDecision = {
  /** Opaque: nothing that looks like a social security number (ddd-dd-dddd, or nine digits in a row). */
  decisionId: string;
  customerTraceNumber: string;
  attempt: number;
  action: 'resend' | 'accept' | 'amend' | 'abandon';
  reason: string;
  providerSaid: 'posted' | 'notPosted' | 'unknown' | 'notAsked';
  outcome?: 'record' | 'noRecord' | 'noReport';
  reference?: {
    reportReferenceNumber: string;
    requestedAt: string;
    applicants: readonly {
      applicantId: string;
      consumerId: string;
    }[];
  };
  confirmConsumerIds?: true;
  applicants?: readonly Applicant[];
  proof?: string;
};

export type ListedRun = {
  /** The id with its kind before it: of a pull `pull:<pullId>`. */
  runKey: string;
  run: 'running' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timedOut' | 'unknown';
  startedAt: string;
  closedAt?: string;
  stage?: string;
  /** Why a person should look. */
  needsAttention?: string;
  /** What it waits for, beside a person. */
  waitsFor?: 'gate' | 'consents' | 'gateway' | 'pause' | 'ledger' | 'requests';
};

export type Problem = {
  /** Where the reference explains the code: an address of this server. */
  type: string;
  title: string;
  status: number;
  /** For people. Never a value of the request. */
  detail: string;
  /** For programs: one closed list. */
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
    | 'unknownMethod'
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
    | 'reveal'
    | 'tooManyPayloads'
    | 'decoded'
    | 'redacted'
    | 'notEncodable'
    | 'unknownKey';
  /** Each place that is wrong, and its rule. */
  problems?: readonly {
    /** A JSON pointer; empty for the whole. */
    path: string;
    rule: string;
    /** The query parameter that is wrong. */
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
  /** Where it stands, in a sentence or two. */
  headline: string;
  /** As the status has it; without one: held, running, closed or lost. */
  state: string;
  waitsFor: readonly {
    text: string;
    since?: string;
    until?: string;
  }[];
  /** What has happened, the oldest first. */
  lines: readonly {
    at: string;
    text: string;
    /** Who decided it. */
    by?: string;
    /** Why, in that person’s own words. */
    reason?: string;
    customerTraceNumber?: string;
    attempt?: number;
  }[];
  /** false: of some kind there is more than is told here. */
  isWhole: boolean;
  /** What of it needs a person. */
  holds: readonly Hold[];
  /** Messages that the run has refused: the last 50. */
  messages: readonly RefusedMessage[];
  /** The run’s address in the Temporal UI. */
  temporalUi?: string;
  /** No worker answered, or there is no run: the ledger alone tells. */
  fromLedger: boolean;
};

export type SameDecision = {
  /** Opaque: nothing that looks like a social security number (ddd-dd-dddd, or nine digits in a row). */
  decisionId: string;
  action: 'resend' | 'accept' | 'abandon';
  providerSaid: 'posted' | 'notPosted' | 'unknown' | 'notAsked';
  reason: string;
  outcome?: 'noRecord' | 'noReport';
  inquiries: readonly {
    runKey: string;
    customerTraceNumber: string;
    attempt: number;
  }[];
};

export type SearchResult = {
  /** At most 20; runs first. */
  matches: readonly {
    what: 'journey' | 'pull' | 'portfolio' | 'share' | 'inquiry' | 'decision';
    /** The run. */
    runKey: string;
    customerTraceNumber?: string;
    shareId?: string;
    decisionId?: string;
  }[];
};

export type Seen = {
  /** Opaque: nothing that looks like a social security number (ddd-dd-dddd, or nine digits in a row). */
  decisionId: string;
  reason: string;
};

export type SeenAnswer = {
  accepted: true;
  duplicate: boolean;
};

export type Session = {
  /** In whose name decisions are taken. Absent: in nobody’s. */
  by?: string;
  scopes: readonly string[];
  profiles: '*' | readonly string[];
  endUsers: '*' | readonly string[];
  environment: 'sandbox' | 'uat' | 'production';
  /** The address of the Temporal UI. */
  temporalUi?: string;
  /** Where the pages of the runbook are served. */
  runbookUrl?: string;
  /** Where the proxy that signs people in signs them out. */
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
  /** Otherwise it is kept as far as it could be read. */
  isWhole: boolean;
  /** What is personal is masked. */
  redacted: boolean;
  body: unknown;
};

export type StoredReport = {
  customerTraceNumber: string;
  attempt: number;
  storedAt: string;
  productCode: 'CR' | 'PREQUAL' | 'PREAPP' | 'PRECLOSE' | 'ACCTRVW' | 'REFUPD' | 'SECONDUSE' | 'FAILSAFE';
  /** What is personal is masked. */
  redacted: boolean;
  /** As the gateway answered it. */
  report: unknown;
};

export type WaitingCounts = {
  asOf: string;
  counts: readonly {
    /** person: a decision or a look. repair: the workflow tasks of the run fail, so that it stands still, whatever else it is counted for; absent where Temporal does not tell. gate: the message that passes it, or its date. consents: the answers of consumers. gateway: a retry, since the gateway throttles or cannot be reached. pause: inquiries that are resumed. ledger: a retry, since the ledger cannot be reached. requests: nothing is left to do, but further shares or repeats are taken. other: under way, or a wait that no search attribute names; GET /v1/runs/{runKey}/story tells more. */
    waitsFor: 'person' | 'repair' | 'gate' | 'consents' | 'gateway' | 'pause' | 'ledger' | 'requests' | 'other';
    /** The same for people, after "waits for". */
    words: string;
    count: number;
    /** false: at least so many. Only where the token does not reach all runs. */
    isWhole: boolean;
  }[];
};

export type WaitingRuns = {
  asOf: string;
  /** What they wait for, after "waits for". */
  words: string;
  /** Those that began last come first. */
  data: readonly ListedRun[];
  hasMore: boolean;
};
