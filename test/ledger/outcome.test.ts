import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KnownInquiry } from '../../src/ledger/claim.ts';
import { decideOutcome, type OutcomeFacts } from '../../src/ledger/inquiries/inquiry-transactions.ts';
import type { RecordVerdict } from '../../src/ledger/records.ts';
import type { AttemptState } from '../../src/model/inquiry.ts';

function known(states: AttemptState[], change: Partial<KnownInquiry> = {}): KnownInquiry {
  const attempts = states.map((state, index) => ({ attempt: index + 1, state, answerInMs: 0 }));
  return { ledgerId: 'l', oldestWriter: 8, digest: 'd', abandoned: false, attempts, decisions: [], ...change };
}

type Row = [title: string, known: KnownInquiry, news: OutcomeFacts, expected: RecordVerdict];

function news(state: OutcomeFacts['state'], isRepeated = false, attempt = 1): OutcomeFacts {
  return { attempt, state, isRepeated };
}

const RESEND = { decisionId: 'D', action: 'resend', attempt: 1, permitsAttempt: 2 } as const;

const TABLE: Row[] = [
  ['no such attempt', known([]), news('answered'), 'missing'],
  ['an attempt in flight is answered', known(['sending']), news('answered'), 'recorded'],
  ['an attempt in flight was never sent', known(['sending']), news('notSent'), 'recorded'],
  ['an unknown outcome is answered late', known(['unknown']), news('answered'), 'recorded'],
  [
    'an unknown outcome is answered while its resend is unspent',
    known(['unknown'], { decisions: [RESEND] }),
    news('answered'),
    'recorded',
  ],
  ['the same is said again', known(['answered']), news('answered', true), 'already'],
  ['"unknown" comes after the answer', known(['answered']), news('unknown'), 'already'],
  ['another answer comes after the answer', known(['answered']), news('answered'), 'late'],
  ['an answer comes to what was never sent', known(['notSent']), news('answered'), 'late'],
  ['an answer comes after the resend was spent', known(['unknown', 'sending']), news('answered'), 'late'],
  ['the spent attempt is still unknown', known(['unknown', 'sending']), news('unknown'), 'already'],
  ['an answer comes after somebody accepted', known(['accepted']), news('answered'), 'late'],
  ['the answer that was overruled is said again', known(['accepted']), news('answered', true), 'already'],
  ['an answer comes after somebody abandoned', known(['unknown'], { abandoned: true }), news('answered'), 'late'],
  ['"unknown" comes after somebody abandoned', known(['sending'], { abandoned: true }), news('unknown'), 'already'],
  [
    'an answer comes while it is being disposed of',
    known(['unknown'], { disposal: 'begun' }),
    news('answered'),
    'recorded',
  ],
  ['an answer comes after it was disposed of', known(['unknown'], { disposal: 'done' }), news('answered'), 'late'],
  [
    'what was known is said after it was disposed of',
    known(['answered'], { disposal: 'done' }),
    news('answered'),
    'already',
  ],
  ['"unknown" comes after it was disposed of', known(['unknown'], { disposal: 'done' }), news('unknown'), 'already'],
];

describe('news of an attempt', () => {
  for (const [title, state, facts, expected] of TABLE) {
    test(`${title}: ${expected}`, () => assert.equal(decideOutcome(state, facts), expected));
  }
});
