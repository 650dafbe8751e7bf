import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CLAIM_RULES,
  type ClaimDecision,
  type ClaimFacts,
  decideClaim,
  type KnownAttempt,
  type KnownInquiry,
} from '../../src/ledger/claim.ts';
import { findRepeat } from '../../src/ledger/inquiries/inquiry-writes.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';

const LEDGER = 'ledger-1';

function known(change: Partial<KnownInquiry> = {}): KnownInquiry {
  return { ledgerId: LEDGER, oldestWriter: 8, digest: 'd', abandoned: false, attempts: [], decisions: [], ...change };
}

function attempt(state: AttemptState, number = 1, answerInMs = -1): KnownAttempt {
  return { attempt: number, state, answerInMs };
}

function facts(number: number, change: Partial<ClaimFacts> = {}): ClaimFacts {
  return { ledgerId: LEDGER, writer: 8, digest: 'd', attempt: number, ...change };
}

const RESEND = { decisionId: 'D', action: 'resend', attempt: 1, permitsAttempt: 2 } as const;
const ABANDON = { decisionId: 'E', action: 'abandon', attempt: 1 } as const;

type Row = { title: string; known: KnownInquiry; claim: ClaimFacts; expected: ClaimDecision };

const CLAIMED_2: ClaimDecision = { kind: 'claim', attempt: 2 };
const LATEST: ClaimDecision = { kind: 'latest' };

const TABLE: Row[] = [
  { title: 'nothing yet', known: known({ digest: null }), claim: facts(1), expected: { kind: 'claim', attempt: 1 } },
  {
    title: 'a decision came before any claim',
    known: known({ digest: null, decisions: [{ decisionId: 'D', action: 'resend', attempt: 1 }] }),
    claim: facts(1),
    expected: { kind: 'claim', attempt: 1 },
  },
  ...(['notSent', 'notProcessed'] as const).map((state) => ({
    title: `latest ${state}`,
    known: known({ attempts: [attempt(state)] }),
    claim: facts(2),
    expected: CLAIMED_2,
  })),
  {
    title: 'a resend after not sent is spent by the claim',
    known: known({ attempts: [attempt('notSent')], decisions: [RESEND] }),
    claim: facts(2),
    expected: { kind: 'claim', attempt: 2, permittedBy: 'D' },
  },
  {
    title: 'sending, in time',
    known: known({ attempts: [attempt('sending', 1, 10)] }),
    claim: facts(2),
    expected: LATEST,
  },
  {
    title: 'sending, in time, although a resend stands',
    known: known({ attempts: [attempt('sending', 1, 10)], decisions: [RESEND] }),
    claim: facts(2),
    expected: LATEST,
  },
  {
    title: 'sending, overdue',
    known: known({ attempts: [attempt('sending', 1, 0)] }),
    claim: facts(2),
    expected: LATEST,
  },
  {
    title: 'sending, overdue, and a resend',
    known: known({ attempts: [attempt('sending', 1, 0)], decisions: [RESEND] }),
    claim: facts(2),
    expected: { kind: 'claim', attempt: 2, permittedBy: 'D' },
  },
  ...(['unknown', 'refused', 'notEntitled', 'credentialsRefused', 'untrusted'] as const).flatMap((state): Row[] => [
    { title: `latest ${state}`, known: known({ attempts: [attempt(state)] }), claim: facts(2), expected: LATEST },
    {
      title: `latest ${state} and an unspent resend for exactly that attempt`,
      known: known({ attempts: [attempt(state)], decisions: [RESEND] }),
      claim: facts(2),
      expected: { kind: 'claim', attempt: 2, permittedBy: 'D' },
    },
    {
      title: `latest ${state}, the resend being spent`,
      known: known({ attempts: [attempt(state), attempt(state, 2)], decisions: [RESEND] }),
      claim: facts(3),
      expected: LATEST,
    },
    {
      title: `latest ${state} and a resend that permits nothing`,
      known: known({ attempts: [attempt(state)], decisions: [{ decisionId: 'D', action: 'resend', attempt: 2 }] }),
      claim: facts(2),
      expected: LATEST,
    },
  ]),
  ...(['answered', 'accepted'] as const).flatMap((state): Row[] => [
    { title: `latest ${state}`, known: known({ attempts: [attempt(state)] }), claim: facts(2), expected: LATEST },
    {
      title: `latest ${state}, although a resend stands`,
      known: known({ attempts: [attempt(state)], decisions: [RESEND] }),
      claim: facts(2),
      expected: LATEST,
    },
  ]),
  {
    title: 'abandoned, although a resend stands',
    known: known({ abandoned: true, attempts: [attempt('unknown')], decisions: [RESEND, ABANDON] }),
    claim: facts(2),
    expected: LATEST,
  },
  {
    title: 'abandoned before any claim',
    known: known({ abandoned: true, digest: null, decisions: [ABANDON] }),
    claim: facts(1),
    expected: LATEST,
  },
  ...(['begun', 'done'] as const).flatMap((disposal): Row[] => [
    {
      title: `disposal ${disposal}, although a resend stands`,
      known: known({ disposal, digest: null, attempts: [attempt('unknown')], decisions: [RESEND] }),
      claim: facts(2),
      expected: LATEST,
    },
    {
      title: `disposal ${disposal}, before any claim`,
      known: known({ disposal, digest: null }),
      claim: facts(1),
      expected: LATEST,
    },
  ]),
  {
    title: 'the attempt is there already',
    known: known({ attempts: [attempt('notSent')] }),
    claim: facts(1),
    expected: LATEST,
  },
  {
    title: 'a later attempt is there already',
    known: known({ attempts: [attempt('notSent'), attempt('notSent', 2), attempt('notSent', 3)] }),
    claim: facts(2),
    expected: LATEST,
  },
  {
    title: 'an older copy of the ledger, which has the inquiry’s outcome',
    known: known({ isRestored: true, attempts: [attempt('answered')] }),
    claim: facts(1),
    expected: { kind: 'ledgerRestored' },
  },
  {
    title: 'an older copy of the ledger, which has nothing of the inquiry',
    known: known({ isRestored: true, digest: null }),
    claim: facts(1),
    expected: { kind: 'ledgerRestored' },
  },
  ...(['notSent', 'notProcessed'] as const).map(
    (state): Row => ({
      title: `an attempt was answered late, and the one after it is ${state}`,
      known: known({
        attempts: [{ ...attempt('unknown'), answeredLate: true }, attempt(state, 2)],
        decisions: [RESEND],
      }),
      claim: facts(3),
      expected: LATEST,
    }),
  ),
  {
    title: 'an attempt was answered late, and a resend judges only the unknown one after it',
    known: known({
      attempts: [{ ...attempt('unknown'), answeredLate: true }, attempt('unknown', 2)],
      decisions: [RESEND, { decisionId: 'F', action: 'resend', attempt: 2, permitsAttempt: 3 }],
    }),
    claim: facts(3),
    expected: LATEST,
  },
  {
    title: 'an attempt before the latest was accepted after its late answer',
    known: known({
      attempts: [{ ...attempt('accepted'), answeredLate: true }, attempt('notSent', 2)],
      decisions: [RESEND],
    }),
    claim: facts(3),
    expected: LATEST,
  },
  {
    title: 'its run was withdrawn, nothing yet',
    known: known({ isWithdrawn: true, digest: null }),
    claim: facts(1),
    expected: { kind: 'withdrawn' },
  },
  {
    title: 'its run was withdrawn, although a resend stands',
    known: known({ isWithdrawn: true, attempts: [attempt('unknown')], decisions: [RESEND] }),
    claim: facts(2),
    expected: { kind: 'withdrawn' },
  },
  {
    title: 'its run was withdrawn, and the outcome stands',
    known: known({ isWithdrawn: true, attempts: [attempt('answered')] }),
    claim: facts(1),
    expected: LATEST,
  },
  {
    title: 'paused, nothing yet',
    known: known({ isPaused: true, digest: null }),
    claim: facts(1),
    expected: { kind: 'paused' },
  },
  {
    title: 'paused, although a resend stands',
    known: known({ isPaused: true, attempts: [attempt('unknown')], decisions: [RESEND] }),
    claim: facts(2),
    expected: { kind: 'paused' },
  },
  {
    title: 'paused, and the outcome stands',
    known: known({ isPaused: true, attempts: [attempt('answered')] }),
    claim: facts(1),
    expected: LATEST,
  },
  {
    title: 'paused, and a person must decide first',
    known: known({ isPaused: true, attempts: [attempt('unknown')] }),
    claim: facts(2),
    expected: LATEST,
  },
  {
    title: 'the inquiry stands under another number',
    known: known({ digest: null, otherNumber: 'U' }),
    claim: facts(1),
    expected: { kind: 'anotherNumber', customerTraceNumber: 'U' },
  },
  {
    title: 'the inquiry stands under another number, and a decision permits this one beside it',
    known: known({
      digest: null,
      otherNumber: 'U',
      decisions: [{ decisionId: 'D', action: 'resend', attempt: 1, permitsAttempt: 1 }],
    }),
    claim: facts(1),
    expected: { kind: 'claim', attempt: 1, permittedBy: 'D' },
  },
  {
    title: 'the inquiry stands under another number, and this one was abandoned for it',
    known: known({ digest: null, otherNumber: 'U', abandoned: true }),
    claim: facts(1),
    expected: LATEST,
  },
  {
    title: 'another digest',
    known: known({ attempts: [attempt('answered')] }),
    claim: facts(1, { digest: 'e' }),
    expected: { kind: 'requestDiffers' },
  },
  {
    title: 'another digest, abandoned',
    known: known({ abandoned: true }),
    claim: facts(1, { digest: 'e' }),
    expected: { kind: 'requestDiffers' },
  },
  {
    title: 'another ledger',
    known: known({ attempts: [attempt('answered')] }),
    claim: facts(1, { ledgerId: 'ledger-2' }),
    expected: { kind: 'ledgerChanged' },
  },
  {
    title: 'another ledger, empty, before the first attempt',
    known: known({ digest: null }),
    claim: facts(1, { ledgerId: 'ledger-2' }),
    expected: { kind: 'ledgerChanged' },
  },
  {
    title: 'another digest after an attempt that was not sent',
    known: known({ attempts: [attempt('notSent')] }),
    claim: facts(2, { digest: 'e' }),
    expected: { kind: 'requestDiffers' },
  },
  {
    title: 'an empty ledger where attempt 1 should be',
    known: known({ digest: null }),
    claim: facts(2),
    expected: { kind: 'ledgerChanged' },
  },
  {
    title: 'a restored ledger that lacks the previous attempt',
    known: known({ attempts: [attempt('notSent')] }),
    claim: facts(3),
    expected: { kind: 'ledgerChanged' },
  },
  {
    title: 'a program older than the ledger takes writes from',
    known: known({ oldestWriter: 9 }),
    claim: facts(1),
    expected: { kind: 'writerTooOld' },
  },
  {
    title: 'a program newer than the ledger asks for',
    known: known({ oldestWriter: 9, digest: null }),
    claim: facts(1, { writer: 10 }),
    expected: { kind: 'claim', attempt: 1 },
  },
  {
    title: 'a share, every grant of which stands',
    known: known({ share: { reportIsGone: false, grants: [{ worth: 'stands' }, { worth: 'stands' }] } }),
    claim: facts(1),
    expected: { kind: 'claim', attempt: 1 },
  },
  {
    title: 'a share that was withdrawn, every grant of which stands',
    known: known({ share: { isWithdrawn: true, reportIsGone: false, grants: [{ worth: 'stands' }] } }),
    claim: facts(1),
    expected: { kind: 'notPermitted' },
  },
  {
    title: 'a share that was answered, although it was withdrawn',
    known: known({
      attempts: [attempt('answered')],
      share: { isWithdrawn: true, reportIsGone: false, grants: [{ worth: 'stands' }] },
    }),
    claim: facts(2),
    expected: LATEST,
  },
  {
    title: 'a share of a report that is gone',
    known: known({ share: { reportIsGone: true, grants: [{ worth: 'stands' }] } }),
    claim: facts(1),
    expected: { kind: 'notPermitted' },
  },
  {
    title: 'a share that brings no grant',
    known: known({ share: { reportIsGone: false, grants: [] } }),
    claim: facts(1),
    expected: { kind: 'notPermitted' },
  },
  ...(['missing', 'refused', 'tooOld', 'spent'] as const).map(
    (worth): Row => ({
      title: `a share, one grant of which is ${worth}`,
      known: known({ share: { reportIsGone: false, grants: [{ worth: 'stands' }, { worth }] } }),
      claim: facts(1),
      expected: { kind: 'notPermitted' },
    }),
  ),
  {
    title: 'a share that was answered, although it is not permitted any more',
    known: known({ attempts: [attempt('answered')], share: { reportIsGone: true, grants: [{ worth: 'refused' }] } }),
    claim: facts(1),
    expected: LATEST,
  },
];

const NUMBER = { customerTraceNumber: 'T', customerId: 'HOUSE1', ordinal: 0, permittedRepeat: 0 };

describe('the number of an inquiry', () => {
  test('is the first where nothing was claimed for the stage', () => {
    assert.deepEqual(findRepeat([], NUMBER), { permittedRepeat: 0 });
  });

  test('is one of its customer’s own, also where it amends or repeats one of them', () => {
    const amended = { ...NUMBER, customerTraceNumber: 'T1', ordinal: 1 };
    assert.deepEqual(findRepeat([NUMBER], NUMBER), { permittedRepeat: 0 });
    assert.deepEqual(findRepeat([NUMBER], amended), { permittedRepeat: 0 });
    const permitted = { ...NUMBER, customerTraceNumber: 'U', customerId: 'HOUSE2', permittedRepeat: 1 };
    const own = { ...permitted, customerTraceNumber: 'U1', ordinal: 1 };
    assert.deepEqual(findRepeat([NUMBER, amended, permitted], own), { permittedRepeat: 1 });
  });

  test('of another customer is another one, whichever of the stage’s inquiries it is', () => {
    const other = { customerTraceNumber: 'U', customerId: 'HOUSE2', ordinal: 0 };
    assert.deepEqual(findRepeat([NUMBER], other), { permittedRepeat: 1, otherNumber: 'T' });
    assert.deepEqual(findRepeat([NUMBER], { ...other, ordinal: 1 }), { permittedRepeat: 1, otherNumber: 'T' });
    const amended = { ...NUMBER, customerTraceNumber: 'T1', ordinal: 1 };
    assert.deepEqual(findRepeat([NUMBER, amended], { ...other, ordinal: 1 }), {
      permittedRepeat: 1,
      otherNumber: 'T1',
    });
    const permitted = { ...other, permittedRepeat: 1 };
    const third = { customerTraceNumber: 'V', customerId: 'HOUSE3', ordinal: 0 };
    assert.deepEqual(findRepeat([NUMBER, permitted], third), { permittedRepeat: 2, otherNumber: 'U' });
  });
});

describe('the claim table', () => {
  for (const row of TABLE) {
    test(`${row.title}: ${row.expected.kind}`, () => {
      assert.deepEqual(decideClaim(row.known, row.claim), row.expected);
    });
  }

  for (const rule of CLAIM_RULES) {
    test(`needs its rule ${rule.name}`, () => {
      const others = CLAIM_RULES.filter((candidate) => candidate !== rule);
      const changed = TABLE.filter((row) => {
        const verdict = decideClaim(row.known, row.claim, others);
        return verdict.kind === 'claim' && row.expected.kind !== 'claim';
      });
      assert.notEqual(changed.length, 0, 'without it, something is claimed that must not be');
    });
  }
});
