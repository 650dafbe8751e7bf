/** What a share makes of all answers of its applicants. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConsentBook } from '../../src/consent/consent-book.ts';
import { consentTowards, isRefusedByAny, ungranted } from '../../src/workflows/consent/share-record.ts';
import { consentOf } from '../ledger/fixtures.ts';

const IDS = ['1A', '2A', '3A'];

type Answer = 'none' | 'granted' | 'denied' | 'revoked' | 'tooOld';
const ANSWERS: readonly Answer[] = ['none', 'granted', 'denied', 'revoked', 'tooOld'];
const NOW = Date.now();

function bookOf(answers: readonly Answer[]): ConsentBook {
  const book = new ConsentBook();
  for (const [nth, answer] of answers.entries()) {
    const applicantId = IDS[nth] ?? '';
    const at = (agoMs: number) => new Date(NOW - agoMs).toISOString();
    const say = (decision: 'granted' | 'denied' | 'revoked', agoMs: number) =>
      book.add(consentOf({ applicantId, decision, decidedAt: at(agoMs), receivedAt: at(agoMs) }));
    if (answer === 'granted' || answer === 'revoked') say('granted', 2_000);
    if (answer === 'tooOld') say('granted', 7_200_000);
    if (answer === 'denied' || answer === 'revoked') say(answer, 1_000);
  }
  return book;
}

test('of all answers of three applicants, one refusal refuses a share, and all must have granted it', () => {
  const share = { shareId: 'S1', consentValidFor: 'PT1H' };
  const nowMs = Date.now();
  for (const one of ANSWERS) {
    for (const two of ANSWERS) {
      for (const three of ANSWERS) {
        const answers = [one, two, three];
        const book = bookOf(answers);
        const name = answers.join();
        const open = IDS.filter((_, nth) => answers[nth] !== 'granted');
        assert.deepEqual(ungranted(book, share, IDS, nowMs), open, name);
        const refusal = answers.find((answer) => answer === 'denied' || answer === 'revoked');
        assert.equal(isRefusedByAny(book, share, IDS), refusal !== undefined, name);
        const consent = consentTowards(book, share, IDS, nowMs);
        const expected = answers.includes('denied') ? 'denied' : (refusal ?? (open.length > 0 ? 'waiting' : 'granted'));
        assert.equal(consent.kind, expected, name);
        const named = consent.kind === 'granted' ? consent.consents.map(({ applicantId }) => applicantId) : [];
        assert.deepEqual(named, expected === 'granted' ? IDS : [], name);
      }
    }
  }
});
