/** `credit-journey demo`: an environment of its own and a journey in it, narrated as it happens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../output/exit-codes.ts';

interface DemoFlags {
  exit?: true;
  dataDir?: string;
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
    .option('--data-dir <path>', 'keep the data here (default: a temporary directory, removed at the end)')
    .option('--headless', 'without the Temporal UI')
    .addHelpText('after', EXAMPLE)
    .action(async ({ exit, dataDir, headless }: DemoFlags) => {
      const own = dataDir === undefined ? temporaryDirectory() : undefined;
      try {
        process.exitCode = await demo({ dataDir: dataDir ?? (own as TemporaryDirectory).path, exit, headless });
      } finally {
        own?.remove();
      }
    });
}

async function demo(flags: { dataDir: string; exit: true | undefined; headless: true | undefined }): Promise<number> {
  // Loaded here, so that `--help` answers at once.
  const [{ startDevEnvironment }, { stopSignal }, { createNarrator }, { tellDemo }] = await Promise.all([
    import('../../local/dev/dev-environment.ts'),
    import('../../local/stop-signal.ts'),
    import('./demo-narrator.ts'),
    import('./demo-story.ts'),
  ]);
  const stopped = stopSignal().then(() => 'stopped' as const);
  const opening = createNarrator();
  opening.plain('Starting a Temporal server, the sandbox gateway and a worker ...');
  const starting = startDevEnvironment({
    dataDir: flags.dataDir,
    headless: flags.headless ?? false,
    temporalPort: 0,
    uiPort: 0,
    sandboxPort: 0,
    onEvent: (message) => opening.plain(message),
  });
  const environment = await Promise.race([starting, stopped]);
  // Services that have been started by then end with this process.
  if (environment === 'stopped') process.exit(EXIT.interrupted);
  const broken = environment.broken.then((reason) => Promise.reject(new Error(reason)));
  broken.catch(() => {});
  try {
    opening.plain(`  Temporal  ${environment.temporalAddress}`);
    opening.plain(`  UI        ${environment.uiUrl ?? 'none (headless)'}`);
    if (environment.uiUrl !== undefined) {
      opening.plain('            shows payloads decoded and redacted, through the codec server');
    }
    opening.plain(`  sandbox   ${environment.sandboxUrl}`);
    opening.plain(`  API       ${environment.apiUrl}/v1/reference, with the token in ${environment.apiTokenFile}`);
    const narrator = createNarrator();
    const told = await Promise.race([tellDemo(environment, narrator), stopped, broken]);
    if (told === 'stopped') return EXIT.interrupted;
    if (told.runUrl) narrator.plain(`\nThe run: ${told.runUrl}`);
    if (flags.exit) return EXIT.done;
    narrator.plain('\nEverything stays up until Ctrl-C.');
    await Promise.race([stopped, broken]);
    return EXIT.done;
  } finally {
    await environment.stop();
  }
}

interface TemporaryDirectory {
  path: string;
  remove(): void;
}

/** Removed at the end, and as well as can be when a signal ends the process at once. */
function temporaryDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), 'credit-journey-demo-'));
  const remove = () => {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // A server that was killed a moment ago may still be writing. The remaining files are in the temporary directory.
    }
  };
  process.once('exit', remove);
  return { path, remove };
}
