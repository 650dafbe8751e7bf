/** Tells which workflow bundles trace. Pure: the bundle contains it too. */

/** A mark in the text of every bundle that contains `workflow-tracing.ts`, and of no other. */
export const WORKFLOW_TRACING_MARK = 'credit-journey-workflow-tracing-1';

/**
 * Returns true if the bundle traces. With a prebuilt one the SDK ignores all other settings of a worker about
 * interceptors.
 */
export function bundleTraces(code: string): boolean {
  return code.includes(WORKFLOW_TRACING_MARK);
}
