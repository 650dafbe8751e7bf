/** Which workflow bundles trace. Pure: the bundle holds it too. */

/** In the text of every bundle that `workflow-tracing.ts` was baked into, and in no other. */
export const WORKFLOW_TRACING_MARK = 'credit-journey-workflow-tracing-1';

/** With a prebuilt bundle the SDK ignores what else a worker says about interceptors. */
export function bundleTraces(code: string): boolean {
  return code.includes(WORKFLOW_TRACING_MARK);
}
