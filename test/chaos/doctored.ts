/** Faults that break sound evidence, one at a time. The key of each is the failure text of its invariant. */
import assert from 'node:assert/strict';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { consumerIdOf } from '../../sandbox/records/records.ts';
import type { Evidence, LedgerAttempt, RunEvidence, SandboxPosting } from './evidence.ts';
import type { ApiAnswer, MessageTaken } from './evidence-api.ts';
import type { ReceivedEvent } from './evidence-others.ts';
import { answeredIsKept, appliedOnce, foreignLooksUnknown } from './invariants/api.ts';
import * as consents from './invariants/consents.ts';
import { falseAlarms } from './invariants/false-alarms.ts';
import type { Invariant } from './invariants/invariant.ts';
import * as journeys from './invariants/journeys.ts';
import * as rows from './invariants/ledger-rows.ts';
import { nothingInLogs } from './invariants/logs.ts';
import * as postings from './invariants/postings.ts';
import { ownReferences } from './invariants/references.ts';
import { attemptsRunOnce } from './invariants/repeats.ts';
import { reportsInLedger } from './invariants/reports.ts';
import { reviewedRows } from './invariants/reviews.ts';
import { runsOnVersions } from './invariants/versions.ts';
import { eventsDelivered, eventsImpersonal, eventsInOrder, eventsSigned } from './invariants/webhooks.ts';
import { withdrawnShares } from './invariants/withdrawals.ts';
import { noClaimByOlderWriter } from './invariants/writers.ts';
import {
  answer,
  at,
  FIRST,
  GRANT,
  HELD,
  INPUT,
  JOURNEY,
  PULLED,
  REFUSED,
  RESENT,
  REVIEWED,
  received,
  referenceOf,
  SHARE_POSTED,
  SHARED,
  SSNS,
  traceOf,
} from './sound-evidence.ts';

type Fault = (evidence: Evidence) => unknown;

interface Doctored {
  caughtBy: Invariant;
  /** A regular expression for the words of the failure. */
  as: string;
  doctor: Fault;
}

function breaking(caughtBy: Invariant, faults: Record<string, Fault | readonly Fault[]>): Doctored[] {
  return Object.entries(faults).flatMap(([as, doctors]) =>
    [doctors].flat().map((doctor: Fault) => ({ caughtBy, as, doctor })),
  );
}

export function runOf({ runs }: Evidence, id: string): RunEvidence {
  return runs.find(({ workflowId }) => workflowId === id || workflowId === `journey-${id}`) as RunEvidence;
}

export function attemptOf({ ledger }: Evidence, trace: string, attempt: number): LedgerAttempt {
  return ledger.attempts.find((one) => one.customerTraceNumber === trace && one.attempt === attempt) as LedgerAttempt;
}

function postingOf({ sandbox }: Evidence, trace: string): SandboxPosting {
  return sandbox.postings.find((one) => one.customerTraceNumber === trace) as SandboxPosting;
}

function end(evidence: Evidence, more: Partial<RunEvidence>): void {
  Object.assign(runOf(evidence, 'J-HELD'), more);
}

function wait(evidence: Evidence, state: string): void {
  Object.assign(runOf(evidence, 'J-HELD').current ?? {}, { state });
}

function hold(evidence: Evidence, more: object): void {
  Object.assign(runOf(evidence, 'J-HELD').current?.holds[0] ?? {}, more);
}

/** An attempt is unknown, no request arrived, and no connection was open between its claim and its end. */
export function withoutConnections(evidence: Evidence): void {
  delete attemptOf(evidence, HELD, 1).httpStatus;
  evidence.sandbox.requests = evidence.sandbox.requests.filter((one) => one.customerTraceNumber !== HELD);
  evidence.sandbox.connections = [{ openedMs: at(0), closedMs: at(8) }, { openedMs: at(30) }];
  evidence.ledger.attempts = evidence.ledger.attempts.filter((one) => one.customerTraceNumber !== RESENT);
}

/** Chained, as the ledger does it. */
function withdraw({ ledger }: Evidence, runKey: string, recordedAtMs: number): void {
  ledger.withdrawnShares.push({ runKey, shareId: 'S1', recordedAtMs });
  ledger.chain.entries++;
}

/** Runs of pinned workflows whose workflow tasks these builds completed, one after another. */
export function pinTo(evidence: Evidence, builds: readonly string[], moved: readonly string[] = []): void {
  evidence.versions = { deploymentName: 'loans', live: ['2'], moved: [...moved] };
  for (const run of evidence.runs) {
    run.history = {
      events: builds.map((buildId) => ({
        workflowTaskCompletedEventAttributes: { versioningBehavior: 1, deploymentVersion: { buildId } },
      })),
    };
    const last = builds.at(-1);
    if (run.status === 'RUNNING' && last !== undefined) run.pinnedTo = last;
  }
}

/** Adds a second request and posting at the gateway. */
function postAgain({ sandbox }: Evidence, trace: string): void {
  const posting = sandbox.postings.find((one) => one.customerTraceNumber === trace);
  const request = sandbox.requests.find(({ requestId }) => requestId === posting?.requestId);
  assert.ok(posting && request);
  const more = { requestId: 'again', atMs: posting.atMs + 10 };
  sandbox.requests.push({ ...request, ...more });
  sandbox.postings.push({ ...posting, ...more, reportReferenceNumber: 'SBXAGAIN' });
}

export function refuse(evidence: Evidence, decision: 'denied' | 'revoked', consentId: string, where = {}): void {
  const said = { shareId: 'S1', applicantId: '2A', consentId, decision };
  const when = { eventId: 45, atMs: at(57), decidedAtMs: at(57), ...where };
  runOf(evidence, 'J-SHARED').consents.push({ ...said, ...when });
}

function refusalRow(evidence: Evidence, recordedAtMs: number): void {
  const decidedAt = new Date(at(57)).toISOString();
  evidence.ledger.consents.push({
    ...{ journeyId: 'J-SHARED', shareId: 'S1', applicantId: '2A', consentId: 'C-2A', decision: 'revoked' },
    ...{ decidedAt, receivedAt: decidedAt, recordedAtMs },
  });
}

function stageOf(evidence: Evidence, nth: number) {
  const stage = runOf(evidence, 'J-SHARED').result?.stages[nth];
  assert.ok(stage?.reference);
  return stage as typeof stage & { reference: NonNullable<typeof stage.reference> };
}

/** A workflow task that took so long, and then failed in the worker. */
export function unhandledFailure(tookMs: number): RunEvidence['history'] {
  const startedEventId = msToTs(16_000).seconds ?? null;
  const { WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE: cause } =
    proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
  return {
    events: [
      { eventId: startedEventId, eventTime: msToTs(0), workflowTaskStartedEventAttributes: {} },
      { eventTime: msToTs(tookMs), workflowTaskFailedEventAttributes: { startedEventId, cause } },
    ],
  };
}

function messagesIn(evidence: Evidence): MessageTaken[] {
  return runOf(evidence, JOURNEY).messages ?? [];
}

/** As the only one. */
function answered({ api }: Evidence, one: ApiAnswer): void {
  if (api) api.answers = [one];
}

/** Changes the received events. */
export function change(
  { webhooks }: Evidence,
  changed: (received: readonly ReceivedEvent[]) => readonly ReceivedEvent[],
): void {
  if (webhooks) webhooks.received = changed(webhooks.received);
}

function edited(nth: number, more: Partial<ReceivedEvent>) {
  return (all: readonly ReceivedEvent[]) => all.map((one, index) => (index === nth ? { ...one, ...more } : one));
}

export function told(nth: number, data: object) {
  return edited(nth, { body: JSON.stringify({ data }) });
}

/** Returns the number of an answer without a record. */
export function addPostingWithoutRecord({ sandbox }: Evidence): string {
  const [posting] = structuredClone(sandbox.postings);
  assert.ok(posting);
  const applicants = posting.applicants.map((one) => ({ ...one, hasReport: false }));
  const reportReferenceNumber = 'RRN-NO-RECORD';
  sandbox.postings.push({ ...posting, reportReferenceNumber, applicants });
  return reportReferenceNumber;
}

export const DOCTORED: readonly Doctored[] = [
  ...breaking(postings.postedOnce, {
    'J-HELD PREQUAL: 2 postings, 1 permitted': (evidence) => postAgain(evidence, HELD),
    'J-SHARED PREAPP: 3 postings, 2 permitted': (evidence) => postAgain(evidence, RESENT),
    'trace number .*: 2 postings, 1 permitted': (evidence) => {
      evidence.ledger.inquiries = evidence.ledger.inquiries.filter((one) => one.customerTraceNumber !== HELD);
      postAgain(evidence, HELD);
    },
    'J-SHARED PREAPP: 2 postings, 1 permitted': (evidence) => delete attemptOf(evidence, RESENT, 2).permittedBy,
  }),
  ...breaking(postings.oneTraceNumber, {
    'J-HELD PREQUAL: 2 trace numbers, 1 permitted': ({ ledger }) => {
      const [inquiry] = ledger.inquiries.filter((one) => one.customerTraceNumber === HELD);
      assert.ok(inquiry);
      ledger.inquiries.push({ ...inquiry, customerTraceNumber: 'PQBYTHEORDEROFEVENTS', ordinal: 0 });
    },
    'J-AMENDED PREQUAL: 2 trace numbers, 1 permitted': ({ ledger }) => {
      ledger.decisions = ledger.decisions.filter(({ action }) => action !== 'amend');
    },
  }),
  ...breaking(postings.postedByGrants, {
    'J-SHARED SECONDUSE share S1: 2 postings, 1 permitted': ({ ledger, sandbox }) => {
      const customerTraceNumber = traceOf('J-SHARED', 'SECONDUSE', 1, 'S1');
      const [inquiry] = ledger.inquiries.filter((one) => one.customerTraceNumber === SHARED);
      const [posting] = sandbox.postings.filter((one) => one.customerTraceNumber === SHARED);
      assert.ok(inquiry && posting);
      ledger.inquiries.push({ ...inquiry, customerTraceNumber, ordinal: 1 });
      sandbox.postings.push({ ...posting, customerTraceNumber, applicants: posting.applicants.slice(1) });
    },
    'J-SHARED SECONDUSE share S1: posted for 1A,2A, without a claim by their grants': (evidence) => {
      attemptOf(evidence, SHARED, 1).consents.pop();
    },
  }),
  ...breaking(postings.oneAttemptOneRequest, {
    'J-HELD PREQUAL: 2 requests, 1 attempts that sent': ({ sandbox }) => {
      const [request] = sandbox.requests.filter((one) => one.customerTraceNumber === HELD);
      assert.ok(request);
      sandbox.requests.push({ ...request, requestId: 'twice' });
    },
    'J-HELD PREQUAL: 1 requests, 0 attempts that sent': (evidence) =>
      Object.assign(attemptOf(evidence, HELD, 1), { state: 'notSent' }),
    'a request before its claim': (evidence) => Object.assign(attemptOf(evidence, HELD, 1), { claimedAtMs: at(15) }),
  }),
  ...breaking(postings.oneRequestPerNumber, {
    'different requests under one trace number': ({ sandbox }) => {
      const [, second] = sandbox.requests.filter((one) => one.customerTraceNumber === RESENT);
      Object.assign(second ?? {}, { digest: 'another' });
    },
  }),
  ...breaking(postings.postingsInLedger, {
    'J-HELD PREQUAL: 1 postings, 0 attempts': ({ ledger }) => {
      ledger.attempts = ledger.attempts.filter((one) => one.customerTraceNumber !== HELD);
    },
    'J-SHARED PREQUAL attempt 3: a reference that the gateway gave nobody': (evidence) =>
      Object.assign(attemptOf(evidence, FIRST, 3), { reportReferenceNumber: 'SBXINVENTED' }),
    'J-SHARED PREQUAL: 1 answers, 0 postings': ({ sandbox }) => {
      sandbox.postings = sandbox.postings.filter((one) => one.customerTraceNumber !== FIRST);
    },
  }),
  ...breaking(ownReferences, {
    "J-SHARED PREQUAL: somebody else's": (evidence) => {
      const other = runOf(evidence, 'J-AMENDED').result?.stages[0]?.reference;
      stageOf(evidence, 0).reference.reportReferenceNumber = String(other?.reportReferenceNumber);
    },
    'J-SHARED share|gave to nobody': (evidence) => {
      stageOf(evidence, 0).reference.reportReferenceNumber = 'SBXINVENTED';
    },
    'J-SHARED PREQUAL: consumers that are not those of its applicants': [
      (evidence) => {
        const { reference } = stageOf(evidence, 0);
        const [one, two] = reference.applicants;
        assert.ok(one && two);
        reference.applicants = [
          { ...one, consumerId: two.consumerId },
          { ...two, consumerId: one.consumerId },
        ];
      },
      (evidence) => {
        stageOf(evidence, 0).reference.applicants.pop();
      },
    ],
    'J-AMENDED PREQUAL: consumers whose SSN nobody asked for': ({ plans }) => {
      const [, amended] = plans;
      assert.ok(amended);
      amended.applicants = amended.applicants.map(({ ssn, ...rest }) => ({ ...rest, ssn: ssn.replace('1', '7') }));
    },
    "J-SHARED SECONDUSE share S1: shares somebody else's report": ({ sandbox }) => {
      const [share] = sandbox.postings.filter(({ productCode }) => productCode === 'SECONDUSE');
      const [other] = sandbox.postings.filter((one) => one.customerTraceNumber === traceOf('J-AMENDED', 'PREQUAL', 1));
      Object.assign(share ?? {}, { sharedReference: other?.reportReferenceNumber });
    },
    'shares consumers that are not those of the report': ({ sandbox }) => {
      const [share] = sandbox.postings.filter(({ productCode }) => productCode === 'SECONDUSE');
      share?.applicants.splice(0, 1, { applicantId: null, consumerId: consumerIdOf('900019999'), hasReport: true });
    },
  }),
  ...breaking(journeys.noStuckRun, {
    'journey-J-HELD run run-1: its workflow task is tried for the 9th time': (evidence) => {
      runOf(evidence, 'J-HELD').workflowTaskAttempts = 9;
    },
    'a workflow task failed \\(NON_DETERMINISTIC_ERROR\\)': (evidence) => {
      const events = [6, 3].map((cause) => ({ workflowTaskFailedEventAttributes: { cause } }));
      runOf(evidence, 'J-SHARED').history = {
        events: [...events, { workflowTaskFailedEventAttributes: { cause: 24 } }],
      };
    },
    'a workflow task failed \\(WORKFLOW_WORKER_UNHANDLED_FAILURE\\)': (evidence) => {
      runOf(evidence, 'J-SHARED').history = unhandledFailure(4_900);
    },
    'submitInquiry is repeated, attempt 2': (evidence) => {
      runOf(evidence, 'J-HELD').pendingActivities.push({ type: 'submitInquiry', attempt: 2, paused: false });
    },
  }),
  ...breaking(journeys.trueHolds, {
    'RequestRefused, but the ledger has attempt 1 as unknown': (evidence) =>
      hold(evidence, { failureType: 'RequestRefused' }),
    'TokenUnavailable, but the ledger has attempt 1 as unknown': (evidence) =>
      hold(evidence, { failureType: 'TokenUnavailable' }),
    'LedgerChanged, but nothing of the kind was done': (evidence) => hold(evidence, { failureType: 'LedgerChanged' }),
    'RequestDiffers, but nobody ever asked for another': (evidence) =>
      hold(evidence, { failureType: 'RequestDiffers' }),
    'OutcomeUnknown, but the ledger has no attempt 2': (evidence) => hold(evidence, { attempts: 2 }),
    'UnexpectedResponse, but the gateway has posted nothing under it': (evidence) => {
      hold(evidence, { failureType: 'UnexpectedResponse' });
      Object.assign(attemptOf(evidence, HELD, 1), { state: 'answered', answerKind: 'unexpectedResponse' });
      evidence.sandbox.postings = evidence.sandbox.postings.filter((one) => one.customerTraceNumber !== HELD);
    },
  }),
  ...breaking(falseAlarms, {
    'J-HELD PREQUAL attempt 1': [
      withoutConnections,
      (evidence) => {
        withoutConnections(evidence);
        evidence.sandbox.standstills = [{ fromMs: at(0), toMs: at(1) }];
      },
    ],
  }),
  ...breaking(reportsInLedger, {
    'J-SHARED PREQUAL: the ledger has no report': (evidence) =>
      Object.assign(attemptOf(evidence, FIRST, 3), { hasReport: false }),
    "J-SHARED PREQUAL: the ledger has no attempt with the run's reference": (evidence) =>
      delete attemptOf(evidence, FIRST, 3).reportReferenceNumber,
    'J-SHARED PREQUAL: SealBrokenError': ({ ledger }) =>
      Object.assign(ledger.reports[0] ?? {}, { problem: 'SealBrokenError' }),
    'J-SHARED PREQUAL: the text of another report': ({ ledger }) =>
      Object.assign(ledger.reports[0] ?? {}, { reportReferenceNumber: 'SBXOTHER' }),
    'J-SHARED PREQUAL: answered, and the run says noRecord': (evidence) => {
      const { reference: _, reportReferenceNumber: __, ...stage } = stageOf(evidence, 0);
      runOf(evidence, 'J-SHARED').result?.stages.splice(0, 1, { ...stage, state: 'noRecord' });
    },
  }),
  ...breaking(consents.standingConsent, {
    'J-SHARED SECONDUSE share S1 attempt 1: no grant of 2A permits it': (evidence) =>
      void attemptOf(evidence, SHARED, 1).consents.pop(),
    '2A had not granted it by then': (evidence) =>
      Object.assign(runOf(evidence, 'J-SHARED').consents[1] ?? {}, { eventId: 51 }),
    'the grant of 1A is for another secondary user': ({ ledger }) =>
      Object.assign(ledger.consents[0] ?? {}, { endUserCode: 'EU777' }),
    'the grant of 2A did not stand any more': [
      (evidence) => refuse(evidence, 'revoked', 'C-2A'),
      (evidence) => refuse(evidence, 'revoked', 'C-unknown', { decidedAtMs: at(1) }),
      (evidence) => refuse(evidence, 'denied', 'C-denial'),
    ],
  }),
  ...breaking(consents.noClaimAgainstRefusal, {
    'J-SHARED SECONDUSE share S1 attempt 1: refused by 2A': (evidence) => refusalRow(evidence, at(58)),
  }),
  ...breaking(consents.refusalAfterPosting, {
    'J-SHARED SECONDUSE share S1: refused after posting, and nobody is told': (evidence) =>
      refusalRow(evidence, at(70)),
  }),
  ...breaking(consents.consentsKept, {
    'J-SHARED S1 2A C-2A granted: lost': ({ ledger }) => void ledger.consents.pop(),
    'J-SHARED S1 2A C-2A granted: acknowledged before the ledger had it': ({ consentsSent }) =>
      void Object.assign(consentsSent.at(-1) ?? {}, { acknowledgedAtMs: at(57) }),
    'J-SHARED S1 2A C-2A granted: nobody sent it': ({ consentsSent }) => void consentsSent.pop(),
  }),
  ...breaking(rows.attemptsInOrder, {
    'J-SHARED PREQUAL: attempt 3 stands as number 2': ({ ledger }) => void ledger.attempts.splice(1, 1),
    'J-SHARED PREAPP attempt 2: follows one that is unknown': (evidence) =>
      delete attemptOf(evidence, RESENT, 2).permittedBy,
    'permitted by a decision that is no resend': ({ ledger }) =>
      Object.assign(ledger.decisions[0] ?? {}, { action: 'accept' }),
    'permitted by the decision about another attempt': ({ ledger }) =>
      Object.assign(ledger.decisions[0] ?? {}, { permitsAttempt: 3 }),
    'permitted by a decision about CredentialsRefused, and the one before it is unknown': ({ ledger }) =>
      Object.assign(ledger.decisions[0] ?? {}, { failureType: 'CredentialsRefused' }),
    'J-SHARED PREAPP: decision D-1 was spent twice': (evidence) => {
      evidence.ledger.attempts.push({ ...attemptOf(evidence, RESENT, 2), attempt: 3 });
    },
    'J-HELD PREQUAL: claimed after abandon': ({ ledger }) => {
      const inquiry = ledger.inquiries.find((one) => one.customerTraceNumber === HELD);
      Object.assign(inquiry ?? {}, { abandonedAtMs: at(9) });
    },
  }),
  ...breaking(rows.statusesAsConfigured, {
    'attempt 2: 401': (evidence) => Object.assign(evidence, { notProcessedStatuses: [] }),
  }),
  ...breaking(rows.decisionsTaken, {
    'D-1 1 resend': ({ decisionsTaken }) => void decisionsTaken.shift(),
  }),
  ...breaking(rows.needsListed, {
    'J-HELD PREQUAL: undecided, and not listed': ({ ledger }) => void ledger.open.pop(),
    'J-AMENDED PREQUAL: listed, and decided': ({ ledger }) => {
      const undecided = { attempt: 1, failureType: 'RequestRefused' } as const;
      ledger.open.push({ customerTraceNumber: REFUSED, undecided, attention: [] });
    },
    'J-SHARED PREAPP: answered late, and not listed': (evidence) =>
      Object.assign(attemptOf(evidence, RESENT, 1), { late: { atMs: at(30), state: 'answered' } }),
  }),
  ...breaking(rows.auditChain, {
    'entry 2: changed': ({ ledger }) => void ledger.chain.findings.push({ kind: 'changed', position: 2 }),
    '3 entries over 4 decisions, consents, pauses and withdrawals': ({ ledger }) => void ledger.chain.entries--,
  }),
  ...breaking(withdrawnShares, {
    'J-SHARED share S1: attempt 1 was claimed afterwards': (evidence) => void withdraw(evidence, 'J-SHARED', at(1)),
    'J-SHARED share S1: the gateway has posted it': (evidence) => void withdraw(evidence, 'J-SHARED', at(600)),
    'J-SHARED S1: answered as recorded': ({ withdrawalsSent }) =>
      void withdrawalsSent.push({ runKey: 'J-SHARED', shareId: 'S1', isAcknowledged: true }),
  }),
  ...breaking(attemptsRunOnce, {
    'journey-J-SHARED run .+: the 2th time': (evidence) =>
      void runOf(evidence, 'J-SHARED').history.events?.push(
        ...([
          { eventId: 5, activityTaskScheduledEventAttributes: { activityType: { name: 'submitInquiry' } } },
          { eventId: 6, activityTaskStartedEventAttributes: { scheduledEventId: 5, attempt: 2 } },
        ] as object[]),
      ),
  }),
  ...breaking(nothingInLogs, {
    'worker-1.log: SSN': [
      `{"ssn":"${SSNS['1A']}"}`,
      'x 900-01-0001 x',
      Buffer.from(`{"ssn":"${SSNS['1A']}"}`).toString('base64'),
      [...SSNS['1A']].toReversed().join(''),
      '100-01-0009',
    ].map((text) => ({ logs }: Evidence) => {
      logs[0] = { name: 'worker-1.log', bytes: Buffer.from(text) };
    }),
    'worker-2.log is empty': ({ logs }) => void logs.push({ name: 'worker-2.log', bytes: new Uint8Array() }),
    'there are no logs': ({ logs }) => void logs.splice(0),
  }),
  ...breaking(runsOnVersions, {
    'is pinned to build 1, which has no workers': (evidence) => pinTo(evidence, ['1']),
    'pinned, and went on from build 1 to 2': (evidence) => pinTo(evidence, ['1', '2']),
    'a workflow task of no version': (evidence) => pinTo(evidence, ['']),
  }),
  ...breaking(noClaimByOlderWriter, {
    'attempt 1: claimed without the fence': ({ ledger }) => {
      const [one] = ledger.attempts;
      const { customerTraceNumber = '', attempt = 1 } = one ?? {};
      ledger.claimsSinceMigration = [{ customerTraceNumber, attempt, keepsFence: false }];
    },
  }),
  ...breaking(eventsDelivered, {
    'journey.ended evt_2: platform never had it': (evidence) => change(evidence, (all) => all.slice(0, 2)),
    'stage.answered evt_0: platform never had it': (evidence) => change(evidence, edited(0, { isAccepted: false })),
  }),
  ...breaking(eventsInOrder, {
    'platform had evt_0 too late': (evidence) =>
      change(evidence, ([first, ...rest]) => [...rest, ...(first ? [first] : [])]),
  }),
  ...breaking(eventsSigned, {
    'evt_1: 2 different bodies': (evidence) =>
      change(evidence, (all) => [...all, received(1, { type: 'gate.reached', data: { journeyId: JOURNEY, more: 1 } })]),
    'evt_0: not signed': (evidence) => change(evidence, edited(0, { isSigned: false })),
    'nobody evt_9: no run told it': (evidence) =>
      change(evidence, (all) => [...all, received(9, { data: { journeyId: JOURNEY } })]),
    'evt_0: it names another run': (evidence) => change(evidence, told(0, { pullId: 'P-1' })),
  }),
  ...breaking(eventsImpersonal, {
    'evt_0: SSN': (evidence) => change(evidence, told(0, { note: SSNS['1A'] })),
    'evt_0: a reference': [
      (evidence) => {
        const { reportReferenceNumber } = evidence.sandbox.postings[0] ?? { reportReferenceNumber: '' };
        change(evidence, told(0, { reportReferenceNumber }));
      },
      (evidence) => {
        const { reportReferenceNumber: noRecordReference } = evidence.sandbox.postings[0] ?? {};
        change(evidence, told(0, { noRecordReference }));
      },
      (evidence) => {
        const returnCode = addPostingWithoutRecord(evidence);
        change(evidence, told(0, { returnCode }));
      },
    ],
  }),
  ...breaking(journeys.everyRunEnds, {
    'pull:P-1: is still running': (evidence) =>
      void Object.assign(runOf(evidence, 'pull-P-1'), { status: 'RUNNING', other: { state: 'running', holds: [] } }),
    'portfolio:R-1: ended as PortfolioChanged': (evidence) =>
      void Object.assign(runOf(evidence, 'portfolio-R-1'), { status: 'FAILED', failureType: 'PortfolioChanged' }),
  }),
  ...breaking(ownReferences, {
    "pull:P-1: somebody else's": (evidence) => {
      const { reference } = runOf(evidence, 'pull-P-1').other ?? {};
      if (reference) reference.reportReferenceNumber = referenceOf(REVIEWED);
    },
    'pull:P-1: consumers whose SSN nobody asked for': (evidence) => {
      const consumerId = consumerIdOf('900010008');
      Object.assign(postingOf(evidence, PULLED).applicants[0] ?? {}, { consumerId });
      const { reference } = evidence.runs.find(({ workflowId }) => workflowId === 'pull-P-1')?.other ?? {};
      Object.assign(reference?.applicants[0] ?? {}, { consumerId });
    },
    "share:S-1 SECONDUSE: shares somebody else's report": (evidence) => {
      postingOf(evidence, SHARE_POSTED).sharedReference = referenceOf(REVIEWED);
    },
  }),
  ...breaking(reviewedRows, {
    'row ACC-1 2 times': (evidence) => {
      const { lines = [] } = evidence.reviewResults[0] ?? {};
      evidence.reviewResults = [{ runKey: 'portfolio:R-1', lines: [...lines, ...lines] }];
    },
    'row ACC-1 record, the ledger noRecord': (evidence) => {
      const { attempts } = evidence.ledger;
      Object.assign(attempts.find((one) => one.customerTraceNumber === REVIEWED) ?? {}, { outcome: 'noRecord' });
    },
    'portfolio:R-1: 0 rows of 1': (evidence) => {
      evidence.reviewResults = [{ runKey: 'portfolio:R-1', lines: [] }];
    },
  }),
  ...breaking(answeredIsKept, {
    'J-SHARED advance-PREAPP-1: answered, and is in no history': (evidence) => void messagesIn(evidence).splice(0),
    'J-SHARED advance-PREAPP-1: answered before Temporal had it': (evidence) => {
      for (const one of messagesIn(evidence)) one.atMs = at(71);
    },
    'J-SHARED advance-PREAPP-1: was kept as another': (evidence) => {
      for (const one of messagesIn(evidence)) one.content = { to: 'PRECLOSE' };
    },
    'J-LOST start: answered, and there is no run': (evidence) =>
      answered(evidence, { ...answer('start', 'start', INPUT), runKey: 'J-LOST' }),
    'J-SHARED start: answered before Temporal had it': (evidence) =>
      answered(evidence, { ...answer('start', 'start', INPUT), atMs: at(-1) }),
    'J-SHARED start: the run has another input': (evidence) =>
      answered(evidence, answer('start', 'start', { ...INPUT, endUserCode: 'EU777' })),
    'C-9: answered as recorded, and is not in the ledger': (evidence) => {
      const body = { journeyId: JOURNEY, ...GRANT, consentId: 'C-9' };
      answered(evidence, answer('recordConsent', 'consent-S1-1A-C-9', body, { recorded: true }));
    },
    'D-1: answered before the ledger had it': (evidence) => {
      const [decision] = evidence.ledger.decisions;
      const { decisionId = '', customerTraceNumber = '' } = decision ?? {};
      const one = answer('resolveInquiry', decisionId, { decisionId, customerTraceNumber }, { recorded: true });
      answered(evidence, { ...one, atMs: at(40) });
    },
  }),
  ...breaking(appliedOnce, {
    'advance-PREAPP-1: applied 2 times': [
      (evidence) => {
        for (const one of messagesIn(evidence)) one.isApplied = true;
      },
      (evidence) => {
        const before = Object.assign(runOf(evidence, JOURNEY), { runId: 'run-before' });
        evidence.runs.push({ ...before, runId: 'run-2', continuedFrom: before.runId });
      },
    ],
    'journey-J-SHARED: started 2 times': (evidence) => {
      const again = { runId: 'run-2', startedAtMs: at(200), closedAtMs: at(210), messages: [] };
      evidence.runs.push({ ...runOf(evidence, JOURNEY), ...again });
    },
  }),
  ...breaking(foreignLooksUnknown, {
    'J-SHARED: status by a token of another profile was answered with 403': (evidence) => {
      const { api } = evidence;
      if (api) api.foreign = api.foreign.map((one) => ({ ...one, status: 403, looksUnknown: false }));
    },
  }),
  ...breaking(journeys.everyRunEnds, {
    'J-HELD: has no run': (evidence) => evidence.runs.splice(evidence.runs.indexOf(runOf(evidence, 'J-HELD')), 1),
    'J-HELD: ended as TypeError': (evidence) => end(evidence, { status: 'FAILED', failureType: 'TypeError' }),
    'J-HELD: was ended by force': (evidence) => end(evidence, { status: 'TERMINATED' }),
    'J-HELD: ended as TIMED_OUT': (evidence) => end(evidence, { status: 'TIMED_OUT' }),
    'J-HELD: ended without a result': (evidence) => end(evidence, { status: 'COMPLETED' }),
    'J-HELD: is still running': (evidence) => wait(evidence, 'running'),
    'J-HELD: waits at a gate': (evidence) => wait(evidence, 'waitingAtGate'),
    'J-HELD: waits for a consent': (evidence) => wait(evidence, 'waitingForConsent'),
    'J-HELD: does not say how it stands': (evidence) => delete runOf(evidence, 'J-HELD').current,
  }),
];
