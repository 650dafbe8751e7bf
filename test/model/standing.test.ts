/** Tests the consent state of a share from all messages of its applicants, in any order of arrival. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ConsentRecord } from '../../src/consent/consent-record.ts';
import { findEnds } from '../../src/consent/refusals.ts';
import { judgeShare, type ShareTerms, type StoredConsent } from '../../src/consent/standing.ts';
import { isForUser } from '../../src/model/stage-end-user.ts';

const T0 = Date.UTC(2026, 0, 1);
const at = (minutes: number) => new Date(T0 + minutes * 60_000).toISOString();

function message(
  consentId: string,
  decision: ConsentRecord['decision'],
  decided: number,
  { received = decided, ...change }: Partial<ConsentRecord> & { received?: number } = {},
): ConsentRecord {
  return {
    ...{ journeyId: 'J', shareId: 'S1', applicantId: '1A', consentId, decision },
    ...{ decidedAt: at(decided), receivedAt: at(received), secondaryUser: { endUserCode: 'EU999' } },
    ...change,
  };
}

const TERMS: ShareTerms = { shareId: 'S1', endUserCode: 'EU999', owners: ['J'], consentTrust: 'namespace' };

function judge(
  consents: readonly (ConsentRecord | StoredConsent)[],
  terms: Partial<ShareTerms> = {},
  nowMs = T0 + 36e5,
) {
  const stored = consents.map((one) => ('consent' in one ? one : { consent: one }));
  return judgeShare(stored, { ...TERMS, ...terms }, nowMs);
}

/** Returns the consent state of applicant 1A, or the fault of a grant that does not count. */
function standing(consents: readonly (ConsentRecord | StoredConsent)[], terms?: Partial<ShareTerms>, nowMs?: number) {
  const found = judge(consents, terms, nowMs).applicants.find(({ applicantId }) => applicantId === '1A');
  if (!found) return 'none';
  return found.stands === 'none' && found.fault ? found.fault : found.stands;
}

describe('the consent state of an applicant', () => {
  test('is a grant only after a grant of this applicant', () => {
    assert.equal(standing([]), 'none');
    assert.equal(standing([message('C1', 'granted', 1)]), 'granted');
    assert.equal(standing([message('C1', 'granted', 1, { applicantId: '2A' })]), 'none');
  });

  test('is revoked by a revocation with the id of the grant, in either order of arrival', () => {
    const grant = message('C1', 'granted', 1);
    assert.equal(standing([grant, message('C1', 'revoked', 2)]), 'revoked');
    assert.equal(standing([message('C1', 'revoked', 0), grant]), 'revoked');
  });

  test('remains granted if only one of two grants is revoked', () => {
    const grants = [message('C1', 'granted', 1), message('C2', 'granted', 2)];
    assert.equal(standing([...grants, message('C1', 'revoked', 3)]), 'granted');
  });

  test('is revoked by a revocation of an unknown id until a later grant', () => {
    const before = [message('C1', 'granted', 1), message('CX', 'revoked', 5)];
    assert.equal(standing(before), 'revoked');
    assert.equal(standing([...before, message('C2', 'granted', 4, { received: 6 })]), 'revoked');
    assert.equal(standing([...before, message('C2', 'granted', 6)]), 'granted');
  });

  test('is revoked for every grant if the grant that the revocation names arrives later', () => {
    const named = message('C9', 'granted', 3);
    assert.equal(standing([message('C1', 'granted', 1), message('C9', 'revoked', 2), named]), 'revoked');
  });

  test('is denied by a denial until a later grant under a new id', () => {
    assert.equal(standing([message('C1', 'granted', 1), message('C2', 'denied', 2)]), 'denied');
    assert.equal(standing([message('C2', 'denied', 2), message('C1', 'granted', 1, { received: 3 })]), 'denied');
    assert.equal(standing([message('C2', 'denied', 2), message('C3', 'granted', 3)]), 'granted');
  });

  test('treats a grant as decided at the latest when it arrived', () => {
    assert.equal(standing([message('C1', 'granted', 9, { received: 1 }), message('C2', 'denied', 2)]), 'denied');
  });

  test('excludes a grant that is too old for the share, and has the time until which a grant is valid', () => {
    const terms = { validForMs: 60_000 };
    const grant = message('C1', 'granted', 0);
    assert.equal(standing([grant], terms, T0 + 60_000), 'granted');
    assert.equal(standing([grant], terms, T0 + 60_001), 'tooOld');
    const [found] = judge([grant], terms, T0).applicants;
    assert.equal(found?.stands === 'granted' && found.youngUntilMs, T0 + 60_000);
  });

  test('matches a plain implementation of the rule for any sequence of messages', () => {
    const revokesAll = (said: ConsentRecord[], revocation: ConsentRecord) =>
      !said.some(
        (one) =>
          one.decision === 'granted' &&
          one.consentId === revocation.consentId &&
          one.receivedAt <= revocation.receivedAt,
      );
    const isAgainst = (refusal: ConsentRecord, grant: ConsentRecord, said: ConsentRecord[]) => {
      if (refusal.decision === 'granted') return false;
      if (refusal.consentId === grant.consentId) return true;
      const endsAll = refusal.decision === 'revoked' && revokesAll(said, refusal);
      if (refusal.decision === 'revoked' && !endsAll) return false;
      const decided = grant.decidedAt < grant.receivedAt ? grant.decidedAt : grant.receivedAt;
      return refusal.decidedAt >= decided || (endsAll && refusal.receivedAt >= grant.receivedAt);
    };
    const messages = fc.array(
      fc.record({
        consentId: fc.constantFrom('C1', 'C2', 'C3'),
        decision: fc.constantFrom('granted' as const, 'denied' as const, 'revoked' as const),
        decided: fc.integer({ min: 0, max: 15 }),
        received: fc.integer({ min: 0, max: 15 }),
      }),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(messages, (list) => {
        const said = list.map(({ consentId, decision, decided, received }) =>
          message(consentId, decision, decided, { received }),
        );
        const findEnd = findEnds(said);
        for (const grant of said.filter(({ decision }) => decision === 'granted')) {
          assert.equal(
            findEnd(grant) !== undefined,
            said.some((one) => isAgainst(one, grant, said)),
          );
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('is that of the latest of 20,000 messages, in linear time', () => {
    const kinds = ['granted', 'denied', 'revoked'] as const;
    const said = Array.from({ length: 20_000 }, (_, n) => message(`C${n}`, kinds[n % 3] ?? 'denied', n));
    const startedAt = performance.now();
    for (const last of kinds) {
      const all = [...said, message('C-LAST', last, 20_000)];
      assert.equal(standing(all, {}, T0 + 36e8), last);
    }
    // The limit is ten times the time on a slow machine. A quadratic comparison would take minutes.
    assert.ok(performance.now() - startedAt < 10_000);
  });
});

describe('the consents of a share', () => {
  const SHARE = { shareId: 'S-9', endUserCode: 'EU2', endUser: 'Example Bank', owners: ['share:S-9', 'J-1'] };
  /** Creates a stored consent, by default addressed to the share itself. */
  const said = (change: Partial<ConsentRecord>, more: Partial<StoredConsent> = {}): StoredConsent => ({
    consent: message(change.consentId ?? 'C-1', change.decision ?? 'granted', 0, {
      ...{ journeyId: 'share:S-9', shareId: 'S-9', secondaryUser: { endUserCode: 'EU2' } },
      ...change,
    }),
    ...more,
  });
  const share = (stored: StoredConsent[], terms: Partial<ShareTerms> = {}) => judge(stored, { ...SHARE, ...terms });
  const of = (stored: StoredConsent[], terms?: Partial<ShareTerms>) => standing(stored, { ...SHARE, ...terms });

  test('count only unused grants for this share and its secondary user', () => {
    assert.equal(of([said({})]), 'granted');
    assert.equal(of([said({ journeyId: 'J-1' })]), 'granted', 'to the report’s owner');
    assert.equal(of([said({ journeyId: 'J-1' }, { usedBy: 'J-1' })]), 'spent');
    assert.equal(of([said({ secondaryUser: { endUserCode: 'EU3' } })]), 'missing');
    assert.equal(of([said({ journeyId: 'J-1', shareId: 'S1' })]), 'none', 'under another share’s id');
    assert.equal(of([said({ journeyId: 'J-OTHER' })]), 'none', 'to another owner');
    const denied = said({ consentId: 'F', secondaryUser: { endUserCode: 'EU3' }, decision: 'denied' });
    assert.equal(of([said({}), denied]), 'denied', 'a refusal counts for whichever user it names');
  });

  test('exclude a grant without a proof if the profile requires proofs', () => {
    assert.equal(of([said({})], { consentTrust: 'proof' }), 'missing');
    assert.equal(of([said({ proof: 'a.b.c' })], { consentTrust: 'proof' }), 'granted');
  });

  test('count only grants that this start has received, and none of another person', () => {
    assert.equal(of([said({}, { starts: ['run-1'] })], { start: 'run-2' }), 'none');
    assert.equal(of([said({}, { starts: ['run-1', 'run-2'] })], { start: 'run-2' }), 'granted');
    const revocation = said({ decision: 'revoked', decidedAt: at(2), receivedAt: at(2) });
    const other = said({ consentId: 'C-2', decidedAt: at(1), receivedAt: at(1) }, { starts: ['run-2'] });
    assert.equal(of([said({}, { starts: ['run-1'] }), revocation, other], { start: 'run-2' }), 'granted');
    assert.equal(of([said({}, { noted: 'otherPerson' })]), 'none');
  });

  test('include refusals at other shares for a possibly identical secondary user', () => {
    const on = (day: number) => ({ decidedAt: `2026-01-0${day}T00:00:00Z`, receivedAt: `2026-01-0${day}T00:00:01Z` });
    const elsewhere = (...consents: Partial<ConsentRecord>[]) =>
      of(consents.map((one) => said({ journeyId: 'J-1', shareId: 'S1', ...one })));
    assert.equal(elsewhere({ ...on(2), decision: 'denied' }), 'denied');
    assert.equal(elsewhere({ ...on(2), decision: 'denied', secondaryUser: { endUserCode: 'EU3' } }), 'none');
    assert.equal(elsewhere({ ...on(2), decision: 'denied', secondaryUser: { endUser: 'Example Bank' } }), 'denied');
    // After a later grant the refusal does not count even at that share.
    assert.equal(elsewhere(on(1), { ...on(2), decision: 'revoked' }), 'revoked');
    assert.equal(elsewhere(on(1), { ...on(2), decision: 'revoked' }, { ...on(3), consentId: 'C-2' }), 'none');
    const refused = said({ journeyId: 'J-1', shareId: 'S1', decision: 'denied', ...on(2) });
    assert.equal(of([refused, said({ consentId: 'C-8', ...on(1) })]), 'denied');
    assert.equal(of([refused, said({ consentId: 'C-8', ...on(3) })]), 'granted', 'until a later grant');
  });

  test('yield a verdict on each grant for a claim', () => {
    const key = { journeyId: 'share:S-9', shareId: 'S-9', applicantId: '1A', consentId: 'C-1' };
    assert.equal(share([]).judgeGrant(key), 'missing');
    assert.equal(share([said({})]).judgeGrant(key), 'stands');
    assert.equal(share([said({}, { usedBy: 'J-1' })]).judgeGrant(key), 'spent');
    assert.equal(share([said({}), said({ decision: 'denied', consentId: 'N' })]).judgeGrant(key), 'refused');
    assert.equal(share([said({})], { validForMs: 1 }).judgeGrant(key), 'tooOld');
    assert.equal(share([said({ secondaryUser: { endUserCode: 'EU3' } })]).judgeGrant(key), 'missing');
  });
});

test('a consent names a secondary user by its code, or by its name if the share has no code', () => {
  const [code, name, both] = [{ endUserCode: 'A' }, { endUser: 'Bank' }, { endUserCode: 'A', endUser: 'Bank' }];
  assert.deepEqual(
    [isForUser(code, code), isForUser(name, name), isForUser(both, both)],
    [true, true, true],
    'the same names',
  );
  assert.equal(isForUser(code, both), true);
  assert.equal(isForUser(both, code), true, 'the code is named, and nothing differs');
  assert.equal(isForUser(name, both), false, 'the code is not named');
  assert.equal(isForUser(name, code), false);
  assert.equal(isForUser(both, name), false, 'the share has no such code');
  assert.equal(isForUser({ endUserCode: 'B' }, code), false);
  assert.equal(isForUser({ ...both, endUser: 'Other' }, both), false);
  assert.equal(isForUser({}, code), false);
  assert.equal(isForUser({}, {}), false);
});
