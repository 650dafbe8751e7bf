import { activityInfo, heartbeat } from '@temporalio/activity';
import { createConsentActivities } from './consent-activities.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { wrapEach } from './failures.ts';
import { createDecisionActivities, createLedgerActivities } from './ledger-activities.ts';
import { createPortfolioActivities } from './portfolio-activities.ts';
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
  return wrapEach(activities, async (run) => {
    const { heartbeatTimeoutMs } = activityInfo();
    const beats = heartbeatTimeoutMs && setInterval(() => heartbeat(), heartbeatTimeoutMs / 4);
    try {
      return await run();
    } finally {
      clearInterval(beats);
    }
  });
}

/** The one activity that can post an inquiry, on a profile's gateway queue and on the workflow queue. */
export function createGatewayActivities(dependencies: ActivityDependencies) {
  return { submitInquiry: createSubmitInquiry(dependencies) };
}
