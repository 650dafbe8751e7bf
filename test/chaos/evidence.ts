/**
 * The evidence of a storm, gathered once all runs are at rest: from the sandbox gateway, the ledger and Temporal, with
 * the messages that were sent and every log. Invariants are judged by this evidence alone.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import type { ChainReport } from '../../src/ledger/audit/audit-chain.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { InquiryView } from '../../src/ledger/records.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { HoldStatus, JourneyReferences, JourneyResult, JourneyStatus } from '../../src/messages/journey/shapes.ts';
import type { ResolveInquiryMessage } from '../../src/messages/resolve-inquiry.ts';
import type { FailureType, HoldAction } from '../../src/model/failure-types.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';
import type { ProductCode } from '../../src/model/products.ts';
import type { ReportReference } from '../../src/model/report-outcome.ts';
import type { Sentinel } from '../protection/sentinels.ts';
import type { ApiEvidence, MessageTaken, StartTaken } from './evidence-api.ts';
import { readLedger } from './evidence-ledger.ts';
import type { EventTold, ReviewResults, RunPlan, VersionsEvidence, WebhooksEvidence } from './evidence-others.ts';
import { readRuns } from './evidence-runs.ts';
import { readJournal } from './evidence-sandbox.ts';
import type { Standstill } from './own-pace.ts';

/**
 * One line of the sandbox's journal, JSON, appended and synced before anything is answered; the files of all of its
 * processes, one after another, are one journal. Instants are RFC 3339, by the sandbox's own clock. `requestId` is
 * unique across restarts. Nothing personal: of an SSN only the `consumerId` that the sandbox makes of it.
 */
export type JournalLine =
  /** Once for each listening process: the connections of the one before it are gone by then. */
  | { kind: 'listening'; at: string }
  /** A TCP connection was accepted, of the token service or of the gateway alike, and its end; ids as `requestId`. */
  | { kind: 'connection'; at: string; connectionId: string }
  | { kind: 'closed'; at: string; connectionId: string }
  /** The head of a request has arrived at the request endpoint. */
  | { kind: 'head'; at: string; requestId: string }
  /** Its body has come, whole; each member `null` where it could not be read. */
  | {
      kind: 'request';
      at: string;
      requestId: string;
      customerTraceNumber: string | null;
      productCode: string | null;
      /** Lower-case hex, of the body without what differs between two attempts (sandbox/journal.ts). */
      digest: string | null;
    }
  /** The instant of posting. */
  | {
      kind: 'posted';
      at: string;
      requestId: string;
      customerTraceNumber: string;
      productCode: string;
      endUserCode: string | null;
      endUser: string | null;
      reportReferenceNumber: string;
      /** In the request's order. `hasReport` tells that a report was returned or, by SECONDUSE, shared. */
      applicants: { applicantId: string | null; consumerId: string; hasReport: boolean }[];
      /** The report that a SECONDUSE shares. */
      sharedReference?: string;
    }
  /** A status was sent, or was about to be. */
  | { kind: 'answered'; at: string; requestId: string; status: number; fault: string | null };

/** A request as the sandbox received it. */
export interface SandboxRequest {
  requestId: string;
  /** The time of its head by the clock of the world, ms since 1970. */
  atMs: number;
  customerTraceNumber: string | null;
  productCode: string | null;
  digest: string | null;
  status: number | null;
  fault: string | null;
}

export interface SandboxPosting {
  requestId: string;
  atMs: number;
  customerTraceNumber: string;
  productCode: string;
  digest: string | null;
  endUserCode: string | null;
  endUser: string | null;
  reportReferenceNumber: string;
  applicants: { applicantId: string | null; consumerId: string; hasReport: boolean }[];
  sharedReference?: string;
  /** The answer, or `null` if there was none. */
  status: number | null;
}

/** ms since 1970; without an end it was open to the last. */
export interface Connection {
  openedMs: number;
  closedMs?: number;
}

export interface SandboxEvidence {
  requests: SandboxRequest[];
  postings: SandboxPosting[];
  /** Accepted where the workers connect to (the proxy's where there is one). */
  connections: Connection[];
  /** When a process of the sandbox began to listen. */
  listeningMs: number[];
  /** When the process with the proxy stood still: connections of then are noted late, or never. */
  standstills: readonly Standstill[];
}

/** A row of `attempts`, its sealed answers opened. Milliseconds by the ledger's clock. */
export interface LedgerAttempt {
  customerTraceNumber: string;
  attempt: number;
  /** The state in the row. */
  written: AttemptState;
  /** The state by now, which is not `sending` after its time-out. */
  state: AttemptState;
  claimedAtMs: number;
  answerByMs: number;
  runId: string;
  /** The decision that it spent. */
  permittedBy?: string;
  requestedAtMs?: number;
  /** When a worker recorded the outcome. Absent if the attempt timed out without an answer. */
  recordedAtMs?: number;
  httpStatus?: number;
  failureType?: FailureType;
  answerKind?: string;
  outcome?: string;
  /** From the answer of the gateway. */
  reportReferenceNumber?: string;
  consumers?: { applicantId: string; consumerId: string }[];
  /** From an answer that an operator accepted instead. */
  acceptedReference?: string;
  late?: { atMs: number; state: AttemptState };
  /** Grants that permitted it. */
  consents: { shareId: string; applicantId: string; consentId: string }[];
  hasReport: boolean;
}

export interface LedgerInquiry {
  customerTraceNumber: string;
  runKey: string;
  workflowType: string;
  productCode: ProductCode;
  shareId?: string;
  ordinal: number;
  amends?: string;
  /** The ledger's own keyed digest; comparable with itself alone. */
  digest?: string;
  endUserCode?: string;
  endUser?: string;
  abandonedAtMs?: number;
}

export interface LedgerDecision {
  customerTraceNumber: string;
  decisionId: string;
  attempt: number;
  action: HoldAction;
  failureType?: FailureType;
  providerSaid: ResolveInquiryMessage['providerSaid'];
  permitsAttempt?: number;
  recordedAtMs: number;
}

export interface LedgerConsent {
  journeyId: string;
  shareId: string;
  applicantId: string;
  consentId: string;
  decision: ConsentMessage['decision'];
  decidedAt: string;
  receivedAt: string;
  recordedAtMs: number;
  endUserCode?: string;
  endUser?: string;
}

export interface LedgerEvidence {
  ledgerId: string;
  inquiries: LedgerInquiry[];
  attempts: LedgerAttempt[];
  /** Attempts that the ledger closed before any worker claimed them. */
  closed: { customerTraceNumber: string; attempt: number }[];
  /** Tells, for a ledger that was migrated in the storm, whether each later claim keeps the fence of the new version. */
  claimsSinceMigration?: { customerTraceNumber: string; attempt: number; keepsFence: boolean }[];
  decisions: LedgerDecision[];
  consents: LedgerConsent[];
  /** How many beginnings and ends of pauses, and decisions about runs, it has. */
  orders: number;
  withdrawnShares: { runKey: string; shareId: string; recordedAtMs: number }[];
  /** Inquiries that need an operator, by the rules of `test/support/open-inquiries.ts`. */
  open: {
    customerTraceNumber: string;
    undecided?: { attempt: number; failureType: FailureType };
    attention: string[];
  }[];
  /** The answer of the ledger's port about each journey for which the port was asked. */
  views: InquiryView[];
  /** Each report that a stage should have: whether `readReport` opens it, and which reference its text names. */
  reports: {
    journeyId: string;
    productCode: ProductCode;
    customerTraceNumber?: string;
    attempt?: number;
    reportReferenceNumber?: string;
    problem?: string;
  }[];
  chain: ChainReport;
}

/** A `submitInquiry` as the workflow scheduled it. */
export interface Submission {
  customerTraceNumber: string;
  productCode: ProductCode;
  shareId?: string;
  attempt: number;
  /** Its event in the history. */
  eventId: number;
  /** For SECONDUSE, the consumers of the report that it shares, and the grants that permit it. */
  applicantIds: string[];
  consents: { applicantId: string; consentId: string }[];
}

/** A consent message that reached a run, as in the history. Messages that cannot be decoded are left out. */
export interface ConsentHeard extends Pick<ConsentMessage, 'shareId' | 'applicantId' | 'consentId' | 'decision'> {
  eventId: number;
  atMs: number;
  decidedAtMs: number;
}

export interface RunEvidence {
  workflowId: string;
  runId: string;
  workflowType: string;
  /** The run id of the run that handed over to this one. */
  continuedFrom?: string;
  /** Temporal's name of the status: `RUNNING`, `COMPLETED`, `FAILED`, `CANCELLED`, `TERMINATED`, `TIMED_OUT`, … */
  status: string;
  /** Only a completed `lendingJourney` has this. */
  result?: JourneyResult;
  /** The result of a pull, a share by itself or a review or, if it is open, its status. */
  other?: { state: string; holds: readonly HoldStatus[]; reference?: ReportReference };
  /** The type of the innermost failure of a failed run. */
  failureType?: string;
  /** The status of an open run that answers. */
  current?: JourneyStatus;
  references?: JourneyReferences;
  queryProblem?: string;
  /** Attempts of the workflow task that is pending; more than a few is a run that is stuck. */
  workflowTaskAttempts: number;
  pendingActivities: { type: string; attempt: number; paused: boolean }[];
  startedAtMs: number;
  closedAtMs?: number;
  submissions: Submission[];
  /** In the order of the history. */
  consents: ConsentHeard[];
  /** Its updates. */
  messages?: MessageTaken[];
  start?: StartTaken;
  /** Stages and shares whose outcome the run wrote itself, since the attempt could not: their trace numbers. */
  recordedByRun: string[];
  /** The webhook events of the run, in its order. */
  events?: EventTold[];
  /** Only a `webhookDelivery` has this. */
  delivery?: {
    /** Ids of what was handed over to it, in that order. */
    taken: string[];
    failed: { endpoint: string; id: string }[];
    /** How many still wait. */
    waiting: number;
  };
  /** The build id whose workers alone may go on with it. */
  pinnedTo?: string;
  history: temporal.api.history.v1.IHistory;
}

/** A decision of an operator, written down before it was sent. */
export interface DecisionTaken {
  atMs: number;
  message: ResolveInquiryMessage;
}

export interface ConsentSent {
  atMs: number;
  message: ConsentMessage;
  /** When the run answered that the ledger has it. Absent for signals, and where no such answer came. */
  acknowledgedAtMs?: number;
}

/** A share that a platform took back. */
export interface WithdrawalSent {
  runKey: string;
  shareId: string;
  /** The answer said that the ledger has it. */
  isAcknowledged: boolean;
}

export interface Evidence {
  takenAtMs: number;
  sandbox: SandboxEvidence;
  ledger: LedgerEvidence;
  runs: RunEvidence[];
  plans: RunPlan[];
  reviewResults: ReviewResults[];
  decisionsTaken: DecisionTaken[];
  consentsSent: ConsentSent[];
  withdrawalsSent: WithdrawalSent[];
  logs: { name: string; bytes: Uint8Array }[];
  sentinels: readonly Sentinel[];
  /** GATEWAY_NOT_PROCESSED_STATUSES of every worker. */
  notProcessedStatuses: readonly number[];
  /** The workflows as the workers ran them, for the replay; without it histories are not replayed. */
  workflowBundle?: { code: string };
  /** Decodes payloads of the histories, as the workers' does. */
  dataConverter?: DataConverter;
  versions?: VersionsEvidence;
  webhooks?: WebhooksEvidence;
  /** In worlds with copies of the HTTP API. */
  api?: ApiEvidence;
}

export interface EvidenceSources {
  /** How far the sandbox's clock is ahead of the world's, ms. */
  sandboxAheadMs: number;
  journalFile: string;
  /** Connections that a proxy before the gateway accepted, by the world's clock. */
  connections: readonly Connection[];
  standstills: readonly Standstill[];
  /** Open on the very database that `ledgerUrl` names: the port for what it has a word for, SQL for the rest. */
  ledger: Ledger;
  ledgerUrl: string;
  /** With the workers' data converter. */
  client: Client;
  taskQueue: string;
  logFiles: readonly string[];
}

type Known = Omit<Evidence, 'takenAtMs' | 'sandbox' | 'ledger' | 'runs' | 'logs'>;

/**
 * Everything, read at rest: no worker need run but to answer queries. Bounded in how much it asks for at once.
 *
 * @param known what the world noted itself
 * @throws where Temporal or the ledger does not answer: without evidence there is no verdict
 */
export async function collectEvidence(sources: EvidenceSources, known: Known): Promise<Evidence> {
  const { journalFile, sandboxAheadMs, connections, standstills, client, taskQueue, logFiles } = sources;
  const sandbox = readJournal(journalFile, sandboxAheadMs);
  // Runs first: what they say has been recorded must be in the ledger by then.
  const runs = await readRuns(client, taskQueue);
  return {
    ...known,
    takenAtMs: Date.now(),
    sandbox: { ...sandbox, connections: [...connections], standstills },
    ledger: await readLedger(sources),
    runs,
    logs: logFiles.map((file) => ({ name: basename(file), bytes: existsSync(file) ? readFileSync(file) : EMPTY })),
  };
}

const EMPTY = new Uint8Array();
