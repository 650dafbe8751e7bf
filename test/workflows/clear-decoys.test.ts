/** Messages in the clear that look harmless and could lead to a posting are refused outside the sandbox. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from '@temporalio/client';
import type { Payload, Workflow } from '@temporalio/common';
import { computeProfileFingerprint } from '../../src/gateway/profile.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { withLedger } from '../hazards/operator-hands.ts';
import { clearClient } from '../support/clear-client.ts';
import { applicant, consentMessage, type Harness, startHarness } from '../support/journey-harness.ts';
import { csvText, writePortfolio } from '../support/portfolio-files.ts';

let harness: Harness;
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-decoys-'));
  harness = await startHarness({ isUat: true, env: { PORTFOLIO_DIR: directory, GATEWAY_SSNS_WITH_9: 'itinOnly' } });
});

after(async () => {
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

test('a late grant in the clear is refused, also with the fields of a denial added, and a late denial is recorded', async () => {
  const clear = await clearClient(harness);
  const journeyId = `T-${randomUUID().slice(0, 13)}`;
  const grant = consentMessage(journeyId, { applicantId: '1A' });
  const late = clear.workflow.execute<Workflow>('recordLateConsent', {
    workflowId: `late-${journeyId}`,
    taskQueue: harness.config.taskQueue,
    args: [{ shareId: 'x', consentId: 'x', decision: 'denied', consent: grant }],
  });
  await late.catch(() => undefined);
  const { hasConsents } = await withLedger(harness, (ledger) => ledger.startFacts(journeyId));
  assert.equal(hasConsents, false);
  const taken = await clear.workflow.execute<Workflow>('recordLateConsent', {
    workflowId: `late-${journeyId}`,
    taskQueue: harness.config.taskQueue,
    args: [{ consent: { ...grant, decision: 'denied' } }],
  });
  assert.equal((taken as { duplicate: boolean }).duplicate, false, 'a refusal of consent counts');
});

for (const [what, decoy] of [
  ['also with the fields of a denial added', { consentId: 'x', decision: 'denied' }],
  ['also if it names no review', {}],
] as const)
  test(`a schedule in the clear posts nothing, ${what}`, async () => {
    const clear = await clearClient(harness);
    const before = ((await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json()) as unknown[]).length;
    const scheduleId = `S-${randomUUID().slice(0, 8)}`;
    // These SSNs look like ITINs, which this profile sends.
    const text = csvText(2).replaceAll(/,9\d{8},/g, () => `,91270000${Math.floor(Math.random() * 9)},`);
    const file = await writePortfolio(directory, 'scheduled.csv', text);
    const order = { endUserCode: 'EU123', permissiblePurposeCode: '01', file };
    const schedule = await clear.schedule.create({
      scheduleId,
      spec: {},
      action: {
        type: 'startWorkflow',
        workflowType: 'portfolioReview',
        workflowId: `portfolio-${scheduleId}`,
        taskQueue: harness.config.taskQueue,
        args: [{ ...order, ...decoy }],
      },
    });
    await schedule.trigger();
    try {
      for (let i = 0; i < 60; i++) {
        const requests = (await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json()) as unknown[];
        assert.equal(requests.length, before);
        const { recentActions } = (await schedule.describe()).info;
        const id = recentActions[0]?.action.workflow.workflowId;
        if (id) {
          const { status } = await clear.workflow.getHandle(id).describe();
          if (status.name !== 'RUNNING') return;
        }
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    } finally {
      await schedule.delete();
    }
  });

test('a continued state that the caller forged is refused, also in a start with a cron schedule', async () => {
  const { config, client } = harness;
  const { namespace } = client.options;
  const keys = await openKeyRing({ ...config, keyRingMayBeMade: false });
  const converter = createDataConverter({ keys, namespace, mode: 'client' });
  const [codec] = converter.payloadCodecs ?? [];
  // The input is encrypted, as a reader of Temporal can copy it from another start. The state is in the clear.
  const payloadCodecs = [
    {
      encode: async ([input, ...others]: Payload[]) => [
        ...((await codec?.encode(input ? [input] : [])) ?? []),
        ...others,
      ],
      decode: async (payloads: Payload[]) => (await codec?.decode(payloads)) ?? [],
    },
  ];
  const sender = new Client({
    connection: client.connection,
    namespace,
    dataConverter: { ...converter, payloadCodecs },
  });
  const pullId = `P-${randomUUID().slice(0, 8)}`;
  const profile = config.profiles.get('default');
  assert.ok(profile);
  const { ledgerId } = await withLedger(harness, async (ledger) => ledger.identity);
  const input = {
    ...{ pullId, productCode: 'CR', endUserCode: 'EU123', permissiblePurposeCode: '01' },
    applicants: [applicant('1A', '912700001')],
  };
  const run = {
    ...{ environment: 'uat', profile: 'default', customerId: profile.customerId, ledgerId },
    ...{
      profileFingerprint: computeProfileFingerprint(profile),
      settings: config.protocol,
      searchAttributes: [],
    },
  };
  const past = {
    ...{ run, inquiry: { state: 'running', attempts: 0 }, holds: {}, events: {}, published: {} },
    refused: { refusedMessages: [], refusedMessagesTotal: 0 },
  };
  const handle = await sender.workflow.start<Workflow>('creditReport', {
    workflowId: `pull-${pullId}`,
    taskQueue: config.taskQueue,
    args: [input, past],
    cronSchedule: '@every 1s',
  });
  try {
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const requests = (await (await fetch(`${harness.sandboxUrl}/_sandbox/requests`)).json()) as unknown[];
      assert.deepEqual(requests, []);
    }
  } finally {
    await sender.workflow.getHandle(handle.workflowId).terminate();
  }
});
