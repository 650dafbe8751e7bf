/** The choices of consumers and their ordinals, and what a share makes of all answers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConsentBook } from '../../src/consent/consent-book.ts';
import {
  choiceOfOrdinal,
  isForThoseWhoConsent,
  MOST_TO_CHOOSE_FROM,
  ordinalOfChoice,
} from '../../src/consent/share-consumers.ts';
import { MAX_ORDINAL } from '../../src/model/trace-number.ts';
import { consentTowards, grantsOf, isRefusedByNamed, ungranted } from '../../src/workflows/consent/share-consent.ts';
import { consentOf } from '../ledger/fixtures.ts';

const IDS = ['1A', '2A', '3A', '4A', '5A', '6A', '7A'];

/** Every choice of these, the empty one too. */
function choicesOf(ids: readonly string[]): string[][] {
  let all: string[][] = [[]];
  for (const id of ids) all = all.flatMap((one) => [one, [...one, id]]);
  return all;
}

describe('the ordinal of a choice of consumers', () => {
  test('is another one for each choice, within two digits, and says who is named', () => {
    assert.equal(MOST_TO_CHOOSE_FROM, 6);
    for (let count = 1; count <= MOST_TO_CHOOSE_FROM; count++) {
      const ids = IDS.slice(0, count);
      const choices = choicesOf(ids).filter(({ length }) => length > 0);
      const ordinals = choices.map((named) => ordinalOfChoice(ids, named));
      assert.equal(new Set(ordinals).size, choices.length);
      assert.ok(ordinals.every((ordinal) => ordinal >= 0 && ordinal <= MAX_ORDINAL));
      assert.equal(ordinalOfChoice(ids, ids), 0);
      for (const [nth, named] of choices.entries()) {
        assert.deepEqual(choiceOfOrdinal(ids, ordinals[nth] ?? 0), named);
      }
    }
  });

  test('has no room for more applicants: such a share is for all', () => {
    assert.equal(isForThoseWhoConsent({ consumers: 'consented' }, IDS), false);
    assert.equal(isForThoseWhoConsent({ consumers: 'consented' }, IDS.slice(1)), true);
    assert.equal(isForThoseWhoConsent({}, IDS.slice(1)), false);
  });
});

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

test('of all answers of three applicants, a share for those who consent comes to what the table says', () => {
  const ids = IDS.slice(0, 3);
  const share = { shareId: 'S1', consumers: 'consented', consentValidFor: 'PT1H' } as const;
  const nowMs = Date.now();
  for (const one of ANSWERS) {
    for (const two of ANSWERS) {
      for (const three of ANSWERS) {
        const answers = [one, two, three];
        const book = bookOf(answers);
        const name = answers.join();
        const granted = ids.filter((_, nth) => answers[nth] === 'granted');
        const open = ids.filter((_, nth) => answers[nth] === 'none' || answers[nth] === 'tooOld');
        assert.deepEqual(ungranted(book, share, ids, nowMs), open, name);
        const refusal = answers.includes('denied') ? 'denied' : 'revoked';
        const atOnce = open.length > 0 ? 'waiting' : granted.length > 0 ? 'granted' : refusal;
        assert.equal(consentTowards(book, share, ids, { nowMs }).kind, atOnce, name);
        const atLast = consentTowards(book, share, ids, { nowMs, isOver: true });
        const expected = granted.length > 0 ? 'granted' : open.length > 0 ? 'waiting' : refusal;
        assert.equal(atLast.kind, expected, `${name}, over`);
        const named = atLast.kind === 'granted' ? atLast.consents.map(({ applicantId }) => applicantId) : [];
        assert.deepEqual(named, granted, name);
        for (const choice of choicesOf(ids).filter(({ length }) => length > 0)) {
          const stands = choice.every((id) => granted.includes(id));
          assert.equal(grantsOf(book, share, choice, nowMs)?.length, stands ? choice.length : undefined, name);
          const refused = choice.some((id) => ['denied', 'revoked'].includes(answers[ids.indexOf(id)] ?? ''));
          assert.equal(isRefusedByNamed(book, share, choice), refused, name);
        }
        // Of a share for all nothing has changed: one refusal refuses it.
        const forAll = answers.some((answer) => answer === 'denied' || answer === 'revoked')
          ? refusal
          : granted.length === 3
            ? 'granted'
            : 'waiting';
        assert.equal(
          consentTowards(book, { ...share, consumers: 'all' }, ids, { nowMs, isOver: true }).kind,
          forAll,
          name,
        );
      }
    }
  }
});
