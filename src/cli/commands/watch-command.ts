/** `watch`: shows a run's progress. Commands that start a run show it as well, with `--watch`. */

import { CallError } from '../../client/connection/errors.ts';
import type { JourneyHandle, PortfolioHandle, PullHandle, ShareHandle } from '../../client.ts';
import { waitForStopSignal } from '../../local/stop-signal.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { type AnyStatus, describeEnd, needsPerson, readRunKind } from '../../words/runs.ts';
import { EXIT } from '../output/errors.ts';
import type { Output } from '../output/output.ts';
import { formatStatus } from '../output/status-lines.ts';
import { type CommandRow, type Context, RUN_ID } from './command.ts';

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'watch',
    description: 'show a run’s progress until it ends (0) or needs a person (3); a JSON line per change',
    arguments: [['<id>', RUN_ID]],
    options: [['--through-holds', 'keep watching through holds, until the run ends']],
    examples: ['credit-journey start --sample --auto --journey-id J-1002', 'credit-journey watch J-1002'],
    async run({ args: { id }, options, output, connect }: Context<{ throughHolds?: boolean }, { id: string }>) {
      const run = (await connect()).run(id);
      const exitCode = await showProgress(run, output, options).catch((error: unknown) => {
        // It was the input of the run, and not of this command.
        if (!(error instanceof InvalidInputError)) throw error;
        throw new CallError('runFailed', { runKey: id, reason: 'InvalidInput', problems: error.problems });
      });
      return { exitCode };
    },
  },
];

type AnyRun = JourneyHandle | PullHandle | ShareHandle | PortfolioHandle;

/**
 * Shows every change until the run ends or needs a person; with `throughHolds` only until it ends. Returns the
 * exit code.
 */
export async function showProgress(run: AnyRun, output: Output, { throughHolds = false } = {}): Promise<number> {
  // Ctrl-C ends a watch in good order. The journey continues without it.
  const controller = new AbortController();
  void waitForStopSignal().then(() => controller.abort());
  const { signal } = controller;
  let attention = false;
  const onUnavailable = (error: Error) => output.note(`${error.message} (still trying)`);
  for await (const status of run.watch({ signal, onUnavailable }) as AsyncIterable<AnyStatus>) {
    if (output.isJson) output.event(status, []);
    else output.redraw(formatStatus(status, output));
    attention = needsPerson(status);
    // A review continues beside its holds. Its state is `held` only when no other work is left.
    const isOpen = describeEnd(readRunKind(status), status.state) === null;
    const waits = 'reviewId' in status ? status.state === 'held' || !!status.attention : isOpen;
    if (attention && !throughHolds && waits) return EXIT.needsPerson;
  }
  if (signal.aborted) return EXIT.interrupted;
  // Throws the run's failure, if it failed.
  await run.result();
  return attention ? EXIT.needsPerson : EXIT.done;
}
