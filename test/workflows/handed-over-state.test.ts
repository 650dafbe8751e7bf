/** The state that a run continues with: the next run restores each member and would pass on the same state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunConfig } from '../../src/activities/contract.ts';
import type { HoldStatus } from '../../src/messages/journey/shapes.ts';
import { refuse } from '../../src/model/refusals.ts';
import type { CarriedConsents } from '../../src/workflows/consent/consents.ts';
import type { InquiryState } from '../../src/workflows/inquiry/inquiry-spec.ts';
import { Journey, type JourneyRunState } from '../../src/workflows/journey/journey.ts';
import { type FileState, Review } from '../../src/workflows/portfolio/review.ts';
import type { PullRunState } from '../../src/workflows/pull/pull.ts';
import { fitsNextRun } from '../../src/workflows/run/continuation.ts';
import type { EventsState } from '../../src/workflows/run/events-out.ts';
import type { HoldsState } from '../../src/workflows/run/holds.ts';
import { createRunState } from '../../src/workflows/run/run.ts';
import { applicant, consentMessage, journeyInput } from '../support/journey-harness.ts';

const AT = '2026-01-02T03:04:05.000Z';
const RUN: RunConfig = {
  ...{ environment: 'sandbox', profile: 'default', customerId: 'SANDBOX0001', profileFingerprint: 'F', ledgerId: 'L' },
  settings: {
    ...{ giveUpAfterMs: 1, backoffInitialMs: 1, backoffMaxMs: 1, retryAfterMaxMs: 1, sendByMs: 1, resendAfterMs: 1 },
    ...{ submitTimeoutMs: 1, heartbeatTimeoutMs: 1, handOverAfterEvents: 100 },
  },
  ...{ searchAttributes: ['NeedsAttention'], consentTrust: 'namespace' },
};
const TRACE = 'PQAAAAAAAAAAAAAAAAAAAAAAAAA00';
const REFERENCE = {
  ...{ reportReferenceNumber: 'R1', requestedAt: AT },
  applicants: [{ applicantId: '1A', consumerId: 'C1' }],
};
const FAILURE = { failureType: 'OutcomeUnknown', attempt: 2, claimed: true } as const;
const INQUIRY: Required<InquiryState> = {
  ...{ ordinal: 1, amends: TRACE, attempt: 3, retriedSinceMs: 1, failures: 2, tokenFetchedAfter: AT },
  ...{ pausedSinceMs: 1, waitsSinceMs: 1 },
  ...{
    retry: { atMs: 1, summary: 'waiting' },
    waitsFor: 'gateway',
    held: { failure: FAILURE, since: AT },
    applicants: [applicant('1A')],
  },
};
const HOLD: HoldStatus = {
  ...{ customerTraceNumber: TRACE, productCode: 'PREQUAL', failureType: 'OutcomeUnknown', since: AT, attempts: 2 },
  allowedActions: ['resend'],
};
const HOLDS: Required<HoldsState> = {
  open: [{ status: HOLD }],
  settled: [
    {
      ...{ customerTraceNumber: TRACE, decisionId: 'D0', digests: { action: 'x' } },
      verdict: refuse('notNow', 'answered'),
    },
  ],
};
const EVENTS: Required<EventsState> = {
  occurrences: { '["gate.reached","PREAPP"]': 2 },
  // The run's profile has no endpoints.
  waiting: [],
};
const COMMON = {
  holds: HOLDS,
  events: EVENTS,
  refused: { refusedMessages: [{ message: 'consent', reason: 'no', at: AT }], refusedMessagesTotal: 9 },
  published: { NeedsAttention: 'OutcomeUnknown' },
  mayLeaveRows: true,
  asked: [
    {
      decisions: [
        {
          ...{ runKey: 'J', decisionId: `extend-PREAPP-${AT}`, action: 'extend', stage: 'PREAPP', until: AT },
          ...{ by: 'ops', reason: 'late', decidedAt: AT },
        },
      ],
      effect: { update: 'extend', message: { gate: 'PREAPP', until: AT, by: 'ops', reason: 'late' } },
      isAnswered: true,
    },
  ],
} satisfies Partial<PullRunState>;

function consentsTo(journeyId: string, shareId: string): Required<CarriedConsents> {
  const since = AT;
  const key = { journeyId, shareId, applicantId: '1A', consentId: 'C1' };
  const record = { ...consentMessage(journeyId, { applicantId: '2A', shareId }), receivedAt: AT, proof: 'a.b.c' };
  return {
    waiting: [{ record }],
    lastReceivedMs: 12,
    standings: [
      {
        shareId,
        applicants: [
          { applicantId: '1A', stands: 'granted', since, grant: { ...key, receivedAt: AT }, youngUntilMs: 9 },
          { applicantId: '2A', stands: 'denied', since, consentId: 'C2' },
          { applicantId: '3A', stands: 'none', fault: 'tooOld', grant: key },
        ],
        withdrawn: true,
        reportGone: true,
      },
    ],
    faults: [{ ...key, fault: 'otherPerson' }],
  };
}

/** Copies the state through JSON, as Temporal does. */
function copied<T>(state: T): T {
  return JSON.parse(JSON.stringify(state));
}

test('the next run of a journey restores each member of its state', () => {
  const input = journeyInput({ shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
  const withdrawal = { by: 'borrower', reason: 'bought elsewhere' };
  const past: Required<JourneyRunState> = {
    ...COMMON,
    config: RUN,
    stages: [
      {
        ...{ status: { productCode: 'PREQUAL', state: 'held', attempts: 2, customerTraceNumber: TRACE } },
        ...{ reference: REFERENCE, since: AT, ordinal: 1, inquiry: INQUIRY, applicantsBefore: [] },
        personsAt: 2,
      },
    ],
    shares: [
      {
        ...{ input: { shareId: 'S1', endUserCode: 'EU999' }, report: REFERENCE, state: 'held' },
        ...{ customerTraceNumber: TRACE, reportReferenceNumber: 'R2', attention: 'revokedAfterPosting', since: AT },
        ...{ until: AT, toldMissing: ['1A'], inquiry: INQUIRY },
        withdrawal: { by: 'ops', reason: 'typed wrong', isAnswered: true },
        withdrawn: { by: 'ops', reason: 'typed wrong' },
      },
    ],
    advances: { PREAPP: { to: 'PREAPP' } },
    acceptedAges: { PREAPP: { by: 'ops', reason: 'young enough' } },
    skips: { PREAPP: { skip: 'PREAPP', to: 'PRECLOSE', by: 'ops', reason: 'one will do' } },
    applicants: [applicant('2A')],
    persons: [
      { applicantId: '1A', person: { names: [{ first: 'A', last: 'B' }], ssn: '900110001', dob: '1985-04-12' } },
      {
        applicantId: '1A',
        person: { names: [{ first: 'C', last: 'D' }], ssn: '900110002', dob: '1985-04-13' },
        since: AT,
      },
    ],
    consents: consentsTo(input.journeyId, 'S1'),
    withdrawal,
    isClosing: true,
    gate: { before: 'PREAPP', since: AT, until: AT, tooOld: 'PREQUAL' },
    extensions: [{ gate: 'PREAPP', until: AT, by: 'ops', reason: 'late' }],
    stagesEndedAs: 'expired',
    openUntil: AT,
  };
  const next = new Journey(input, copied(past));
  assert.deepEqual(copied(next.toState()), copied(past));
});

test('the next run emits events that were emitted before the input was validated', () => {
  const input = journeyInput();
  const { config: _, events: __, ...rest } = new Journey(input).toState();
  const waiting = [{ type: 'consent.refused' as const, key: ['C1', 'no', 0], data: { reason: 'no' }, timestamp: AT }];
  const state = { ...rest, events: { occurrences: {}, waiting } };
  assert.deepEqual(new Journey(input, copied(state)).toState().events, state.events);
});

test('a review whose held rows make its state too large for the next run says what it waits for', () => {
  Object.assign(globalThis, { __TEMPORAL_ACTIVATOR__: {} });
  const file: FileState = {
    ...{
      known: {
        folder: 'EU001',
        file: 'f.csv',
        format: 'csv',
        digest: 'D',
        mark: { size: 1, modified: '1', changed: '1' },
        columns: [],
        badLines: [],
      },
    },
    ...{ badRows: 0, rows: 9, carried: [], done: { record: 0, noRecord: 0, noReport: 0, abandoned: 0 } },
    ...{ resultBytes: 0, results: [] },
  };
  const settings = { ...RUN.settings, handOverAfterEvents: 0 };
  const state = { ...createRunState(), config: { ...RUN, settings }, isPaused: false, holds: HOLDS, file };
  const review = new Review(
    { reviewId: 'R1', file: 'f.csv', endUserCode: 'EU001', permissiblePurposeCode: '8' },
    state,
  );
  assert.equal(review.status().state, 'running');
  file.carried.push({ accountId: 'A'.repeat(1_000_000), line: 2, offset: 9, inquiry: INQUIRY });
  const { state: standing, waitingFor } = review.status();
  assert.equal(standing, 'held');
  assert.equal(waitingFor, 'a decision about 1 inquiry: no further row is begun before');
});

test('a state of accented names fits the next run by its bytes, which Temporal limits, not by its characters', () => {
  assert.equal(fitsNextRun({ names: 'e'.repeat(900_000) }), true);
  assert.equal(fitsNextRun({ names: 'é'.repeat(900_000) }), false);
});
