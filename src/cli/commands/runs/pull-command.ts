/** `pull`: one report of one product, or FAILSAFE. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { PullInput } from '../../../messages/inputs/pull.ts';
import { PULL_PRODUCTS } from '../../../model/products.ts';
import { showStarted, withJourneys } from '../../decisions/journey-action.ts';
import { samplePull } from '../../demo/sample-runs.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { readJson } from '../../output/json-input.ts';
import { requireSandbox } from '../../output/require-sandbox.ts';

interface PullOptions extends ServerOptions {
  file?: string;
  sample?: boolean;
  product?: string;
  pullId?: string;
  loseAnswer?: boolean;
  batch?: boolean;
  watch?: boolean;
}

export function registerPullCommand(program: Command): void {
  const command = program
    .command('pull')
    .description('pull one report of one product; the same id again finds the first')
    .option('--file <path>', 'JSON input of creditReport or failsafeCheck; - is standard input')
    .option('--sample', 'a made-up applicant, for the sandbox alone')
    .option('--product <productCode>', `with --sample: ${PULL_PRODUCTS.join(', ')} (default: CR)`)
    .option('--pull-id <id>', 'with --sample: the pull’s id (default: a new one)')
    .option('--lose-answer', 'with --sample: the gateway posts the inquiry and its first answer is lost')
    .option('--batch', 'nobody waits for it: let others go first where the gateway’s limit is reached')
    .option('--watch', 'show its progress until it ends or needs a person');
  withExamples(
    withServerOptions(command),
    'credit-journey pull --sample --product REFUPD --pull-id P-1001 --watch',
    'credit-journey report pull:P-1001 REFUPD',
  );
  command.action(async (options: PullOptions) => {
    if (options.sample) await requireSandbox(options);
    const input = await inputOf(options);
    await checkMessage('pull', input, { ...options });
    process.exitCode = await withJourneys(options, async (journeys, output, client) => {
      const pull = await journeys.pull(input as PullInput, { workClass: options.batch ? 'batch' : 'interactive' });
      const { pullId, ownerId, workflowId } = pull;
      const started = { pullId, id: ownerId, workflowId, taskQueue: journeys.taskQueue };
      return showStarted(pull, started, output, { client, watch: options.watch });
    });
  });
}

async function inputOf({ file, sample, product, pullId, loseAnswer = false }: PullOptions): Promise<unknown> {
  if ((file === undefined) === !sample) throw new UsageError('give either --file or --sample');
  if (file !== undefined) {
    if (product !== undefined || pullId !== undefined || loseAnswer) {
      throw new UsageError('--product, --pull-id and --lose-answer go with --sample');
    }
    return readJson(file);
  }
  const productCode = PULL_PRODUCTS.find((one) => one === (product ?? 'CR'));
  if (!productCode) throw new UsageError(`--product must be one of ${PULL_PRODUCTS.join(', ')}`);
  return samplePull({ pullId: pullId ?? `P-${randomUUID()}`, productCode, loseAnswer });
}
