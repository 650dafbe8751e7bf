/** Long-running programs follow a rotation in the key ring's file, for payloads and for the ledger. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PayloadCodec } from '@temporalio/common';
import { loadDataConverter } from '../../src/client/connection/connect.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { openConfiguredLedger } from '../../src/operator/configured-ledger.ts';
import { createKeyRing, loadKeyRing, rotateKeys } from '../../src/protection/keys/key-ring.ts';
import { createPayloadCodec } from '../../src/protection/payloads/payload-codec.ts';
import { attempted, RECORD, readSealedReport } from '../ledger/fixtures.ts';
import { decodedValue, payloadOf } from '../protection/codec-fixtures.ts';

const namespace = 'rotated';

async function keyFile(t: TestContext): Promise<{ file: string; directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'rotated-keys-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'keys.json');
  await createKeyRing(file);
  return { file, directory };
}

test('a connected client reads payloads that workers encrypt under the next payload key', async (t) => {
  const { file } = await keyFile(t);
  const settings = {
    payloads: { kind: 'keyRing', file },
    temporal: { namespace },
  } as unknown as Parameters<typeof loadDataConverter>[0];
  const { dataConverter, keys } = await loadDataConverter(settings);
  t.after(() => keys?.close());
  await rotateKeys(file);
  const worker = createPayloadCodec({ keys: await loadKeyRing(file), namespace, mode: 'client' });
  const [codec] = dataConverter.payloadCodecs as [PayloadCodec];
  const decoded = await codec.decode(await worker.encode([payloadOf('an answer')]));
  assert.deepEqual(decoded.map(decodedValue), ['an answer']);
});

test('an open ledger reads a report that is sealed under the next ledger key, after a rewrap', async (t) => {
  const { file, directory } = await keyFile(t);
  const url = `file:${join(directory, 'ledger.db')}`;
  const environment = 'sandbox';
  const made = await openLedger({ url, environment, keyRing: await loadKeyRing(file), create: true });
  await made.close();
  const access = { ledger: { url, expectedId: undefined }, environment, keyRingFile: file };
  const running = await openConfiguredLedger(access as unknown as Parameters<typeof openConfiguredLedger>[0]);
  t.after(() => running.close());
  await rotateKeys(file);
  const worker = await openLedger({ url, environment, keyRing: await loadKeyRing(file), create: false });
  t.after(() => worker.close());
  await worker.rewrapDataKeys();
  const customerTraceNumber = 'PQAAAAAAAAAAAAAAAAAAAA000000';
  await attempted(
    worker,
    { inquiry: { customerTraceNumber, runKey: 'J-1' }, request: 'a request' },
    { state: 'unknown' },
  );
  const record = { ledgerId: worker.identity.ledgerId, customerTraceNumber, attempt: 1, state: 'answered' } as const;
  await worker.recordOutcome({ ...record, answer: RECORD }, '{"report":1}');
  assert.equal((await readSealedReport(running, 'J-1', 'PREQUAL'))?.body, '{"report":1}');
});
