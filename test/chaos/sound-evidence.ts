/** A small storm's evidence, made by hand, in which every promise is kept: tests break one thing of it at a time. */
import { consumerIdOf } from '../../sandbox/records/records.ts';
import type { JourneyResult, JourneyStatus, ShareStatus } from '../../src/messages/journey/shapes.ts';
import type { ProductCode, StageCode } from '../../src/model/products.ts';
import type { ReportReference } from '../../src/model/report-outcome.ts';
import { deriveTraceNumber } from '../../src/model/trace-number.ts';
import { consentMessage } from '../support/journey-harness.ts';
import type { Evidence, LedgerAttempt, RunEvidence, SandboxPosting } from './evidence.ts';
import type { ApiAnswer } from './evidence-api.ts';
import type { ReceivedEvent } from './evidence-others.ts';

const T0 = Date.parse('2026-03-02T10:00:00Z');
export const SSNS = { '1A': '900010001', '2A': '900010002' } as const;
type ApplicantId = keyof typeof SSNS;
const BOTH: readonly ApplicantId[] = ['1A', '2A'];

/** Steps of the sound storm; `at` in seconds from its start. */
export function traceOf(runKey: string, productCode: ProductCode, ordinal = 0, shareId?: string): string {
  const run = { environment: 'sandbox', customerId: 'SANDBOX0001', workflowType: 'lendingJourney' } as const;
  return deriveTraceNumber({ ...run, runKey, productCode, ordinal, shareId });
}

export function at(seconds: number): number {
  return T0 + seconds * 1_000;
}

interface Step {
  runKey: string;
  productCode: ProductCode;
  ordinal?: number;
  shareId?: string;
}

/** Adds to the evidence what each side would have noted. */
class Storm {
  readonly evidence: Evidence;
  #requests = 0;

  constructor() {
    this.evidence = {
      takenAtMs: at(600),
      sandbox: {
        requests: [],
        postings: [],
        connections: [{ openedMs: at(0) }],
        listeningMs: [at(0)],
        standstills: [],
      },
      ledger: {
        ledgerId: 'ledger-1',
        ...{ inquiries: [], attempts: [], closed: [], decisions: [], consents: [], open: [], views: [], reports: [] },
        orders: 0,
        withdrawnShares: [],
        chain: { entries: 0, head: '', findings: [] },
      },
      ...{
        runs: [],
        plans: [],
        reviewResults: [],
        decisionsTaken: [],
        consentsSent: [],
        withdrawalsSent: [],
        logs: [],
      },
      sentinels: Object.values(SSNS).map((value) => ({ name: 'SSN', value })),
      notProcessedStatuses: [401, 429],
    };
    this.evidence.logs.push({ name: 'worker-1.log', bytes: Buffer.from('{"msg":"the gateway has answered"}\n') });
  }

  inquiry(step: Step, amends?: string): string {
    const { runKey, productCode, ordinal = 0, shareId } = step;
    const customerTraceNumber = traceOf(runKey, productCode, ordinal, shareId);
    this.evidence.ledger.inquiries.push({
      ...{ customerTraceNumber, runKey, workflowType: 'lendingJourney', productCode, ordinal },
      digest: `ours ${customerTraceNumber}`,
      endUserCode: productCode === 'SECONDUSE' ? 'EU999' : 'EU123',
      ...(shareId === undefined ? {} : { shareId }),
      ...(amends === undefined ? {} : { amends }),
    });
    return customerTraceNumber;
  }

  attempt(customerTraceNumber: string, seconds: number, more: Partial<LedgerAttempt>): LedgerAttempt {
    const { attempts } = this.evidence.ledger;
    const before = attempts.filter((one) => one.customerTraceNumber === customerTraceNumber).length;
    const state = more.state ?? 'answered';
    const attempt: LedgerAttempt = {
      ...{ customerTraceNumber, attempt: before + 1, written: state, state },
      ...{ claimedAtMs: at(seconds), answerByMs: at(seconds + 5) },
      ...{ recordedAtMs: at(seconds + 1), runId: 'run-1', consents: [], hasReport: false },
      ...more,
    };
    attempts.push(attempt);
    return attempt;
  }

  request(customerTraceNumber: string, productCode: string, seconds: number, status: number | null): string {
    const requestId = `request-${++this.#requests}`;
    const digest = `theirs ${customerTraceNumber}`;
    const what = { requestId, atMs: at(seconds), customerTraceNumber, productCode, digest, status };
    this.evidence.sandbox.requests.push({ ...what, fault: null });
    return requestId;
  }

  posting(trace: string, productCode: string, seconds: number, more: Partial<SandboxPosting> = {}): string {
    const status = more.status === undefined ? 200 : more.status;
    const requestId = this.request(trace, productCode, seconds, status);
    const posting: SandboxPosting = {
      ...{ requestId, atMs: at(seconds), customerTraceNumber: trace, productCode, digest: `theirs ${trace}` },
      ...{ endUserCode: 'EU123', endUser: null, status, reportReferenceNumber: `SBX${requestId}` },
      applicants: BOTH.map((applicantId) => ({
        applicantId,
        consumerId: consumerIdOf(SSNS[applicantId]),
        hasReport: true,
      })),
      ...more,
    };
    this.evidence.sandbox.postings.push(posting);
    return posting.reportReferenceNumber;
  }

  /** An attempt that brings a record, with its posting, its row and its report. */
  record(trace: string, productCode: StageCode, seconds: number, more: Partial<LedgerAttempt> = {}): ReportReference {
    const reportReferenceNumber = this.posting(trace, productCode, seconds + 0.1);
    const consumers = BOTH.map((applicantId) => ({ applicantId, consumerId: consumerIdOf(SSNS[applicantId]) }));
    const told = { answerKind: 'outcome', outcome: 'record', reportReferenceNumber, consumers, hasReport: true };
    const { attempt } = this.attempt(trace, seconds, { httpStatus: 200, ...told, ...more });
    const runKey = this.evidence.ledger.inquiries.find((one) => one.customerTraceNumber === trace)?.runKey ?? '';
    this.evidence.ledger.reports.push({
      ...{ journeyId: runKey, productCode, customerTraceNumber: trace, attempt, reportReferenceNumber },
    });
    return { reportReferenceNumber, requestedAt: new Date(at(seconds)).toISOString(), applicants: consumers };
  }

  decide(trace: string, attempt: number, action: 'resend' | 'amend' | 'abandon', more: object = {}): string {
    const decisionId = `D-${this.evidence.decisionsTaken.length + 1}`;
    const judged = { customerTraceNumber: trace, decisionId, attempt, action, providerSaid: 'notPosted' } as const;
    const journeyId = this.evidence.ledger.inquiries.find((one) => one.customerTraceNumber === trace)?.runKey ?? '';
    this.evidence.ledger.decisions.push({ ...judged, recordedAtMs: at(50), ...more });
    const message = { ...judged, journeyId, by: 'operator', reason: 'asked the provider' };
    this.evidence.decisionsTaken.push({ atMs: at(49), message });
    return decisionId;
  }

  grant(journeyId: string, shareId: string, applicantId: string, consentId: string, run: RunEvidence, eventId: number) {
    const decidedAt = new Date(at(55)).toISOString();
    const message = consentMessage(journeyId, { shareId, applicantId, consentId, decidedAt });
    this.evidence.consentsSent.push({ atMs: at(56), message, acknowledgedAtMs: at(61) });
    const row = { journeyId, shareId, applicantId, consentId, decision: 'granted', decidedAt } as const;
    const received = { receivedAt: new Date(at(56)).toISOString(), recordedAtMs: at(60) };
    this.evidence.ledger.consents.push({ ...row, ...received, endUserCode: 'EU999' });
    const heard = { shareId, applicantId, consentId, decision: 'granted' } as const;
    run.consents.push({ ...heard, eventId, atMs: at(56), decidedAtMs: at(55) });
  }

  plan(journeyId: string): void {
    const applicants = BOTH.map((applicantId) => ({ applicantId, ssn: SSNS[applicantId] }));
    this.evidence.plans.push({ runKey: journeyId, workflowType: 'lendingJourney', applicants });
  }

  run(journeyId: string, more: Partial<RunEvidence>): RunEvidence {
    this.plan(journeyId);
    const run: RunEvidence = {
      ...{ workflowId: `journey-${journeyId}`, runId: 'run-1', workflowType: 'lendingJourney', status: 'COMPLETED' },
      ...{ workflowTaskAttempts: 0, pendingActivities: [], startedAtMs: at(0), closedAtMs: at(100) },
      ...{ submissions: [], consents: [], recordedByRun: [], history: { events: [] } },
      ...more,
    };
    this.evidence.runs.push(run);
    return run;
  }
}

type StageOf = JourneyResult['stages'][number];

function stage(productCode: StageCode, trace: string, reference: ReportReference): StageOf {
  const { reportReferenceNumber } = reference;
  return { productCode, state: 'record', attempts: 1, customerTraceNumber: trace, reportReferenceNumber, reference };
}

function result(journeyId: string, outcome: JourneyResult['outcome'], stages: StageOf[], shares: ShareStatus[] = []) {
  return { journeyId, environment: 'sandbox', outcome, stages, shares } as const;
}

export const SHARED = traceOf('J-SHARED', 'SECONDUSE', 0, 'S1');
export const RESENT = traceOf('J-SHARED', 'PREAPP');
export const FIRST = traceOf('J-SHARED', 'PREQUAL');
export const HELD = traceOf('J-HELD', 'PREQUAL');
export const REFUSED = traceOf('J-AMENDED', 'PREQUAL');

/** Makes new evidence for each test, which may change every member. */
export function soundEvidence(): Evidence {
  const storm = new Storm();
  addShared(storm);
  addAmended(storm);
  addHeld(storm);
  addApi(storm.evidence);
  addOthers(storm.evidence);
  tellEvents(storm.evidence);
  const { ledger } = storm.evidence;
  ledger.chain.entries = ledger.decisions.length + ledger.consents.length;
  return storm.evidence;
}

/** A journey that was retried, was resent by an operator, and was shared with both consumers' consent. */
function addShared(storm: Storm): void {
  const runKey = 'J-SHARED';
  const first = storm.inquiry({ runKey, productCode: 'PREQUAL' });
  storm.attempt(first, 1, { state: 'notSent', failureType: 'GatewayUnreachable' });
  storm.request(first, 'PREQUAL', 3.1, 401);
  storm.attempt(first, 3, { state: 'notProcessed', failureType: 'TokenRejected', httpStatus: 401 });
  const firstReference = storm.record(first, 'PREQUAL', 5);
  const resent = storm.inquiry({ runKey, productCode: 'PREAPP' });
  storm.posting(resent, 'PREAPP', 10.1, { status: null });
  storm.attempt(resent, 10, { state: 'unknown', failureType: 'OutcomeUnknown' });
  const permittedBy = storm.decide(resent, 1, 'resend', { permitsAttempt: 2, failureType: 'OutcomeUnknown' });
  const reference = storm.record(resent, 'PREAPP', 20, { permittedBy });
  const shared = storm.inquiry({ runKey, productCode: 'SECONDUSE', shareId: 'S1' });
  const posted = storm.posting(shared, 'SECONDUSE', 60.1, {
    sharedReference: reference.reportReferenceNumber,
    applicants: reference.applicants.map(({ consumerId }) => ({ applicantId: null, consumerId, hasReport: true })),
  });
  const consents = BOTH.map((applicantId) => ({ shareId: 'S1', applicantId, consentId: `C-${applicantId}` }));
  const answer = { answerKind: 'outcome', outcome: 'record', reportReferenceNumber: posted, httpStatus: 200 };
  storm.attempt(shared, 60, { ...answer, consumers: reference.applicants, consents });
  const share = { shareId: 'S1', state: 'posted', waitingFor: [], customerTraceNumber: shared } as const;
  const run = storm.run(runKey, {
    result: result(
      runKey,
      'completed',
      [stage('PREQUAL', first, firstReference), stage('PREAPP', resent, reference)],
      [{ ...share, waitingFor: [], reportReferenceNumber: posted }],
    ),
  });
  for (const [nth, applicantId] of BOTH.entries()) {
    storm.grant(runKey, 'S1', applicantId, `C-${applicantId}`, run, 40 + nth);
  }
  const what = { customerTraceNumber: shared, productCode: 'SECONDUSE', shareId: 'S1', attempt: 1 } as const;
  run.submissions.push({ ...what, eventId: 50, applicantIds: [...BOTH], consents });
}

/** Refused, and asked for again with corrected applicants. */
function addAmended(storm: Storm): void {
  const runKey = 'J-AMENDED';
  const refused = storm.inquiry({ runKey, productCode: 'PREQUAL' });
  storm.request(refused, 'PREQUAL', 11, 422);
  storm.attempt(refused, 10, { state: 'refused', failureType: 'RequestRefused', httpStatus: 422 });
  storm.decide(refused, 1, 'amend', { failureType: 'RequestRefused' });
  const amended = storm.inquiry({ runKey, productCode: 'PREQUAL', ordinal: 1 }, refused);
  const reference = storm.record(amended, 'PREQUAL', 20);
  storm.run(runKey, { result: result(runKey, 'completed', [stage('PREQUAL', amended, reference)]) });
}

/** A journey that was posted and whose answer was lost: it is held. */
function addHeld(storm: Storm): void {
  const runKey = 'J-HELD';
  const trace = storm.inquiry({ runKey, productCode: 'PREQUAL' });
  storm.posting(trace, 'PREQUAL', 10.1, { status: 500 });
  storm.attempt(trace, 10, { state: 'unknown', failureType: 'OutcomeUnknown', httpStatus: 500 });
  storm.evidence.ledger.open.push({
    ...{ customerTraceNumber: trace, attention: [] },
    undecided: { attempt: 1, failureType: 'OutcomeUnknown' },
  });
  const allowedActions: JourneyStatus['holds'][number]['allowedActions'] = ['resend', 'accept', 'abandon'];
  const hold = { customerTraceNumber: trace, productCode: 'PREQUAL', failureType: 'OutcomeUnknown' } as const;
  const { closedAtMs: _, ...run } = storm.run(runKey, {
    status: 'RUNNING',
    current: {
      ...{ journeyId: runKey, environment: 'sandbox', state: 'held', shares: [] },
      stages: [{ productCode: 'PREQUAL', state: 'held', attempts: 1, customerTraceNumber: trace }],
      holds: [{ ...hold, since: new Date(at(15)).toISOString(), attempts: 1, httpStatus: 500, allowedActions }],
      ...{ refusedMessages: [], refusedMessagesTotal: 0 },
    },
    references: { journeyId: runKey, references: [], shares: [] },
  });
  storm.evidence.runs.splice(-1, 1, run);
}

export const JOURNEY = 'J-SHARED';
export const INPUT = { journeyId: JOURNEY, endUserCode: 'EU123' };
const IDS = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const;
export const GRANT = { shareId: 'S1', applicantId: '1A', consentId: 'C-1A', decision: 'granted' } as const;

export function answer(message: string, key: string, body: object, said: ApiAnswer['said'] = {}): ApiAnswer {
  return { atMs: at(70), runKey: JOURNEY, message, key, body, said: { duplicate: false, ...said } };
}

function findShared({ runs }: Evidence): RunEvidence {
  return runs.find(({ workflowId }) => workflowId === `journey-${JOURNEY}`) as RunEvidence;
}

/** A start, an `advance` that was sent twice, a consent, and a refused call by a foreigner. */
function addApi(evidence: Evidence): void {
  const run = findShared(evidence);
  const advance = { name: 'advance', atMs: at(30), content: { journeyId: JOURNEY, to: 'PREAPP' } };
  run.start = { isOwnStart: true, input: INPUT };
  run.messages = IDS.map((id, nth) => ({ ...advance, updateId: `advance-PREAPP-1-${id}`, isApplied: nth === 0 }));
  evidence.api = {
    answers: [
      answer('start', 'start', INPUT),
      answer('advance', 'advance-PREAPP-1', { to: 'PREAPP' }),
      answer('advance', 'advance-PREAPP-1', { to: 'PREAPP' }, { duplicate: true }),
      answer('recordConsent', 'consent-S1-1A-C-1A-granted', { journeyId: JOURNEY, ...GRANT }, { recorded: true }),
    ],
    foreign: [{ what: 'status by a token of another profile', runKey: JOURNEY, status: 404, looksUnknown: true }],
  };
}

const SSN = '900010007';
export const [PULLED, SHARE_POSTED, REVIEWED] = ['TRACE-PULL', 'TRACE-SHARE', 'TRACE-ROW'] as const;

/** A pull whose report was shared by itself, and a review of one row. */
function addOthers(evidence: Evidence): void {
  ask(evidence, 'pull:P-1', 'creditReport', 'CR', PULLED);
  ask(evidence, 'share:S-1', 'shareReport', 'SECONDUSE', SHARE_POSTED).sharedReference = referenceOf(PULLED);
  ask(evidence, 'portfolio:R-1/ACC-1', 'portfolioReview', 'ACCTRVW', REVIEWED);
  const reference = {
    ...{ reportReferenceNumber: referenceOf(PULLED), requestedAt: new Date(at(1)).toISOString() },
    applicants: [{ applicantId: '1A', consumerId: consumerIdOf(SSN) }],
  };
  runOther(evidence, 'pull-P-1', 'creditReport', { state: 'record', holds: [], reference });
  runOther(evidence, 'share-S-1', 'shareReport', { state: 'posted', holds: [] });
  runOther(evidence, 'portfolio-R-1', 'portfolioReview', { state: 'completed', holds: [] });
  const applicants = [{ applicantId: '1A', ssn: SSN }];
  evidence.plans.push(
    { runKey: 'pull:P-1', workflowType: 'creditReport', applicants },
    { runKey: 'share:S-1', workflowType: 'shareReport', applicants, sharesReportOf: 'pull:P-1' },
    { runKey: 'portfolio:R-1', workflowType: 'portfolioReview', applicants: [], rows: 1 },
  );
  const row = { accountId: 'ACC-1', line: 2, outcome: 'record', customerTraceNumber: REVIEWED } as const;
  evidence.reviewResults = [{ runKey: 'portfolio:R-1', lines: [{ ...row, at: new Date(at(9)).toISOString() }] }];
}

export function referenceOf(customerTraceNumber: string): string {
  return `SBX${customerTraceNumber.replace('-', '')}`;
}

function ask(
  { ledger, sandbox }: Evidence,
  runKey: string,
  workflowType: string,
  productCode: ProductCode,
  customerTraceNumber: string,
): SandboxPosting {
  ledger.inquiries.push({ ...{ customerTraceNumber, runKey, workflowType, productCode, ordinal: 0 } });
  ledger.attempts.push({
    ...{ customerTraceNumber, attempt: 1, written: 'answered', state: 'answered', claimedAtMs: at(1) },
    ...{ answerByMs: at(3), runId: 'run-other', answerKind: 'outcome', outcome: 'record' },
    consents: productCode === 'SECONDUSE' ? [{ shareId: 'S-1', applicantId: '1A', consentId: 'C-1A' }] : [],
    hasReport: true,
  });
  const posting: SandboxPosting = {
    ...{ requestId: customerTraceNumber, atMs: at(1.5), customerTraceNumber, productCode, digest: null, status: 200 },
    ...{ endUserCode: 'EU100', endUser: null, reportReferenceNumber: referenceOf(customerTraceNumber) },
    applicants: [{ applicantId: '1A', consumerId: consumerIdOf(SSN), hasReport: true }],
  };
  sandbox.postings.push(posting);
  return posting;
}

function runOther({ runs }: Evidence, workflowId: string, workflowType: string, other: RunEvidence['other']): void {
  runs.push({
    ...{ workflowId, runId: `${workflowId}-1`, workflowType, status: 'COMPLETED', startedAtMs: at(0) },
    ...{ closedAtMs: at(9), workflowTaskAttempts: 0, pendingActivities: [], submissions: [], consents: [] },
    ...{ recordedByRun: [], history: { events: [] } },
    ...(other ? { other } : {}),
  });
}

const TYPES = ['stage.answered', 'gate.reached', 'journey.ended'] as const;

/** Three events of one journey; the second was given up by the endpoint that takes it alone. */
function tellEvents(evidence: Evidence): void {
  const teller = findShared(evidence);
  teller.events = TYPES.map((type, nth) => ({ id: `evt_${nth}`, type, isHandedOver: true }));
  const { start: _, messages: __, result: ___, ...run } = structuredClone({ ...teller, history: { events: [] } });
  evidence.runs.push({
    ...run,
    ...{ workflowId: `webhooks-journey-${JOURNEY}`, workflowType: 'webhookDelivery', status: 'RUNNING' },
    ...{ runId: 'delivery-1', startedAtMs: at(1), events: [], submissions: [], consents: [] },
    delivery: {
      taken: TYPES.map((_, nth) => `evt_${nth}`),
      failed: [{ endpoint: 'nobody', id: 'evt_1' }],
      waiting: 0,
    },
  });
  evidence.webhooks = {
    endpoints: [{ name: 'platform' }, { name: 'nobody', events: ['gate.reached'] }],
    received: TYPES.map((type, nth) => received(nth, { type, data: { journeyId: JOURNEY } })),
  };
}

export function received(nth: number, body: object): ReceivedEvent {
  return { endpoint: 'platform', id: `evt_${nth}`, body: JSON.stringify(body), isAccepted: true, isSigned: true };
}
