import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/** Bundles the workflows from source; about a second. Returns the code. */
export async function bundleWorkflows(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    // Only warnings and errors: a line per bundle says nothing to a test run.
    logger: quietLogger,
  });
  return code;
}

const write = (level: string) => (message: string) => void process.stderr.write(`${level} ${message}\n`);
const quietLogger = {
  log: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: write('WARN'),
  error: write('ERROR'),
};
