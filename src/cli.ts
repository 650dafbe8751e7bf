#!/usr/bin/env node
/** The command line. Each command loads what it needs when it runs; exit codes: cli/exit-codes.ts. */
import { Command, CommanderError } from 'commander';
import { registerAdvanceCommand } from './cli/advance-command.ts';
import { registerAuditCommand } from './cli/audit-command.ts';
import { registerChangesCommand } from './cli/changes-command.ts';
import { registerCodecServerCommand } from './cli/codec-server-command.ts';
import type { OutputOptions } from './cli/common-options.ts';
import { registerConsentCommand } from './cli/consent-command.ts';
import { registerDemoCommand } from './cli/demo-command.ts';
import { registerDeployCommand } from './cli/deploy-command.ts';
import { registerDevCommand } from './cli/dev-command.ts';
import { registerDisposeCommand } from './cli/dispose-command.ts';
import { registerDoctorCommand } from './cli/doctor-command.ts';
import { reportError } from './cli/errors.ts';
import { EXIT } from './cli/exit-codes.ts';
import { registerHoldsCommand } from './cli/holds-command.ts';
import { registerInquiriesCommand } from './cli/inquiries-command.ts';
import { registerKeysCommand } from './cli/keys-command.ts';
import { sayLastWords } from './cli/last-words.ts';
import { registerLedgerCommand } from './cli/ledger-command.ts';
import { registerLegalHoldCommand } from './cli/legal-hold-command.ts';
import { registerListCommand } from './cli/list-command.ts';
import { registerPortfolioCommand } from './cli/portfolio-command.ts';
import { registerPullCommand } from './cli/pull-command.ts';
import { registerReferencesCommand, registerReportCommand } from './cli/report-command.ts';
import { registerResolveCommand } from './cli/resolve-command.ts';
import { registerSandboxCommand } from './cli/sandbox-command.ts';
import { registerSetupCommand } from './cli/setup-command.ts';
import { registerShareCommand } from './cli/share-command.ts';
import { registerSharesCommand } from './cli/shares-command.ts';
import { registerStartCommand } from './cli/start-command.ts';
import { registerStatusCommand, registerWatchCommand } from './cli/status-command.ts';
import { packageVersion } from './cli/version.ts';
import { registerWebhooksCommand } from './cli/webhooks-command.ts';
import { registerWithdrawCommand } from './cli/withdraw-command.ts';
import { registerWorkerCommand } from './cli/worker-command.ts';

/** Every command, not yet run. */
export function createProgram(): Command {
  const program = new Command('credit-journey')
    .description('The credit-report side of a loan, run durably on Temporal')
    .helpCommand(false)
    .exitOverride()
    .version(packageVersion())
    // Names alone, so that the descriptions have room in 80 columns.
    .configureHelp({ helpWidth: 80, subcommandTerm: (command) => command.name() })
    .configureOutput({
      outputError: (text, write) => write(withoutValues(text)),
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 wrong usage or input, 3 needs a person.\n' +
        'Begin with `credit-journey dev`, then `credit-journey start --sample --watch`.',
    );
  for (const register of [
    registerDemoCommand,
    registerDevCommand,
    registerWorkerCommand,
    registerSetupCommand,
    registerDeployCommand,
    registerDoctorCommand,
    registerSandboxCommand,
    registerCodecServerCommand,
    registerKeysCommand,
    registerAuditCommand,
    registerLedgerCommand,
    registerStartCommand,
    registerPullCommand,
    registerPortfolioCommand,
    registerStatusCommand,
    registerWatchCommand,
    registerAdvanceCommand,
    registerConsentCommand,
    registerShareCommand,
    registerHoldsCommand,
    registerResolveCommand,
    registerWithdrawCommand,
    registerReportCommand,
    registerChangesCommand,
    registerReferencesCommand,
    registerListCommand,
    registerInquiriesCommand,
    registerWebhooksCommand,
    registerSharesCommand,
    registerDisposeCommand,
    registerLegalHoldCommand,
  ]) {
    register(program);
  }
  return program;
}

/** Commander quotes what it was given: a value that went to the wrong place may be personal, and may hold quotes itself. */
function withoutValues(text: string): string {
  return text
    .replace(/unknown (option|command) '([\s\S]*)'/, (_, kind: string, given: string) => {
      // What has the form of a name is repeated, so that a slip of the pen can be seen.
      const [name] = /^(?:--)?[a-z]+(?:-[a-z]+)*(?==|$)/.exec(given) ?? [];
      return name === undefined ? `unknown ${kind}` : `unknown ${kind} '${name}'`;
    })
    .replace(/(argument|value) '[\s\S]*' is invalid/, '$1 is invalid')
    .replace(/(Expected \d+ arguments? but got \d+): [\s\S]*/, '$1.\n');
}

/** Runs one command and returns its exit code; what it says goes to the process's own streams. */
export async function runProgram(argv: readonly string[], program = createProgram()): Promise<number> {
  let options: OutputOptions = {};
  program.hook('preAction', (_, command) => {
    options = command.opts();
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    // Commander has told what is wrong by now; for help that was asked for, its code is 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return reportError(error, options);
  }
}

sayLastWords();
process.exitCode = await runProgram(process.argv.slice(2));
