/** One run for each outcome of a portfolio review. They need a harness with PORTFOLIO_DIR. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Config } from '../../src/config/config.ts';
import type { PortfolioStatus } from '../../src/messages/portfolio/shapes.ts';
import type { JourneyHandle } from './journey-harness.ts';
import { csvText, FOLDER, writePortfolio } from './portfolio-files.ts';
import { untilQuery } from './until-query.ts';

export interface PortfolioStage {
  client: Client;
  config: Pick<Config, 'taskQueue' | 'portfolioDirectory'>;
}

interface PortfolioScenario {
  /** The name of its recorded history. */
  name: string;
  play(stage: PortfolioStage): Promise<JourneyHandle>;
}

const ORDER = { endUserCode: 'EU123', permissiblePurposeCode: '01', window: 2 };
const WORD = { by: 'operator', reason: 'asked the provider' };

async function started(
  { client, config }: PortfolioStage,
  lastFours: readonly string[],
  overrides: object = {},
): Promise<{ handle: JourneyHandle; reviewId: string }> {
  const reviewId = `R-${randomUUID().slice(0, 13)}`;
  const text = csvText(lastFours.length, (index) => lastFours[index] ?? '0001');
  const file = await writePortfolio(config.portfolioDirectory ?? '', `${reviewId}.csv`, text);
  const handle = await client.workflow.start('portfolioReview', {
    workflowId: `portfolio-${reviewId}`,
    taskQueue: config.taskQueue,
    args: [{ reviewId, ...ORDER, file, ...overrides }],
  });
  return { handle: handle as unknown as JourneyHandle, reviewId };
}

function scenario(
  name: string,
  lastFours: readonly string[],
  then: (handle: JourneyHandle, reviewId: string) => Promise<unknown> = () => Promise.resolve(),
  overrides: object = {},
): PortfolioScenario {
  return {
    name: `portfolioReview-${name}`,
    async play(stage) {
      const { handle, reviewId } = await started(stage, lastFours, overrides);
      await then(handle, reviewId);
      await handle.result().catch(() => undefined);
      return handle;
    },
  };
}

function until(handle: JourneyHandle, isWanted: (status: PortfolioStatus) => boolean): Promise<PortfolioStatus> {
  return untilQuery(handle, isWanted);
}

const tell = (handle: JourneyHandle, name: string, message: object) => handle.executeUpdate(name, { args: [message] });

async function abandonAll(handle: JourneyHandle, reviewId: string): Promise<void> {
  const { holds } = await until(handle, ({ state }) => state === 'held');
  for (const { customerTraceNumber, attempts: attempt } of holds) {
    const decision = { decisionId: 'D1', customerTraceNumber, attempt, action: 'abandon', providerSaid: 'notPosted' };
    await tell(handle, 'resolveInquiry', { reviewId, ...decision, ...WORD });
  }
}

/** The retry waits for longer than the message takes. */
const THROTTLED = ['3429', '0001', '0001', '0001'];

export const PORTFOLIO_SCENARIOS: readonly PortfolioScenario[] = [
  scenario('completed', ['0001', '0404', '0001', '0001', '0001']),
  scenario('held', ['0001', '4002', '0001'], abandonAll),
  scenario('withdrawn', THROTTLED, (handle, reviewId) => tell(handle, 'withdraw', { reviewId, ...WORD })),
  scenario('paused', THROTTLED, async (handle, reviewId) => {
    await tell(handle, 'pause', { reviewId, ...WORD });
    await until(handle, ({ progress }) => progress.underWay === 0);
    await tell(handle, 'resume', { reviewId, ...WORD });
  }),
  scenario('cancelled', ['0001', '4002'], async (handle) => {
    await until(handle, ({ state }) => state === 'held');
    await handle.cancel();
  }),
  {
    name: 'portfolioReview-filesAway',
    async play({ client, config }) {
      const reviewId = `R-${randomUUID().slice(0, 13)}`;
      const file = `${reviewId}.csv`;
      // A symbolic link is never followed.
      const place = join(config.portfolioDirectory ?? '', FOLDER, file);
      await mkdir(dirname(place), { recursive: true });
      await symlink('elsewhere.csv', place);
      const handle = (await client.workflow.start('portfolioReview', {
        workflowId: `portfolio-${reviewId}`,
        taskQueue: config.taskQueue,
        args: [{ reviewId, ...ORDER, file }],
      })) as unknown as JourneyHandle;
      await until(handle, ({ attention }) => attention !== undefined);
      await rm(place);
      await writePortfolio(config.portfolioDirectory ?? '', file, csvText(2));
      await handle.result();
      return handle;
    },
  },
  scenario('invalidInput', ['0001'], undefined, { maxBadRows: -1 }),
];
