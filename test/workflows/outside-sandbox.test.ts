/** A worker in the environment `uat`, with a real server, a real ledger and a stand-in gateway. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, type Workflow } from '@temporalio/common';
import { createSampleJourney, createSamplePull } from '../../src/cli/demo/sample-runs.ts';
import type { Problem } from '../../src/model/problems.ts';
import { mayLeadToPosting } from '../../src/protection/payloads/payload-codec.ts';
import { clearClient } from '../support/clear-client.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  refusalOf,
  startHarness,
  statusOf,
  untilStatus,
  update,
} from '../support/journey-harness.ts';

/** This SSN looks like an ITIN, which this profile sends. */
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
      createSampleJourney({ journeyId, auto: true }),
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
      const pull = createSamplePull({ pullId: `P-${randomUUID()}`, productCode, loseAnswer: false });
      const workflow = productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport';
      assert.match((await refusedWith(workflow, `pull-${pull.pullId}`, pull))[0]?.path ?? '', /^\/applicants\/0/);
    }
    assert.deepEqual(await received(), []);
  });

  test('are refused also in a message', async () => {
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

describe('messages in the clear outside the sandbox', () => {
  test('are refused if they can lead to a posting, and count if they are denials or withdrawals', async () => {
    const input = journeyInput({
      applicants: [applicant('1A', '912700002')],
      stages: ['PREQUAL', 'PREAPP'],
      shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
    });
    const { journeyId } = input;
    const handle = await harness.start(input);
    // The worker rejects answers that carry the sandbox's mark, so the run holds the inquiry.
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    const plain = (await clearClient(harness)).workflow.getHandle(handle.workflowId);
    const sent = (name: string, message: object) => plain.executeUpdate(name, { args: [message] });
    const decision = {
      ...{ journeyId, decisionId: 'D-1', customerTraceNumber: holds[0]?.customerTraceNumber, attempt: 1 },
      ...{ action: 'abandon', by: 'somebody', reason: 'unknown', providerSaid: 'notAsked' },
    };
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    const messages: [string, object][] = [
      ['advance', { journeyId, to: 'PREAPP' }],
      ['resolveInquiry', decision],
      ['requestShare', { journeyId, share: { shareId: 'S2', endUserCode: 'EU777' } }],
      ['recordConsent', grant],
    ];
    for (const [name, message] of messages)
      assert.match(await refusalOf(sent(name, message)), /came in the clear/, name);
    await plain.signal('consent', grant);
    const noted = await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal === 1);
    assert.match(noted.refusedMessages[0]?.reason ?? '', /came in the clear/);
    assert.deepEqual([noted.holds.length, noted.shares.length], [1, 1]);

    await sent('recordConsent', consentMessage(journeyId, { applicantId: '1A', decision: 'denied' }));
    await sent('withdrawShare', { journeyId, shareId: 'S1', by: 'platform', reason: 'another investor' });
    assert.equal((await statusOf(handle)).shares[0]?.state, 'withdrawn');
    await sent('withdraw', { journeyId, by: 'platform', reason: 'the applicant has withdrawn' });
    assert.equal((await statusOf(handle)).refusedMessagesTotal, 1);
    // The same decision is accepted when it is encrypted.
    await update(handle, 'resolveInquiry', decision);
    assert.equal((await handle.result()).outcome, 'withdrawn');
  });
});

test('a message in the clear may lead to a posting unless it only denies or revokes', () => {
  const denial = { journeyId: 'J', shareId: 'S', applicantId: '1A', consentId: 'C', decision: 'denied' };
  assert.equal(mayLeadToPosting({ consent: denial }), false);
  assert.equal(mayLeadToPosting({ consent: { ...denial, decision: 'granted' } }), true);
  assert.equal(mayLeadToPosting({ journeyId: 'J', to: 'PREAPP', consent: denial }), true);
  assert.equal(mayLeadToPosting({ ...denial, consent: { ...denial, decision: 'granted' } }), true);
  assert.equal(mayLeadToPosting({ file: 'customers.csv' }), true);
  assert.equal(mayLeadToPosting({ traceparent: '00-1-2-01' }), false);
});
