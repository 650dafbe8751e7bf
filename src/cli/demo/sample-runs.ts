/** Made-up runs that the sandbox takes: SSNs that start with 9 and have a record. */
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { PullInput, PullProduct } from '../../messages/inputs/pull.ts';
import { ALEX, ALEX_UNANSWERED, BLAKE } from '../../messages/sample-applicants.ts';

interface SampleOptions {
  journeyId: string;
  /** Passes the gates by itself instead of waiting for `advance`. */
  auto: boolean;
  /** The sandbox resets the first connection of each inquiry when it has posted it. */
  loseAnswer?: boolean;
}

/** Two applicants, three stages, one share that waits for both applicants' consent. */
export function sampleJourney({ journeyId, auto, loseAnswer = false }: SampleOptions): LendingJourneyInput {
  const pass = auto ? 'auto' : 'manual';
  return {
    journeyId,
    endUserCode: 'EU123',
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01', SECONDUSE: '01' },
    applicants: [loseAnswer ? ALEX_UNANSWERED : ALEX, BLAKE],
    gates: { PREAPP: { pass }, PRECLOSE: { pass } },
    shares: [{ shareId: 'S-1', endUserCode: 'EU456' }],
  };
}

interface SamplePullOptions {
  pullId: string;
  productCode: PullProduct;
  loseAnswer: boolean;
}

export function samplePull({ pullId, productCode, loseAnswer }: SamplePullOptions): PullInput {
  const first = loseAnswer ? ALEX_UNANSWERED : ALEX;
  if (productCode === 'FAILSAFE') {
    // An operator decides if applicants' outcomes differ: the interface's entries do not say whose they are.
    return { pullId, productCode, applicants: [first] };
  }
  return { pullId, productCode, endUserCode: 'EU123', permissiblePurposeCode: '01', applicants: [first] };
}
