import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Environment } from '../../../model/products.ts';
import {
  type OutputOptions,
  RUN_ID,
  type ServerOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../../output/common-options.ts';
import { getErrorType, UsageError } from '../../output/errors.ts';
import { EXIT } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import { requireRunKey, withJourneys } from '../connections.ts';

interface ListOptions extends ServerOptions {
  failed?: boolean;
}

interface ResendOptions extends ServerOptions {
  all?: boolean;
}

interface TestOptions extends OutputOptions {
  profile: string;
}

/** Each delivery takes one query. */
const MOST_LISTED = 500;

export function registerWebhooksCommand(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('list, send again and test the events for webhook endpoints');
  const list = webhooks
    .command('list')
    .description('list deliveries that have not ended: exits with 3 if a worker has given up an event')
    .option('--failed', 'only those that have given an event up');
  withExamples(withServerOptions(list), 'credit-journey webhooks list --failed').action(listDeliveries);
  const again = webhooks
    .command('resend')
    .description('send again the events that workers have given up, and at once those that wait for their next attempt')
    .argument('[id]', RUN_ID)
    .option('--all', 'of every run that has given an event up');
  withExamples(withServerOptions(again), 'credit-journey webhooks resend J-1').action(
    (runKey: string | undefined, options: ResendOptions) => {
      if ((runKey === undefined) !== (options.all ?? false)) throw new UsageError('give either an id or --all');
      return runKey === undefined ? resendAll(options) : resend(runKey, options);
    },
  );
  const test = webhooks
    .command('test')
    .description('send a signed event of the type ping, from here, with the worker’s configuration')
    .argument('<endpoint>')
    .option('--profile <name>', 'the gateway profile that it belongs to', 'default');
  withExamples(withOutputOptions(test), 'credit-journey webhooks test platform').action(testEndpoint);
}

async function listDeliveries({ failed = false, ...options }: ListOptions): Promise<void> {
  await withJourneys(options, async ({ taskQueue }, output, client) => {
    const { openDeliveries, hasFailed } = await import('../../../operator/webhook-deliveries.ts');
    const found = await openDeliveries(client, taskQueue, { failed, limit: MOST_LISTED });
    output.answer(found);
    if (found.deliveries.some(hasFailed)) process.exitCode = EXIT.needsPerson;
  });
}

async function resend(runKey: string, options: ServerOptions): Promise<void> {
  requireRunKey(runKey);
  await withJourneys(options, async (_, output, client) => {
    const { resendEvents } = await import('../../../operator/webhook-deliveries.ts');
    output.answer({ runKey, ...(await resendEvents(client, runKey)) });
  });
}

/** Sends events again after an endpoint was mended. If that fails for one run, reports it and tries the next run. */
async function resendAll(options: ServerOptions): Promise<void> {
  await withJourneys(options, async ({ taskQueue }, output, client) => {
    const { openDeliveries, resendEvents } = await import('../../../operator/webhook-deliveries.ts');
    const { deliveries, unanswered } = await openDeliveries(client, taskQueue, { failed: true, limit: MOST_LISTED });
    const resent: { runKey: string; events: number }[] = [];
    const failed: { runKey: string; error: { type: string; message: string } }[] = [];
    for (const { runKey } of deliveries) {
      try {
        resent.push({ runKey, ...(await resendEvents(client, runKey)) });
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        // Delivered meanwhile.
        if (error.name === 'NothingToDeliverError') continue;
        failed.push({ runKey, error: { type: getErrorType(error), message: error.message } });
      }
    }
    const more = deliveries.length + unanswered.length >= MOST_LISTED;
    output.answer({ resent, failed, unanswered, more });
    if (failed.length + unanswered.length > 0) process.exitCode = EXIT.failed;
  });
}

/** Prints the outcome. Of the endpoint's answer it shows only the status. */
async function testEndpoint(name: string, { profile: profileName, ...options }: TestOptions): Promise<void> {
  const [{ inspectConfig }, { ConfigError }] = await Promise.all([
    import('../../../config/config.ts'),
    import('../../../model/problems.ts'),
  ]);
  const { config, problems } = inspectConfig(process.env);
  const ours = problems.filter(({ variable }) => /^GATEWAY_(PROFILES_FILE|ENVIRONMENT)/.test(variable));
  if (ours.length > 0) throw new ConfigError(ours);
  const profile = config.profiles.get(profileName);
  if (!profile) throw new UsageError(`--profile must be one of ${[...config.profiles.keys()].join(', ')}`);
  const { webhooks: endpoints = [] } = profile;
  const endpoint = endpoints.find((candidate) => candidate.name === name);
  const known = endpoints.map((item) => item.name).join(', ');
  if (!endpoint) throw new UsageError(`<endpoint> must be an endpoint of the profile: ${known || 'it has none'}`);
  const { WebhookSender } = await import('../../../webhooks/sender.ts');
  const sender = new WebhookSender();
  try {
    const httpStatus = await sender.send(endpoint, pingMessage(profile.environment));
    createOutput(options).answer({ endpoint: name, httpStatus });
  } finally {
    await sender.close();
  }
}

/** The event that an operator sends by hand, to check that an endpoint takes events. */
function pingMessage(environment: Environment): { id: string; body: string } {
  const body = JSON.stringify({ type: 'ping', timestamp: new Date().toISOString(), data: { environment } });
  return { id: `evt_ping_${randomBytes(8).toString('hex')}`, body };
}
