#!/usr/bin/env node
/** The command line. Each command loads what it needs when it runs; exit codes: cli/output/exit-codes.ts. */
import { Command, CommanderError } from 'commander';
import { registerDevCommand } from './cli/commands/programs/dev-command.ts';
import {
  registerDoctorCommand,
  registerSetupCommand,
  registerWorkerCommand,
} from './cli/commands/programs/installation-commands.ts';
import { registerKeysCommand } from './cli/commands/programs/keys-command.ts';
import {
  registerAuditCommand,
  registerDisposeCommand,
  registerLedgerCommand,
} from './cli/commands/programs/ledger-commands.ts';
import {
  registerApiCommand,
  registerCodecServerCommand,
  registerSandboxCommand,
} from './cli/commands/programs/servers.ts';
import { registerWebhooksCommand } from './cli/commands/programs/webhooks-command.ts';
import { registerRouteCommands } from './cli/commands/route-table.ts';
import { registerDemoCommand } from './cli/demo/demo-command.ts';
import type { OutputOptions } from './cli/output/common-options.ts';
import { reportError } from './cli/output/errors.ts';
import { EXIT } from './cli/output/exit-codes.ts';
import { asCalled } from './cli/output/program-call.ts';
import { logUncaughtErrors } from './cli/output/uncaught-errors.ts';
import { packageVersion } from './cli/output/version.ts';
import { variablesOfRunningDev } from './local/dev/dev-variables.ts';

/**
 * Every command, not yet run. The commands of the table of operations load its schemas: `argv` that names another command
 * goes without them.
 */
export async function createProgram(argv: readonly string[] = []): Promise<Command> {
  const program = new Command('credit-journey')
    .description('The credit-report side of a loan, run durably on Temporal')
    .helpCommand(false)
    .exitOverride()
    .version(packageVersion())
    // Names alone, so that the descriptions have room in 80 columns.
    .configureHelp({ helpWidth: 80, subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => void process.stdout.write(asCalled(text)),
      outputError: (text, write) => write(asCalled(withoutValues(text))),
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 wrong usage or input, 3 needs a person.\n' +
        '`credit-journey help <command>` shows its options and an example.\n' +
        'Begin with `credit-journey dev`, then `credit-journey start --sample --watch`.',
    );
  for (const register of [
    registerDemoCommand,
    registerDevCommand,
    registerWorkerCommand,
    registerSetupCommand,
    registerDoctorCommand,
    registerSandboxCommand,
    registerCodecServerCommand,
    registerApiCommand,
    registerKeysCommand,
    registerAuditCommand,
    registerLedgerCommand,
    registerWebhooksCommand,
    registerDisposeCommand,
  ]) {
    register(program);
  }
  const named = argv[0] === 'help' ? argv[1] : argv[0];
  await registerRouteCommands(program, named);
  if (program.commands.every((command) => command.name() !== named)) {
    const { registerListings } = await import('./cli/commands/listing-commands.ts');
    registerListings(program);
  }
  return program;
}

/** Repeats no misplaced value: commander quotes it, and it may be personal and hold quotes itself. */
function withoutValues(text: string): string {
  return text
    .replace(/unknown (option|command) '([\s\S]*)'/, (_, kind: string, given: string) => {
      // Repeats a text that looks like a name, so that the operator sees a slip of the pen.
      const [name] = /^(?:--)?[a-z]+(?:-[a-z]+)*(?==|$)/.exec(given) ?? [];
      return name === undefined ? `unknown ${kind}` : `unknown ${kind} '${name}'`;
    })
    .replace(/(argument|value) '[\s\S]*' is invalid/, '$1 is invalid')
    .replace(/(Expected \d+ arguments? but got \d+): [\s\S]*/, '$1.\n');
}

/** Returns whether the command starts its own servers, or has an address from its caller. */
function isByItself(command: Command): boolean {
  const { address } = command.opts();
  return address !== undefined || ['demo', 'dev', 'sandbox'].includes(command.name());
}

/** Turns `help advance` into `advance --help`, of subcommands too. Leaves an unknown name for commander to refuse. */
function withHelpOption(argv: readonly string[], program: Command): readonly string[] {
  if (argv[0] !== 'help') return argv;
  let command: Command | undefined = program;
  const names: string[] = [];
  for (const name of argv.slice(1)) {
    if (command?.commands.length === 0) break;
    command = command?.commands.find((candidate) => candidate.name() === name);
    names.push(name);
  }
  return command === undefined ? names : [...names, '--help'];
}

/** Runs one command with output to the process's own streams. Returns the exit code. */
export async function runProgram(argv: readonly string[], given?: Command): Promise<number> {
  let options: OutputOptions = {};
  const program = given ?? (await createProgram(argv));
  program.hook('preAction', (_, command) => {
    options = command.opts();
    if (!isByItself(command)) Object.assign(process.env, variablesOfRunningDev(process.env, process.cwd()));
  });
  try {
    await program.parseAsync(withHelpOption(argv, program), { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    // Commander has printed the error by now. If the operator asked for help, its code is 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return reportError(error, options);
  }
}

logUncaughtErrors();
process.exitCode = await runProgram(process.argv.slice(2));
