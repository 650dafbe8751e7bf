import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Consumer, type RefKind, refIdResolver } from '../../src/gateway/responses.ts';

const CONSUMER: Consumer = {
  names: [
    { first: 'ADA', last: "O'BRIEN", refId: 1 },
    { first: 'A', last: 'OBRIEN', refId: 2 },
  ],
  addresses: [
    { line1: '1 MAIN STREET', refId: 1 },
    { line1: '2 SIDE STREET', refId: 3 },
  ],
  ssn: '912345678',
  phones: [{ phoneNumber: '2025550123', refId: 4 }],
};

test('resolves a cross-reference to the entry of its own list that has this refId', () => {
  assert.equal(refIdResolver(CONSUMER)('name', 2)?.last, 'OBRIEN');
  assert.equal(refIdResolver(CONSUMER)('address', 1)?.line1, '1 MAIN STREET');
  assert.equal(refIdResolver(CONSUMER)('relatedAddress', 3)?.line1, '2 SIDE STREET');
  assert.equal(refIdResolver(CONSUMER)('phone', 4)?.phoneNumber, '2025550123');
});

test('takes 0 for none, even where an entry has it', () => {
  const consumer: Consumer = { names: [{ first: 'ADA', refId: 0 }] };
  assert.equal(refIdResolver(consumer)('name', 0), undefined);
});

test('resolves nothing for what is absent, unknown, or not a list', () => {
  const cases: [kind: RefKind, refId: number | undefined][] = [
    ['name', undefined],
    ['name', 9],
    ['ssn', 1],
    ['dob', 1],
  ];
  for (const [kind, refId] of cases) assert.equal(refIdResolver(CONSUMER)(kind, refId), undefined);
});

test('does not choose between two entries with one refId', () => {
  const consumer: Consumer = {
    names: [
      { first: 'ADA', refId: 1 },
      { first: 'EVE', refId: 1 },
    ],
  };
  assert.equal(refIdResolver(consumer)('name', 1), undefined);
});
