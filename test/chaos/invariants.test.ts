/** Each invariant passes a sound storm, and catches the fault that it is for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { consumerIdOf } from '../../sandbox/records/records.ts';
import { addApi, DOCTORED_API } from './doctored-api.ts';
import { addOthers, DOCTORED_OTHERS } from './doctored-others.ts';
import { DOCTORED_WEBHOOKS, nameNoRecordReference, tellEvents } from './doctored-webhooks.ts';
import type { Evidence, LedgerAttempt, RunEvidence } from './evidence.ts';
import { checkInvariants, INVARIANTS } from './invariants/check-invariants.ts';
import * as consents from './invariants/consents.ts';
import { falseAlarms } from './invariants/false-alarms.ts';
import { measureHoles } from './invariants/holes.ts';
import type { Invariant } from './invariants/invariant.ts';
import * as journeys from './invariants/journeys.ts';
import * as rows from './invariants/ledger-rows.ts';
import { nothingInLogs } from './invariants/logs.ts';
import { otherRunsEnd, ownReferencesOfOthers, reviewedRows } from './invariants/other-runs.ts';
import * as postings from './invariants/postings.ts';
import { ownReferences } from './invariants/references.ts';
import { attemptsRunOnce } from './invariants/repeats.ts';
import { historiesReplay } from './invariants/replays.ts';
import { reportsInLedger } from './invariants/reports.ts';
import { runsOnVersions } from './invariants/versions.ts';
import { eventsImpersonal } from './invariants/webhooks.ts';
import { withdrawnShares } from './invariants/withdrawals.ts';
import { noClaimByOlderWriter } from './invariants/writers.ts';
import { at, FIRST, HELD, REFUSED, RESENT, SHARED, SSNS, soundEvidence, traceOf } from './sound-evidence.ts';

interface Doctored {
  what: string;
  caughtBy: Invariant;
  as: RegExp;
  doctor(evidence: Evidence): void;
}

function runOf({ runs }: Evidence, journeyId: string): RunEvidence {
  return runs.find(({ workflowId }) => workflowId === `journey-${journeyId}`) as RunEvidence;
}

function attemptOf({ ledger }: Evidence, trace: string, attempt: number): LedgerAttempt {
  return ledger.attempts.find((one) => one.customerTraceNumber === trace && one.attempt === attempt) as LedgerAttempt;
}

/** Runs of pinned workflows whose workflow tasks these builds completed, one after another. */
/** An attempt is called unknown; nothing came of it, and between its claim and its end no connection was open. */
function withoutConnections(evidence: Evidence): void {
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

function pinTo(evidence: Evidence, builds: readonly string[], moved: readonly string[] = []): void {
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

/** As if the gateway had received and posted it once more. */
function postAgain({ sandbox }: Evidence, trace: string): void {
  const posting = sandbox.postings.find((one) => one.customerTraceNumber === trace);
  const request = sandbox.requests.find(({ requestId }) => requestId === posting?.requestId);
  assert.ok(posting && request);
  const more = { requestId: 'again', atMs: posting.atMs + 10 };
  sandbox.requests.push({ ...request, ...more });
  sandbox.postings.push({ ...posting, ...more, reportReferenceNumber: 'SBXAGAIN' });
}

function refuse(evidence: Evidence, decision: 'denied' | 'revoked', consentId: string, where: object): void {
  const said = { shareId: 'S1', applicantId: '2A', consentId, decision };
  const when = { eventId: 45, atMs: at(57), decidedAtMs: at(57), ...where };
  runOf(evidence, 'J-SHARED').consents.push({ ...said, ...when });
}

function refusalRow(evidence: Evidence, recordedAtMs: number): void {
  const said = {
    journeyId: 'J-SHARED',
    shareId: 'S1',
    applicantId: '2A',
    consentId: 'C-2A',
    decision: 'revoked',
  } as const;
  const decidedAt = new Date(at(57)).toISOString();
  evidence.ledger.consents.push({ ...said, decidedAt, receivedAt: decidedAt, recordedAtMs });
}

function stageOf(evidence: Evidence, nth: number) {
  const stage = runOf(evidence, 'J-SHARED').result?.stages[nth];
  assert.ok(stage?.reference);
  return stage as typeof stage & { reference: NonNullable<typeof stage.reference> };
}

/** A workflow task that took so long, and then failed in the worker. */
function unhandledFailure(tookMs: number): RunEvidence['history'] {
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

const DOCTORED: readonly Doctored[] = [
  {
    what: 'a posting more, without a decision',
    caughtBy: postings.postedOnce,
    as: /J-HELD PREQUAL: 2 postings, 1 permitted/,
    doctor: (evidence) => postAgain(evidence, HELD),
  },
  {
    what: 'a posting more than the one resend permits',
    caughtBy: postings.postedOnce,
    as: /J-SHARED PREAPP: 3 postings, 2 permitted/,
    doctor: (evidence) => postAgain(evidence, RESENT),
  },
  {
    what: 'a posting more under a number that the ledger never heard of',
    caughtBy: postings.postedOnce,
    as: /trace number .*: 2 postings, 1 permitted/,
    doctor(evidence) {
      evidence.ledger.inquiries = evidence.ledger.inquiries.filter((one) => one.customerTraceNumber !== HELD);
      postAgain(evidence, HELD);
    },
  },
  {
    what: 'a resend that was decided and never spent',
    caughtBy: postings.postedOnce,
    as: /J-SHARED PREAPP: 2 postings, 1 permitted/,
    doctor: (evidence) => delete attemptOf(evidence, RESENT, 2).permittedBy,
  },
  {
    what: 'a second trace number that amends nothing',
    caughtBy: postings.oneTraceNumber,
    as: /J-HELD PREQUAL: 2 trace numbers, 1 permitted/,
    doctor({ ledger }) {
      const [inquiry] = ledger.inquiries.filter((one) => one.customerTraceNumber === HELD);
      assert.ok(inquiry);
      ledger.inquiries.push({ ...inquiry, customerTraceNumber: 'PQBYTHEORDEROFEVENTS', ordinal: 0 });
    },
  },
  {
    what: 'an amendment that nobody decided',
    caughtBy: postings.oneTraceNumber,
    as: /J-AMENDED PREQUAL: 2 trace numbers, 1 permitted/,
    doctor: ({ ledger }) => {
      ledger.decisions = ledger.decisions.filter(({ action }) => action !== 'amend');
    },
  },
  {
    what: 'a share that was posted under another number, too',
    caughtBy: postings.postedByGrants,
    as: /J-SHARED SECONDUSE share S1: 2 postings, 1 permitted/,
    doctor({ ledger, sandbox }) {
      const customerTraceNumber = traceOf('J-SHARED', 'SECONDUSE', 1, 'S1');
      const [inquiry] = ledger.inquiries.filter((one) => one.customerTraceNumber === SHARED);
      const [posting] = sandbox.postings.filter((one) => one.customerTraceNumber === SHARED);
      assert.ok(inquiry && posting);
      ledger.inquiries.push({ ...inquiry, customerTraceNumber, ordinal: 1 });
      sandbox.postings.push({ ...posting, customerTraceNumber, applicants: posting.applicants.slice(1) });
    },
  },
  {
    what: 'a share that names a consumer whose grant is not in its claim',
    caughtBy: postings.postedByGrants,
    as: /J-SHARED SECONDUSE share S1: posted for 1A,2A, without a claim by their grants/,
    doctor: (evidence) => {
      attemptOf(evidence, SHARED, 1).consents.pop();
    },
  },
  {
    what: 'one attempt that sent twice',
    caughtBy: postings.oneAttemptOneRequest,
    as: /J-HELD PREQUAL: 2 requests, 1 attempts that sent/,
    doctor: ({ sandbox }) => {
      const [request] = sandbox.requests.filter((one) => one.customerTraceNumber === HELD);
      assert.ok(request);
      sandbox.requests.push({ ...request, requestId: 'twice' });
    },
  },
  {
    what: 'an attempt that sent, and says that it did not',
    caughtBy: postings.oneAttemptOneRequest,
    as: /J-HELD PREQUAL: 1 requests, 0 attempts that sent/,
    doctor: (evidence) => Object.assign(attemptOf(evidence, HELD, 1), { state: 'notSent' }),
  },
  {
    what: 'a request before its claim',
    caughtBy: postings.oneAttemptOneRequest,
    as: /a request before its claim/,
    doctor: (evidence) => Object.assign(attemptOf(evidence, HELD, 1), { claimedAtMs: at(15) }),
  },
  {
    what: 'another request under the same number',
    caughtBy: postings.oneRequestPerNumber,
    as: /different requests under one trace number/,
    doctor: ({ sandbox }) => {
      const [, second] = sandbox.requests.filter((one) => one.customerTraceNumber === RESENT);
      Object.assign(second ?? {}, { digest: 'another' });
    },
  },
  {
    what: 'a posting that the ledger knows nothing of',
    caughtBy: postings.postingsInLedger,
    as: /J-HELD PREQUAL: 1 postings, 0 attempts/,
    doctor: ({ ledger }) => {
      ledger.attempts = ledger.attempts.filter((one) => one.customerTraceNumber !== HELD);
    },
  },
  {
    what: 'an answer that the gateway never gave',
    caughtBy: postings.postingsInLedger,
    as: /J-SHARED PREQUAL attempt 3: a reference that the gateway gave nobody/,
    doctor: (evidence) => Object.assign(attemptOf(evidence, FIRST, 3), { reportReferenceNumber: 'SBXINVENTED' }),
  },
  {
    what: 'an answer without a posting',
    caughtBy: postings.postingsInLedger,
    as: /J-SHARED PREQUAL: 1 answers, 0 postings/,
    doctor: ({ sandbox }) => {
      sandbox.postings = sandbox.postings.filter((one) => one.customerTraceNumber !== FIRST);
    },
  },
  {
    what: "another journey's reference",
    caughtBy: ownReferences,
    as: /J-SHARED PREQUAL: somebody else's/,
    doctor: (evidence) => {
      const other = runOf(evidence, 'J-AMENDED').result?.stages[0]?.reference;
      stageOf(evidence, 0).reference.reportReferenceNumber = String(other?.reportReferenceNumber);
    },
  },
  {
    what: 'a reference that nobody gave out',
    caughtBy: ownReferences,
    as: /J-SHARED share|gave to nobody/,
    doctor: (evidence) => {
      stageOf(evidence, 0).reference.reportReferenceNumber = 'SBXINVENTED';
    },
  },
  {
    what: 'consumers that were exchanged',
    caughtBy: ownReferences,
    as: /J-SHARED PREQUAL: consumers that are not those of its applicants/,
    doctor: (evidence) => {
      const { reference } = stageOf(evidence, 0);
      const [one, two] = reference.applicants;
      assert.ok(one && two);
      reference.applicants = [
        { ...one, consumerId: two.consumerId },
        { ...two, consumerId: one.consumerId },
      ];
    },
  },
  {
    what: 'a consumer left out',
    caughtBy: ownReferences,
    as: /J-SHARED PREQUAL: consumers that are not those of its applicants/,
    doctor: (evidence) => {
      stageOf(evidence, 0).reference.applicants.pop();
    },
  },
  {
    what: 'consumers of SSNs that the platform never named',
    caughtBy: ownReferences,
    as: /J-AMENDED PREQUAL: consumers whose SSN nobody asked for/,
    doctor: ({ plans }) => {
      for (const { ssn, ...rest } of plans[1]?.input.applicants.splice(0) ?? []) {
        plans[1]?.input.applicants.push({ ...rest, ssn: `9${ssn.slice(1).replace('1', '7')}` });
      }
    },
  },
  {
    what: "a share of another journey's report",
    caughtBy: ownReferences,
    as: /J-SHARED SECONDUSE share S1: shares the report of another journey/,
    doctor: ({ sandbox }) => {
      const [share] = sandbox.postings.filter(({ productCode }) => productCode === 'SECONDUSE');
      const [other] = sandbox.postings.filter((one) => one.customerTraceNumber === traceOf('J-AMENDED', 'PREQUAL', 1));
      Object.assign(share ?? {}, { sharedReference: other?.reportReferenceNumber });
    },
  },
  {
    what: 'a share with a consumer that has no report there',
    caughtBy: ownReferences,
    as: /shares consumers that are not those of the report/,
    doctor: ({ sandbox }) => {
      const [share] = sandbox.postings.filter(({ productCode }) => productCode === 'SECONDUSE');
      share?.applicants.splice(0, 1, { applicantId: null, consumerId: consumerIdOf('900019999'), hasReport: true });
    },
  },
  ...(
    [
      [
        'a journey without a run',
        /J-HELD: has no run/,
        (run, evidence) => evidence.runs.splice(evidence.runs.indexOf(run), 1),
      ],
      [
        'a journey that failed',
        /J-HELD: failed as TypeError/,
        (run) => Object.assign(run, { status: 'FAILED', failureType: 'TypeError' }),
      ],
      [
        'a journey that was terminated',
        /J-HELD: was ended by force/,
        (run) => Object.assign(run, { status: 'TERMINATED' }),
      ],
      ['a journey that timed out', /J-HELD: ended as TIMED_OUT/, (run) => Object.assign(run, { status: 'TIMED_OUT' })],
      [
        'a journey that ended as another',
        /J-HELD: ended without a result/,
        (run) => Object.assign(run, { status: 'COMPLETED' }),
      ],
      [
        'a journey that goes on for ever',
        /J-HELD: is still running/,
        (run) => Object.assign(run.current ?? {}, { state: 'running' }),
      ],
      [
        'a gate that was to be passed',
        /J-HELD: waits at a gate/,
        (run) => Object.assign(run.current ?? {}, { state: 'waitingAtGate' }),
      ],
      [
        'a consent that was given',
        /J-HELD: waits for a consent/,
        (run) => Object.assign(run.current ?? {}, { state: 'waitingForConsent' }),
      ],
      ['a run that answers no query', /J-HELD: does not say how it stands/, (run) => delete run.current],
    ] as [string, RegExp, (run: RunEvidence, evidence: Evidence) => unknown][]
  ).map(
    ([what, as, change]): Doctored => ({
      ...{ what, as, caughtBy: journeys.everyJourneyEnds },
      doctor: (evidence) => void change(runOf(evidence, 'J-HELD'), evidence),
    }),
  ),
  {
    what: 'a workflow task that fails again and again',
    caughtBy: journeys.noStuckRun,
    as: /journey-J-HELD run run-1: its workflow task is tried for the 9th time/,
    doctor: (evidence) => {
      runOf(evidence, 'J-HELD').workflowTaskAttempts = 9;
    },
  },
  {
    what: 'a workflow task that failed once',
    caughtBy: journeys.noStuckRun,
    as: /a workflow task failed \(NON_DETERMINISTIC_ERROR\)/,
    doctor: (evidence) => {
      const events = [6, 3].map((cause) => ({ workflowTaskFailedEventAttributes: { cause } }));
      runOf(evidence, 'J-SHARED').history = {
        events: [...events, { workflowTaskFailedEventAttributes: { cause: 24 } }],
      };
    },
  },
  {
    what: 'a workflow task that failed by itself',
    caughtBy: journeys.noStuckRun,
    as: /a workflow task failed \(WORKFLOW_WORKER_UNHANDLED_FAILURE\)/,
    doctor: (evidence) => {
      runOf(evidence, 'J-SHARED').history = unhandledFailure(4_900);
    },
  },
  {
    what: 'a send that Temporal repeats',
    caughtBy: journeys.noStuckRun,
    as: /submitInquiry is repeated, attempt 2/,
    doctor: (evidence) => {
      runOf(evidence, 'J-HELD').pendingActivities.push({ type: 'submitInquiry', attempt: 2, paused: false });
    },
  },
  ...(
    [
      ['RequestRefused', /RequestRefused, but the ledger has attempt 1 as unknown/],
      ['TokenUnavailable', /TokenUnavailable, but the ledger has attempt 1 as unknown/],
      ['LedgerChanged', /LedgerChanged, but nothing of the kind was done/],
      ['RequestDiffers', /RequestDiffers, but nobody ever asked for another/],
    ] as const
  ).map(
    ([failureType, as]): Doctored => ({
      ...{ what: `a hold that says ${failureType}`, as, caughtBy: journeys.trueHolds },
      doctor: (evidence) => Object.assign(runOf(evidence, 'J-HELD').current?.holds[0] ?? {}, { failureType }),
    }),
  ),
  {
    what: 'a hold about an attempt that was never made',
    caughtBy: journeys.trueHolds,
    as: /OutcomeUnknown, but the ledger has no attempt 2/,
    doctor: (evidence) => Object.assign(runOf(evidence, 'J-HELD').current?.holds[0] ?? {}, { attempts: 2 }),
  },
  {
    what: 'a hold about an answer to what was never posted',
    caughtBy: journeys.trueHolds,
    as: /UnexpectedResponse, but the gateway has posted nothing under it/,
    doctor: (evidence) => {
      Object.assign(runOf(evidence, 'J-HELD').current?.holds[0] ?? {}, { failureType: 'UnexpectedResponse' });
      Object.assign(attemptOf(evidence, HELD, 1), { state: 'answered', answerKind: 'unexpectedResponse' });
      evidence.sandbox.postings = evidence.sandbox.postings.filter((one) => one.customerTraceNumber !== HELD);
    },
  },
  {
    what: 'an unknown outcome without any connection to have it from',
    caughtBy: falseAlarms,
    as: /J-HELD PREQUAL attempt 1/,
    doctor: withoutConnections,
  },
  {
    what: 'the same, although the wire’s own process stood still at another time',
    caughtBy: falseAlarms,
    as: /J-HELD PREQUAL attempt 1/,
    doctor: (evidence) => {
      withoutConnections(evidence);
      evidence.sandbox.standstills = [{ fromMs: at(0), toMs: at(1) }];
    },
  },
  {
    what: 'a report that is not in the ledger',
    caughtBy: reportsInLedger,
    as: /J-SHARED PREQUAL: the ledger has no report/,
    doctor: (evidence) => Object.assign(attemptOf(evidence, FIRST, 3), { hasReport: false }),
  },
  {
    what: 'a reference that is not in the ledger',
    caughtBy: reportsInLedger,
    as: /J-SHARED PREQUAL: the ledger has no attempt with the run's reference/,
    doctor: (evidence) => delete attemptOf(evidence, FIRST, 3).reportReferenceNumber,
  },
  {
    what: 'a report whose seal does not open',
    caughtBy: reportsInLedger,
    as: /J-SHARED PREQUAL: SealBrokenError/,
    doctor: ({ ledger }) => Object.assign(ledger.reports[0] ?? {}, { problem: 'SealBrokenError' }),
  },
  {
    what: 'a report with the text of another',
    caughtBy: reportsInLedger,
    as: /J-SHARED PREQUAL: the text of another report/,
    doctor: ({ ledger }) => Object.assign(ledger.reports[0] ?? {}, { reportReferenceNumber: 'SBXOTHER' }),
  },
  {
    what: 'a record that the run does not tell of',
    caughtBy: reportsInLedger,
    as: /J-SHARED PREQUAL: answered, and the run says noRecord/,
    doctor: (evidence) => {
      const { reference: _, reportReferenceNumber: __, ...stage } = stageOf(evidence, 0);
      runOf(evidence, 'J-SHARED').result?.stages.splice(0, 1, { ...stage, state: 'noRecord' });
    },
  },
  {
    what: 'a share without the grant of one applicant',
    caughtBy: consents.standingConsent,
    as: /J-SHARED SECONDUSE share S1 attempt 1: no grant of 2A permits it/,
    doctor: (evidence) => void attemptOf(evidence, SHARED, 1).consents.pop(),
  },
  {
    what: 'a grant that came after the attempt was scheduled',
    caughtBy: consents.standingConsent,
    as: /2A had not granted it by then/,
    doctor: (evidence) => Object.assign(runOf(evidence, 'J-SHARED').consents[1] ?? {}, { eventId: 51 }),
  },
  {
    what: 'a grant for another secondary user',
    caughtBy: consents.standingConsent,
    as: /the grant of 1A is for another secondary user/,
    doctor: ({ ledger }) => Object.assign(ledger.consents[0] ?? {}, { endUserCode: 'EU777' }),
  },
  {
    what: 'a grant that was revoked before',
    caughtBy: consents.standingConsent,
    as: /the grant of 2A did not stand any more/,
    doctor: (evidence) => refuse(evidence, 'revoked', 'C-2A', {}),
  },
  {
    what: 'a grant that a revocation of everything ended before',
    caughtBy: consents.standingConsent,
    as: /the grant of 2A did not stand any more/,
    doctor: (evidence) => refuse(evidence, 'revoked', 'C-unknown', { decidedAtMs: at(1) }),
  },
  {
    what: 'a grant that a later denial ended before',
    caughtBy: consents.standingConsent,
    as: /the grant of 2A did not stand any more/,
    doctor: (evidence) => refuse(evidence, 'denied', 'C-denial', {}),
  },
  {
    what: 'a claim against a refusal that the ledger had',
    caughtBy: consents.noClaimAgainstRefusal,
    as: /J-SHARED SECONDUSE share S1 attempt 1: refused by 2A/,
    doctor: (evidence) => refusalRow(evidence, at(58)),
  },
  {
    what: 'a refusal after posting that nobody is told of',
    caughtBy: consents.refusalAfterPosting,
    as: /J-SHARED SECONDUSE share S1: refused after posting, and nobody is told/,
    doctor: (evidence) => refusalRow(evidence, at(70)),
  },
  {
    what: 'an acknowledged consent that was lost',
    caughtBy: consents.consentsKept,
    as: /J-SHARED S1 2A C-2A granted: lost/,
    doctor: ({ ledger }) => void ledger.consents.pop(),
  },
  {
    what: 'a consent that was acknowledged before the ledger had it',
    caughtBy: consents.consentsKept,
    as: /J-SHARED S1 2A C-2A granted: acknowledged before the ledger had it/,
    doctor: ({ consentsSent }) => void Object.assign(consentsSent.at(-1) ?? {}, { acknowledgedAtMs: at(57) }),
  },
  {
    what: 'a consent that nobody sent',
    caughtBy: consents.consentsKept,
    as: /J-SHARED S1 2A C-2A granted: nobody sent it/,
    doctor: ({ consentsSent }) => void consentsSent.pop(),
  },
  {
    what: 'a gap between attempts',
    caughtBy: rows.attemptsInOrder,
    as: /J-SHARED PREQUAL: attempt 3 stands as number 2/,
    doctor: ({ ledger }) => void ledger.attempts.splice(1, 1),
  },
  {
    what: 'an attempt after an unknown outcome, without a decision',
    caughtBy: rows.attemptsInOrder,
    as: /J-SHARED PREAPP attempt 2: follows one that is unknown/,
    doctor: (evidence) => delete attemptOf(evidence, RESENT, 2).permittedBy,
  },
  {
    what: 'an attempt that another kind of decision permitted',
    caughtBy: rows.attemptsInOrder,
    as: /permitted by a decision that is no resend/,
    doctor: ({ ledger }) => Object.assign(ledger.decisions[0] ?? {}, { action: 'accept' }),
  },
  {
    what: 'an attempt that the decision about another one permitted',
    caughtBy: rows.attemptsInOrder,
    as: /permitted by the decision about another attempt/,
    doctor: ({ ledger }) => Object.assign(ledger.decisions[0] ?? {}, { permitsAttempt: 3 }),
  },
  {
    what: 'an attempt that a decision about something else permitted',
    caughtBy: rows.attemptsInOrder,
    as: /permitted by a decision about CredentialsRefused, and the one before it is unknown/,
    doctor: ({ ledger }) => Object.assign(ledger.decisions[0] ?? {}, { failureType: 'CredentialsRefused' }),
  },
  {
    what: 'a decision that was spent twice',
    caughtBy: rows.attemptsInOrder,
    as: /J-SHARED PREAPP: decision D-1 was spent twice/,
    doctor: (evidence) => {
      evidence.ledger.attempts.push({ ...attemptOf(evidence, RESENT, 2), attempt: 3 });
    },
  },
  {
    what: 'an attempt of what was abandoned',
    caughtBy: rows.attemptsInOrder,
    as: /J-HELD PREQUAL: claimed after abandon/,
    doctor: ({ ledger }) => {
      const inquiry = ledger.inquiries.find((one) => one.customerTraceNumber === HELD);
      Object.assign(inquiry ?? {}, { abandonedAtMs: at(9) });
    },
  },
  {
    what: 'a status that nobody configured',
    caughtBy: rows.statusesAsConfigured,
    as: /attempt 2: 401/,
    doctor: (evidence) => Object.assign(evidence, { notProcessedStatuses: [] }),
  },
  {
    what: 'a decision that nobody took',
    caughtBy: rows.decisionsTaken,
    as: /D-1 1 resend/,
    doctor: ({ decisionsTaken }) => void decisionsTaken.shift(),
  },
  {
    what: 'an undecided attempt that nobody is shown',
    caughtBy: rows.needsListed,
    as: /J-HELD PREQUAL: undecided, and not listed/,
    doctor: ({ ledger }) => void ledger.open.pop(),
  },
  {
    what: 'a decided attempt that is still listed',
    caughtBy: rows.needsListed,
    as: /J-AMENDED PREQUAL: listed, and decided/,
    doctor: ({ ledger }) => {
      const undecided = { attempt: 1, failureType: 'RequestRefused' } as const;
      ledger.open.push({ customerTraceNumber: REFUSED, undecided, attention: [] });
    },
  },
  {
    what: 'a late answer that nobody is shown',
    caughtBy: rows.needsListed,
    as: /J-SHARED PREAPP: answered late, and not listed/,
    doctor: (evidence) => Object.assign(attemptOf(evidence, RESENT, 1), { late: { atMs: at(30), state: 'answered' } }),
  },
  {
    what: 'an entry of the chain that was changed',
    caughtBy: rows.auditChain,
    as: /entry 2: changed/,
    doctor: ({ ledger }) => void ledger.chain.findings.push({ kind: 'changed', position: 2 }),
  },
  {
    what: 'a decision that is not chained',
    caughtBy: rows.auditChain,
    as: /3 entries over 4 decisions, consents, pauses and withdrawals/,
    doctor: ({ ledger }) => void ledger.chain.entries--,
  },
  {
    what: 'a share that is claimed and posted after its withdrawal',
    caughtBy: withdrawnShares,
    as: /J-SHARED share S1: attempt 1 was claimed afterwards/,
    doctor: (evidence) => void withdraw(evidence, 'J-SHARED', at(1)),
  },
  {
    what: 'a share that is withdrawn although it was posted',
    caughtBy: withdrawnShares,
    as: /J-SHARED share S1: the gateway has posted it/,
    doctor: (evidence) => void withdraw(evidence, 'J-SHARED', at(600)),
  },
  {
    what: 'a withdrawal that was answered as recorded, and is not in the ledger',
    caughtBy: withdrawnShares,
    as: /J-SHARED S1: answered as recorded/,
    doctor: ({ withdrawalsSent }) =>
      void withdrawalsSent.push({ runKey: 'J-SHARED', shareId: 'S1', isAcknowledged: true }),
  },
  {
    what: 'an attempt that Temporal ran twice',
    caughtBy: attemptsRunOnce,
    as: /journey-J-SHARED run .+: the 2th time/,
    doctor: (evidence) =>
      void runOf(evidence, 'J-SHARED').history.events?.push(
        ...([
          { eventId: 5, activityTaskScheduledEventAttributes: { activityType: { name: 'submitInquiry' } } },
          { eventId: 6, activityTaskStartedEventAttributes: { scheduledEventId: 5, attempt: 2 } },
        ] as object[]),
      ),
  },
  ...(
    [
      ['as it is', `{"ssn":"${SSNS['1A']}"}`],
      ['dashes', 'x 900-01-0001 x'],
      ['base64', Buffer.from(`{"ssn":"${SSNS['1A']}"}`).toString('base64')],
      ['reversed', [...SSNS['1A']].toReversed().join('')],
      ['reversed, dashes', '100-01-0009'],
    ] as const
  ).map(
    ([what, text]): Doctored => ({
      ...{ what: `an SSN in a log (${what})`, as: /worker-1\.log: SSN/, caughtBy: nothingInLogs },
      doctor: ({ logs }) => void logs.splice(0, 1, { name: 'worker-1.log', bytes: Buffer.from(text) }),
    }),
  ),
  {
    what: 'a log in which nothing stands',
    caughtBy: nothingInLogs,
    as: /worker-2\.log is empty/,
    doctor: ({ logs }) => void logs.push({ name: 'worker-2.log', bytes: new Uint8Array() }),
  },
  {
    what: 'a run whose version has no workers any more',
    caughtBy: runsOnVersions,
    as: /is pinned to build 1, which has no workers/,
    doctor: (evidence) => pinTo(evidence, ['1']),
  },
  {
    what: 'a pinned run that another version took',
    caughtBy: runsOnVersions,
    as: /pinned, and went on from build 1 to 2/,
    doctor: (evidence) => pinTo(evidence, ['1', '2']),
  },
  {
    what: 'a workflow task that an unversioned worker took',
    caughtBy: runsOnVersions,
    as: /a workflow task of no version/,
    doctor: (evidence) => pinTo(evidence, ['']),
  },
  {
    what: 'a claim of an older worker after the migration',
    caughtBy: noClaimByOlderWriter,
    as: /attempt 1: claimed without the fence/,
    doctor({ ledger }) {
      const [one] = ledger.attempts;
      const { customerTraceNumber = '', attempt = 1 } = one ?? {};
      ledger.claimsSinceMigration = [{ customerTraceNumber, attempt, keepsFence: false }];
    },
  },
  {
    what: 'no log at all',
    caughtBy: nothingInLogs,
    as: /there are no logs/,
    doctor: ({ logs }) => void logs.splice(0),
  },
  ...DOCTORED_WEBHOOKS,
  ...DOCTORED_OTHERS,
  ...DOCTORED_API,
];

test('a workflow task that failed while its worker stood still is no failure', async () => {
  const evidence = soundEvidence();
  runOf(evidence, 'J-SHARED').history = unhandledFailure(5_100);
  assert.deepEqual((await journeys.noStuckRun.judge(evidence)).failures, []);
});

test('an event that names the number of an answer without a record, as such, is no failure', async () => {
  const evidence = soundEvidence();
  nameNoRecordReference(evidence);
  const { count, failures } = await eventsImpersonal.judge(evidence);
  assert.deepEqual({ count, failures }, { count: 3, failures: [] });
});

test('a date in a log that happens to have the digits of an SSN, reversed, is no failure', async () => {
  const evidence = soundEvidence();
  const time = `1795${[...SSNS['1A']].toReversed().join('')}`;
  evidence.logs.push({ name: 'worker-1.log', bytes: Buffer.from(`{"level":30,"time":${time},"msg":"ready"}`) });
  assert.deepEqual((await nothingInLogs.judge(evidence)).failures, []);
});

test('reports an attempt during which the wire’s own process stood still, and no failure', async () => {
  const evidence = soundEvidence();
  withoutConnections(evidence);
  const { claimedAtMs } = attemptOf(evidence, HELD, 1);
  evidence.sandbox.standstills = [{ fromMs: claimedAtMs, toMs: claimedAtMs + 1 }];
  const { failures, remark } = await falseAlarms.judge(evidence);
  assert.deepEqual(failures, []);
  assert.match(remark ?? '', /of 1 the wire cannot tell/);
});

test('a sound storm keeps every promise, and each invariant that has something to check checks it', async () => {
  const verdicts = await checkInvariants(addApi(tellEvents(soundEvidence())));
  const failures = verdicts.flatMap((verdict) => verdict.failures.map((failure) => `${verdict.name}: ${failure}`));
  assert.deepEqual(failures, []);
  const idle = verdicts.filter(({ count }) => count === 0).map(({ name }) => name);
  const others = [otherRunsEnd, ownReferencesOfOthers, reviewedRows];
  const notHere = [
    consents.refusalAfterPosting,
    withdrawnShares,
    attemptsRunOnce,
    historiesReplay,
    ...others,
    runsOnVersions,
    noClaimByOlderWriter,
  ];
  assert.deepEqual(
    idle,
    notHere.map(({ name }) => name),
  );
});

test('a pull, its share and a review keep the promises of journeys', async () => {
  const verdicts = await checkInvariants(addOthers(soundEvidence()), [
    otherRunsEnd,
    ownReferencesOfOthers,
    reviewedRows,
  ]);
  assert.deepEqual(
    verdicts.map(({ count, failures }) => [count, failures]),
    [
      [3, []],
      [2, []],
      [1, []],
    ],
  );
});

test('a pinned run may continue with another version if an operator moved it', async () => {
  const evidence = soundEvidence();
  pinTo(
    evidence,
    ['1', '2'],
    evidence.runs.map(({ workflowId }) => workflowId),
  );
  const [verdict] = await checkInvariants(evidence, [runsOnVersions]);
  assert.deepEqual(verdict?.failures, []);
  assert.equal(verdict?.count, evidence.runs.length);
});

test('a refusal counts from when the ledger first received it, also where a run hears it again', async () => {
  const evidence = soundEvidence();
  refuse(evidence, 'revoked', 'C-unknown', { decidedAtMs: at(1) });
  const [grant] = evidence.ledger.consents.filter(({ consentId }) => consentId === 'C-2A');
  assert.ok(grant);
  const row = { ...grant, consentId: 'C-unknown', decision: 'revoked' as const };
  evidence.ledger.consents.push({
    ...row,
    ...{ decidedAt: new Date(at(1)).toISOString(), receivedAt: new Date(at(1)).toISOString(), recordedAtMs: at(1) },
  });
  const [verdict] = await checkInvariants(evidence, [consents.standingConsent]);
  assert.deepEqual(verdict?.failures, []);
});

test('every invariant catches the fault that it is for', async (t) => {
  for (const { what, caughtBy, as, doctor } of DOCTORED) {
    await t.test(`${what}: ${caughtBy.name}`, async () => {
      const evidence = soundEvidence();
      doctor(evidence);
      const [verdict] = await checkInvariants(evidence, [caughtBy]);
      assert.match(verdict?.failures.join('\n') ?? '', as);
    });
  }
});

test('no invariant is without its counterexample', () => {
  const caught = new Set(DOCTORED.map(({ caughtBy }) => caughtBy));
  const missing = INVARIANTS.filter((invariant) => !caught.has(invariant)).map(({ name }) => name);
  assert.deepEqual(missing, [historiesReplay.name], 'histories are replayed below');
});

test('failures name ids, and no people', async () => {
  for (const { doctor } of DOCTORED) {
    const evidence = soundEvidence();
    doctor(evidence);
    for (const { failures } of await checkInvariants(evidence)) {
      const told = failures.join('\n');
      for (const { value } of evidence.sentinels) assert.ok(!told.includes(value));
    }
  }
});

test('the known gaps that a storm ran into are counted', () => {
  const evidence = soundEvidence();
  assert.deepEqual(
    measureHoles(evidence).map(({ count, furtherPostings }) => [count, furtherPostings]),
    [
      [0, 0],
      // Its first attempt had been posted, the answer lost.
      [1, 1],
      [0, 0],
      [0, 0],
    ],
  );
  for (const posting of evidence.sandbox.postings) if (posting.customerTraceNumber === HELD) posting.status = 429;
  Object.assign(attemptOf(evidence, FIRST, 3), { hasReport: false, late: { atMs: at(9), state: 'answered' } });
  runOf(evidence, 'J-SHARED').recordedByRun.push(FIRST);
  assert.deepEqual(
    measureHoles(evidence).map(({ count }) => count),
    [1, 1, 1, 1],
  );
});
