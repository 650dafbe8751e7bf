import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KnownInquiry } from '../../src/ledger/claim.ts';
import { decideOutcome, type OutcomeFacts } from '../../src/ledger/inquiries/inquiry-transactions.ts';
import type { RecordVerdict } from '../../src/ledger/records.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';

const RESENT = { decisions: [{ decisionId: 'D', action: 'resend', attempt: 1, permitsAttempt: 2 }] } as const;
const ABANDONED = { abandoned: true };
const DISPOSED = { disposal: 'done' } as const;

/** Title, attempts, new state of the first attempt, expected verdict, and other facts of the ledger. */
type Row = [string, AttemptState[], OutcomeFacts['state'] | 'the same', RecordVerdict, Partial<KnownInquiry>?];

const TABLE: Row[] = [
  ['the ledger has no such attempt', [], 'answered', 'missing'],
  ['an attempt in flight is answered', ['sending'], 'answered', 'recorded'],
  ['an attempt in flight was never sent', ['sending'], 'notSent', 'recorded'],
  ['an unknown outcome is answered late', ['unknown'], 'answered', 'recorded'],
  ['an unknown outcome is answered while its resend is unspent', ['unknown'], 'answered', 'recorded', RESENT],
  ['the same answer is recorded again', ['answered'], 'the same', 'already'],
  ['the state unknown is recorded after the answer', ['answered'], 'unknown', 'already'],
  ['another answer arrives after the answer', ['answered'], 'answered', 'late'],
  ['an answer arrives for an attempt that was never sent', ['notSent'], 'answered', 'late'],
  ['an answer arrives after the resend was spent', ['unknown', 'sending'], 'answered', 'late'],
  ['the attempt with the spent resend is still unknown', ['unknown', 'sending'], 'unknown', 'already'],
  ['an answer arrives after an operator accepted', ['accepted'], 'answered', 'late'],
  ['the answer that the accept overruled is recorded again', ['accepted'], 'the same', 'already'],
  ['an answer arrives after an operator abandoned', ['unknown'], 'answered', 'late', ABANDONED],
  ['the state unknown is recorded after an operator abandoned', ['sending'], 'unknown', 'already', ABANDONED],
  [
    'an answer arrives while the inquiry is being disposed of',
    ['unknown'],
    'answered',
    'recorded',
    { disposal: 'begun' },
  ],
  ['an answer arrives after the inquiry was disposed of', ['unknown'], 'answered', 'late', DISPOSED],
  [
    'the known answer is recorded again after the inquiry was disposed of',
    ['answered'],
    'answered',
    'already',
    DISPOSED,
  ],
  ['the state unknown is recorded after the inquiry was disposed of', ['unknown'], 'unknown', 'already', DISPOSED],
];

describe('the outcome table', () => {
  for (const [title, states, news, expected, change] of TABLE) {
    test(`decides ${expected} when ${title}`, () => {
      const attempts = states.map((state, index) => ({ attempt: index + 1, state, answerInMs: 0 }));
      const inquiry = { ledgerId: 'l', oldestWriter: 8, digest: 'd', abandoned: false, attempts, decisions: [] };
      const isRepeated = news === 'the same';
      const facts = { attempt: 1, state: isRepeated ? ('answered' as const) : news, isRepeated };
      assert.equal(decideOutcome({ ...inquiry, ...change }, facts), expected);
    });
  }
});
