/** The ids of a hold's events: a receiver drops an event whose id it already has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HoldStatus } from '../../src/messages/journey/shapes.ts';
import { refuse } from '../../src/model/refusals.ts';
import type { EventsOut } from '../../src/workflows/run/events-out.ts';
import { type Decision, Holds } from '../../src/workflows/run/holds.ts';

const AT = '2026-01-02T03:04:05.000Z';
const customerTraceNumber = 'PQAAAAAAAAAAAAAAAAAAAAAAAAA00';
const status: HoldStatus = {
  ...{ customerTraceNumber, productCode: 'PREQUAL', failureType: 'NotEntitled', since: AT, attempts: 1 },
  allowedActions: ['resend', 'abandon'],
};
const decision: Decision = {
  ...{ decisionId: 'D1', customerTraceNumber, attempt: 1, action: 'resend', by: 'operator', reason: 'entitled by now' },
  ...{ providerSaid: 'notPosted', receivedAt: AT },
};

/** Returns the key and the data of the event `hold.resolved`; the key determines its id. */
function resolved(verdict: Parameters<Holds['settle']>[1]): { key: string; body: unknown } {
  const emitted: Parameters<EventsOut['emit']>[] = [];
  const events = { emit: (...event: (typeof emitted)[number]) => void emitted.push(event) };
  const run = { publish: () => undefined, events } as unknown as ConstructorParameters<typeof Holds>[0];
  const taken = { customerTraceNumber, decisionId: 'D1', digests: {}, message: decision };
  new Holds(run, { open: [{ status }], settled: [] }).settle(taken, verdict);
  const [[type, key, body] = []] = emitted;
  assert.equal(type, 'hold.resolved');
  return { key: JSON.stringify(key), body };
}

test('a decision emits the same event again in a run that was reset', () => {
  assert.deepEqual(resolved('recorded'), resolved('recorded'));
});

test('a decision emits another event if a run that was reset finds the ledger’s attempt ahead', () => {
  const [taken, overtaken] = [resolved('recorded'), resolved(refuse('notNow', 'nothing was decided'))];
  assert.notDeepEqual(overtaken.body, taken.body);
  assert.notEqual(overtaken.key, taken.key);
});
