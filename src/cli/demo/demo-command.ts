/** `credit-journey demo`: an environment of its own and a journey in it, narrated as it happens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../output/exit-codes.ts';

interface DemoFlags {
  exit?: true;
  headless?: true;
}

const EXAMPLE = `
Example:
  $ credit-journey demo --exit`;

/** Adds the command. Its action rejects where the journey does not end as the demo says. */
export function registerDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start everything, run a joint application through all stages, and narrate it live')
    .option('--exit', 'end after the journey instead of staying up until Ctrl-C')
    .option('--headless', 'without the Temporal UI')
    .addHelpText('after', EXAMPLE)
    .action(async (flags: DemoFlags) => {
      process.exitCode = await demo(flags);
    });
}

async function demo({ exit = false, headless = false }: { exit?: boolean; headless?: boolean }): Promise<number> {
  // Loaded here, so that `--help` answers at once.
  const [{ startDevEnvironment }, { stopSignal }, { createNarrator }, { tellDemo }] = await Promise.all([
    import('../../local/dev/dev-environment.ts'),
    import('../../local/stop-signal.ts'),
    import('./demo-narrator.ts'),
    import('./demo-story.ts'),
  ]);
  const stopped = stopSignal().then(() => 'stopped' as const);
  const { plain } = createNarrator();
  plain('Starting a Temporal server, the sandbox gateway and a worker ...');
  const ports = { temporalPort: 0, uiPort: 0, sandboxPort: 0 };
  const starting = startDevEnvironment({ dataDir: temporaryDirectory(), headless, ...ports, onEvent: plain });
  const environment = await Promise.race([starting, stopped]);
  // Services that have been started by then end with this process.
  if (environment === 'stopped') process.exit(EXIT.interrupted);
  const broken = environment.broken.then((reason) => Promise.reject(new Error(reason)));
  broken.catch(() => {});
  try {
    plain(`  Temporal  ${environment.temporalAddress}`);
    plain(`  UI        ${environment.uiUrl ?? 'none (headless)'}`);
    if (environment.uiUrl !== undefined) {
      plain('            shows payloads decoded and redacted, through the codec server');
    }
    plain(`  sandbox   ${environment.sandboxUrl}`);
    plain(`  API       ${environment.apiUrl}/v1/reference, with the token in ${environment.apiTokenFile}`);
    const told = await Promise.race([tellDemo(environment, createNarrator()), stopped, broken]);
    if (told === 'stopped') return EXIT.interrupted;
    if (exit) return EXIT.done;
    plain('\nEverything stays up until Ctrl-C.');
    await Promise.race([stopped, broken]);
    return EXIT.done;
  } finally {
    await environment.stop();
  }
}

/** Makes a directory that is removed when the process ends, as well as can be. */
function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'credit-journey-demo-'));
  process.once('exit', () => {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // A server that was killed a moment ago may still be writing. The remaining files are in the temporary directory.
    }
  });
  return path;
}
