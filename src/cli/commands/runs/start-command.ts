import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { LendingJourneyInput } from '../../../messages/inputs/lending-journey.ts';
import { showStarted, withJourneys } from '../../decisions/journey-action.ts';
import { sampleJourney } from '../../demo/sample-runs.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { readJson } from '../../output/json-input.ts';
import { requireSandbox } from '../../output/require-sandbox.ts';

interface StartOptions extends ServerOptions {
  file?: string;
  sample?: boolean;
  journeyId?: string;
  auto?: boolean;
  loseAnswer?: boolean;
  batch?: boolean;
  watch?: boolean;
}

export function registerStartCommand(program: Command): void {
  const command = program
    .command('start')
    .description('start a lending journey, once; where this id was started with another input, what differs is told')
    .option('--file <path>', 'JSON input of lendingJourney; - is standard input')
    .option('--sample', 'a made-up joint application, for the sandbox alone')
    .option('--journey-id <id>', 'with --sample: the journey’s id (default: a new one)')
    .option('--auto', 'with --sample: pass the gates without waiting for advance')
    .option('--lose-answer', 'with --sample: the gateway posts each inquiry and its first answer is lost')
    .option('--batch', 'give way to every journey that was started without this, where both wait for the gateway')
    .option('--watch', 'show its progress until it ends or needs a person');
  withExamples(
    withServerOptions(command),
    'credit-journey start --sample --journey-id J-1001',
    'credit-journey start --sample --auto --watch',
  );
  command.action(async (options: StartOptions) => {
    if (options.sample) await requireSandbox(options);
    const input = await inputOf(options);
    await checkMessage('start', input, { ...options });
    process.exitCode = await withJourneys(options, async (journeys, output, client) => {
      const journey = await journeys.start(input as LendingJourneyInput, {
        workClass: options.batch ? 'batch' : 'interactive',
      });
      const { journeyId, workflowId } = journey;
      const started = { journeyId, workflowId, taskQueue: journeys.taskQueue };
      return showStarted(journey, started, output, { client, watch: options.watch });
    });
  });
}

async function inputOf({ file, sample, journeyId, auto = false, loseAnswer = false }: StartOptions): Promise<unknown> {
  if ((file === undefined) === !sample) throw new UsageError('give either --file or --sample');
  if (file === undefined) return sampleJourney({ journeyId: journeyId ?? `J-${randomUUID()}`, auto, loseAnswer });
  if (journeyId !== undefined || auto || loseAnswer) {
    throw new UsageError('--journey-id, --auto and --lose-answer go with --sample');
  }
  return readJson(file);
}
