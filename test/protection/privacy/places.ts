/** All output and stored data of the journeys, as a reader without the key sees them. */
import { runInParallel } from '../../../src/base/in-parallel.ts';
import type { Place } from './processes.ts';
import { fileIfThere, type World } from './world.ts';

/** The CLI at once: more would only wait for the same two cores. */
const AT_ONCE = 4;

type RunId = Pick<Run, 'workflowId' | 'runId'>;

export interface Run {
  workflowId: string;
  runId: string;
  /** Runs of the same kind took the same course. */
  kind: string;
  /** The query answers of the run. Empty once the run has closed. */
  queries: readonly string[];
}

/** The places in Temporal: its database, its log, and the output of its API and its CLI about the runs. */
export async function temporalPlaces(world: World, runs: readonly Run[]): Promise<Place[]> {
  const { connection, options } = world.plainClient;
  const list = await connection.workflowService.listWorkflowExecutions({
    namespace: options.namespace,
    pageSize: 1_000,
  });
  const ofEach = await runInParallel(runs, AT_ONCE, (run) =>
    Promise.all([history(world, run), described(world, run), ...answered(world, run)]),
  );
  // The CLI takes its time for each, and shows the same history: one run of each kind is enough.
  const kinds = new Map(runs.map((run) => [run.kind, run]));
  const shown = await runInParallel([...kinds.values()], AT_ONCE, (run) => shownByCli(world, run));
  return [...databasePlaces(world), jsonPlace('list of runs', list), ...ofEach.flat(), ...shown];
}

export function databasePlaces({ file, server }: World): Place[] {
  const names = ['temporal/temporal.db', 'temporal/temporal.db-wal', 'temporal/temporal.db-shm'];
  return [...names.map((name) => ({ name, path: file(name) })), { name: 'server log', path: server.logFile }].map(
    ({ name, path }) => ({ kind: 'temporal', name, bytes: fileIfThere(path) }),
  );
}

/** With the key: the client decodes every memo that it lists, and that of the watch over the ledger is encrypted. */
export async function runsOf({ client }: World): Promise<Run[]> {
  const runs: Run[] = [];
  for await (const { workflowId, runId, type, status, searchAttributes } of client.workflow.list()) {
    const kind = [type, status.name, searchAttributes?.NeedsAttention].join(' ');
    // The watch over the ledger answers no query of ours.
    const queries = ['__temporal_workflow_metadata', ...(type === 'watchLedger' ? [] : ['references'])];
    runs.push({ workflowId, runId, kind, queries: status.name === 'RUNNING' ? queries : [] });
  }
  return runs;
}

/** `temporal workflow show --output json` */
export async function shownByCli(world: World, { workflowId, runId }: RunId): Promise<Place> {
  const args = ['workflow', 'show', '--workflow-id', workflowId, '--run-id', runId, '--output', 'json'];
  return { kind: 'temporal', name: `what the CLI shows of ${workflowId}`, bytes: await world.temporalCli(args) };
}

/** All of it, payloads in base64. */
export async function history({ plainClient }: World, { workflowId, runId }: RunId): Promise<Place> {
  const events = await plainClient.workflow.getHandle(workflowId, runId).fetchHistory();
  return jsonPlace(`history of ${workflowId}`, events);
}

/** Search attributes, memo, summary and details of the run, pending activities with their last failures. */
async function described({ plainClient }: World, { workflowId, runId }: Run): Promise<Place> {
  const { connection, options } = plainClient;
  const description = await connection.workflowService.describeWorkflowExecution({
    namespace: options.namespace,
    execution: { workflowId, runId },
  });
  return jsonPlace(`description of ${workflowId}`, description);
}

/** Query answers as Temporal carries them, such as the current details. The UI shows them without the codec server. */
function answered({ plainClient }: World, { workflowId, runId, queries }: Run): Promise<Place>[] {
  const { connection, options } = plainClient;
  return queries.map(async (queryType) => {
    const answer = await connection.workflowService.queryWorkflow({
      namespace: options.namespace,
      execution: { workflowId, runId },
      query: { queryType },
    });
    return jsonPlace(`${queryType} of ${workflowId}`, answer);
  });
}

function jsonPlace(name: string, value: unknown): Place {
  return { kind: 'temporal', name, bytes: Buffer.from(JSON.stringify(value)) };
}

export function ledgerPlaces({ ledger }: World): Place[] {
  return ['', '-wal', '-shm'].map((suffix) => ({
    kind: 'ledger',
    name: `ledger${suffix}`,
    bytes: fileIfThere(`${ledger.file}${suffix}`),
  }));
}

/** The metrics and health answers of a running worker. */
export async function scraped({ metricsUrls, healthUrl }: World): Promise<Place[]> {
  return Promise.all(
    [...metricsUrls, healthUrl].map(async (url) => {
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
      return { kind: 'log' as const, name: new URL(url).pathname, bytes };
    }),
  );
}
