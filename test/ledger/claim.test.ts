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
import { findRepeat } from '../../src/ledger/inquiries/rules.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';

const LEDGER = 'ledger-1';

function known(change: Partial<KnownInquiry> = {}): KnownInquiry {
  return { ledgerId: LEDGER, oldestWriter: 8, digest: 'd', abandoned: false, attempts: [], decisions: [], ...change };
}

function facts(number: number, change: Partial<ClaimFacts> = {}): ClaimFacts {
  return { ledgerId: LEDGER, writer: 8, digest: 'd', attempt: number, ...change };
}

/** Title, known inquiry, claim or only its attempt number, and expected decision or only its kind. */
type Row = [title: string, Partial<KnownInquiry>, ClaimFacts | number, ClaimDecision | ClaimDecision['kind'] | 'by D'];

/** Makes overdue attempts in the given states. */
function made(...states: (AttemptState | Partial<KnownAttempt>)[]): Pick<KnownInquiry, 'attempts'> {
  const attempts = states.map((given, index): KnownAttempt => {
    const named = typeof given === 'string' ? { state: given } : given;
    return { attempt: index + 1, state: 'unknown', answerInMs: -1, ...named };
  });
  return { attempts };
}

const RESEND = { decisionId: 'D', action: 'resend', attempt: 1, permitsAttempt: 2 } as const;
const RESENT = { decisions: [RESEND] };
const UNKNOWN_RESENT = { ...made('unknown'), ...RESENT };
const PERMITS_NOTHING = { decisions: [{ decisionId: 'D', action: 'resend', attempt: 2 }] } as const;
const ABANDON = { decisionId: 'E', action: 'abandon', attempt: 1 } as const;
const LATER_RESEND = { decisionId: 'F', action: 'resend', attempt: 2, permitsAttempt: 3 } as const;
const NEW = { digest: null };
const ANSWERED = made('answered');
const LATE = { answeredLate: true } as const;
const IN_TIME = made({ state: 'sending', answerInMs: 10 });
const OVERDUE = made({ state: 'sending', answerInMs: 0 });
const ELSEWHERE = { ...NEW, otherNumber: 'U' };
const PERMITTED: NonNullable<KnownInquiry['share']> = { reportIsGone: false, grants: [{ worth: 'stands' }] };
const WITHDRAWN = { share: { ...PERMITTED, isWithdrawn: true } };
const UNPERMITTED: Partial<KnownInquiry> = { share: { reportIsGone: true, grants: [{ worth: 'refused' }] } };
const OTHER_DIGEST = { digest: 'e' };
const OTHER_LEDGER = { ledgerId: 'ledger-2' };

const TABLE: Row[] = [
  ['the ledger has no claim of the inquiry', NEW, 1, 'claim'],
  ['a decision was recorded before any claim', { ...NEW, ...PERMITS_NOTHING }, 1, 'claim'],
  ...(['notSent', 'notProcessed'] as const).flatMap((state): Row[] => [
    [`the latest attempt is ${state}`, made(state), 2, 'claim'],
    [`an attempt was answered late, and the next one is ${state}`, { ...made(LATE, state), ...RESENT }, 3, 'latest'],
  ]),
  ['a resend follows an attempt that was not sent', { ...made('notSent'), ...RESENT }, 2, 'by D'],
  ['the latest attempt is in flight', IN_TIME, 2, 'latest'],
  ['the latest attempt is in flight, although a resend is unspent', { ...IN_TIME, ...RESENT }, 2, 'latest'],
  ['the latest attempt is overdue', OVERDUE, 2, 'latest'],
  ['the latest attempt is overdue, and a resend is unspent', { ...OVERDUE, ...RESENT }, 2, 'by D'],
  ...(['unknown', 'refused', 'notEntitled', 'credentialsRefused', 'untrusted'] as const).flatMap((state): Row[] => [
    [`the latest attempt is ${state}`, made(state), 2, 'latest'],
    [
      `the latest attempt is ${state}, and a resend for exactly that attempt is unspent`,
      { ...made(state), ...RESENT },
      2,
      'by D',
    ],
    [`the latest attempt is ${state}, and the resend is spent`, { ...made(state, state), ...RESENT }, 3, 'latest'],
    [
      `the latest attempt is ${state}, and the resend permits no attempt`,
      { ...made(state), ...PERMITS_NOTHING },
      2,
      'latest',
    ],
  ]),
  ...(['answered', 'accepted'] as const).flatMap((state): Row[] => [
    [`the latest attempt is ${state}`, made(state), 2, 'latest'],
    [`the latest attempt is ${state}, although a resend is unspent`, { ...made(state), ...RESENT }, 2, 'latest'],
  ]),
  [
    'the inquiry was abandoned, although a resend is unspent',
    { abandoned: true, ...made('unknown'), decisions: [RESEND, ABANDON] },
    2,
    'latest',
  ],
  ['the inquiry was abandoned before any claim', { ...NEW, abandoned: true, decisions: [ABANDON] }, 1, 'latest'],
  ...(['begun', 'done'] as const).flatMap((disposal): Row[] => [
    [`its disposal is ${disposal}, although a resend is unspent`, { ...NEW, ...UNKNOWN_RESENT, disposal }, 2, 'latest'],
    [`its disposal is ${disposal} before any claim`, { ...NEW, disposal }, 1, 'latest'],
  ]),
  ['the attempt was already claimed', made('notSent'), 1, 'latest'],
  ['a later attempt was already claimed', made('notSent', 'notSent', 'notSent'), 2, 'latest'],
  [
    'the ledger is an older copy, which has the inquiry’s outcome',
    { ...ANSWERED, isRestored: true },
    1,
    'ledgerRestored',
  ],
  ['the ledger is an older copy, which lacks the inquiry', { ...NEW, isRestored: true }, 1, 'ledgerRestored'],
  [
    'an attempt was answered late, and a resend is about only the unknown attempt after it',
    { ...made(LATE, 'unknown'), decisions: [RESEND, LATER_RESEND] },
    3,
    'latest',
  ],
  [
    'an attempt before the latest was accepted after its late answer',
    { ...made({ ...LATE, state: 'accepted' }, 'notSent'), ...RESENT },
    3,
    'latest',
  ],
  ['its run was withdrawn before any claim', { ...NEW, isWithdrawn: true }, 1, 'withdrawn'],
  ['its run was withdrawn, although a resend is unspent', { ...UNKNOWN_RESENT, isWithdrawn: true }, 2, 'withdrawn'],
  ['its run was withdrawn, and the inquiry has an outcome', { ...ANSWERED, isWithdrawn: true }, 1, 'latest'],
  ['its profile is paused before any claim', { ...NEW, isPaused: true }, 1, 'paused'],
  ['its profile is paused, although a resend is unspent', { ...UNKNOWN_RESENT, isPaused: true }, 2, 'paused'],
  ['its profile is paused, and the inquiry has an outcome', { ...ANSWERED, isPaused: true }, 1, 'latest'],
  [
    'its profile is paused, and the inquiry needs a decision first',
    { ...made('unknown'), isPaused: true },
    2,
    'latest',
  ],
  ['the inquiry was claimed under another number', ELSEWHERE, 1, { kind: 'anotherNumber', customerTraceNumber: 'U' }],
  [
    'the inquiry was claimed under another number, and a decision permits this number too',
    { ...ELSEWHERE, decisions: [{ ...RESEND, permitsAttempt: 1 }] },
    1,
    'by D',
  ],
  [
    'the inquiry was claimed under another number, and this number was abandoned',
    { ...ELSEWHERE, abandoned: true },
    1,
    'latest',
  ],
  ['the digest differs', ANSWERED, facts(1, OTHER_DIGEST), 'requestDiffers'],
  ['the digest differs, and the inquiry was abandoned', { abandoned: true }, facts(1, OTHER_DIGEST), 'requestDiffers'],
  ['the digest differs after an attempt that was not sent', made('notSent'), facts(2, OTHER_DIGEST), 'requestDiffers'],
  ['the ledger id differs', ANSWERED, facts(1, OTHER_LEDGER), 'ledgerChanged'],
  ['the ledger id differs, and the ledger is empty', NEW, facts(1, OTHER_LEDGER), 'ledgerChanged'],
  ['the ledger is empty and should have attempt 1', NEW, 2, 'ledgerChanged'],
  ['the ledger lacks the previous attempt', made('notSent'), 3, 'ledgerChanged'],
  ['the program is older than the ledger accepts', { oldestWriter: 9 }, 1, 'writerTooOld'],
  ['the program is newer than the ledger requires', { ...NEW, oldestWriter: 9 }, facts(1, { writer: 10 }), 'claim'],
  ['every grant of the share is valid', { share: PERMITTED }, 1, 'claim'],
  ['the share was withdrawn, although every grant is valid', WITHDRAWN, 1, 'notPermitted'],
  ['the share was answered, although it was withdrawn', { ...ANSWERED, ...WITHDRAWN }, 2, 'latest'],
  ['the report of the share is gone', { share: { ...PERMITTED, reportIsGone: true } }, 1, 'notPermitted'],
  ['the share has no grant', { share: { ...PERMITTED, grants: [] } }, 1, 'notPermitted'],
  ...(['missing', 'otherPerson', 'refused', 'tooOld', 'spent'] as const).map((worth): Row => {
    const share = { ...PERMITTED, grants: [{ worth: 'stands' as const }, { worth }] };
    return [`one grant of the share is ${worth}`, { share }, 1, 'notPermitted'];
  }),
  ['the share was answered, although it is no longer permitted', { ...ANSWERED, ...UNPERMITTED }, 1, 'latest'],
];

const NUMBER = { customerTraceNumber: 'T', customerId: 'HOUSE1', ordinal: 0, permittedRepeat: 0 };

describe('the repeat number of a claim', () => {
  test('is the first when nothing was claimed for the stage', () => {
    assert.deepEqual(findRepeat([], NUMBER), { permittedRepeat: 0 });
  });

  test('is that of the customer’s own inquiry, also for an amendment or a repeat', () => {
    const amended = { ...NUMBER, customerTraceNumber: 'T1', ordinal: 1 };
    assert.deepEqual(findRepeat([NUMBER], NUMBER), { permittedRepeat: 0 });
    assert.deepEqual(findRepeat([NUMBER], amended), { permittedRepeat: 0 });
    const permitted = { ...NUMBER, customerTraceNumber: 'U', customerId: 'HOUSE2', permittedRepeat: 1 };
    const own = { ...permitted, customerTraceNumber: 'U1', ordinal: 1 };
    assert.deepEqual(findRepeat([NUMBER, amended, permitted], own), { permittedRepeat: 1 });
  });

  test('is the next for another customer, with the trace number that the stage already has', () => {
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
    test(`decides ${row.expected.kind} when ${row.title}`, () => {
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
