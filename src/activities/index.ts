import { createCompareReports } from './compare-reports.ts';
import { createConsentActivities } from './consent-activities.ts';
import type { GatewayActivities, JourneyActivities } from './contract.ts';
import { createDecisionActivities } from './decision-activities.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createLedgerActivities } from './ledger-activities.ts';
import { createPortfolioActivities } from './portfolio-activities.ts';
import type { PortfolioActivities } from './portfolio-contract.ts';
import { createPrepareJourney } from './prepare-journey.ts';
import { createPreparePortfolio } from './prepare-portfolio.ts';
import { createPreparePull } from './prepare-pull.ts';
import { createPrepareShareReport } from './prepare-share-report.ts';
import { createSubmitInquiry } from './submit-inquiry.ts';
import { createTokenActivities } from './token-activities.ts';
import { createQueueWebhooks } from './webhook-activities.ts';

/** The activities of the workflow queue alone: none of them can post an inquiry. */
export function createJourneyActivities(dependencies: ActivityDependencies): JourneyActivities & PortfolioActivities {
  return {
    ...createPrepareJourney(dependencies),
    ...createPreparePull(dependencies),
    ...createPreparePortfolio(dependencies),
    ...createPortfolioActivities(dependencies),
    ...createPrepareShareReport(dependencies),
    ...createTokenActivities(dependencies),
    ...createLedgerActivities(dependencies),
    ...createConsentActivities(dependencies),
    ...createDecisionActivities(dependencies),
    ...createQueueWebhooks(dependencies),
    ...createCompareReports(dependencies),
  };
}

/** The one activity that can: on a profile's gateway queue, and on the workflow queue. */
export function createGatewayActivities(dependencies: ActivityDependencies): GatewayActivities {
  return { submitInquiry: createSubmitInquiry(dependencies) };
}
