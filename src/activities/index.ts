import { activityInfo, heartbeat } from '@temporalio/activity';
import { createBeginJourney } from './begin-journey.ts';
import { createCompareReports } from './compare-reports.ts';
import { createConsentActivities } from './consent-activities.ts';
import type { EagerActivities, GatewayActivities, JourneyActivities, PortfolioActivities } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createDecisionActivities, createLedgerActivities } from './ledger-activities.ts';
import { createPortfolioActivities } from './portfolio-activities.ts';
import { createPrepareShareReport } from './prepare-share-report.ts';
import { createStartActivities } from './prepared-run.ts';
import { createSubmitInquiry } from './submit-inquiry.ts';
import { createQueueWebhooks } from './webhook-activities.ts';

/** The activities of the workflow queue alone: none of them can post an inquiry. */
export function createJourneyActivities(dependencies: ActivityDependencies): JourneyActivities & PortfolioActivities {
  return {
    // Their heartbeats follow the file, block by block.
    ...createPortfolioActivities(dependencies),
    ...heartbeating({
      ...createStartActivities(dependencies),
      ...createPrepareShareReport(dependencies),
      ...createLedgerActivities(dependencies),
      ...createConsentActivities(dependencies),
      ...createDecisionActivities(dependencies),
      ...createQueueWebhooks(dependencies),
      ...createCompareReports(dependencies),
    }),
  };
}

/** The same activities, each with heartbeats for as long as its process lives: silence tells of a worker that was killed. */
export function heartbeating<Activities extends object>(activities: Activities): Activities {
  const all = Object.entries(activities) as [string, (...args: unknown[]) => Promise<unknown>][];
  const wrapped = all.map(([name, activity]) => [
    name,
    async (...args: unknown[]) => {
      const { heartbeatTimeoutMs } = activityInfo();
      const beats = heartbeatTimeoutMs && setInterval(() => heartbeat(), heartbeatTimeoutMs / 4);
      try {
        return await activity(...args);
      } finally {
        clearInterval(beats);
      }
    },
  ]);
  return Object.fromEntries(wrapped);
}

/** The one activity that can, on a profile's gateway queue. */
export function createGatewayActivities(dependencies: ActivityDependencies): GatewayActivities {
  return { submitInquiry: createSubmitInquiry(dependencies) };
}

/** The same on the workflow queue, and the one that makes a journey's first attempt. */
export function createEagerActivities(dependencies: ActivityDependencies): GatewayActivities & EagerActivities {
  return { ...createGatewayActivities(dependencies), beginJourney: createBeginJourney(dependencies) };
}
