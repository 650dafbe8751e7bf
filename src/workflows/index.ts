/** The workflow types that a worker registers. */

export { recordLateConsent } from './consent/record-late-consent.ts';
export { lendingJourney } from './journey/lending-journey.ts';
export { watchLedger } from './ledger/ledger-runs.ts';
export { portfolioReview } from './portfolio/portfolio-review.ts';
export { creditReport, failsafeCheck } from './pull/pull.ts';
export { shareReport } from './share/share-report.ts';
export { webhookDelivery } from './webhooks/webhook-delivery.ts';
