/** An outage of days on the server that skips time. Runs when named: it has come to no end since the ledger is watched. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { JourneyResult, LendingJourneyInput } from '../../src/model/shapes.ts';
import {
  applicant,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { startTimeSkippingEnvironment } from '../support/temporal.ts';

let environment: TestWorkflowEnvironment;
let harness: Harness;
let portfolios: string;
before(async () => {
  portfolios = await mkdtemp(join(tmpdir(), 'credit-journey-portfolios-'));
  environment = await startTimeSkippingEnvironment();
  harness = await startHarness({
    server: { address: environment.address, namespace: environment.namespace ?? 'default' },
    // A look each minute of all those days would be all that the server has time for.
    env: { PORTFOLIO_DIR: portfolios, LEDGER_WATCH_EVERY_MS: '86400000' },
  });
});
after(async () => {
  await harness?.close();
  await environment?.teardown();
  await rm(portfolios, { recursive: true, force: true });
});

const DAY_MS = 86_400_000;

/** Awaits the result through the environment's own client: that is what lets time skip. */
function resultOf(handle: JourneyHandle): Promise<JourneyResult> {
  return environment.client.workflow.getHandle(handle.workflowId).result() as Promise<JourneyResult>;
}

const oneStage = (overrides: Partial<LendingJourneyInput> = {}) => journeyInput({ stages: ['PREQUAL'], ...overrides });

test('a gateway that is gone for longer than giveUpAfter becomes a hold, and a resend goes on', async () => {
  const input = oneStage({ applicants: [applicant('1A', newSsn('0001'))] });
  await harness.addFaults([{ target: 'token', fault: 'unavailable', times: 1_000_000 }]);
  await fetch(`${harness.sandboxUrl}/_sandbox/tokens/revoke`, { method: 'POST' });
  await harness.stopWorker();
  await harness.startWorker();
  const handle = await harness.start(input);
  const skipping = environment.sleep(2 * DAY_MS);
  let hold: { customerTraceNumber: string; failureType: string; attempts: number } | undefined;
  for (let tries = 0; !hold && tries < 600; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    hold = (await handle.query<{ holds: (typeof hold)[] }>('status')).holds[0];
  }
  await skipping;
  assert.equal(hold?.failureType, 'TokenUnavailable');
  assert.equal((await harness.posted(handle)).length, 0);
  await fetch(`${harness.sandboxUrl}/_sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [] }),
  });
  await handle.executeUpdate('resolveInquiry', {
    args: [
      {
        journeyId: input.journeyId,
        decisionId: 'D1',
        customerTraceNumber: hold?.customerTraceNumber,
        attempt: hold?.attempts,
        action: 'resend',
        by: 'operator',
        reason: 'the token service is back',
        providerSaid: 'notAsked',
      },
    ],
  });
  const result = await resultOf(handle);
  assert.equal(result.outcome, 'completed');
  assert.equal((await harness.posted(handle)).length, 1);
});
