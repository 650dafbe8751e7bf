/** `credit-journey api`: runs the HTTP API until a signal stops it. */
import type { Command } from 'commander';
import type { ApiSettings } from '../../../api/settings.ts';
import { omitUndefined } from '../../../base/defined.ts';
import { type OutputOptions, withOutputOptions } from '../../output/common-options.ts';
import { createOutput } from '../../output/output.ts';

interface ApiFlags extends OutputOptions {
  host?: string;
  port?: string;
}

const EXAMPLE = `
Example, where API_JWKS_FILE, API_JWT_ISSUER and API_JWT_AUDIENCE say whose tokens it takes:
  $ credit-journey api --port 7282
\`credit-journey dev\` starts one too, with a token for its session.

docs/http-api.md lists the claims, the scopes and the operations.`;

/** Adds the command. Its action resolves when SIGINT or SIGTERM has stopped the API, and rejects if it cannot start. */
export function registerApiCommand(program: Command): void {
  const command = program
    .command('api')
    .description('serve the HTTP API: journeys, messages and consents for callers with a token')
    .option('--host <address>', 'address to listen on (default: API_HOST, else 127.0.0.1)')
    .option('--port <number>', 'port to listen on; 0 takes a free one (default: API_PORT, else 7282)');
  withOutputOptions(command)
    .addHelpText('after', EXAMPLE)
    .action(async ({ host, port, ...options }: ApiFlags) => {
      const [{ loadApiSettings }, { stopSignal }] = await Promise.all([
        import('../../../api/settings.ts'),
        import('../../../local/stop-signal.ts'),
      ]);
      const settings = loadApiSettings(process.env, omitUndefined({ host, port }));
      const stopped = stopSignal();
      const api = await start(settings);
      const { environment } = settings.options;
      const { url, close } = api;
      const output = createOutput(options);
      // One line, which a program that starts this process waits for.
      output.event({ url, port: api.port, environment }, () => [
        output.colors.green(`HTTP API ready (${environment})`),
        `  address    ${url}/v1`,
        `  reference  ${url}/v1/reference`,
        'Ctrl-C stops it',
      ]);
      await stopped;
      await close();
    });
}

async function start({ options, ledgerAccess, logLevel, decisionKeyFile, metricsAddress }: ApiSettings) {
  const [{ startApi }, { openLedgerAccess }, { LedgerJourneys }, { serveMetrics }, { createLogger }] =
    await Promise.all([
      import('../../../api/server.ts'),
      import('../../../operator/configured-ledger.ts'),
      import('../../../operator/ledger-journeys.ts'),
      import('../../../http/request-metrics.ts'),
      import('../../../telemetry/logging.ts'),
    ]);
  const logger = createLogger(logLevel);
  if (options.portfolioDirectory === undefined) {
    logger.info('PORTFOLIO_DIR is not set: downloads of portfolio reviews are answered with 501');
  }
  const signer = decisionKeyFile ? await loadSigner(decisionKeyFile) : undefined;
  await using resources = new AsyncDisposableStack();
  const journeys = resources.use(
    await LedgerJourneys.connect({ besideLedger: true, openLedger: () => openLedgerAccess(ledgerAccess) }),
  );
  const shown = await serveMetrics(metricsAddress, 'api');
  resources.defer(async () => shown?.close());
  const api = await startApi({
    ...options,
    ...omitUndefined({ signer, metrics: shown?.metrics }),
    journeys,
    onUnexpected: (error) => logger.error({ error }, 'the HTTP API has failed'),
  });
  resources.defer(() => api.close());
  const started = resources.move();
  return { ...api, close: () => started.disposeAsync() };
}

/** @throws ConfigError */
async function loadSigner(file: string) {
  const [{ loadDecisionSigner }, { ConfigError }] = await Promise.all([
    import('../../../protection/keys/signing-keys.ts'),
    import('../../../model/problems.ts'),
  ]);
  return loadDecisionSigner(file).catch(() => {
    const rule = 'must name a private key: EC, Ed25519 or RSA, as JWK or PKCS#8 in PEM';
    throw new ConfigError([{ variable: 'API_DECISION_KEY_FILE', rule }]);
  });
}
