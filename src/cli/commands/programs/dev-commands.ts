/** `dev`: Temporal, sandbox and worker on this machine until a signal stops them. `demo`: the same, and a journey in it, narrated as it happens. */
import { join, resolve } from 'node:path';
import type { DevEnvironment, DevEnvironmentOptions } from '../../../local/dev/dev-environment.ts';
import { DEFAULT_DATA_DIR } from '../../../local/dev/dev-variables.ts';
import { EXIT } from '../../output/errors.ts';
import { quoteShellWord } from '../../output/program-call.ts';
import { type CommandRow, type Context, parseWholeNumber } from '../command.ts';

const READY = [
  ...(['temporalAddress', 'namespace', 'taskQueue', 'uiUrl', 'sandboxUrl'] as const),
  ...(['dataDir', 'codecEndpoint', 'apiUrl', 'apiTokenFile', 'envFile'] as const),
];

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'demo',
    description: 'start everything, run a joint application through all stages, and narrate it live',
    options: [
      ['--exit', 'end after the journey instead of staying up until Ctrl-C'],
      ['--headless', 'without the Temporal UI'],
    ],
    common: [],
    examples: 'Example:\n  $ credit-journey demo --exit',
    // A story without its end is no success.
    unready: EXIT.interrupted,
    async serve({ options, output, resources }: Context<{ exit?: true; headless?: boolean }>) {
      const { exit, headless = false } = options;
      const { startDevEnvironment } = await import('../../../local/dev/dev-environment.ts');
      const { makeScratchDirectory } = await import('../../../local/scratch-directory.ts');
      const { FAULTS, runDemo } = await import('../../demo/demo-story.ts');
      const say = (text: string) => output.say([text]);
      say('Starting a Temporal server, the sandbox gateway and a worker ...');
      const ports = { temporalPort: 0, uiPort: 0, sandboxPort: 0, fault: FAULTS };
      const { path: dataDir } = makeScratchDirectory('credit-journey-demo-');
      const environment = await startDevEnvironment({ dataDir, headless, ...ports, onEvent: say });
      resources.defer(() => environment.stop());
      say(`  UI        ${environment.uiUrl ?? 'none (headless)'}`);
      say(`  API       ${environment.apiUrl}/v1/reference, with the token in ${environment.apiTokenFile}`);
      const broken = environment.broken.then((reason) => Promise.reject(new Error(reason)));
      broken.catch(() => {});
      await Promise.race([runDemo(environment, say), broken]);
      return exit ? null : { lines: () => ['', 'Everything stays up until Ctrl-C.'], broken: environment.broken };
    },
  },
  {
    name: 'dev',
    description: 'run a Temporal server, the sandbox gateway and a worker on this machine',
    options: [
      ['--temporal-port <number>', 'port of the Temporal server', parseWholeNumber],
      ['--ui-port <number>', 'port of the Temporal UI', parseWholeNumber],
      ['--sandbox-port <number>', 'port of the sandbox gateway', parseWholeNumber],
      ['--data-dir <path>', 'directory for data that outlives the process', DEFAULT_DATA_DIR],
      ['--headless', 'without the Temporal UI'],
      ['--json', `print one line when ready: {${READY.map((name) => `"${name}"`).join(',')}}`, false],
    ],
    common: [],
    examples: `Ports default to 7233, 8233 and 7280, or to free ones where those are taken; 0 takes a free one.
GATEWAY_PROFILES_FILE adds profiles of the sandbox; variables that point to other servers are ignored.

Example:
  $ credit-journey dev --data-dir .credit-journey`,
    async serve({ options: { json: _, ...options }, resources }: Context<DevEnvironmentOptions>) {
      const { startDevEnvironment } = await import('../../../local/dev/dev-environment.ts');
      const onEvent = (message: string) => void process.stderr.write(`${message}\n`);
      const environment = await startDevEnvironment({ ...options, onEvent });
      resources.defer(() => environment.stop());
      const ready = Object.fromEntries(READY.map((name) => [name, environment[name]]));
      return { ready, lines: () => listPlaces(environment), broken: environment.broken };
    },
  },
];

/** Commands in the folder of the data directory find it by themselves. For other folders and programs: the file of variables. */
function listPlaces(environment: DevEnvironment): string[] {
  const isFound = environment.dataDir === resolve(DEFAULT_DATA_DIR);
  const source = `  source ${quoteShellWord(isFound ? join(DEFAULT_DATA_DIR, 'env') : environment.envFile)}`;
  return [
    'ready',
    `  Temporal  ${environment.temporalAddress}, namespace ${environment.namespace}, task queue ${environment.taskQueue}`,
    `  UI        ${environment.uiUrl ?? 'none (headless)'}`,
    `  codec     ${environment.codecEndpoint}`,
    '            decodes payloads, masked; the UI already uses it. Keep the address to yourself',
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
    ...(isFound ? ['To give your own programs every variable that they need:', source, ''] : []),
    'The data is kept.',
  ];
}
