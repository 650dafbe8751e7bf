import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { FAILURE_CONVERTER_PATH } from '../../src/protection/payloads/data-converter.ts';
import { BUNDLE_OPTIONS } from '../../src/worker/workflow-source.ts';

/** Bundles the workflows from source; about a second. Returns the code. */
export async function bundleWorkflows(workflowInterceptorModules: string[] = []): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    failureConverterPath: FAILURE_CONVERTER_PATH,
    ...BUNDLE_OPTIONS,
    workflowInterceptorModules: [...BUNDLE_OPTIONS.workflowInterceptorModules, ...workflowInterceptorModules],
    // Logs only warnings and errors, since a line per bundle does not help in a test run.
    logger: new DefaultLogger('WARN'),
  });
  return code;
}
