/** Finds a worker's workflows, and checks that they fit its configuration. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BundleOptions, WorkerOptions } from '@temporalio/worker';
import { isRecord } from '../base/is-record.ts';
import { hasFailureConverter } from '../protection/payloads/data-converter.ts';

const isBuilt = import.meta.url.endsWith('.js');

/** Returns the path of one of the bundle's modules: a source, or in the built program a compiled file. */
function resolveModuleFile(path: string): string {
  return fileURLToPath(new URL(`${path}.${isBuilt ? 'js' : 'ts'}`, import.meta.url));
}

const PROMISE_STACKS = resolveModuleFile('../workflows/run/promise-stacks');

const AS_REPLAYED = resolveModuleFile('../workflows/run/as-replayed');

const TRACE_HEADER = resolveModuleFile('../workflows/run/trace-header');

const WORKFLOWS = resolveModuleFile('../workflows/index');

/** Compiles a bundle for the Node that runs it, as the built program is. The SDK would compile it for ES2017. */
const compileForNode: NonNullable<BundleOptions['webpackConfigHook']> = (config) => {
  for (const rule of config.module?.rules ?? []) {
    const use = rule && typeof rule === 'object' ? rule.use : undefined;
    const options = use && typeof use === 'object' && 'options' in use ? use.options : undefined;
    if (isRecord(options) && isRecord(options.jsc)) options.jsc.target = 'es2022';
  }
  return config;
};

/**
 * Options of each workflow bundle. All of it is preloaded: a thread evaluates it once, and not for each run. So its
 * modules keep state only by run id.
 */
export const BUNDLE_OPTIONS = {
  workflowInterceptorModules: [PROMISE_STACKS, AS_REPLAYED, TRACE_HEADER],
  preloadModules: [PROMISE_STACKS, resolveModuleFile('../messages/all-messages'), WORKFLOWS],
  webpackConfigHook: compileForNode,
};

interface WorkflowSourceOptions {
  bundlePath?: string | undefined;
  isEncrypting: boolean;
}

/** The bundle that `npm run build` makes, beside the built program. */
export const BUNDLE_FILE = 'workflow-bundle.js';

/**
 * Returns the prebuilt bundle that was configured or built beside this file; in development the sources, bundled at
 * start. A bundle keeps the behavior of its build, regardless of the worker's settings, so one that does not fit them
 * is refused.
 *
 * @throws Error naming the bundle's file
 */
export function resolveWorkflowSource({ bundlePath, isEncrypting }: WorkflowSourceOptions): Partial<WorkerOptions> {
  const builtPath = fileURLToPath(new URL(`../../${BUNDLE_FILE}`, import.meta.url));
  const codePath = bundlePath ?? (isBuilt && existsSync(builtPath) ? builtPath : undefined);
  if (codePath === undefined) {
    const { workflowInterceptorModules, ...bundlerOptions } = BUNDLE_OPTIONS;
    return { workflowsPath: WORKFLOWS, interceptors: { workflowModules: workflowInterceptorModules }, bundlerOptions };
  }
  // With a prebuilt bundle the SDK ignores the data converter's failure converter without a word.
  if (isEncrypting && !hasFailureConverter(readFileSync(codePath, 'utf8'))) {
    throw new Error(`the workflow bundle ${codePath} does not encode failures: build it again`);
  }
  return { workflowBundle: { codePath } };
}
