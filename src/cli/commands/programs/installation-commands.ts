/** `setup`, `doctor` and `worker`: an installation is made, checked and run. */
import type { LedgerIdentity } from '../../../ledger/records.ts';
import { waitForStopSignal } from '../../../local/stop-signal.ts';
import { RUNS_WITH_INQUIRIES } from '../../../model/run-key.ts';
import { EXIT, reportError, UsageError } from '../../output/errors.ts';
import type { Output } from '../../output/output.ts';
import { type CommandRow, type Context, parseWholeNumber } from '../command.ts';

/** Filters to save in the Temporal UI, as docs/operating.md has them. None lists `watchLedger` or deliveries of events. */
export const TEMPORAL_UI_VIEWS = [
  { view: 'needs a person', filter: 'NeedsAttention IS NOT NULL' },
  { view: 'all runs', filter: RUNS_WITH_INQUIRIES },
];

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'worker',
    description: 'run a worker until SIGTERM or Ctrl-C; it finishes attempts in flight first',
    examples: ['credit-journey worker'],
    async run({ options, output }: Context) {
      const { loadConfig } = await import('../../../config/config.ts');
      const config = loadConfig(process.env);
      const { runWorker } = await import('../../../worker.ts');
      const { createLogger, installLogger } = await import('../../../telemetry/logging.ts');
      // Node's slabs of 64 kB end with their last buffer; the SDK (1.24) keeps a small one for each cached run.
      Buffer.poolSize = 8 * 1_024;
      const logger = createLogger(config.logLevel);
      installLogger(logger, config.logLevel, config.telemetry.metricsAddress);
      const shutdown = new AbortController();
      void waitForStopSignal().then(() => shutdown.abort());
      const { taskQueue, temporal, environment } = config;
      try {
        await runWorker(config, {
          signal: shutdown.signal,
          logger,
          onReady: () =>
            output.event({ ready: true, taskQueue, environment, namespace: temporal.namespace }, [
              output.colors.green(`worker ready on ${taskQueue} (${environment}, ${temporal.address})`),
            ]),
        });
      } catch (error) {
        // Temporal's runtime may stay open after a start that failed. The process must end, so that it is started again.
        process.exit(reportError(error instanceof SuppressedError ? error.suppressed : error, options));
      }
      return {};
    },
  },
  {
    name: 'setup',
    description: 'register the search attributes in a Temporal namespace and create the ledger; safe to run again',
    options: [
      ['--no-temporal', 'leave Temporal alone'],
      ['--no-ledger', 'leave the ledger alone'],
    ],
    examples: ['credit-journey setup'],
    async run({ options, output, connect }: Context<{ temporal: boolean; ledger: boolean }>) {
      const { registerSearchAttributes } = await import('../../output/search-attribute-setup.ts');
      // `setup` registers names: none of its payloads needs keys or a codec server.
      const connection = { besideLedger: options.ledger, dataConverter: {} };
      const searchAttributes = options.temporal
        ? await registerSearchAttributes((await connect(connection)).getSdkClient())
        : undefined;
      // Last, so that no failure can come between making the ledger and printing its id.
      const ledger = options.ledger ? await setUpLedger(output) : undefined;
      const temporalUiViews = searchAttributes && TEMPORAL_UI_VIEWS;
      const isComplete = (searchAttributes?.missing ?? []).length === 0;
      return {
        answer: { ledger, searchAttributes, temporalUiViews },
        exitCode: isComplete ? EXIT.done : EXIT.needsPerson,
      };
    },
  },
  {
    name: 'doctor',
    description:
      'check everything that a worker needs, without posting anything: exits with 1 if a check fails, 4 if a check could not be made',
    options: [['--timeout <seconds>', 'how long each check may take', parseWholeNumber, 10]],
    examples: ['credit-journey doctor'],
    async run({ options }: Context<{ timeout: number }>) {
      const { timeout } = options;
      if (timeout < 1 || timeout > 999) {
        throw new UsageError('--timeout must be a whole number of seconds from 1 to 999');
      }
      const { inspectCodecServer, inspectConfig } = await import('../../../config/config.ts');
      const { examine } = await import('../../../doctor/examine-installation.ts');
      const { env } = process;
      const signerFile = env.API_DECISION_KEY_FILE || undefined;
      const inspected = { ...inspectConfig(env), codecServer: inspectCodecServer(env), signerFile };
      const answer = await examine(inspected, { timeoutMs: timeout * 1_000 });
      const failed = answer.counts.fail > 0 ? EXIT.failed : EXIT.unchecked;
      return { answer, exitCode: answer.healthy ? EXIT.done : failed };
    },
  },
];

async function setUpLedger(output: Output): Promise<LedgerIdentity> {
  const { loadLedgerAccess } = await import('../../../config/ledger.ts');
  const access = loadLedgerAccess(process.env, { needsId: false });
  const { openConfiguredLedger } = await import('../../../operator/configured-ledger.ts');
  const { makeMissingKeyRing } = await import('../../../protection/keys/key-ring.ts');
  await makeMissingKeyRing(access);
  const ledger = await openConfiguredLedger(access, { create: true, migrate: true, onProgress: output.progress });
  await ledger.close();
  return ledger.identity;
}
