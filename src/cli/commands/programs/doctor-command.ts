/** `credit-journey doctor`: checks everything that a worker needs. */
import type { Command } from 'commander';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import { environmentWith } from './worker-command.ts';

interface DoctorOptions extends ServerOptions {
  timeout?: string;
}

export function registerDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      'check everything that a worker needs, without posting anything: exits with 1 if a check fails, 4 if a check could not be made',
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
    createOutput(options).answer(examination);
    if (!examination.healthy) process.exitCode = examination.counts.fail > 0 ? EXIT.failed : EXIT.unchecked;
  });
}

function readTimeout({ timeout }: DoctorOptions): number | undefined {
  if (timeout === undefined) return undefined;
  if (/^\d{1,3}$/.test(timeout) && Number(timeout) > 0) return Number(timeout) * 1000;
  throw new UsageError('--timeout must be a whole number of seconds from 1 to 999');
}
