/** A worker in the sandbox that encrypts processes no start and no message in the clear. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Client, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, type Payload, type Workflow } from '@temporalio/common';
import { createSamplePull } from '../../src/cli/demo/sample-runs.ts';
import { CLEAR_START_MESSAGE } from '../../src/model/undecodable.ts';
import { translateToRefusal } from '../../src/operations/problem.ts';
import { wasEncrypted } from '../../src/protection/payloads/payload-codec.ts';
import type * as workflows from '../../src/workflows/index.ts';
import { clearClient, storedEvents } from '../support/clear-client.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';
import { shareInput } from '../support/share-scenarios.ts';

let harness: Harness;
let directory: string;
let clear: Client;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-clear-'));
  harness = await startHarness({ env: { PAYLOAD_ENCRYPTION: 'on', PORTFOLIO_DIR: directory } });
  clear = await clearClient(harness);
});

after(async () => {
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

const id = `T-${randomUUID().slice(0, 13)}`;
const ssn = newSsn();
const person = { ...applicant('1A'), ssn };
const order = { file: 'customers.csv', endUserCode: 'EU123', permissiblePurposeCode: '01' };

/** One start of each workflow type, by name. Each would be accepted if it were encrypted. */
const STARTS: Record<keyof typeof workflows, { workflowId: string; input: object }> = {
  lendingJourney: {
    workflowId: `journey-${id}`,
    input: journeyInput({ journeyId: id, applicants: [person], stages: ['PREQUAL'] }),
  },
  creditReport: {
    workflowId: `pull-${id}`,
    input: { ...createSamplePull({ pullId: id, productCode: 'CR', loseAnswer: false }), applicants: [person] },
  },
  failsafeCheck: {
    workflowId: `pull-F-${id}`,
    input: {
      ...createSamplePull({ pullId: `F-${id}`, productCode: 'FAILSAFE', loseAnswer: false }),
      applicants: [person],
    },
  },
  shareReport: {
    workflowId: `share-${id}`,
    input: { ...shareInput({ journeyId: id, productCode: 'PREQUAL' }), shareId: id, endUser: ssn },
  },
  portfolioReview: { workflowId: `portfolio-${id}`, input: { reviewId: id, ...order } },
  recordLateConsent: {
    workflowId: `late-consent-${id}-0123456789abcdef`,
    input: { consent: { ...consentMessage(id, { applicantId: '1A' }), evidence: { method: ssn } } },
  },
  webhookDelivery: { workflowId: `webhooks-journey-${id}`, input: { journeyId: id, profile: ssn } },
  watchLedger: { workflowId: `watch-${id}`, input: { ledgerId: ssn, everyMs: 60_000 } },
};

async function failureOf(running: Promise<unknown>): Promise<ApplicationFailure> {
  const error = await running.then(
    () => assert.fail('it was taken'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure, String(error));
  return error.cause;
}

async function received(): Promise<unknown[]> {
  return (await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json()) as unknown[];
}

describe('a start in the clear on a worker that encrypts', { concurrency: 5 }, () => {
  for (const [workflow, { workflowId, input }] of Object.entries(STARTS)) {
    test(`fails with an error that says how to send it: ${workflow}`, async () => {
      await writePortfolio(directory, order.file, csvText(1));
      const { taskQueue } = harness.config;
      // A start that is accepted would wait for a long time.
      const options = { workflowId, taskQueue, args: [input], workflowExecutionTimeout: '1 minute' } as const;
      const run = clear.workflow.execute<Workflow>(workflow, options);
      const { type, message, details } = await failureOf(run);
      assert.deepEqual([type, message], ['InvalidInput', CLEAR_START_MESSAGE]);
      const [{ problems }] = details as [{ problems: { path: string; rule: string }[] }];
      assert.match(problems[0]?.rule ?? '', /^must be encrypted, .*CODEC_SERVER_URL.*KEY_RING_FILE/);

      const { events } = await harness.client.workflow.getHandle(workflowId).fetchHistory();
      const failure = events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
      // A caller who sends in the clear has no key, so only this sentence is readable.
      assert.deepEqual([failure?.message, failure?.stackTrace ?? ''], [CLEAR_START_MESSAGE, '']);
      assert.ok(failure?.applicationFailureInfo?.details?.payloads?.every(wasEncrypted));
      assert.ok(!events?.some(({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes));
      const withSsn = (await storedEvents(harness, workflowId)).map((event) => event.includes(ssn));
      assert.deepEqual(withSsn.slice(1).includes(true), false, 'it spreads no further than the start');
    });
  }

  test('posts nothing', async () => {
    assert.deepEqual(await received(), []);
  });
});

test('a late consent in the clear is refused over HTTP with the code that an open run gives: 409', async () => {
  const { journeyId, ...consent } = consentMessage(`L-${id}`, { applicantId: '1A' });
  const { payloadCodecs = [], ...converter } = harness.client.options.dataConverter ?? {};
  // Reads what the worker encrypts, and sends in the clear.
  const clearSending = payloadCodecs.map((codec) => ({
    encode: async (payloads: Payload[]) => payloads,
    decode: codec.decode.bind(codec),
  }));
  await using journeys = await connectTo(harness, { dataConverter: { ...converter, payloadCodecs: clearSending } });
  const refused = await journeys
    .get(journeyId)
    .recordConsent(consent)
    .catch((error: unknown) => error);
  const { status, reason, problems } = translateToRefusal(refused) ?? assert.fail(String(refused));
  assert.deepEqual([status, reason], [409, 'notNow']);
  assert.match(problems[0]?.rule ?? '', /^must be encrypted, /);
});
