/** `webhooks`: lists, sends again and tests the events for webhook endpoints. */
import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../../model/problems.ts';
import { EXIT, toErrorFacts, UsageError } from '../../output/errors.ts';
import { type CommandRow, type Context, RUN_ID } from '../command.ts';

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'webhooks list',
    description: 'list deliveries that have not ended: exits with 3 if a worker has given up an event',
    options: [['--failed', 'only those that have given an event up']],
    examples: ['credit-journey webhooks list --failed'],
    async run({ options: { failed = false }, connect }: Context<{ failed?: boolean }>) {
      const journeys = await connect();
      const { openDeliveries, hasFailed } = await import('../../../operator/webhook-deliveries.ts');
      const answer = await openDeliveries(journeys.getSdkClient(), journeys.taskQueue, { failed });
      return { answer, exitCode: answer.data.some(hasFailed) ? EXIT.needsPerson : EXIT.done };
    },
  },
  {
    name: 'webhooks resend',
    description: 'send again the events that workers have given up, and at once those that wait for their next attempt',
    arguments: [['[id]', RUN_ID]],
    options: [['--all', 'of every run that has given an event up']],
    examples: ['credit-journey webhooks resend J-1'],
    async run({ args: { id }, options: { all = false }, connect }: Context<{ all?: boolean }>) {
      if ((id === undefined) !== all) throw new UsageError('give either an id or --all');
      const journeys = await connect();
      const client = journeys.getSdkClient();
      const { openDeliveries, resendEvents } = await import('../../../operator/webhook-deliveries.ts');
      if (id !== undefined) return { answer: { runKey: id, ...(await resendEvents(client, id)) } };
      const { data, hasMore, unanswered } = await openDeliveries(client, journeys.taskQueue, { failed: true });
      const resent: { runKey: string; events: number }[] = [];
      const failed: { runKey: string; error: ReturnType<typeof toErrorFacts> }[] = [];
      for (const { runKey } of data) {
        try {
          resent.push({ runKey, ...(await resendEvents(client, runKey)) });
        } catch (error) {
          const facts = toErrorFacts(error);
          // Otherwise the events were delivered meanwhile.
          if (facts.type !== 'nothingToDeliver') failed.push({ runKey, error: facts });
        }
      }
      const isDone = failed.length + unanswered.length === 0;
      return { answer: { resent, failed, unanswered, more: hasMore }, exitCode: isDone ? EXIT.done : EXIT.failed };
    },
  },
  {
    name: 'webhooks test',
    description: 'send a signed event of the type ping, from here, with the worker’s configuration',
    arguments: [['<endpoint>', '']],
    options: [['--profile <name>', 'the gateway profile that it belongs to', 'default']],
    common: ['output'],
    examples: ['credit-journey webhooks test platform'],
    /** Shows only the status of the endpoint’s answer. */
    async run({ args: { endpoint: name }, options }: Context<{ profile: string }, { endpoint: string }>) {
      const { inspectConfig } = await import('../../../config/config.ts');
      const { config, problems } = inspectConfig(process.env);
      const ours = problems.filter(({ variable }) => /^GATEWAY_(PROFILES_FILE|ENVIRONMENT)/.test(variable));
      if (ours.length > 0) throw new ConfigError(ours);
      const profile = config.profiles.get(options.profile);
      if (!profile) throw new UsageError(`--profile must be one of ${[...config.profiles.keys()].join(', ')}`);
      const { webhooks: endpoints = [] } = profile;
      const endpoint = endpoints.find((candidate) => candidate.name === name);
      const known = endpoints.map((item) => item.name).join(', ');
      if (!endpoint) throw new UsageError(`<endpoint> must be an endpoint of the profile: ${known || 'it has none'}`);
      const { WebhookError, WebhookSender } = await import('../../../webhooks/sender.ts');
      const sender = new WebhookSender();
      try {
        const timestamp = new Date().toISOString();
        const body = JSON.stringify({ type: 'ping', timestamp, data: { environment: profile.environment } });
        const httpStatus = await sender.send(endpoint, { id: `evt_ping_${randomBytes(8).toString('hex')}`, body });
        return { answer: { endpoint: name, httpStatus } };
      } catch (error) {
        // 401 and 404 have other causes.
        if (error instanceof WebhookError && error.httpStatus !== undefined)
          error.message += ` (HTTP ${error.httpStatus})`;
        throw error;
      } finally {
        await sender.close();
      }
    },
  },
];
