import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDifference, findDifferingPaths } from '../../src/base/differing-paths.ts';
import { findConsentDifferences } from '../../src/consent/refusals.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';

test('equal contents have no differing path, in any order of members', () => {
  assert.deepEqual(findDifferingPaths({ a: 1, b: { c: [1, { d: 2 }] } }, { b: { c: [1, { d: 2 }] }, a: 1 }), []);
  assert.deepEqual(findDifferingPaths({ a: 1 }, { a: 1, b: undefined }), []);
  assert.deepEqual(findDifferingPaths({ a: 1, b: undefined }, { a: 1 }), []);
});

test('an instant in another spelling is the same content, and any other instant or text differs', () => {
  const kept = '2026-01-05T14:00:00Z';
  for (const sent of ['2026-01-05T14:00:00.000Z', '2026-01-05T14:00:00+00:00', '2026-01-05T15:00:00.0+01:00']) {
    assert.deepEqual(findDifferingPaths({ at: [kept] }, { at: [sent] }), [], sent);
    assert.deepEqual(findDifferingPaths(sent, kept), [], sent);
  }
  for (const sent of [
    '2026-01-05T14:00:00+01:00',
    '2026-01-05T14:00:00.000001Z',
    '2026-01-05T14:00:00',
    '2026-01-05',
  ]) {
    assert.deepEqual(findDifferingPaths({ at: kept }, { at: sent }), ['/at'], sent);
  }
  assert.deepEqual(findDifferingPaths('2026-02-30T14:00:00Z', '2026-02-30T14:00:00+00:00'), [''], 'no such day');
});

test('the comparison lists every path that differs', () => {
  const kept = { to: 'PREAPP', applicants: [{ ssn: '900110001', dob: '1985-04-12' }], by: 'ops' };
  assert.deepEqual(
    findDifferingPaths(kept, { to: 'PREAPP', applicants: [{ ssn: '900110002', dob: '1985-04-12' }], reason: 'x' }),
    ['/applicants/0/ssn', '/by', '/reason'],
  );
  assert.deepEqual(findDifferingPaths(kept, { ...kept, applicants: [...kept.applicants, {}] }), ['/applicants/1']);
  assert.deepEqual(findDifferingPaths(kept, { ...kept, applicants: 'none' }), ['/applicants']);
  assert.deepEqual(findDifferingPaths(null, {}), ['']);
  assert.deepEqual(findDifferingPaths({ 'a/b~c': 1 }, { 'a/b~c': 2 }), ['/a~1b~0c']);
});

test('the comparison does not name unknown members of a list item', () => {
  const kept = { applicants: [{ ssn: '900110001' }] };
  const sent = { applicants: [{ ssn: '900110001', 'Casey Sample': 1, more: { 'of her': 2 } }] };
  assert.deepEqual(findDifferingPaths(kept, sent), ['/applicants/0']);
});

test('the reason of a refusal names what was used and at most ten differing paths', () => {
  assert.equal(describeDifference('/to was used', ['/by']), '/to was used before with other content: /by differs');
  const many = Array.from({ length: 12 }, (_, index) => `/applicants/0/addresses/${index}`);
  assert.match(describeDifference('/to was used', many), /\/9 and 2 more differ$/);
});

const NOT_SINCE = { hasGrantedSince: false };

test('the comparison of consents ignores proofs and the evidence of refusals', () => {
  const grant = {
    decision: 'granted',
    decidedAt: '2026-01-01T00:00:00Z',
    secondaryUser: { endUserCode: 'EU999' },
    evidence: { method: 'web', textVersion: 'v1', capturedAt: '2026-01-01T00:00:00Z', reference: 'doc-1' },
  } as ConsentMessage;
  assert.deepEqual(findConsentDifferences(grant, { ...grant, proof: 'a.b.c' }, NOT_SINCE), []);
  const other = { ...grant, evidence: { ...grant.evidence, reference: 'doc-2' } } as ConsentMessage;
  assert.deepEqual(findConsentDifferences(grant, other, NOT_SINCE), ['/evidence/reference']);
  const { evidence: _, ...bare } = { ...grant, decision: 'revoked' as const };
  assert.deepEqual(findConsentDifferences(bare, { ...grant, decision: 'revoked' }, NOT_SINCE), []);
  assert.deepEqual(findConsentDifferences(bare, { ...bare, secondaryUser: { endUser: 'X' } }, NOT_SINCE), [
    '/secondaryUser/endUserCode',
    '/secondaryUser/endUser',
  ]);
});

test('a repeated consent without a time keeps its earlier time unless a grant arrived in between', () => {
  const times = (decidedAt: string, capturedAt = decidedAt) => ({
    decidedAt,
    evidence: { method: 'web', textVersion: 'v1', capturedAt, reference: 'doc-1' },
  });
  const kept = { decision: 'granted', ...times('2026-01-01T00:00:00Z') } as ConsentMessage;
  const typed = { ...kept, ...times('2026-01-01T01:00:00Z') };
  assert.deepEqual(findConsentDifferences(kept, typed, NOT_SINCE), ['/decidedAt', '/evidence/capturedAt']);
  const typedNow = { ...typed, decidedNow: true as const };
  assert.deepEqual(findConsentDifferences(kept, typedNow, NOT_SINCE), []);
  assert.deepEqual(findConsentDifferences({ ...kept, decidedNow: true }, typedNow, NOT_SINCE), []);
  const captured = { ...typedNow, ...times('2026-01-01T01:00:00Z', '2026-01-01T00:30:00Z') };
  assert.deepEqual(findConsentDifferences(kept, captured, NOT_SINCE), ['/evidence/capturedAt']);
  const denied = { ...kept, decision: 'denied' as const };
  const deniedNow = { ...typedNow, decision: 'denied' as const };
  assert.deepEqual(findConsentDifferences(denied, deniedNow, NOT_SINCE), []);
  assert.deepEqual(findConsentDifferences(denied, deniedNow, { hasGrantedSince: true }), ['/decidedAt']);
});
