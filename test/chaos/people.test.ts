/** What people send until it counts: the same message while there is no answer, and a new one under the next id after it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import { consentMessage } from '../support/journey-harness.ts';
import { People } from './people.ts';
import { makePlan } from './plan.ts';
import type { World } from './world.ts';

type Answer = { recorded: boolean } | Error;

/** A world whose one run answers as it is told, and what it was sent. */
function peopleBefore(answers: Answer[]): { people: People; sent: ConsentMessage[] } {
  const sent: ConsentMessage[] = [];
  const executeUpdate = async (_name: string, { args: [message] }: { args: [ConsentMessage] }) => {
    sent.push(message);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = {
    workflow: { getHandle: () => ({ executeUpdate }) },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
  };
  const plan = makePlan({ seed: 1, journeys: 1, lengthMs: 1_000, api: false });
  return { people: new People({ plan, client } as unknown as World), sent };
}

test('a consent is sent as it was until it is acknowledged or refused, and then under the next id', async () => {
  const refused = new WorkflowUpdateFailedError('refused', new Error('it does not count'));
  const answers = [{ recorded: false }, new Error('no worker'), { recorded: true }, refused, { recorded: true }];
  const { people, sent } = peopleBefore(answers);
  const make = (nth: number) => consentMessage('J-1', { applicantId: '1A', consentId: `END-${nth}` });
  for (let time = 0; time < 5; time++) await people.sendUntilItCounts('J-1 S1 1A', make).catch(() => {});
  assert.deepEqual(
    sent.map(({ consentId }) => consentId),
    ['END-1', 'END-1', 'END-1', 'END-2', 'END-3'],
  );
  assert.equal(new Set(sent.slice(0, 3)).size, 1, 'the same message, with the same date');
  await people.sendUntilItCounts('J-1 S2 1A', make).catch(() => {});
  assert.equal(sent.at(-1)?.consentId, 'END-1');
});
