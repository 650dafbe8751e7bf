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

/** The title, what the ledger knows, the claim or its attempt, and what is decided, or the kind of that alone. */
type Row = [title: string, Partial<KnownInquiry>, ClaimFacts | number, ClaimDecision | ClaimDecision['kind'] | 'by D'];

const RESENT = { attempts: [attempt('unknown')], decisions: [RESEND] };
const PERMITTED: NonNullable<KnownInquiry['share']> = { reportIsGone: false, grants: [{ worth: 'stands' }] };

const TABLE: Row[] = [
  ['nothing yet', { digest: null }, 1, 'claim'],
  [
    'a decision came before any claim',
    { digest: null, decisions: [{ decisionId: 'D', action: 'resend', attempt: 1 }] },
    1,
    'claim',
  ],
  ...(['notSent', 'notProcessed'] as const).map(
    (state): Row => [`latest ${state}`, { attempts: [attempt(state)] }, 2, 'claim'],
  ),
  ['a resend after not sent is spent by the claim', { attempts: [attempt('notSent')], decisions: [RESEND] }, 2, 'by D'],
  ['sending, in time', { attempts: [attempt('sending', 1, 10)] }, 2, 'latest'],
  [
    'sending, in time, although a resend stands',
    { attempts: [attempt('sending', 1, 10)], decisions: [RESEND] },
    2,
    'latest',
  ],
  ['sending, overdue', { attempts: [attempt('sending', 1, 0)] }, 2, 'latest'],
  ['sending, overdue, and a resend', { attempts: [attempt('sending', 1, 0)], decisions: [RESEND] }, 2, 'by D'],
  ...(['unknown', 'refused', 'notEntitled', 'credentialsRefused', 'untrusted'] as const).flatMap((state): Row[] => [
    [`latest ${state}`, { attempts: [attempt(state)] }, 2, 'latest'],
    [
      `latest ${state} and an unspent resend for exactly that attempt`,
      { attempts: [attempt(state)], decisions: [RESEND] },
      2,
      'by D',
    ],
    [
      `latest ${state}, the resend being spent`,
      { attempts: [attempt(state), attempt(state, 2)], decisions: [RESEND] },
      3,
      'latest',
    ],
    [
      `latest ${state} and a resend that permits nothing`,
      { attempts: [attempt(state)], decisions: [{ decisionId: 'D', action: 'resend', attempt: 2 }] },
      2,
      'latest',
    ],
  ]),
  ...(['answered', 'accepted'] as const).flatMap((state): Row[] => [
    [`latest ${state}`, { attempts: [attempt(state)] }, 2, 'latest'],
    [`latest ${state}, although a resend stands`, { attempts: [attempt(state)], decisions: [RESEND] }, 2, 'latest'],
  ]),
  [
    'abandoned, although a resend stands',
    { abandoned: true, attempts: [attempt('unknown')], decisions: [RESEND, ABANDON] },
    2,
    'latest',
  ],
  ['abandoned before any claim', { abandoned: true, digest: null, decisions: [ABANDON] }, 1, 'latest'],
  ...(['begun', 'done'] as const).flatMap((disposal): Row[] => [
    [`disposal ${disposal}, although a resend stands`, { disposal, digest: null, ...RESENT }, 2, 'latest'],
    [`disposal ${disposal}, before any claim`, { disposal, digest: null }, 1, 'latest'],
  ]),
  ['the attempt is there already', { attempts: [attempt('notSent')] }, 1, 'latest'],
  [
    'a later attempt is there already',
    { attempts: [attempt('notSent'), attempt('notSent', 2), attempt('notSent', 3)] },
    2,
    'latest',
  ],
  [
    'an older copy of the ledger, which has the inquiry’s outcome',
    { isRestored: true, attempts: [attempt('answered')] },
    1,
    'ledgerRestored',
  ],
  [
    'an older copy of the ledger, which has nothing of the inquiry',
    { isRestored: true, digest: null },
    1,
    'ledgerRestored',
  ],
  ...(['notSent', 'notProcessed'] as const).map(
    (state): Row => [
      `an attempt was answered late, and the one after it is ${state}`,
      {
        attempts: [{ ...attempt('unknown'), answeredLate: true }, attempt(state, 2)],
        decisions: [RESEND],
      },
      3,
      'latest',
    ],
  ),
  [
    'an attempt was answered late, and a resend judges only the unknown one after it',
    {
      attempts: [{ ...attempt('unknown'), answeredLate: true }, attempt('unknown', 2)],
      decisions: [RESEND, { decisionId: 'F', action: 'resend', attempt: 2, permitsAttempt: 3 }],
    },
    3,
    'latest',
  ],
  [
    'an attempt before the latest was accepted after its late answer',
    {
      attempts: [{ ...attempt('accepted'), answeredLate: true }, attempt('notSent', 2)],
      decisions: [RESEND],
    },
    3,
    'latest',
  ],
  ['its run was withdrawn, nothing yet', { isWithdrawn: true, digest: null }, 1, 'withdrawn'],
  ['its run was withdrawn, although a resend stands', { isWithdrawn: true, ...RESENT }, 2, 'withdrawn'],
  [
    'its run was withdrawn, and the outcome stands',
    { isWithdrawn: true, attempts: [attempt('answered')] },
    1,
    'latest',
  ],
  ['paused, nothing yet', { isPaused: true, digest: null }, 1, 'paused'],
  ['paused, although a resend stands', { isPaused: true, ...RESENT }, 2, 'paused'],
  ['paused, and the outcome stands', { isPaused: true, attempts: [attempt('answered')] }, 1, 'latest'],
  ['paused, and a person must decide first', { isPaused: true, attempts: [attempt('unknown')] }, 2, 'latest'],
  [
    'the inquiry stands under another number',
    { digest: null, otherNumber: 'U' },
    1,
    { kind: 'anotherNumber', customerTraceNumber: 'U' },
  ],
  [
    'the inquiry stands under another number, and a decision permits this one beside it',
    {
      digest: null,
      otherNumber: 'U',
      decisions: [{ decisionId: 'D', action: 'resend', attempt: 1, permitsAttempt: 1 }],
    },
    1,
    'by D',
  ],
  [
    'the inquiry stands under another number, and this one was abandoned for it',
    { digest: null, otherNumber: 'U', abandoned: true },
    1,
    'latest',
  ],
  ['another digest', { attempts: [attempt('answered')] }, facts(1, { digest: 'e' }), 'requestDiffers'],
  ['another digest, abandoned', { abandoned: true }, facts(1, { digest: 'e' }), 'requestDiffers'],
  ['another ledger', { attempts: [attempt('answered')] }, facts(1, { ledgerId: 'ledger-2' }), 'ledgerChanged'],
  [
    'another ledger, empty, before the first attempt',
    { digest: null },
    facts(1, { ledgerId: 'ledger-2' }),
    'ledgerChanged',
  ],
  [
    'another digest after an attempt that was not sent',
    { attempts: [attempt('notSent')] },
    facts(2, { digest: 'e' }),
    'requestDiffers',
  ],
  ['an empty ledger where attempt 1 should be', { digest: null }, 2, 'ledgerChanged'],
  ['a restored ledger that lacks the previous attempt', { attempts: [attempt('notSent')] }, 3, 'ledgerChanged'],
  ['a program older than the ledger takes writes from', { oldestWriter: 9 }, 1, 'writerTooOld'],
  ['a program newer than the ledger asks for', { oldestWriter: 9, digest: null }, facts(1, { writer: 10 }), 'claim'],
  [
    'a share, every grant of which stands',
    { share: { ...PERMITTED, grants: [{ worth: 'stands' }, { worth: 'stands' }] } },
    1,
    'claim',
  ],
  [
    'a share that was withdrawn, every grant of which stands',
    { share: { ...PERMITTED, isWithdrawn: true } },
    1,
    'notPermitted',
  ],
  [
    'a share that was answered, although it was withdrawn',
    { attempts: [attempt('answered')], share: { ...PERMITTED, isWithdrawn: true } },
    2,
    'latest',
  ],
  ['a share of a report that is gone', { share: { ...PERMITTED, reportIsGone: true } }, 1, 'notPermitted'],
  ['a share that brings no grant', { share: { ...PERMITTED, grants: [] } }, 1, 'notPermitted'],
  ...(['missing', 'refused', 'tooOld', 'spent'] as const).map(
    (worth): Row => [
      `a share, one grant of which is ${worth}`,
      { share: { ...PERMITTED, grants: [{ worth: 'stands' }, { worth }] } },
      1,
      'notPermitted',
    ],
  ),
  [
    'a share that was answered, although it is not permitted any more',
    { attempts: [attempt('answered')], share: { reportIsGone: true, grants: [{ worth: 'refused' }] } },
    1,
    'latest',
  ],
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
  const rows = TABLE.map(([title, change, asked, decided]) => {
    const claim = typeof asked === 'number' ? facts(asked) : asked;
    const claimed = { kind: 'claim', attempt: claim.attempt };
    const named = decided === 'by D' ? { ...claimed, permittedBy: 'D' } : { kind: decided };
    const expected = typeof decided !== 'string' ? decided : decided === 'claim' ? claimed : named;
    return { title, claim, expected, facts: known(change) };
  });

  for (const row of rows) {
    test(`${row.title}: ${row.expected.kind}`, () => {
      assert.deepEqual(decideClaim(row.facts, row.claim), row.expected);
    });
  }

  for (const rule of CLAIM_RULES) {
    test(`needs its rule ${rule.name}`, () => {
      const others = CLAIM_RULES.filter((candidate) => candidate !== rule);
      const changed = rows.filter(
        (row) => row.expected.kind !== 'claim' && decideClaim(row.facts, row.claim, others).kind === 'claim',
      );
      assert.notEqual(changed.length, 0, 'without it, something is claimed that must not be');
    });
  }
});
