/** `pause`, `resume` and `pauses`: the one stop that holds for every worker and every queue at once. */
import type { Command } from 'commander';
import { defined } from '../../../base/defined.ts';
import type { WokenRuns } from '../../../client/runs/wake-runs.ts';
import { type Pause, type PauseScope, pauseWords, type ResumeVerdict, scopeWords } from '../../../ledger/pauses.ts';
import {
  type AuthorizationOptions,
  checkedAuthorization,
  withAuthorizationOptions,
} from '../../decisions/authorization.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import {
  type OutputOptions,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { pauseLines } from '../../output/hold-lines.ts';
import { createOutput, type Output, table, withAge, wrap } from '../../output/output.ts';
import { withLedger } from '../with-ledger.ts';

interface ScopeOptions extends AuthorizationOptions {
  profile?: string;
}

export function registerPauseCommands(program: Command): void {
  const pause = program.command('pause').description('send nothing more, on any worker, until resume');
  withExamples(
    withOutputOptions(withAuthorizationOptions(withProfile(pause))),
    'credit-journey pause --by ops-7 --reason "ticket 4711: wrong purpose codes"',
  );
  pause.action(pauseInquiries);
  const resume = program.command('resume').description('end a pause, and wake the runs that wait for its end');
  withExamples(
    withServerOptions(withAuthorizationOptions(withProfile(resume))),
    'credit-journey resume --by ops-7 --reason "ticket 4711: corrected"',
  );
  resume.action(resumeInquiries);
  const list = program.command('pauses').description('list every pause, in force and past, the oldest first');
  withExamples(withOutputOptions(list), 'credit-journey pauses');
  list.action((options: OutputOptions) =>
    withLedger(async (ledger) => {
      const output = createOutput(options);
      const pauses = await ledger.pauses.list();
      output.answer({ pauses }, () => listLines(pauses, output));
    }),
  );
}

function withProfile(command: Command): Command {
  return command.option('--profile <name>', 'only inquiries of this gateway profile (default: of all)');
}

/** @throws UsageError */
async function scopeOf({ profile }: ScopeOptions): Promise<PauseScope> {
  const { PROFILE_NAME } = await import('../../../fields/fields.ts');
  if (profile !== undefined && !PROFILE_NAME.test(profile)) {
    throw new UsageError('--profile must be 1 to 31 lower-case letters, digits or dashes');
  }
  return defined({ profile });
}

/** Needs no Temporal server: it must stop everything where all else is broken, too. */
async function pauseInquiries(options: ScopeOptions & OutputOptions): Promise<void> {
  const scope = await scopeOf(options);
  const authorization = checkedAuthorization(options);
  const output = createOutput(options);
  await noteUnknownProfile(scope, output);
  await withLedger(async (ledger) => {
    const verdict = await ledger.pauses.begin(ledger.identity.ledgerId, scope, authorization);
    const { kind, pause, inFlight } = verdict;
    output.answer(verdict, () => [
      ...(kind === 'paused'
        ? wrap(`${scopeWords(pause)} are paused: nothing more is sent`, output.width).map(output.colors.green)
        : wrap(`nothing has changed: ${pauseWords(pause)}`, output.width)),
      ...(inFlight === 0 ? ['  nothing is on the wire'] : [`  ${onTheWire(inFlight)}`]),
    ]);
  });
}

function onTheWire(count: number): string {
  return count === 1
    ? '1 attempt that was claimed before is still on the wire'
    : `${count} attempts that were claimed before are still on the wire`;
}

/** A slip of the pen would pause nothing; another environment's ledger may still know the name. */
async function noteUnknownProfile({ profile }: PauseScope, output: Output): Promise<void> {
  if (profile === undefined) return;
  const { inspectConfig } = await import('../../../config/config.ts');
  if (inspectConfig(process.env).config.profiles.has(profile)) return;
  output.note(`no gateway profile that is configured here is called ${profile}: check the name`);
}

async function resumeInquiries(options: ScopeOptions & ServerOptions): Promise<void> {
  const scope = await scopeOf(options);
  const authorization = checkedAuthorization(options);
  const act = async (_: unknown, output: Output, client: Parameters<typeof wake>[0]) =>
    withLedger(async (ledger) => {
      const verdict = await ledger.pauses.end(ledger.identity.ledgerId, scope, authorization);
      const runs = await wake(client, ledger);
      const inForce = (await ledger.pauses.list()).filter(({ ended }) => !ended);
      output.answer({ ...verdict, runs, inForce }, () => resumedLines(scope, { verdict, runs, inForce }, output));
      if (runs.unreached > 0) process.exitCode = EXIT.failed;
    });
  await withJourneys(options, act, { besideLedger: true, dataConverter: {} });
}

async function wake(...args: Parameters<typeof import('../../../client/runs/wake-runs.ts').wakeRuns>) {
  const { wakeRuns } = await import('../../../client/runs/wake-runs.ts');
  return wakeRuns(...args);
}

function resumedLines(
  scope: PauseScope,
  { verdict, runs, inForce }: { verdict: ResumeVerdict; runs: WokenRuns; inForce: Pause[] },
  output: Output,
): string[] {
  const { width, colors } = output;
  return [
    ...(verdict.kind === 'resumed'
      ? wrap(`${scopeWords(scope)} go on: the pause is over`, width).map(colors.green)
      : wrap(`nothing has changed: no pause of ${scopeWords(scope)} was in force`, width)),
    `  runs that were woken: ${runs.woken}${runs.closed > 0 ? `; that had ended: ${runs.closed}` : ''}`,
    ...(runs.unreached > 0
      ? [
          colors.yellow(
            `  runs that could not be reached: ${runs.unreached}; run it again, or they continue within the hour`,
          ),
        ]
      : []),
    ...pauseLines(inForce, output),
  ];
}

function listLines(pauses: readonly Pause[], { width }: Output): string[] {
  if (pauses.length === 0) return ['inquiries were never paused'];
  const rows = pauses.map(({ profile, since, ended, by, reason }) => [
    profile ?? '(all)',
    withAge(since),
    ended?.at.replace(/\.\d+/, '') ?? 'in force',
    by,
    reason,
  ]);
  return table([['PROFILE', 'SINCE', 'UNTIL', 'BY', 'REASON'], ...rows], width);
}
