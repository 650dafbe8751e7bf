/** The input of every workflow that callers start, by its type. Workflow code does without: activities check inputs. */
import { isRecord } from '../../base/is-record.ts';
import { RUN_KINDS, type RunKind } from '../../model/run-key.ts';
import type { MessageOf } from '../message.ts';
import { lendingJourney } from './lending-journey.ts';
import { portfolioReview } from './portfolio-review.ts';
import { creditReport, failsafeCheck } from './pull.ts';
import { shareReport } from './share-report.ts';

export const INPUTS = { lendingJourney, creditReport, failsafeCheck, portfolioReview, shareReport };

export type StartInput = MessageOf<(typeof INPUTS)[keyof typeof INPUTS]>;

/** The workflow that an input starts. A pull's unknown product gets the problems of a report's input. */
export function chooseWorkflow(kind: RunKind, input: unknown): keyof typeof INPUTS {
  return kind === 'pull' && isRecord(input) && input.productCode === 'FAILSAFE' ? 'failsafeCheck' : RUN_KINDS[kind][0];
}
