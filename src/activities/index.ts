import { activityInfo, heartbeat } from '@temporalio/activity';
import { createConsentActivities } from './consent-activities.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createDecisionActivities, createLedgerActivities } from './ledger-activities.ts';
import { createPortfolioActivities } from './portfolio-activities.ts';
import { createPrepareShareReport } from './prepare-share-report.ts';
import { createStartActivities } from './prepared-run.ts';
import { createSubmitInquiry } from './submit-inquiry.ts';
import { createQueueWebhooks, type createWebhookActivities } from './webhook-activities.ts';

/** The activities that only the workflow queue has. None of them can post an inquiry. */
export function createRunActivities(dependencies: ActivityDependencies) {
  return {
    // These activities send their own heartbeats, one for each block of the file.
    ...createPortfolioActivities(dependencies),
    ...addHeartbeats({
      ...createStartActivities(dependencies),
      ...createPrepareShareReport(dependencies),
      ...createLedgerActivities(dependencies),
      ...createConsentActivities(dependencies),
      ...createDecisionActivities(dependencies),
      ...createQueueWebhooks(dependencies),
    }),
  };
}

/** The activities as workflows call them. */
export type PortfolioActivities = ReturnType<typeof createPortfolioActivities>;
export type RunActivities = ReturnType<typeof createRunActivities>;
export type GatewayActivities = ReturnType<typeof createGatewayActivities>;
export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** Makes each activity send heartbeats for as long as it runs, so that Temporal detects a killed worker. */
export function addHeartbeats<Activities extends object>(activities: Activities): Activities {
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

/** The one activity that can post an inquiry, on a profile's gateway queue and on the workflow queue. */
export function createGatewayActivities(dependencies: ActivityDependencies) {
  return { submitInquiry: createSubmitInquiry(dependencies) };
}
