/** Two waits for the rest of a task: for that of its updates, and for the end of the run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { BUNDLE_OPTIONS } from '../../src/worker/workflow-source.ts';
import type { endAtRest } from '../support/resting-workflow.ts';
import { MESSAGE_MS } from '../support/short-timeouts.ts';
import { testServer } from '../support/temporal.ts';

/** A wait for updates takes three rounds. */
const ROUNDS = [0, 1, 2, 3, 4, 5];
/** A run that never rests keeps its thread: the worker could not even stop. */
const REST_WITHIN_MS = 30_000;

test('a run that ends in a task with updates takes them, in whichever round of the task it comes to its end', async (t) => {
  const { address, namespace } = await testServer();
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  t.after(() => Promise.all([connection.close(), native.close()]));
  const client = new Client({ connection, namespace });
  const taskQueue = 'rests';
  const handles = await Promise.all(
    ROUNDS.map((rounds) =>
      client.workflow.start<typeof endAtRest>('endAtRest', {
        ...{ workflowId: `rests-${rounds}`, taskQueue, args: [rounds] },
      }),
    ),
  );
  await Promise.all(handles.map((handle) => handle.signal('end')));
  const updates = handles.map((handle) => handle.executeUpdate('note'));
  await sleep(MESSAGE_MS);
  const { workflowInterceptorModules, ...bundlerOptions } = BUNDLE_OPTIONS;
  const worker = await Worker.create({
    ...{ connection: native, namespace, taskQueue, bundlerOptions },
    workflowsPath: fileURLToPath(new URL('../support/resting-workflow.ts', import.meta.url)),
    interceptors: { workflowModules: workflowInterceptorModules },
  });
  const results = worker.runUntil(async () => {
    await Promise.all(updates);
    return Promise.all(handles.map((handle) => handle.result()));
  });
  const late = sleep(REST_WITHIN_MS, 'a run does not rest', { ref: false });
  assert.deepEqual(
    await Promise.race([results, late]),
    ROUNDS.map(() => 1),
  );
});
