import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KnownInquiry } from '../../src/ledger/claim.ts';
import { decideOutcome, type OutcomeFacts } from '../../src/ledger/inquiries/inquiry-transactions.ts';
import type { RecordVerdict } from '../../src/ledger/records.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';

const RESENT = { decisions: [{ decisionId: 'D', action: 'resend', attempt: 1, permitsAttempt: 2 }] } as const;
const ABANDONED = { abandoned: true };
const DISPOSED = { disposal: 'done' } as const;

/** The attempts, what came about the first one, and what else the ledger knows. */
type Row = [string, AttemptState[], OutcomeFacts['state'] | 'the same', RecordVerdict, Partial<KnownInquiry>?];

const TABLE: Row[] = [
  ['no such attempt', [], 'answered', 'missing'],
  ['an attempt in flight is answered', ['sending'], 'answered', 'recorded'],
  ['an attempt in flight was never sent', ['sending'], 'notSent', 'recorded'],
  ['an unknown outcome is answered late', ['unknown'], 'answered', 'recorded'],
  ['an unknown outcome is answered while its resend is unspent', ['unknown'], 'answered', 'recorded', RESENT],
  ['the same is said again', ['answered'], 'the same', 'already'],
  ['"unknown" comes after the answer', ['answered'], 'unknown', 'already'],
  ['another answer comes after the answer', ['answered'], 'answered', 'late'],
  ['an answer comes to what was never sent', ['notSent'], 'answered', 'late'],
  ['an answer comes after the resend was spent', ['unknown', 'sending'], 'answered', 'late'],
  ['the spent attempt is still unknown', ['unknown', 'sending'], 'unknown', 'already'],
  ['an answer comes after somebody accepted', ['accepted'], 'answered', 'late'],
  ['the answer that was overruled is said again', ['accepted'], 'the same', 'already'],
  ['an answer comes after somebody abandoned', ['unknown'], 'answered', 'late', ABANDONED],
  ['"unknown" comes after somebody abandoned', ['sending'], 'unknown', 'already', ABANDONED],
  ['an answer comes while it is being disposed of', ['unknown'], 'answered', 'recorded', { disposal: 'begun' }],
  ['an answer comes after it was disposed of', ['unknown'], 'answered', 'late', DISPOSED],
  ['what was known is said after it was disposed of', ['answered'], 'answered', 'already', DISPOSED],
  ['"unknown" comes after it was disposed of', ['unknown'], 'unknown', 'already', DISPOSED],
];

describe('news of an attempt', () => {
  for (const [title, states, news, expected, change] of TABLE) {
    test(`${title}: ${expected}`, () => {
      const attempts = states.map((state, index) => ({ attempt: index + 1, state, answerInMs: 0 }));
      const inquiry = { ledgerId: 'l', oldestWriter: 8, digest: 'd', abandoned: false, attempts, decisions: [] };
      const isRepeated = news === 'the same';
      const facts = { attempt: 1, state: isRepeated ? ('answered' as const) : news, isRepeated };
      assert.equal(decideOutcome({ ...inquiry, ...change }, facts), expected);
    });
  }
});
