/** Opens what a command needs, for its life: the client, the ledger. Shows the progress of a run. */

import type { Client } from '@temporalio/client';
import type { JourneyHandle, PortfolioHandle, PullHandle, ShareHandle } from '../../client.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { checkRunKey, ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import type { LedgerConnectOptions, LedgerJourneys } from '../../operator/ledger-journeys.ts';
import { type AnyStatus, needsPerson } from '../../words/runs.ts';
import { connectOptions, type ServerOptions } from '../output/common-options.ts';
import { EXIT } from '../output/exit-codes.ts';
import { createOutput, type Output } from '../output/output.ts';
import type { TypedProblem } from '../output/schema-options.ts';
import { formatStatus } from '../output/status-lines.ts';

/** Loaded when a command runs, so that `--help` and wrong usage answer at once. */
export async function withJourneys<T>(
  options: ServerOptions,
  /** `client`: the SDK's own. */
  act: (journeys: LedgerJourneys, output: Output, client: Client) => Promise<T>,
  /** `besideLedger`: the command opens the ledger, and so runs beside it. `dataConverter`: it sends no payloads. */
  more: Pick<LedgerConnectOptions, 'besideLedger' | 'dataConverter'> = {},
): Promise<T> {
  const [{ LedgerJourneys }, { getSdkClient }, { translateServerError }] = await Promise.all([
    import('../../operator/ledger-journeys.ts'),
    import('../../client/credit-journeys.ts'),
    import('../../client/connection/errors.ts'),
  ]);
  const tracing = await startCommandTracing();
  try {
    await using journeys = await LedgerJourneys.connect({ ...connectOptions(options), ...more });
    return await act(journeys, createOutput(options), getSdkClient(journeys));
  } catch (error) {
    // Some commands use the SDK's own client.
    throw translateServerError(error);
  } finally {
    await tracing?.close();
  }
}

/** Loaded only where it is used, so that no other command waits for it. */
async function startCommandTracing() {
  const endpoint = (await import('../../config/config.ts')).loadTraceEndpoint(process.env);
  if (endpoint === undefined) return undefined;
  return (await import('../../telemetry/tracing.ts')).startTracing({ endpoint, serviceName: 'credit-journey-cli' });
}

/** Opens the ledger that the environment names, for the time of one command. @throws what `openConfiguredLedger` throws */
export async function withLedger<T>(act: (ledger: Ledger) => Promise<T>): Promise<T> {
  const { openConfiguredLedger } = await import('../../operator/configured-ledger.ts');
  const ledger = await openConfiguredLedger(process.env, { besideLedger: true });
  try {
    return await act(ledger);
  } finally {
    await ledger.close();
  }
}

type AnyRun = JourneyHandle | PullHandle | ShareHandle | PortfolioHandle;

/**
 * @param option the option or argument that gave it
 * @throws InvalidInputError
 */
export function requireRunKey(runKey: string, option = '<id>'): void {
  const rule = checkRunKey(runKey);
  if (!rule) return;
  const path = `/${ID_NAMES[parseRunKey(runKey).kind]}`;
  throw new InvalidInputError([{ path, rule, option } as TypedProblem]);
}

/**
 * Shows every change until the run ends or needs a person; with `throughHolds` only until it ends. Returns the
 * exit code.
 */
export async function showProgress(run: AnyRun, output: Output, { throughHolds = false } = {}): Promise<number> {
  // Ctrl-C ends a watch in good order. The journey continues without it.
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => controller.abort());
  const { signal } = controller;
  let attention = false;
  const onUnavailable = (error: Error) => output.note(`${error.message} (still trying)`);
  for await (const status of run.watch({ signal, onUnavailable }) as AsyncIterable<AnyStatus>) {
    if (output.isJson) output.event(status, () => []);
    else output.redraw(formatStatus(status, output));
    attention = needsPerson(status);
    // A review continues beside its holds. Its state is `held` only when no other work is left.
    const waits = 'reviewId' in status ? status.state === 'held' || !!status.attention : isOpen(status.state);
    if (attention && !throughHolds && waits) return EXIT.needsPerson;
  }
  if (signal.aborted) return EXIT.interrupted;
  // Throws the run's failure, if it failed.
  await run.result();
  return attention ? EXIT.needsPerson : EXIT.done;
}

function isOpen(state: string): boolean {
  return ['running', 'waitingAtGate', 'waitingForConsent', 'held'].includes(state);
}
