/** `credit-journey doctor`: checks everything that a worker needs. */
import type { Command } from 'commander';
import type { CheckResult } from '../../../doctor/checks/check.ts';
import type { Finding } from '../../../doctor/checks/finding.ts';
import type { Examination } from '../../../doctor/examine-installation.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { type Colors, createOutput, type Output, wrap } from '../../output/output.ts';
import { environmentWith } from './worker-command.ts';

interface DoctorOptions extends ServerOptions {
  timeout?: string;
}

export function registerDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('check everything that a worker needs, without posting anything: 1 if a check fails')
    .option('--timeout <seconds>', 'how long each check may take (default: 10)');
  withExamples(withServerOptions(command), 'credit-journey doctor');
  command.action(async (options: DoctorOptions) => {
    const timeoutMs = timeoutOf(options);
    const [{ inspectCodecServer, inspectConfig }, { apiDecisionKey }, { examine }] = await Promise.all([
      import('../../../config/config.ts'),
      import('../../../config/proof-keys.ts'),
      import('../../../doctor/examine-installation.ts'),
    ]);
    const env = environmentWith(options);
    const inspected = { ...inspectConfig(env), codecServer: inspectCodecServer(env), signer: apiDecisionKey(env) };
    const examination = await examine(inspected, timeoutMs === undefined ? {} : { timeoutMs });
    const output = createOutput(options);
    output.answer(examination, () => doctorLines(examination, output));
    if (!examination.healthy) process.exitCode = EXIT.failed;
  });
}

function timeoutOf({ timeout }: DoctorOptions): number | undefined {
  if (timeout === undefined) return undefined;
  if (/^\d{1,3}$/.test(timeout) && Number(timeout) > 0) return Number(timeout) * 1000;
  throw new UsageError('--timeout must be a whole number of seconds from 1 to 999');
}

/** A line for each check, and below what does not pass what to do; at most `width` columns. */
export function doctorLines({ checks }: Examination, { width, colors }: Pick<Output, 'width' | 'colors'>): string[] {
  const count = (status: Finding['status']) => checks.filter((check) => check.status === status).length;
  return [
    ...checks.flatMap((check) => linesOf(check, width, colors)),
    `${count('pass')} pass, ${count('warn')} warn, ${count('fail')} fail`,
  ];
}

const INDENT = '      ';

function linesOf({ check, status, detail, toDo }: CheckResult, width: number, colors: Colors): string[] {
  const paint = { pass: colors.green, warn: colors.yellow, fail: colors.red }[status];
  const [first = '', ...rest] = wrap(`${check}: ${detail}`, width, INDENT);
  return [
    `${paint(status)}  ${first.slice(INDENT.length)}`,
    ...rest,
    ...(toDo === undefined ? [] : wrap(`→ ${toDo}`, width, INDENT)),
  ];
}
