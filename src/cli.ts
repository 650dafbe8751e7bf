#!/usr/bin/env node
/** The command line. Loads the command that is called, and all for the help; exit codes: cli/output/exit-codes.ts. */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command, CommanderError } from 'commander';
import type { OutputOptions } from './cli/output/common-options.ts';
import { logUncaughtErrors, reportError } from './cli/output/errors.ts';
import { EXIT } from './cli/output/exit-codes.ts';
import { adaptCommands } from './cli/output/program-call.ts';
import { readRunningDevVariables } from './local/dev/dev-variables.ts';

type Register = (program: Command) => void;

/** The commands that no single operation gives, in the order of the help. */
const PROGRAMS: Readonly<Record<string, () => Promise<Register>>> = {
  demo: async () => (await import('./cli/commands/programs/demo-command.ts')).registerDemoCommand,
  dev: async () => (await import('./cli/commands/programs/dev-command.ts')).registerDevCommand,
  worker: async () => (await import('./cli/commands/programs/installation-commands.ts')).registerWorkerCommand,
  setup: async () => (await import('./cli/commands/programs/installation-commands.ts')).registerSetupCommand,
  doctor: async () => (await import('./cli/commands/programs/installation-commands.ts')).registerDoctorCommand,
  sandbox: async () => (await import('./cli/commands/programs/servers.ts')).registerSandboxCommand,
  'codec-server': async () => (await import('./cli/commands/programs/servers.ts')).registerCodecServerCommand,
  api: async () => (await import('./cli/commands/programs/servers.ts')).registerApiCommand,
  keys: async () => (await import('./cli/commands/programs/keys-command.ts')).registerKeysCommand,
  audit: async () => (await import('./cli/commands/programs/ledger-commands.ts')).registerAuditCommand,
  ledger: async () => (await import('./cli/commands/programs/ledger-commands.ts')).registerLedgerCommand,
  webhooks: async () => (await import('./cli/commands/programs/webhooks-command.ts')).registerWebhooksCommand,
  dispose: async () => (await import('./cli/commands/programs/ledger-commands.ts')).registerDisposeCommand,
  watch: async () => (await import('./cli/commands/run-commands.ts')).registerWatchCommand,
  holds: async () => (await import('./cli/commands/run-commands.ts')).registerHoldsCommand,
  resolve: async () => (await import('./cli/commands/resolve-command.ts')).registerResolveCommand,
};

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
      outputError: (text, write) => write(adaptCommands(withoutValues(text))),
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 wrong usage or input, 3 needs a person.\n' +
        '`credit-journey help <command>` shows its options and an example.\n' +
        'Begin with `credit-journey dev`, then `credit-journey start --sample --watch`.',
    );
  const [name = ''] = argv[0] === 'help' ? argv.slice(1) : argv;
  for (const register of await findCommands(name)) register(program);
  return program;
}

async function findCommands(name: string): Promise<Register[]> {
  const own = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (own) return [await own()];
  const { ROUTE_COMMANDS } = await import('./cli/commands/route-table.ts');
  const called = ROUTE_COMMANDS.filter((spec) => spec.name.split(' ')[0] === name);
  if (called.length > 0) {
    const { registerRoutes } = await import('./cli/commands/route-command.ts');
    return [(program) => registerRoutes(program, called)];
  }
  const { isListing, registerListings } = await import('./cli/commands/listing-commands.ts');
  if (isListing(name)) return [registerListings];
  const { registerRoutes } = await import('./cli/commands/route-command.ts');
  const programs = await Promise.all(Object.values(PROGRAMS).map((load) => load()));
  return [...programs, (program) => registerRoutes(program, ROUTE_COMMANDS), registerListings];
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

/** Runs one command with output to the process's own streams. Returns the exit code. */
export async function runProgram(argv: readonly string[], given?: Command): Promise<number> {
  let options: OutputOptions = {};
  const program = given ?? (await createProgram(argv));
  program.hook('preAction', (_, command) => {
    options = command.opts();
    if (!isByItself(command)) Object.assign(process.env, readRunningDevVariables(process.env, process.cwd()));
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    // Commander has printed the error by now. If the operator asked for help, its code is 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return reportError(error, options);
  }
}

logUncaughtErrors();
process.exitCode = await runProgram(process.argv.slice(2));
