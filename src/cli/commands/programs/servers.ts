/** `credit-journey api`, `codec-server` and `sandbox`: each runs its server until a signal stops it. */
import type { SandboxOptions } from '../../../../sandbox/server.ts';
import { omitUndefined } from '../../../base/defined.ts';
import type { ListenAddress, LogLevel } from '../../../config/variables.ts';
import { ConfigError } from '../../../model/problems.ts';
import { UsageError } from '../../output/errors.ts';
import { type CommandRow, type Context, parseWholeNumber } from '../command.ts';

type ServerFlags = Partial<Record<'host' | 'port', string>>;

/** @param prefix of the variables that the options override */
function listenOptions(prefix: string, port: number): CommandRow['options'] {
  return [
    ['--host <address>', `address to listen on (default: ${prefix}_HOST, else 127.0.0.1)`],
    ['--port <number>', `port to listen on; 0 takes a free one (default: ${prefix}_PORT, else ${port})`],
  ];
}

function overrideVariables(prefix: string, { host, port }: ServerFlags): NodeJS.ProcessEnv {
  return { ...process.env, ...omitUndefined({ [`${prefix}_HOST`]: host, [`${prefix}_PORT`]: port }) };
}

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'sandbox',
    description: 'run a stand-in gateway with its token service on this machine',
    options: [
      ['--port <number>', 'port to listen on; 0 takes a free one', parseWholeNumber, 0],
      ['--host <address>', 'IP address to listen on; beyond this machine only in an isolated network', '127.0.0.1'],
      ['--client-id <id>', 'client id it accepts', 'sandbox-client'],
      ['--client-secret <secret>', 'client secret it accepts; never a real one', 'sandbox-secret'],
      ['--audience <name>', 'audience it accepts', 'servicegateway'],
      ['--time-zone <name>', 'IANA time zone in which originalInquiryDate is read', 'UTC'],
      ['--token-lifetime-seconds <seconds>', 'expires_in of its tokens', parseWholeNumber, 28_800],
      ['--state-file <path>', 'keep posted inquiries and references across restarts'],
      ['--seed <number>', 'seed of fault plans that name none', parseWholeNumber, 1],
      ['--latency-ms <milliseconds>', 'how long each posted inquiry takes to be answered', parseWholeNumber, 0],
      ['--tls-cert-file <path>', 'certificate in PEM; with its key the sandbox serves https'],
      ['--tls-key-file <path>', 'its private key in PEM'],
      ['--with <name...>', "variants that every answer has beyond the interface's shape, such as applicant-ids"],
      ['--fault <name|rule...>', "faults that strike each request: a name, or a plan's rule in JSON"],
    ],
    common: ['output'],
    examples: `Example:
  $ credit-journey sandbox --port 8085
  $ curl -s http://127.0.0.1:8085/_sandbox/inquiries

docs/sandbox.md lists the magic applicants, the faults and the routes.`,
    async serve({ options: { json: _, debug: __, ...options }, resources }: Context<SandboxOptions>) {
      const { startSandbox } = await import('../../../../sandbox/server.ts');
      const { isOwnMachine } = await import('../../../../sandbox/options.ts');
      if (options.host !== undefined && !isOwnMachine(options.host)) await warnOfNetwork();
      const sandbox = await startSandbox(options).catch((error: unknown) => {
        throw error instanceof RangeError ? new UsageError(error.message) : error;
      });
      resources.defer(() => sandbox.close());
      const { url, port } = sandbox;
      return {
        ready: { url, port },
        lines: () => [
          `sandbox gateway at ${url}`,
          `  token     POST ${url}/oauth/token`,
          `  request   POST ${url}/ServiceGateway/orest/grs_v001/request`,
          `  posted    GET  ${url}/_sandbox/inquiries`,
          `  faults    GET  ${url}/_sandbox/faults`,
        ],
      };
    },
  },
  {
    name: 'codec-server',
    description: 'let the Temporal UI and other languages decode and encode payloads',
    options: listenOptions('CODEC_SERVER', 7281),
    common: ['output'],
    examples: `Example, beside \`credit-journey dev\`:
  $ credit-journey codec-server --port 7281
Its endpoint goes into the codec server settings of the Temporal UI.

docs/codec-server.md lists the variables, the roles and the routes.`,
    async serve({ options: flags, resources }: Context<ServerFlags>) {
      const { loadCodecServerSettings } = await import('../../../codec/settings.ts');
      const settings = loadCodecServerSettings(overrideVariables('CODEC_SERVER', flags));
      const { startCodecServer } = await import('../../../codec/server.ts');
      const { WatchedKeyRing } = await import('../../../protection/keys/key-ring.ts');
      const { logger, options } = await openTelemetry('codec-server', settings, resources);
      const keys = await WatchedKeyRing.open(settings.keyRingFile, {
        onReloadFailed: (error) => logger.error({ error }, 'the key ring cannot be read again'),
      });
      resources.defer(() => keys.close());
      const server = await startCodecServer({
        ...settings.options,
        ...options,
        keys,
        onUnknownKey: (keyId) => logger.error({ keyId }, 'the key ring lacks the key of a requested payload'),
      });
      resources.defer(() => server.close());
      const { namespaces, environment, authentication } = settings.options;
      const { url, endpoint } = server;
      return {
        ready: { url, port: server.port, endpoint, environment, namespaces, authentication: authentication.kind },
        lines: ({ green }) => [
          green(`codec server ready for ${namespaces.join(', ')} (${environment})`),
          `  endpoint  ${endpoint}`,
          authentication.kind === 'path'
            ? '  anyone who knows this address may decode: use it on this machine only'
            : '  callers need a token, see docs/codec-server.md',
        ],
      };
    },
  },
  {
    name: 'api',
    description: 'serve the HTTP API: journeys, messages and consents for callers with a token',
    options: listenOptions('API', 7282),
    common: ['output'],
    examples: `Example, where API_JWKS_FILE, API_JWT_ISSUER and API_JWT_AUDIENCE say whose tokens it takes:
  $ credit-journey api --port 7282
\`credit-journey dev\` starts one too, with a token for its session.

docs/http-api.md lists the claims, the scopes and the operations.`,
    async serve({ options: flags, resources }: Context<ServerFlags>) {
      const { loadApiSettings } = await import('../../../api/settings.ts');
      const settings = loadApiSettings(overrideVariables('API', flags));
      const { options, ledgerAccess, decisionKeyFile } = settings;
      const { startApi } = await import('../../../api/server.ts');
      const { openConfiguredLedger } = await import('../../../operator/configured-ledger.ts');
      const { LedgerJourneys } = await import('../../../operator/ledger-journeys.ts');
      const { loadDecisionSigner } = await import('../../../protection/keys/signing-keys.ts');
      const signer = decisionKeyFile ? await loadDecisionSigner(decisionKeyFile).catch(refuseKey) : undefined;
      const openLedger = () => openConfiguredLedger(ledgerAccess);
      const journeys = resources.use(await LedgerJourneys.connect({ besideLedger: true, openLedger }));
      const telemetry = await openTelemetry('api', settings, resources);
      if (options.portfolioDirectory === undefined) {
        telemetry.logger.info('PORTFOLIO_DIR is not set: downloads of portfolio reviews are answered with 501');
      }
      const api = await startApi({ ...options, ...telemetry.options, signer, journeys });
      resources.defer(() => api.close());
      const { url } = api;
      const { environment } = options;
      return {
        ready: { url, port: api.port, environment },
        lines: ({ green }) => [
          green(`HTTP API ready (${environment})`),
          `  address    ${url}/v1`,
          `  reference  ${url}/v1/reference`,
        ],
      };
    },
  },
];

/** Both HTTP services have a log, and metrics for Prometheus. */
async function openTelemetry(
  service: 'api' | 'codec-server',
  { logLevel, metricsAddress }: { logLevel: LogLevel; metricsAddress?: ListenAddress },
  resources: AsyncDisposableStack,
) {
  const { Metrics } = await import('../../../telemetry/metrics.ts');
  const { createLogger, installLogger, makeRuntime } = await import('../../../telemetry/logging.ts');
  const logger = createLogger(logLevel);
  const onUnexpected = (error: unknown) => logger.error({ error }, 'the service has failed');
  if (!metricsAddress) return { logger, options: { onUnexpected } };
  installLogger(logger, logLevel, metricsAddress);
  const runtime = makeRuntime();
  resources.defer(() => runtime.shutdown());
  const metrics = new Metrics(runtime.metricMeter);
  metrics.put('started', performance.timeOrigin / 1_000, {});
  const onAnswered = (operation: string, status: number, seconds: number) => {
    metrics.put('httpRequests', 1, { service, operation, status });
    metrics.put('httpSeconds', seconds, { service, operation });
  };
  return { logger, options: { onUnexpected, onAnswered } };
}

function refuseKey(): never {
  const rule = 'must name a private key: EC, Ed25519 or RSA, as JWK or PKCS#8 in PEM';
  throw new ConfigError([{ variable: 'API_DECISION_KEY_FILE', rule }]);
}

/** Warns of `--host`, and refuses it outside the sandbox environment. */
async function warnOfNetwork(): Promise<void> {
  const { loadVariable } = await import('../../../config/environment.ts');
  if (loadVariable(process.env, 'GATEWAY_ENVIRONMENT') !== 'sandbox') {
    throw new UsageError(
      '--host may be another machine’s address only in the sandbox environment (GATEWAY_ENVIRONMENT)',
    );
  }
  console.error(
    'warning: the sandbox authenticates no caller, and shows every caller what was sent to it: ' +
      'let only its own workers reach this address, and never send it data of real people',
  );
}
