/** The recorded histories, encrypted: smaller than they were, and they replay. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, test } from 'node:test';
import type { Payload } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { createPayloadCodec } from '../../src/protection/payloads/payload-codec.ts';
import { createLogger, installLogger } from '../../src/telemetry/logging.ts';
import { bundleWorkflows } from '../support/workflow-bundle.ts';
import { payloadRing, ringKey } from './codec-fixtures.ts';

installLogger(createLogger('ERROR'), 'ERROR');

type History = proto.temporal.api.history.v1.IHistory;

// As long as real ones: what is measured is also their length.
const keys = payloadRing('payload-0123456789ab');
const options = { keys, namespace: 'default', mode: 'worker' } as const;
const codec = createPayloadCodec(options);
const encrypted = new Map<string, { history: History; bytesBefore: number; bytes: number }>();

/** What never passes a codec: search attributes, headers, and the SDK's own markers of patches. */
const NOT_ENCODED = new Set(['searchAttributes', 'header', 'markerRecordedEventAttributes']);

/** Everything that the SDK gives to a codec. */
function* payloadsIn(value: unknown): Generator<Payload> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if ('metadata' in value && typeof value.metadata === 'object' && value.metadata !== null) {
    if ('encoding' in value.metadata && value.metadata.encoding instanceof Uint8Array)
      return void (yield value as Payload);
  }
  for (const [name, inner] of Object.entries(value)) {
    if (!NOT_ENCODED.has(name)) yield* payloadsIn(inner);
  }
}

function sizeOf(history: History): number {
  return proto.temporal.api.history.v1.History.encode(history).finish().byteLength;
}

before(async () => {
  for (const file of globSync(join(import.meta.dirname, '..', 'histories', '*.json'))) {
    const history: History = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
    const bytesBefore = sizeOf(history);
    for (const payload of payloadsIn(history)) Object.assign(payload, (await codec.encode([payload]))[0]);
    encrypted.set(basename(file, '.json'), { history, bytesBefore, bytes: sizeOf(history) });
  }
});

test('the encrypted history of a journey is smaller than the plain one, however it went', (t) => {
  let total = 0;
  let totalBefore = 0;
  for (const [name, { bytes, bytesBefore }] of encrypted) {
    // A run of small messages has nothing to save the envelopes' bytes with: one with two, or a flood that is handed over.
    const isJourney = name.startsWith('lendingJourney-') && !/handedOver$/i.test(name);
    assert.ok(bytes < bytesBefore || !isJourney, `${name}: ${bytes} bytes, ${bytesBefore} in the clear`);
    total += bytes;
    totalBefore += bytesBefore;
  }
  const completed = encrypted.get('lendingJourney-completed');
  t.diagnostic(`history of a full journey: ${completed?.bytes} bytes, ${completed?.bytesBefore} in the clear`);
  assert.ok(total < totalBefore);
  t.diagnostic(`all recorded histories: ${total} bytes, ${totalBefore} in the clear`);
});

test('every recorded history replays when it is encrypted, under a key that was rotated out since', async () => {
  const code = await bundleWorkflows();
  const rotated = new KeyRing([{ ...keys.current('payload'), status: 'retired' }, ringKey('payload-ba9876543210')]);
  const dataConverter = createDataConverter({ ...options, keys: rotated });
  const histories = [...encrypted].map(([workflowId, { history }]) => ({ workflowId, history }));
  const errors: Record<string, Error> = {};
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: { code }, dataConverter },
    histories,
  )) {
    if (error) errors[workflowId] = error;
  }
  assert.deepEqual(errors, {});
});
