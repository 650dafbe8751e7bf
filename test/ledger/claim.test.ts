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

function facts(number: number, change: Partial<ClaimFacts> = {}): ClaimFacts {
  return { ledgerId: LEDGER, writer: 8, digest: 'd', attempt: number, ...change };
}

/** The title, what the ledger knows, the claim or its attempt, and what is decided, or the kind of that alone. */
type Row = [title: string, Partial<KnownInquiry>, ClaimFacts | number, ClaimDecision | ClaimDecision['kind'] | 'by D'];

/** Attempts whose time is over. */
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
  ['nothing yet', NEW, 1, 'claim'],
  ['a decision came before any claim', { ...NEW, ...PERMITS_NOTHING }, 1, 'claim'],
  ...(['notSent', 'notProcessed'] as const).flatMap((state): Row[] => [
    [`latest ${state}`, made(state), 2, 'claim'],
    [
      `an attempt was answered late, and the one after it is ${state}`,
      { ...made(LATE, state), ...RESENT },
      3,
      'latest',
    ],
  ]),
  ['a resend after not sent is spent by the claim', { ...made('notSent'), ...RESENT }, 2, 'by D'],
  ['sending, in time', IN_TIME, 2, 'latest'],
  ['sending, in time, although a resend stands', { ...IN_TIME, ...RESENT }, 2, 'latest'],
  ['sending, overdue', OVERDUE, 2, 'latest'],
  ['sending, overdue, and a resend', { ...OVERDUE, ...RESENT }, 2, 'by D'],
  ...(['unknown', 'refused', 'notEntitled', 'credentialsRefused', 'untrusted'] as const).flatMap((state): Row[] => [
    [`latest ${state}`, made(state), 2, 'latest'],
    [`latest ${state} and an unspent resend for exactly that attempt`, { ...made(state), ...RESENT }, 2, 'by D'],
    [`latest ${state}, the resend being spent`, { ...made(state, state), ...RESENT }, 3, 'latest'],
    [`latest ${state} and a resend that permits nothing`, { ...made(state), ...PERMITS_NOTHING }, 2, 'latest'],
  ]),
  ...(['answered', 'accepted'] as const).flatMap((state): Row[] => [
    [`latest ${state}`, made(state), 2, 'latest'],
    [`latest ${state}, although a resend stands`, { ...made(state), ...RESENT }, 2, 'latest'],
  ]),
  [
    'abandoned, although a resend stands',
    { abandoned: true, ...made('unknown'), decisions: [RESEND, ABANDON] },
    2,
    'latest',
  ],
  ['abandoned before any claim', { ...NEW, abandoned: true, decisions: [ABANDON] }, 1, 'latest'],
  ...(['begun', 'done'] as const).flatMap((disposal): Row[] => [
    [`disposal ${disposal}, although a resend stands`, { ...NEW, ...UNKNOWN_RESENT, disposal }, 2, 'latest'],
    [`disposal ${disposal}, before any claim`, { ...NEW, disposal }, 1, 'latest'],
  ]),
  ['the attempt is there already', made('notSent'), 1, 'latest'],
  ['a later attempt is there already', made('notSent', 'notSent', 'notSent'), 2, 'latest'],
  ['an older copy, which has the inquiry’s outcome', { ...ANSWERED, isRestored: true }, 1, 'ledgerRestored'],
  ['an older copy, which has nothing of the inquiry', { ...NEW, isRestored: true }, 1, 'ledgerRestored'],
  [
    'an attempt was answered late, and a resend judges only the unknown one after it',
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
  ['its run was withdrawn, nothing yet', { ...NEW, isWithdrawn: true }, 1, 'withdrawn'],
  ['its run was withdrawn, although a resend stands', { ...UNKNOWN_RESENT, isWithdrawn: true }, 2, 'withdrawn'],
  ['its run was withdrawn, and the outcome stands', { ...ANSWERED, isWithdrawn: true }, 1, 'latest'],
  ['paused, nothing yet', { ...NEW, isPaused: true }, 1, 'paused'],
  ['paused, although a resend stands', { ...UNKNOWN_RESENT, isPaused: true }, 2, 'paused'],
  ['paused, and the outcome stands', { ...ANSWERED, isPaused: true }, 1, 'latest'],
  ['paused, and a person must decide first', { ...made('unknown'), isPaused: true }, 2, 'latest'],
  ['the inquiry stands under another number', ELSEWHERE, 1, { kind: 'anotherNumber', customerTraceNumber: 'U' }],
  [
    'the inquiry stands under another number, and a decision permits this one beside it',
    { ...ELSEWHERE, decisions: [{ ...RESEND, permitsAttempt: 1 }] },
    1,
    'by D',
  ],
  ['it stands under another number, and this one was abandoned', { ...ELSEWHERE, abandoned: true }, 1, 'latest'],
  ['another digest', ANSWERED, facts(1, OTHER_DIGEST), 'requestDiffers'],
  ['another digest, abandoned', { abandoned: true }, facts(1, OTHER_DIGEST), 'requestDiffers'],
  ['another digest after an attempt that was not sent', made('notSent'), facts(2, OTHER_DIGEST), 'requestDiffers'],
  ['another ledger', ANSWERED, facts(1, OTHER_LEDGER), 'ledgerChanged'],
  ['another ledger, empty, before the first attempt', NEW, facts(1, OTHER_LEDGER), 'ledgerChanged'],
  ['an empty ledger where attempt 1 should be', NEW, 2, 'ledgerChanged'],
  ['a restored ledger that lacks the previous attempt', made('notSent'), 3, 'ledgerChanged'],
  ['a program older than the ledger takes writes from', { oldestWriter: 9 }, 1, 'writerTooOld'],
  ['a program newer than the ledger asks for', { ...NEW, oldestWriter: 9 }, facts(1, { writer: 10 }), 'claim'],
  ['a share, every grant of which stands', { share: PERMITTED }, 1, 'claim'],
  ['a share that was withdrawn, every grant of which stands', WITHDRAWN, 1, 'notPermitted'],
  ['a share that was answered, although it was withdrawn', { ...ANSWERED, ...WITHDRAWN }, 2, 'latest'],
  ['a share of a report that is gone', { share: { ...PERMITTED, reportIsGone: true } }, 1, 'notPermitted'],
  ['a share that brings no grant', { share: { ...PERMITTED, grants: [] } }, 1, 'notPermitted'],
  ...(['missing', 'refused', 'tooOld', 'spent'] as const).map((worth): Row => {
    const share = { ...PERMITTED, grants: [{ worth: 'stands' as const }, { worth }] };
    return [`a share, one grant of which is ${worth}`, { share }, 1, 'notPermitted'];
  }),
  ['a share that was answered, although it is not permitted any more', { ...ANSWERED, ...UNPERMITTED }, 1, 'latest'],
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
