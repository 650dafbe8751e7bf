/** Codec and failure converter on a real server and worker: stored data is unreadable, and no payload stops a run. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  Client,
  Connection,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure, type DataConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { createKeyRing, refuseKey, rotateKeys, WatchedKeyRing } from '../../src/protection/keys/key-ring.ts';
import {
  createDataConverter,
  FAILURE_CONVERTER_PATH,
  hasFailureConverter,
} from '../../src/protection/payloads/data-converter.ts';
import { createPayloadCodec } from '../../src/protection/payloads/payload-codec.ts';
import { createLogger, installLogger } from '../../src/telemetry/logging.ts';
import { testServer } from '../support/temporal.ts';
import { payloadRing, rawPayload } from './codec-fixtures.ts';
import type { codecProbe, ProbeInput } from './fixtures/codec-probe.ts';

installLogger(createLogger('ERROR'), 'ERROR');

const SENTINEL = 'SENTINEL-900000001';
const workflowsPath = fileURLToPath(new URL('./fixtures/codec-probe.ts', import.meta.url));
const quiet = new DefaultLogger('WARN');

interface Served {
  address: string;
  namespace: string;
}

let directory: string;
let keyFile: string;
let served: Served;
let connection: Connection;
let workerConnection: NativeConnection;
let workerRing: WatchedKeyRing;
let bundle: string;
const unknownKeys: string[] = [];
const ends: (() => Promise<void>)[] = [];

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-codec-'));
  keyFile = join(directory, 'keys.json');
  await createKeyRing(keyFile);
  // Never polls: it reads the file again only because a payload names a key that it lacks.
  workerRing = await WatchedKeyRing.open(keyFile, { pollMs: 3_600_000 });
  served = await testServer();
  const { address } = served;
  [connection, workerConnection] = await Promise.all([
    Connection.connect({ address }),
    NativeConnection.connect({ address }),
  ]);
  ({ code: bundle } = await bundleWorkflowCode({
    workflowsPath,
    failureConverterPath: FAILURE_CONVERTER_PATH,
    logger: quiet,
  }));
});

after(async () => {
  for (const end of ends) await end();
  workerRing?.close();
  await connection?.close();
  await workerConnection?.close();
  if (directory) await rm(directory, { recursive: true, force: true });
});

async function clientWith(dataConverter?: DataConverter): Promise<Client> {
  return new Client({ connection, namespace: served.namespace, ...(dataConverter ? { dataConverter } : {}) });
}

/** Reads the key ring as it is now, as a client that starts now does. */
async function encryptingClient(): Promise<Client> {
  const keys = await WatchedKeyRing.open(keyFile);
  keys.close();
  return clientWith(createDataConverter({ keys, namespace: served.namespace, mode: 'client' }));
}

/** A client that sends this payload in place of every other one, and decodes the answers. */
function rawClient(payload: Payload): Promise<Client> {
  const { decode } = createPayloadCodec({ keys: workerRing, namespace: served.namespace, mode: 'client' });
  return clientWith({ payloadCodecs: [{ encode: async () => [payload], decode }] });
}

/** A worker on a queue of its own, which ends with the file. */
async function startWorker(workflows: { code: string } | { path: string } = { code: bundle }): Promise<string> {
  const taskQueue = `codec-${randomUUID()}`;
  const worker = await Worker.create({
    connection: workerConnection,
    namespace: served.namespace,
    taskQueue,
    dataConverter: createDataConverter({
      keys: workerRing,
      namespace: served.namespace,
      mode: 'worker',
      onUnknownKey: (keyId) => unknownKeys.push(keyId),
    }),
    ...('code' in workflows ? { workflowBundle: workflows } : { workflowsPath: workflows.path }),
    activities: {
      fail: async (text: string) => {
        throw ApplicationFailure.create({
          type: 'Broken',
          message: `message ${text}`,
          details: [`details ${text}`],
          cause: new Error(`cause ${text}`),
          nonRetryable: true,
        });
      },
    },
  });
  const running = worker.run();
  ends.push(async () => {
    worker.shutdown();
    await running;
  });
  return taskQueue;
}

let shared: Promise<string> | undefined;
const sharedQueue = () => (shared ??= startWorker());

type Probe = WorkflowHandle<typeof codecProbe>;

async function start(client: Client, input: ProbeInput, taskQueue?: string): Promise<Probe> {
  return client.workflow.start<typeof codecProbe>('codecProbe', {
    taskQueue: taskQueue ?? (await sharedQueue()),
    workflowId: `codec-${randomUUID()}`,
    args: [input],
  });
}

async function rawHistory(handle: { workflowId: string }): Promise<proto.temporal.api.history.v1.IHistory> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: served.namespace,
    execution: { workflowId: handle.workflowId },
  });
  assert.ok(history);
  return history;
}

function bytesOf(history: proto.temporal.api.history.v1.IHistory): Buffer {
  return Buffer.from(proto.temporal.api.history.v1.History.encode(history).finish());
}

const GARBAGE: Record<string, Payload> = {
  'refused: unparsable': rawPayload('json/plain', '{"ssn": 900'),
  'refused: foreignEncoding': rawPayload('application/x-protobuf', 'x'),
  'refused: malformed': rawPayload('binary/encrypted-cj1', 'too short'),
};

describe('what Temporal stores', () => {
  test('shows neither input, message, result, nor the message, stack, details or cause of a failure', async () => {
    const client = await encryptingClient();
    const handle = await start(client, { messages: 1, failWith: SENTINEL });
    const failure = await handle.result().catch((error: unknown) => error);
    assert.ok(failure instanceof WorkflowFailedError);
    const cause = failure.cause?.cause;
    assert.ok(cause instanceof ApplicationFailure);
    assert.equal(cause.message, `message ${SENTINEL}`, 'who has the key reads it');
    assert.equal(cause.type, 'Broken');
    const stored = bytesOf(await rawHistory(handle));
    assert.ok(stored.includes('Encoded failure'));
    assert.ok(!stored.includes(SENTINEL));
    assert.ok(!stored.includes('codec-probe.ts'), 'a stack trace');

    const noted = await start(client, { messages: 2 });
    await noted.signal('note', SENTINEL);
    await noted.executeUpdate('noteAnswered', { args: [SENTINEL] });
    assert.deepEqual(await noted.result(), [JSON.stringify(SENTINEL), JSON.stringify(SENTINEL)]);
    assert.ok(!bytesOf(await rawHistory(noted)).includes(SENTINEL));
  });

  test('shows a workflow’s failure if the bundle lacks the converter; hasFailureConverter finds such a bundle', async () => {
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
    assert.equal(hasFailureConverter(code), false);
    assert.equal(hasFailureConverter(bundle), true);
    const garbage = await rawClient(rawPayload('json/plain', '{'));
    const queues = { without: await startWorker({ code }), baked: await sharedQueue() };
    const stored = async (taskQueue: string) => {
      const workflowId = `codec-${randomUUID()}`;
      const handle = await garbage.workflow.start('codecProbe', { taskQueue, workflowId, args: [0] });
      await assert.rejects(handle.result());
      return bytesOf(await rawHistory(handle)).includes('refused: unparsable');
    };
    assert.equal(await stored(queues.without), true);
    assert.equal(await stored(queues.baked), false);
  });
});

describe('a message that cannot be decoded', () => {
  test('does not stop the run: signals are recorded as refused, updates are refused, and queries answer', async () => {
    const client = await encryptingClient();
    const handle = await start(client, { messages: 5 });
    for (const [told, payload] of Object.entries(GARBAGE)) {
      const sender = (await rawClient(payload)).workflow.getHandle(handle.workflowId);
      await sender.signal('note', 'x');
      const refusal = await sender.executeUpdate('noteAnswered', { args: ['x'] }).catch((error: unknown) => error);
      assert.ok(refusal instanceof WorkflowUpdateFailedError, told);
      await assert.doesNotReject(sender.query('echo', 'x'));
    }
    await handle.signal('note', 'good');
    await (await clientWith()).workflow.getHandle(handle.workflowId).signal('note', 'in the clear');
    assert.deepEqual(await handle.result(), [...Object.keys(GARBAGE), '"good"', '"in the clear"']);
  });

  test('fails the run that it starts, not its workflow task', async () => {
    for (const [told, payload] of Object.entries(GARBAGE)) {
      const workflowId = `codec-${randomUUID()}`;
      const taskQueue = await sharedQueue();
      await (await rawClient(payload)).workflow.start('codecProbe', { taskQueue, workflowId, args: ['x'] });
      const failure = await (await encryptingClient()).workflow
        .getHandle(workflowId)
        .result()
        .catch((error: unknown) => error);
      assert.ok(failure instanceof WorkflowFailedError && failure.cause instanceof ApplicationFailure);
      assert.equal(failure.cause.type, 'InvalidInput');
      assert.equal(failure.cause.message, told);
    }
  });

  test('does not stop the run, also as a reference into foreign external storage', async () => {
    const handle = await start(await encryptingClient(), { messages: 3 });
    const reference = (data: string): Payload => ({
      metadata: {
        encoding: Buffer.from('json/protobuf'),
        messageType: Buffer.from('temporal.api.sdk.v1.ExternalStorageReference'),
      },
      data: Buffer.from(data),
    });
    for (const data of ['{"driverName":"s3"}', '{']) {
      await (await rawClient(reference(data))).workflow.getHandle(handle.workflowId).signal('note', 'x');
    }
    await handle.signal('note', 'good');
    const refused = 'refused: foreignEncoding';
    assert.deepEqual(await handle.result(), [refused, refused, '"good"']);
  });
});

describe('keys', () => {
  test('are rotated under load, and every journey continues', async () => {
    const before = await encryptingClient();
    const handles = await Promise.all(Array.from({ length: 10 }, () => start(before, { messages: 2 })));
    await Promise.all(handles.map((handle) => handle.signal('note', 'old')));
    await rotateKeys(keyFile);
    const anew = await encryptingClient();
    handles.push(...(await Promise.all(Array.from({ length: 10 }, () => start(anew, { messages: 2 })))));
    await Promise.all(
      handles.map(async (handle, index) => {
        if (index >= 10) await handle.signal('note', 'old');
        await anew.workflow.getHandle(handle.workflowId).executeUpdate('noteAnswered', { args: ['new'] });
      }),
    );
    for (const { workflowId } of handles) {
      assert.deepEqual(await anew.workflow.getHandle(workflowId).result(), ['"old"', '"new"']);
    }
    assert.deepEqual(unknownKeys, []);
  });

  test('that are unknown raise an alert, and the run waits until they are refused', async () => {
    const client = await encryptingClient();
    const keys = payloadRing('payload-on-its-way');
    const stranger = await clientWith(createDataConverter({ keys, namespace: served.namespace, mode: 'client' }));
    const handle = await start(client, { messages: 2 });
    await stranger.workflow.getHandle(handle.workflowId).signal('note', 'x');
    await handle.signal('note', 'good');
    while (!unknownKeys.includes('payload-on-its-way')) await delay(20);
    assert.equal((await handle.describe()).status.name, 'RUNNING');
    await refuseKey(keyFile, 'payload-on-its-way');
    assert.deepEqual(await handle.result(), ['refused: keyRefused', '"good"']);
  });
});
