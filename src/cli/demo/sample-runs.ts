/** Made-up runs that the sandbox takes: SSNs that start with 9 and have a record. */
import { randomUUID } from 'node:crypto';
import { loadVariable } from '../../config/environment.ts';
import { findOtherEnvironment } from '../../config/rules.ts';
import { ALEX, ALEX_UNANSWERED, BLAKE } from '../../gateway/sample-applicants.ts';
import type { LendingJourneyInput } from '../../messages/inputs/lending-journey.ts';
import type { PullInput, PullProduct } from '../../messages/inputs/pull.ts';
import { UsageError } from '../output/errors.ts';

/** The options that go with `--sample`. */
export interface SampleOptions {
  journeyId?: string;
  pullId?: string;
  productCode?: string;
  /** Passes the gates by itself instead of waiting for `advance`. */
  auto?: boolean;
  /** The sandbox resets the first connection of each inquiry when it has posted it. */
  loseAnswer?: boolean;
}

export const SAMPLES = { journey: createSampleJourney, pull: createSamplePull };

/** Two applicants, three stages, one share that waits for both applicants' consent. */
export function createSampleJourney({
  journeyId = `J-${randomUUID()}`,
  auto = false,
  loseAnswer = false,
}: SampleOptions = {}): LendingJourneyInput {
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

/** A FAILSAFE has one applicant, since the interface's entries do not say whose they are. */
export function createSamplePull({
  pullId = `P-${randomUUID()}`,
  productCode = 'CR',
  loseAnswer = false,
}: SampleOptions): PullInput {
  const applicants = [loseAnswer ? ALEX_UNANSWERED : ALEX];
  if (productCode === 'FAILSAFE') return { pullId, productCode, applicants };
  const product = productCode as Exclude<PullProduct, 'FAILSAFE'>;
  return { pullId, productCode: product, endUserCode: 'EU123', permissiblePurposeCode: '01', applicants };
}

/**
 * Keeps samples in the sandbox: elsewhere the gateway would get real inquiries about made-up applicants. Refuses `--sample`
 * where the environment, or the task queue, is not the sandbox's, and no rehearsal is on. Workers outside the
 * sandbox refuse the samples' applicants as well, since they alone know where a request would go.
 *
 * @throws UsageError, ConfigError
 */
export function requireSandbox(): void {
  const environment = loadVariable(process.env, 'GATEWAY_ENVIRONMENT');
  if (environment !== 'sandbox' && loadVariable(process.env, 'GATEWAY_REHEARSAL') !== 'on') {
    throw new UsageError(`--sample is only for the sandbox: GATEWAY_ENVIRONMENT is ${environment}`);
  }
  const named = findOtherEnvironment(process.env.TASK_QUEUE ?? '', environment);
  if (named) throw new UsageError(`--sample is only for the sandbox: the name of the task queue contains ${named}`);
}
