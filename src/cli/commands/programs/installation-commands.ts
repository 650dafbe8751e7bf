/** `setup`, `doctor` and `worker`: an installation is made, checked and run. */
import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { LedgerIdentity } from '../../../ledger/records.ts';
import { RUNS_WITH_INQUIRIES } from '../../../model/run-key.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { reportError, UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput, type Output } from '../../output/output.ts';
import type { SearchAttributeSetup } from '../../output/search-attribute-setup.ts';
import { withJourneys } from '../connections.ts';
import { parseWholeNumber } from './service.ts';

interface SetupOptions extends ServerOptions {
  temporal: boolean;
  ledger: boolean;
}

export function registerSetupCommand(program: Command): void {
  const command = program
    .command('setup')
    .description('register the search attributes in a Temporal namespace and create the ledger; safe to run again')
    .option('--no-temporal', 'leave Temporal alone')
    .option('--no-ledger', 'leave the ledger alone');
  withExamples(withServerOptions(command), 'credit-journey setup');
  command.action(async (options: SetupOptions) => {
    const output = createOutput(options);
    const searchAttributes = options.temporal
      ? await withJourneys(options, (_journeys, _output, client) => setUpTemporal(client), {
          besideLedger: options.ledger,
          // `setup` registers names: none of its payloads needs keys or a codec server.
          dataConverter: {},
        })
      : undefined;
    // Last, so that no failure can come between making the ledger and printing its id.
    const ledger = options.ledger ? await setUpLedger(output) : undefined;
    const temporalUiViews = searchAttributes && TEMPORAL_UI_VIEWS;
    output.answer({ ledger, searchAttributes, temporalUiViews });
    if (searchAttributes && searchAttributes.missing.length > 0) process.exitCode = EXIT.needsPerson;
  });
}

/** Filters to save in the Temporal UI, as docs/operating.md has them. None lists `watchLedger` or deliveries of events. */
export const TEMPORAL_UI_VIEWS = [
  { view: 'needs a person', filter: 'NeedsAttention IS NOT NULL' },
  { view: 'all runs', filter: RUNS_WITH_INQUIRIES },
];

async function setUpLedger(output: Output): Promise<LedgerIdentity> {
  const { loadLedgerAccess } = await import('../../../config/ledger.ts');
  const access = loadLedgerAccess(process.env, { needsId: false });
  const [{ openLedger }, { openKeyRing }] = await Promise.all([
    import('../../../ledger/open-ledger.ts'),
    import('../../../protection/keys/key-ring.ts'),
  ]);
  const { url, expectedId } = access.ledger;
  const ledger = await openLedger({
    url,
    environment: access.environment,
    keyRing: await openKeyRing(access),
    create: true,
    migrate: true,
    onProgress: (step) => output.progress(step),
    expectedId,
  });
  await ledger.close();
  return ledger.identity;
}

async function setUpTemporal(client: Client): Promise<SearchAttributeSetup> {
  const { requireNamespace, registerSearchAttributes } = await import('../../output/search-attribute-setup.ts');
  await requireNamespace(client);
  return registerSearchAttributes(client);
}

export function registerDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      'check everything that a worker needs, without posting anything: exits with 1 if a check fails, 4 if a check could not be made',
    )
    .option('--timeout <seconds>', 'how long each check may take', parseWholeNumber, 10);
  withExamples(withServerOptions(command), 'credit-journey doctor');
  command.action(async (options: ServerOptions & { timeout: number }) => {
    const { timeout } = options;
    if (timeout < 1 || timeout > 999) throw new UsageError('--timeout must be a whole number of seconds from 1 to 999');
    const [{ inspectCodecServer, inspectConfig }, { examine }] = await Promise.all([
      import('../../../config/config.ts'),
      import('../../../doctor/examine-installation.ts'),
    ]);
    const env = createEnvironment(options);
    const signerFile = env.API_DECISION_KEY_FILE || undefined;
    const inspected = { ...inspectConfig(env), codecServer: inspectCodecServer(env), signerFile };
    const examination = await examine(inspected, { timeoutMs: timeout * 1_000 });
    createOutput(options).answer(examination);
    if (!examination.healthy) process.exitCode = examination.counts.fail > 0 ? EXIT.failed : EXIT.unchecked;
  });
}

export function registerWorkerCommand(program: Command): void {
  const command = program
    .command('worker')
    .description('run a worker until SIGTERM or Ctrl-C; it finishes attempts in flight first');
  withExamples(withServerOptions(command), 'credit-journey worker');
  command.action(async (options: ServerOptions) => {
    const { loadConfig } = await import('../../../config/config.ts');
    const config = loadConfig(createEnvironment(options));
    const [{ runWorker }, { createLogger, installLogger }] = await Promise.all([
      import('../../../worker.ts'),
      import('../../../telemetry/logging.ts'),
    ]);
    // Node's slabs of 64 kB end with their last buffer; the SDK (1.24) keeps a small one for each cached run.
    Buffer.poolSize = 8 * 1_024;
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
function createEnvironment({ address, namespace, taskQueue }: ServerOptions): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...omitUndefined({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TASK_QUEUE: taskQueue }),
  };
}
