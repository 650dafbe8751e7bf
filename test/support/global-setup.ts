/**
 * Runs once before all test files: one Temporal development server and one bundle of the workflows for everybody.
 * Each test takes a task queue and workflow ids of its own. What is set here in `process.env` reaches every file.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporalServer, type TemporalServer } from '../../src/local/temporal/temporal-server.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

let server: TemporalServer | undefined;
let directory: string | undefined;

export async function globalSetup(): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-test-'));
  const bundleFile = join(directory, 'workflow-bundle.js');
  // Its memory is small: less often collected, a run takes a tenth less of the processor.
  const starting = startTemporalServer({ headless: true, env: { ...process.env, GOGC: '800' } }).then((started) => {
    server = started;
    return started;
  });
  const [started, code] = await Promise.all([starting, bundleWorkflows().catch(stopAfter(starting))]);
  await writeFile(bundleFile, code);
  // Readable payloads are what most tests look at; those about encryption say so.
  process.env.PAYLOAD_ENCRYPTION = 'off';
  process.env.TEST_TEMPORAL_ADDRESS = started.address;
  process.env.TEST_TEMPORAL_NAMESPACE = started.namespace;
  process.env.TEST_WORKFLOW_BUNDLE = bundleFile;
}

/** A failed setup must not leave a server that is still starting. */
function stopAfter(starting: Promise<TemporalServer>): (error: unknown) => Promise<never> {
  return async (error) => {
    await starting.catch(() => {});
    throw error;
  };
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
}
