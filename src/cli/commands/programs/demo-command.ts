/** `credit-journey demo`: an environment of its own and a journey in it, narrated as it happens. */
import { EXIT } from '../../output/errors.ts';
import type { CommandRow, Context } from '../command.ts';

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
      const [{ startDevEnvironment }, { makeScratchDirectory }, { FAULTS, runDemo }] = await Promise.all([
        import('../../../local/dev/dev-environment.ts'),
        import('../../../local/scratch-directory.ts'),
        import('../../demo/demo-story.ts'),
      ]);
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
];
