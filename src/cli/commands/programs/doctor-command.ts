/** `credit-journey doctor`: checks everything that a worker needs. */
import type { Command } from 'commander';
import type { CheckResult, Finding } from '../../../doctor/check.ts';
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
    .description(
      'check everything that a worker needs, without posting anything: 1 if a check fails, 4 if one could not be made',
    )
    .option('--timeout <seconds>', 'how long each check may take (default: 10)');
  withExamples(withServerOptions(command), 'credit-journey doctor');
  command.action(async (options: DoctorOptions) => {
    const timeoutMs = readTimeout(options);
    const [{ inspectCodecServer, inspectConfig }, { examine }] = await Promise.all([
      import('../../../config/config.ts'),
      import('../../../doctor/examine-installation.ts'),
    ]);
    const env = environmentWith(options);
    const signerFile = env.API_DECISION_KEY_FILE || undefined;
    const inspected = { ...inspectConfig(env), codecServer: inspectCodecServer(env), signerFile };
    const examination = await examine(inspected, timeoutMs === undefined ? {} : { timeoutMs });
    const output = createOutput(options);
    output.answer(examination, () => doctorLines(examination, output));
    if (!examination.healthy) process.exitCode = examination.counts.fail > 0 ? EXIT.failed : EXIT.unchecked;
  });
}

function readTimeout({ timeout }: DoctorOptions): number | undefined {
  if (timeout === undefined) return undefined;
  if (/^\d{1,3}$/.test(timeout) && Number(timeout) > 0) return Number(timeout) * 1000;
  throw new UsageError('--timeout must be a whole number of seconds from 1 to 999');
}

/** A line for each check, and below what does not pass what to do; at most `width` columns. */
export function doctorLines(
  { checks, counts }: Examination,
  { width, colors }: Pick<Output, 'width' | 'colors'>,
): string[] {
  const { pass, warn, fail, unchecked } = counts;
  return [
    ...checks.flatMap((check) => describeCheck(check, width, colors)),
    `${pass} pass, ${warn} warn, ${fail} fail${unchecked > 0 ? `, ${unchecked} ${WORDS.unchecked}` : ''}`,
  ];
}

const INDENT = '      ';
const WORDS: Record<Finding['status'], string> = {
  pass: 'pass',
  warn: 'warn',
  fail: 'fail',
  unchecked: 'not checked',
};

function describeCheck({ check, status, detail, toDo }: CheckResult, width: number, colors: Colors): string[] {
  const paint = { pass: colors.green, warn: colors.yellow, fail: colors.red, unchecked: colors.yellow }[status];
  const word = WORDS[status];
  // Fills the part of the word that is longer than the indent.
  const room = 'x'.repeat(Math.max(0, word.length + 2 - INDENT.length));
  const [first = '', ...rest] = wrap(`${room}${check}: ${detail}`, width, INDENT);
  return [
    `${paint(word)}  ${first.slice(INDENT.length + room.length)}`,
    ...rest,
    ...(toDo === undefined ? [] : wrap(`→ ${toDo}`, width, INDENT)),
  ];
}
