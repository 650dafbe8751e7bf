/** The workflow types that a worker registers. */
export { creditReport } from './credit-report.ts';
export { failsafeCheck } from './failsafe-check.ts';
export { lendingJourney } from './lending-journey.ts';
export { portfolioReview } from './portfolio-review.ts';
export { recordLateConsent } from './record-late-consent.ts';
export { scheduledReview } from './scheduled-review.ts';
export { shareReport } from './share-report.ts';
export { watchLedger } from './watch-ledger.ts';
export { webhookDelivery } from './webhook-delivery.ts';
