import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { FAILURE_CONVERTER_PATH } from '../../src/protection/data-converter.ts';

/** Bundles the workflows from source; about a second. Returns the code. */
export async function bundleWorkflows(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    failureConverterPath: FAILURE_CONVERTER_PATH,
    // Only warnings and errors: a line per bundle says nothing to a test run.
    logger: new DefaultLogger('WARN'),
  });
  return code;
}
