#!/usr/bin/env node
/**
 * The command line. Loads the command that is called, none for the version, and all for the help; exit codes:
 * cli/output/errors.ts.
 */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command, CommanderError } from 'commander';
import type { CommandRow } from './cli/commands/command.ts';
import { EXIT, logUncaughtErrors, reportError, UsageError } from './cli/output/errors.ts';
import type { OutputOptions } from './cli/output/output.ts';
import { adaptCommands } from './cli/output/program-call.ts';
import { readRunningDevVariables } from './local/dev/dev-variables.ts';

/** The commands that no single operation gives, by their first words and in the order of the help. */
const PROGRAMS: readonly (readonly [names: string, load: () => Promise<{ COMMANDS: readonly CommandRow[] }>])[] = [
  ['demo dev', () => import('./cli/commands/programs/dev-commands.ts')],
  ['worker setup doctor', () => import('./cli/commands/programs/installation-commands.ts')],
  ['sandbox codec-server api', () => import('./cli/commands/programs/servers.ts')],
  ['keys', () => import('./cli/commands/programs/keys-command.ts')],
  ['audit ledger dispose', () => import('./cli/commands/programs/ledger-commands.ts')],
  ['webhooks', () => import('./cli/commands/programs/webhooks-command.ts')],
  ['watch', () => import('./cli/commands/watch-command.ts')],
  ['holds resolve', () => import('./cli/commands/holds-commands.ts')],
];

/** The command that `argv` names, not yet run. All of them where it names none: for the help, and for a slip of the pen. */
export async function createProgram(argv: readonly string[] = []): Promise<Command> {
  const { version } = JSON.parse(readFileSync(findPackageJSON(import.meta.url) ?? '', 'utf8')) as { version: string };
  const program = new Command('credit-journey')
    .description('The credit-report side of a loan, run durably on Temporal')
    .exitOverride()
    .version(version)
    // Names alone, so that the descriptions have room in 80 columns.
    .configureHelp({ helpWidth: 80, subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => void process.stdout.write(adaptCommands(text)),
      // `runProgram` reports it, in the form of every other error.
      outputError: () => {},
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 wrong usage or input, 3 needs a person.\n' +
        '`credit-journey help <command>` shows its options and an example.\n' +
        'Begin with `credit-journey dev`, then `credit-journey start --sample --watch`.',
    );
  const [name = ''] = argv[0] === 'help' ? argv.slice(1) : argv;
  if (['--version', '-V'].includes(name)) return program;
  const { registerCommand } = await import('./cli/commands/command.ts');
  for (const row of await findCommands(name)) registerCommand(program, row);
  return program;
}

async function findCommands(name: string): Promise<CommandRow[]> {
  const isCalled = (row: { name: string }) => row.name.split(' ')[0] === name;
  const [, load] = PROGRAMS.find(([names]) => names.split(' ').includes(name)) ?? [];
  if (load) return (await load()).COMMANDS.filter(isCalled);
  const { OPERATION_COMMANDS } = await import('./cli/commands/operation-commands.ts');
  const called = OPERATION_COMMANDS.filter(isCalled);
  const toRows = async (specs: typeof called) =>
    specs.map((await import('./cli/commands/operation-command.ts')).toCommandRow);
  if (called.length > 0) return toRows(called);
  const { COMMANDS: listings } = await import('./cli/commands/listing-commands.ts');
  const listing = listings.find(isCalled);
  if (listing) return [listing];
  const programs = await Promise.all(PROGRAMS.map(async ([, loadProgram]) => (await loadProgram()).COMMANDS));
  return [...programs.flat(), ...(await toRows([...OPERATION_COMMANDS])), ...listings];
}

/** Repeats no misplaced value: commander quotes it, and it may be personal and hold quotes itself. */
function withoutValues(text: string): string {
  return text
    .replace(/^error: /, '')
    .replace(/unknown (option|command) '([\s\S]*)'/, (_, kind: string, given: string) => {
      // Repeats a text that looks like a name, so that the operator sees a slip of the pen.
      const [name] = /^(?:--)?[a-z]+(?:-[a-z]+)*(?==|$)/.exec(given) ?? [];
      return name === undefined ? `unknown ${kind}` : `unknown ${kind} '${name}'`;
    })
    .replace(/(argument|value) '[\s\S]*' is invalid/, '$1 is invalid')
    .replace(/(Expected \d+ arguments? but got \d+): [\s\S]*/, '$1.')
    .replaceAll('\n', ' ');
}

/** Runs one command with output to the process's own streams. Returns the exit code. */
export async function runProgram(argv: readonly string[], given?: Command): Promise<number> {
  let options: OutputOptions = {};
  const program = given ?? (await createProgram(argv));
  program.hook('preAction', (_, command) => {
    options = command.opts();
    // Starts its own servers, or has an address from its caller.
    const isByItself = command.opts().address !== undefined || ['demo', 'dev', 'sandbox'].includes(command.name());
    if (!isByItself) Object.assign(process.env, readRunningDevVariables(process.env, process.cwd()));
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, options);
    // Commander has printed the help. If the operator asked for it, its code is 0.
    if (error.exitCode === 0) return EXIT.done;
    if (error.code === 'commander.help') return EXIT.usage;
    const json = argv.includes('--json') || undefined;
    return reportError(new UsageError(withoutValues(error.message)), { json });
  }
}

logUncaughtErrors();
process.exitCode = await runProgram(process.argv.slice(2));
