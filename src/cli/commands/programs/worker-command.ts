import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { reportError } from '../../output/errors.ts';
import { createOutput } from '../../output/output.ts';

export function registerWorkerCommand(program: Command): void {
  const command = program
    .command('worker')
    .description('run a worker until SIGTERM or Ctrl-C; it finishes attempts in flight first');
  withExamples(withServerOptions(command), 'credit-journey worker');
  command.action(async (options: ServerOptions) => {
    const { loadConfig } = await import('../../../config/config.ts');
    const config = loadConfig(environmentWith(options));
    const [{ runWorker }, { createLogger, installLogger }, { useSmallSlabs }] = await Promise.all([
      import('../../../worker.ts'),
      import('../../../telemetry/logging.ts'),
      import('../../../worker/buffer-slabs.ts'),
    ]);
    useSmallSlabs();
    const logger = createLogger(config.logLevel);
    installLogger(logger, config.logLevel, config.telemetry.metricsAddress);
    const output = createOutput(options);
    const shutdown = new AbortController();
    const stop = () => shutdown.abort();
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    const { taskQueue, temporal, environment } = config;
    try {
      await runWorker(config, {
        signal: shutdown.signal,
        logger,
        onReady: () =>
          output.event({ ready: true, taskQueue, environment, namespace: temporal.namespace }, () => [
            output.colors.green(`worker ready on ${taskQueue} (${environment}, ${temporal.address})`),
          ]),
      });
    } catch (error) {
      // Temporal's runtime may stay open after a start that failed. The process must end, so that it is started again.
      process.exit(reportError(error instanceof SuppressedError ? error.suppressed : error, options));
    }
  });
}

/** Options override their variables. */
export function environmentWith({ address, namespace, taskQueue }: ServerOptions): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...omitUndefined({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TASK_QUEUE: taskQueue }),
  };
}
