import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { BUNDLE_OPTIONS } from '../../src/worker/workflow-source.ts';
import { testServer } from '../support/temporal.ts';
import { markedStacks, markStacks, waitForEver } from '../support/waiting-workflow.ts';

test('runs that wait in the same place share what the SDK notes of it, and each still says where it waits', async (t) => {
  const { address, namespace } = await testServer();
  const connection = await NativeConnection.connect({ address });
  const clients = await Connection.connect({ address });
  const taskQueue = `stacks-${randomUUID()}`;
  const { workflowInterceptorModules: workflowModules, ...bundlerOptions } = BUNDLE_OPTIONS;
  const worker = await Worker.create({
    ...{ connection, namespace, taskQueue, bundlerOptions },
    workflowsPath: fileURLToPath(new URL('../support/waiting-workflow.ts', import.meta.url)),
    interceptors: { workflowModules },
  });
  const { workflow } = new Client({ connection: clients, namespace });
  await worker.runUntil(async () => {
    const start = () => workflow.start(waitForEver, { taskQueue, workflowId: randomUUID() });
    const [one, other] = [await start(), await start()];
    t.after(() => Promise.all([one.terminate(), other.terminate()]).finally(() => clients.close()));
    assert.equal(await other.query(markedStacks), 0);
    const marked = await one.query(markStacks);
    assert.ok(marked >= 2);
    assert.equal(await other.query(markedStacks), marked);
    // The line, and its caller's.
    assert.match(await other.query<string>('__stack_trace'), /waiting-workflow\.ts:\d+.*\n.*waiting-workflow\.ts:\d+/);
  });
  await connection.close();
});
