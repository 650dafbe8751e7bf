import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOpaqueId, checkReviewId } from '../../src/model/opaque-id.ts';

const UUID = '3f2504e0-4f89-41d3-9a0c-a123456789bc';

test('an opaque id has only unreserved characters and, unless it is a UUID, nothing like an SSN', () => {
  const bare = UUID.replaceAll('-', '');
  for (const id of ['J1', 'loan-2026.07_~9', 'x'.repeat(64), '12345678', '1234567890', UUID, bare, `J-${UUID}`]) {
    assert.equal(checkOpaqueId(id, 64), null, id);
  }
  for (const id of [
    ...['', 'x'.repeat(65), 'someone@example.com', 'a/b', 'a b', 'J1\n', '-x', 'Jé'],
    ...['912345678', 'loan912345678', 'loan-912-34-5678', `${UUID}-912345678`],
  ]) {
    const rule = checkOpaqueId(id, 64);
    assert.ok(rule, id);
    assert.ok(id.length < 4 || !rule.includes(id), 'it shows the id');
  }
});

test('only the id of a portfolio review can end with a schedule time, and it has no other colon', () => {
  const time = '2026-01-01T11:00:00Z';
  for (const id of ['R-1', `monthly-${time}`]) assert.equal(checkReviewId(id), null, id);
  for (const id of [
    ...[time.slice(10), `a:b-${time}`, `monthly-${time}-x`, `912345678-${time}`],
    `${'x'.repeat(45)}-${time}`,
  ]) {
    assert.ok(checkReviewId(id), id);
  }
  assert.ok(checkOpaqueId(`monthly-${time}`, 64));
});
