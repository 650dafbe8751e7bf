/** `credit-journey dev`: Temporal, sandbox and worker on this machine until a signal stops them. */
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { DevEnvironment } from '../../../local/dev/dev-environment.ts';
import { DEFAULT_DATA_DIR } from '../../../local/dev/dev-variables.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { asCalled, shellWord } from '../../output/program-call.ts';

interface DevFlags {
  temporalPort?: number;
  uiPort?: number;
  sandboxPort?: number;
  dataDir: string;
  headless?: true;
  json?: true;
}

const EXAMPLE = `
Ports default to 7233, 8233 and 7280, or to free ones where those are taken; 0 takes a free one.
GATEWAY_PROFILES_FILE brings profiles of the sandbox; variables that lead elsewhere are not used.

Example:
  $ credit-journey dev --data-dir .credit-journey`;

/** Adds the command. Its action resolves when SIGINT or SIGTERM has stopped everything, and rejects if it cannot run. */
export function registerDevCommand(program: Command): void {
  program
    .command('dev')
    .description('run a Temporal server, the sandbox gateway and a worker on this machine')
    .option('--temporal-port <number>', 'port of the Temporal server', port)
    .option('--ui-port <number>', 'port of the Temporal UI', port)
    .option('--sandbox-port <number>', 'port of the sandbox gateway', port)
    .option('--data-dir <path>', 'directory for data that outlives the process', DEFAULT_DATA_DIR)
    .option('--headless', 'without the Temporal UI')
    .option(
      '--json',
      'print one line when ready: {"temporalAddress","namespace","taskQueue","uiUrl","sandboxUrl","dataDir","codecEndpoint","apiUrl","apiTokenFile","envFile"}',
    )
    .addHelpText('after', EXAMPLE)
    .action(async ({ json, ...options }: DevFlags) => {
      // Loaded here, so that `--help` answers at once.
      const [{ startDevEnvironment }, { stopSignal }] = await Promise.all([
        import('../../../local/dev/dev-environment.ts'),
        import('../../../local/stop-signal.ts'),
      ]);
      const stopped = stopSignal().then(() => null);
      const onEvent = (message: string) => void process.stderr.write(`${message}\n`);
      const environment = await Promise.race([startDevEnvironment({ ...options, onEvent }), stopped]);
      // Services that have been started by then end with this process.
      if (!environment) process.exit(EXIT.done);
      try {
        process.stdout.write(json ? readyLine(environment) : story(environment));
        const broken = await Promise.race([stopped, environment.broken]);
        if (broken !== null) throw new Error(broken);
      } finally {
        await environment.stop();
      }
    });
}

function readyLine(environment: DevEnvironment): string {
  const { temporalAddress, namespace, taskQueue } = environment;
  const { uiUrl = null, sandboxUrl, dataDir, codecEndpoint, apiUrl, apiTokenFile, envFile } = environment;
  const addresses = { temporalAddress, namespace, taskQueue, uiUrl, sandboxUrl };
  const ready = { ...addresses, dataDir, codecEndpoint, apiUrl, apiTokenFile, envFile };
  return `${JSON.stringify(ready)}\n`;
}

/** Commands in the folder of the data directory find it by themselves. For other folders and programs: the file of variables. */
function story(environment: DevEnvironment): string {
  const isFound = environment.dataDir === resolve(DEFAULT_DATA_DIR);
  const source = `  source ${shellWord(isFound ? join(DEFAULT_DATA_DIR, 'env') : environment.envFile)}`;
  return `${[
    'ready',
    `  Temporal  ${environment.temporalAddress}, namespace ${environment.namespace}, task queue ${environment.taskQueue}`,
    `  UI        ${environment.uiUrl ?? 'none (headless)'}`,
    `  codec     ${environment.codecEndpoint}`,
    '            decodes payloads, masked; the UI asks it already. Keep the address to yourself',
    `  sandbox   ${environment.sandboxUrl}`,
    `  API       ${environment.apiUrl}/v1 (reference: /v1/reference), with the token in ${environment.apiTokenFile}`,
    `  page      ${environment.pageUrl}`,
    '            what needs a person, and signs you in. Keep the address to yourself',
    `  data      ${environment.dataDir} (logs too)`,
    '',
    ...(isFound ? ['In another terminal, in this folder:'] : ['In another terminal:', source, '']),
    '  credit-journey start --sample --watch',
    '  credit-journey list',
    `  curl -s ${environment.sandboxUrl}/_sandbox/inquiries`,
    '',
    ...(isFound ? ['Before programs of your own, which then have every variable that they need:', source, ''] : []),
    'Ctrl-C stops it; the data stay.',
  ]
    .map((line) => asCalled(line))
    .join('\n')}\n`;
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a port, 0 to 65535.');
  return Number(text);
}
