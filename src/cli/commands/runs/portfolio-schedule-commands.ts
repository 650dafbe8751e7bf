/** `portfolio schedule`: reviews by Temporal's own schedules. */
import type { Command } from 'commander';
import { parseDurationMs } from '../../../base/durations.ts';
import type { PortfolioSchedule, PortfolioSchedules } from '../../../client.ts';
import { withJourneys } from '../../decisions/journey-action.ts';
import { type OrderOptions, orderOf, withOrderOptions } from '../../demo/portfolio-order.ts';
import { checkMessage } from '../../output/check-message.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../../output/common-options.ts';
import { UsageError } from '../../output/errors.ts';
import { given } from '../../output/json-input.ts';
import { table } from '../../output/output.ts';

interface CreateOptions extends ServerOptions, OrderOptions {
  cron: string;
  timeZone?: string;
  overlap?: string;
  jitter?: string;
  catchUp?: string;
  paused?: boolean;
}

const SCHEDULE_ID = 'the schedule’s id';

export function registerScheduleCommands(portfolio: Command): void {
  const schedule = portfolio.command('schedule').description('review a file again and again');
  registerCreate(schedule);
  registerList(schedule);
  registerAction(schedule, 'pause', 'start no review until unpause', (schedules, id, note) =>
    schedules.pause(id, note),
  );
  registerAction(schedule, 'unpause', 'go on after pause', (schedules, id, note) => schedules.unpause(id, note));
  registerAction(schedule, 'trigger', 'start a review now', (schedules, id) => schedules.trigger(id));
  registerAction(schedule, 'delete', 'end the schedule; its reviews go on', (schedules, id) => schedules.delete(id));
}

function registerCreate(schedule: Command): void {
  const command = schedule
    .command('create')
    .description('create a schedule; each of its reviews has an id of its own')
    .argument('<scheduleId>', 'at most 40 characters')
    .argument('<file>', 'relative to the workers’ PORTFOLIO_DIR, as it is when a review begins')
    .requiredOption('--cron <expression>', 'when: five fields, or such as @monthly')
    .option('--time-zone <name>', 'IANA name (default: UTC)')
    .option('--overlap <policy>', 'skip (default), bufferOne, bufferAll, cancelOther or allowAll')
    .option('--jitter <duration>', 'begin later by up to so much, such as PT10M')
    .option('--catch-up <duration>', 'make up for what was missed, if no older (default: PT1H)')
    .option('--paused', 'create it paused');
  withExamples(
    withServerOptions(withOrderOptions(command)),
    'credit-journey portfolio schedule create monthly sample.csv --cron "0 6 1 * *" --time-zone America/New_York --end-user EU123 --purpose 01',
  );
  command.action(async (scheduleId: string, file: string, options: CreateOptions) => {
    const { cron, timeZone, overlap, paused } = options;
    const wanted = given({
      ...{ scheduleId, order: orderOf(file, options), cron, timeZone, overlap, paused },
      jitterMs: milliseconds('--jitter', options.jitter),
      catchUpMs: milliseconds('--catch-up', options.catchUp),
    }) as unknown as PortfolioSchedule;
    await checkMessage('portfolioSchedule', wanted);
    await withJourneys(options, async (journeys, output) => {
      const { duplicate } = await journeys.portfolioSchedules.create(wanted);
      output.answer({ scheduleId, created: !duplicate }, () => [
        output.colors.green(duplicate ? `schedule ${scheduleId} was there already` : `created schedule ${scheduleId}`),
      ]);
    });
  });
}

function milliseconds(option: string, duration: string | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const ms = parseDurationMs(duration);
  if (ms === null) throw new UsageError(`${option} must be an ISO 8601 duration, such as PT10M`);
  return ms;
}

function registerList(schedule: Command): void {
  const command = schedule.command('list').description('the schedules, when they begin next, and their last reviews');
  withExamples(withServerOptions(command), 'credit-journey portfolio schedule list');
  command.action(async (options: ServerOptions) => {
    await withJourneys(options, async (journeys, output) => {
      const schedules = await journeys.portfolioSchedules.list();
      const rows = schedules.map(({ scheduleId, paused, nextAt, lastReviewIds }) => [
        ...[scheduleId, paused ? 'paused' : 'active', nextAt[0] ?? '', lastReviewIds.at(-1) ?? ''],
      ]);
      output.answer({ schedules }, () =>
        rows.length === 0
          ? ['no schedules']
          : table([['SCHEDULE', 'STATE', 'NEXT', 'LAST REVIEW'], ...rows], output.width),
      );
    });
  });
}

function registerAction(
  schedule: Command,
  name: 'pause' | 'unpause' | 'trigger' | 'delete',
  description: string,
  act: (schedules: PortfolioSchedules, scheduleId: string, note?: string) => Promise<void>,
): void {
  const command = schedule.command(name).description(description).argument('<scheduleId>', SCHEDULE_ID);
  if (name === 'pause' || name === 'unpause') command.option('--note <text>', 'who, and why');
  withExamples(withServerOptions(command), `credit-journey portfolio schedule ${name} monthly`);
  command.action(async (scheduleId: string, { note, ...options }: ServerOptions & { note?: string }) => {
    await withJourneys(options, async (journeys, output) => {
      await act(journeys.portfolioSchedules, scheduleId, note);
      output.answer({ scheduleId, done: name }, () => [output.colors.green(`${name}: done`)]);
    });
  });
}
