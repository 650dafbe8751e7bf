import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRODUCTS } from '../../src/model/products.ts';
import { deriveTraceNumber, MAX_ORDINAL, type TraceNumberParts } from '../../src/model/trace-number.ts';

const parts: TraceNumberParts = {
  environment: 'sandbox',
  customerId: 'CUST1',
  workflowType: 'lendingJourney',
  runKey: 'L-1',
  productCode: 'PREQUAL',
  ordinal: 0,
};

test('the same parts always give the same trace number of 28 characters, of the interface’s 30', () => {
  assert.equal(deriveTraceNumber(parts), deriveTraceNumber({ ...parts }));
  assert.match(deriveTraceNumber(parts), /^PQ[A-Z2-7]{24}00$/);
  // A release that changed this recorded number would send every running inquiry again.
  assert.equal(deriveTraceNumber(parts), 'PQFUFTG4YIAGIW2XWQPSWTT76H00');
});

test('trace numbers differ if any part differs, also if the parts concatenate to the same text', () => {
  const numbers = [
    parts,
    { ...parts, environment: 'uat' as const },
    { ...parts, customerId: 'CUST2' },
    { ...parts, workflowType: 'creditReport' },
    { ...parts, runKey: 'L-2' },
    { ...parts, productCode: 'PREAPP' as const },
    { ...parts, shareId: 'S1' },
    { ...parts, customerId: 'CUST1L', runKey: '-1' },
  ].map(deriveTraceNumber);
  assert.equal(new Set(numbers).size, numbers.length);
});

test('the trace numbers of each product begin with their own two letters', () => {
  const letters = PRODUCTS.map((productCode) => deriveTraceNumber({ ...parts, productCode }).slice(0, 2));
  assert.equal(new Set(letters).size, PRODUCTS.length);
});

test('amendments change only the last two digits of a trace number, and there are at most a hundred', () => {
  assert.equal(deriveTraceNumber({ ...parts, ordinal: 7 }), `${deriveTraceNumber(parts).slice(0, -2)}07`);
  assert.throws(() => deriveTraceNumber({ ...parts, ordinal: MAX_ORDINAL + 1 }), RangeError);
});
