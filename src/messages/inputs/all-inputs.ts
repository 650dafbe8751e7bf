/** The input of every workflow that callers start. Workflow code does without: activities check inputs. */
import { lendingJourney } from './lending-journey.ts';
import { portfolioReview } from './portfolio-review.ts';
import { creditReport, failsafeCheck } from './pull.ts';
import { shareReport } from './share-report.ts';

export const INPUTS = { lendingJourney, creditReport, failsafeCheck, portfolioReview, shareReport };
