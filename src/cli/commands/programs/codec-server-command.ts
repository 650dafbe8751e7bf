/** `credit-journey codec-server`: runs the codec server until a signal stops it. */
import type { Command } from 'commander';
import { omitUndefined } from '../../../base/defined.ts';
import type { CodecServerSettings } from '../../../codec/settings.ts';
import { type OutputOptions, withOutputOptions } from '../../output/common-options.ts';
import { createOutput } from '../../output/output.ts';

interface CodecServerFlags extends OutputOptions {
  host?: string;
  port?: string;
}

const EXAMPLE = `
Example, beside \`credit-journey dev\`:
  $ credit-journey codec-server --port 7281
Its endpoint goes into the codec server settings of the Temporal UI.

docs/codec-server.md lists the variables, the roles and the routes.`;

/** Adds the command. Its action resolves when SIGINT or SIGTERM has stopped the server, and rejects if it cannot start. */
export function registerCodecServerCommand(program: Command): void {
  const command = program
    .command('codec-server')
    .description('let the Temporal UI and other languages decode and encode payloads')
    .option('--host <address>', 'address to listen on (default: CODEC_SERVER_HOST, else 127.0.0.1)')
    .option('--port <number>', 'port to listen on; 0 takes a free one (default: CODEC_SERVER_PORT, else 7281)');
  withOutputOptions(command)
    .addHelpText('after', EXAMPLE)
    .action(async ({ host, port, ...options }: CodecServerFlags) => {
      const [{ loadCodecServerSettings }, { stopSignal }] = await Promise.all([
        import('../../../codec/settings.ts'),
        import('../../../local/stop-signal.ts'),
      ]);
      const settings = loadCodecServerSettings(process.env, omitUndefined({ host, port }));
      const stopped = stopSignal();
      const { server, close } = await start(settings);
      const { namespaces, environment, authentication } = settings.options;
      const { url, endpoint } = server;
      const about = { url, port: server.port, endpoint, environment, namespaces, authentication: authentication.kind };
      const output = createOutput(options);
      // One line, which a program that starts this process waits for.
      output.event(about, () => [
        output.colors.green(`codec server ready for ${namespaces.join(', ')} (${environment})`),
        `  endpoint  ${endpoint}`,
        authentication.kind === 'path'
          ? '  anyone who knows this address may decode: use it on this machine only'
          : '  callers need a token, see docs/codec-server.md',
        'Ctrl-C stops it',
      ]);
      await stopped;
      await close();
    });
}

async function start({ options, keyRingFile, logLevel, metricsAddress }: CodecServerSettings) {
  const [{ startCodecServer }, { WatchedKeyRing }, { serveMetrics }, { createLogger }] = await Promise.all([
    import('../../../codec/server.ts'),
    import('../../../protection/keys/key-ring.ts'),
    import('../../../http/request-metrics.ts'),
    import('../../../telemetry/logging.ts'),
  ]);
  const logger = createLogger(logLevel);
  await using resources = new AsyncDisposableStack();
  const keys = await WatchedKeyRing.open(keyRingFile, {
    onReloadFailed: (error) => logger.error({ error }, 'the key ring cannot be read again'),
  });
  resources.defer(() => keys.close());
  const shown = await serveMetrics(metricsAddress, 'codec-server');
  resources.defer(async () => shown?.close());
  const server = await startCodecServer({
    ...options,
    ...omitUndefined({ metrics: shown?.metrics }),
    keys,
    onUnknownKey: (keyId) => logger.error({ keyId }, 'a payload was asked for whose key the key ring lacks'),
    onUnexpected: (error) => logger.error({ error }, 'the codec server has failed'),
  });
  resources.defer(() => server.close());
  const started = resources.move();
  return { server, close: () => started.disposeAsync() };
}
