/** A worker that believes itself in the provider's test environment, beside a real server, ledger and stand-in gateway. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, type Workflow } from '@temporalio/common';
import { sampleJourney } from '../../src/cli/sample-journey.ts';
import { samplePull } from '../../src/cli/sample-pull.ts';
import type { Problem } from '../../src/model/problems.ts';
import { applicant, type Harness, journeyInput, refusalOf, startHarness, update } from '../support/journey-harness.ts';

/** As an ITIN may look: this profile sends it. */
const SENT_SSN = '912700001';
const REFUSED_SSN = '912110001';

let harness: Harness;

before(async () => {
  harness = await startHarness({ isUat: true, env: { GATEWAY_SSNS_WITH_9: 'itinOnly' } });
});

after(() => harness?.close());

async function refusedWith(workflow: string, workflowId: string, input: object): Promise<Problem[]> {
  const { client, config } = harness;
  const running = client.workflow.execute<Workflow>(workflow, {
    workflowId,
    taskQueue: config.taskQueue,
    args: [input],
  });
  const error = await running.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof WorkflowFailedError, String(error));
  let cause: unknown = error;
  while (cause instanceof Error && !(cause instanceof ApplicationFailure)) cause = cause.cause;
  assert.ok(cause instanceof ApplicationFailure && cause.type === 'InvalidInput', String(cause));
  return ((cause.details ?? [])[0] as { problems: Problem[] }).problems;
}

async function received(): Promise<unknown[]> {
  return (await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json()) as unknown[];
}

describe('made-up applicants outside the sandbox', () => {
  test('are refused by every kind of run before anything is sent', async () => {
    const journeyId = `T-${randomUUID()}`;
    const sample = await refusedWith(
      'lendingJourney',
      `journey-${journeyId}`,
      sampleJourney({ journeyId, auto: true }),
    );
    assert.deepEqual(
      sample.map(({ path }) => path),
      ['/applicants/0', '/applicants/1'],
    );
    const journey = journeyInput({ applicants: [applicant('1A', REFUSED_SSN)] });
    const other = await refusedWith('lendingJourney', `journey-${journey.journeyId}`, journey);
    assert.deepEqual(
      other.map(({ path }) => path),
      ['/applicants/0/ssn'],
    );
    for (const productCode of ['CR', 'FAILSAFE'] as const) {
      const pull = samplePull({ pullId: `P-${randomUUID()}`, productCode, loseAnswer: false });
      const workflow = productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport';
      assert.match((await refusedWith(workflow, `pull-${pull.pullId}`, pull))[0]?.path ?? '', /^\/applicants\/0/);
    }
    assert.deepEqual(await received(), []);
  });

  test('are refused where a message brings them', async () => {
    const input = journeyInput({ applicants: [applicant('1A', SENT_SSN)], stages: ['PREQUAL', 'PREAPP'] });
    const handle = await harness.start(input);
    const refusal = await refusalOf(
      update(handle, 'advance', {
        journeyId: input.journeyId,
        to: 'PREAPP',
        applicants: [applicant('1A', REFUSED_SSN)],
      }),
    );
    assert.match(refusal, /\/applicants\/0\/ssn must be one that was issued/);
    await handle.terminate();
  });
});
