/** Keeps samples in the sandbox: elsewhere the gateway would get real inquiries about made-up applicants. */
import { UsageError } from './errors.ts';

/**
 * Refuses `--sample` where the environment, or the task queue that was given, is not the sandbox's, and no rehearsal is on.
 * Workers outside the sandbox refuse the samples' applicants as well, since they alone know where a request would go.
 *
 * @throws UsageError, ConfigError
 */
export async function requireSandbox({ taskQueue }: { taskQueue?: string }): Promise<void> {
  // Loaded when a command runs, so that `--help` answers at once.
  const [{ loadVariable }, { otherEnvironmentIn }] = await Promise.all([
    import('../../config/environment.ts'),
    import('../../config/rules.ts'),
  ]);
  const environment = loadVariable(process.env, 'GATEWAY_ENVIRONMENT');
  if (environment !== 'sandbox' && loadVariable(process.env, 'GATEWAY_REHEARSAL') !== 'on') {
    throw new UsageError(`--sample is for the sandbox alone: GATEWAY_ENVIRONMENT is ${environment}`);
  }
  const named = otherEnvironmentIn(taskQueue ?? process.env.TASK_QUEUE ?? '', environment);
  if (named) throw new UsageError(`--sample is for the sandbox alone: the task queue is called after ${named}`);
}
