/** Programs that serve until a signal stops them: each has its options, starts, says that it is ready, and closes. */
import { type Command, InvalidArgumentError } from 'commander';
import { createOutput, type Output } from '../../output/output.ts';

/** @typeParam Options as commander gives them */
export interface Service<Options> {
  command: Command;
  /** Starts the service. `resources` are closed in reverse order at the end. `null`: the program ends at once. */
  start(options: Options, resources: AsyncDisposableStack): Promise<ReadyService | null>;
  /** The exit code of a signal that comes before it is ready. Default 0. */
  unready?: number;
}

interface ReadyService {
  /** One line of JSON for the program that started this process. If absent, the service prints only its lines. */
  ready?: object;
  /** Lines for people in its place. */
  lines(colors: Output['colors']): string[];
  /** Resolves, with a sentence, when the service is of no more use. */
  broken?: Promise<string>;
}

/** Its action resolves when SIGINT or SIGTERM has stopped the service, and rejects if it cannot start or breaks. */
export function runService<Options extends object>({ command, start, unready = 0 }: Service<Options>): void {
  command.action(async (options: Options) => {
    // Loaded here, so that `--help` answers at once.
    const { waitForStopSignal } = await import('../../../local/stop-signal.ts');
    // Taken before the start, so that a signal during it is not lost.
    const stopped = waitForStopSignal().then(() => undefined);
    await using resources = new AsyncDisposableStack();
    const service = await Promise.race([start(options, resources), stopped]);
    if (service === null) return;
    // A service that is still starting ends with this process.
    if (!service) process.exit(unready);
    const { ready, lines, broken } = service;
    const output = createOutput(ready ? options : { json: false });
    output.event(ready ?? {}, () => [...lines(output.colors), 'Ctrl-C stops it']);
    const reason = await Promise.race([stopped, ...(broken ? [broken] : [])]);
    if (reason !== undefined) throw new Error(reason);
  });
}

export function parseWholeNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
