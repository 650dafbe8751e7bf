/**
 * Journeys of every outcome with encryption on: they come to the same ends, and nothing personal is readable in what
 * Temporal keeps. The same search finds its sentinels when encryption is off: it can fail.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Applicant, JourneyStatus } from '../../src/model/shapes.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
} from '../support/journey-harness.ts';
import { SCENARIOS } from '../support/scenarios.ts';

const env = { SUBMIT_TIMEOUT_MS: '15000', GATEWAY_HEADERS_TIMEOUT_MS: '2000', GATEWAY_BODY_TIMEOUT_MS: '2000' };

let encrypted: Harness;
let clear: Harness;
before(async () => {
  [encrypted, clear] = await Promise.all([
    startHarness({ env: { ...env, PAYLOAD_ENCRYPTION: 'on' } }),
    startHarness({ env }),
  ]);
});
after(async () => {
  await encrypted?.close();
  await clear?.close();
});

/** What every applicant of the scenarios has in common, and what a journey's own sentinels add. */
const EVERYBODYS = ['Sample-1A', '1985-04-12', '2025550123', '12 Example Street', 'example.com'];

/** A sentinel as it is, upper case, hex, URL-encoded, and in base64 at each of its three offsets. */
function shapesOf(sentinel: string): string[] {
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.from('#'.repeat(offset) + sentinel).toString('base64');
    // What depends on neighbours at either end is cut off.
    return text.slice(Math.ceil((offset * 4) / 3), -4);
  });
  const hex = Buffer.from(sentinel).toString('hex');
  return [sentinel, sentinel.toUpperCase(), hex, encodeURIComponent(sentinel), ...inBase64].filter(
    (shape) => shape.length >= 6,
  );
}

function found(text: string, sentinels: readonly string[]): string[] {
  return sentinels.filter((sentinel) => shapesOf(sentinel).some((shape) => text.includes(shape)));
}

async function rawHistory(handle: JourneyHandle): Promise<string> {
  return historyToJSON(await handle.fetchHistory());
}

describe('with encryption on', { concurrency: 6 }, () => {
  for (const { name, play } of SCENARIOS) {
    test(`${name} ends as it does in the clear, and its history tells nobody who it is about`, async () => {
      const handle = await play(encrypted);
      assert.deepEqual(found(await rawHistory(handle), EVERYBODYS), []);
      if ((await handle.describe()).status.name === 'RUNNING') await handle.terminate();
    });
  }

  test('the search finds what it looks for where nothing is encrypted', async () => {
    const handle = await clear.start(journeyInput({ stages: ['PREQUAL'] }));
    await handle.result();
    assert.deepEqual(found(await rawHistory(handle), EVERYBODYS), EVERYBODYS);
  });

  test('sentinels in every field reach neither history, search attributes, memo nor the ledger file', async () => {
    const ssn = newSsn('4002');
    const person: Applicant = {
      ...applicant('1A', ssn),
      names: [{ first: 'Zebulonix', middle: 'Quorvane', last: 'Mistralogue' }],
      emailAddress: 'zebulonix@mistralogue.example.com',
      phones: [{ phoneNumber: '2025550187', phoneType: 'HOME' }],
      addresses: [
        { addressIdentifier: 'C', line1: '4711 Sentinelweg', city: 'Zebulonville', state: 'IL', zip: '62704' },
      ],
    };
    const sentinels = ['Zebulonix', 'Quorvane', 'Mistralogue', ssn, '2025550187', 'Sentinelweg', 'Zebulonville'];
    const input = journeyInput({ applicants: [person], stages: ['PREQUAL'] });
    const handle = await encrypted.start(input);
    await untilStatus(handle, ({ state }) => state === 'held');
    await handle.signal('consent', { nonsense: 'Zebulonix' });
    const refused = await untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal === 1);
    const description = await handle.describe();
    const { rows } = { rows: readFileSync(join(encrypted.dataDir, 'ledger.db')).toString('latin1') };
    const wal = readFileSync(join(encrypted.dataDir, 'ledger.db-wal')).toString('latin1');
    for (const [where, text] of Object.entries({
      history: await rawHistory(handle),
      status: JSON.stringify(refused),
      description: JSON.stringify([description.searchAttributes, description.memo, handle.workflowId]),
      ledger: rows,
      wal,
    })) {
      assert.deepEqual(found(text, sentinels), [], where);
    }
    await handle.terminate();
  });

  test('a plain JSON consent is taken, and what cannot be decoded is refused without stopping the run', async () => {
    const input = journeyInput({ stages: ['PREQUAL'], shares: [{ shareId: 'S1', endUserCode: 'EU999' }] });
    const handle = await encrypted.start(input);
    const plain = clear.client.workflow.getHandle(handle.workflowId);
    await plain.signal('consent', { undecodable: { reason: 'tampered' } });
    await signalRaw(handle.workflowId, {
      metadata: { encoding: Buffer.from('binary/of-somebody-else') },
      data: Buffer.from('x'),
    });
    await signalRaw(handle.workflowId, {
      metadata: { encoding: Buffer.from('json/plain') },
      data: Buffer.from('{"a":'),
    });
    const status = await untilStatus(handle, ({ refusedMessagesTotal }: JourneyStatus) => refusedMessagesTotal === 3);
    assert.ok(status.refusedMessages.every(({ reason }) => /could not be decoded/.test(reason)));
    await plain.signal('consent', consentMessage(input.journeyId, { applicantId: '1A' }));
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  });
});

async function signalRaw(workflowId: string, payload: { metadata: Record<string, Uint8Array>; data: Uint8Array }) {
  const { client } = clear;
  await client.workflowService.signalWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    signalName: 'consent',
    input: { payloads: [payload] },
  });
}
