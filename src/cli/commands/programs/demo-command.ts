/** `credit-journey demo`: an environment of its own and a journey in it, narrated as it happens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../../output/exit-codes.ts';
import { adaptCommands } from '../../output/program-call.ts';
import { runService } from './service.ts';

interface DemoFlags {
  exit?: true;
  headless?: true;
}

const EXAMPLE = `
Example:
  $ credit-journey demo --exit`;

/** Adds the command. It fails where the journey does not end as the demo says. */
export function registerDemoCommand(program: Command): void {
  const command = program
    .command('demo')
    .description('start everything, run a joint application through all stages, and narrate it live')
    .option('--exit', 'end after the journey instead of staying up until Ctrl-C')
    .option('--headless', 'without the Temporal UI')
    .addHelpText('after', EXAMPLE);
  runService<DemoFlags>({
    command,
    // A story without its end is no success.
    unready: EXIT.interrupted,
    async start({ exit, headless = false }, resources) {
      const [{ startDevEnvironment }, { runDemo }] = await Promise.all([
        import('../../../local/dev/dev-environment.ts'),
        import('../../demo/demo-story.ts'),
      ]);
      const say = (text: string) => void process.stdout.write(`${adaptCommands(text)}\n`);
      say('Starting a Temporal server, the sandbox gateway and a worker ...');
      const ports = { temporalPort: 0, uiPort: 0, sandboxPort: 0 };
      const environment = await startDevEnvironment({ dataDir: makeDirectory(), headless, ...ports, onEvent: say });
      resources.defer(() => environment.stop());
      say(`  UI        ${environment.uiUrl ?? 'none (headless)'}`);
      say(`  API       ${environment.apiUrl}/v1/reference, with the token in ${environment.apiTokenFile}`);
      const broken = environment.broken.then((reason) => Promise.reject(new Error(reason)));
      broken.catch(() => {});
      await Promise.race([runDemo(environment, say), broken]);
      return exit ? null : { lines: () => ['', 'Everything stays up until Ctrl-C.'], broken: environment.broken };
    },
  });
}

/** Makes a directory that is removed when the process ends, as well as can be. */
function makeDirectory(): string {
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
