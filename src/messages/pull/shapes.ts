/** The answers of single pulls (docs/pulls.md): schemas and types, as journey/shapes.ts. */
import { z } from 'zod';
import { ENVIRONMENTS, PULL_PRODUCTS } from '../../model/products.ts';
import { REPORT_OUTCOMES } from '../../model/report-outcome.ts';
import {
  answeredFields,
  applicantOutcomeFields,
  CLOSED_STATES,
  inquiryFields,
  listWithoutRecord,
  optionalText,
  reportReferenceSchema,
  runStatusFields,
  ssnMismatchSchema,
} from '../journey/shapes.ts';

const productCode = z.enum(PULL_PRODUCTS);
const outcome = z.enum([...REPORT_OUTCOMES, 'abandoned', 'withdrawn']);

export const consumerResultSchema = z
  .object({
    ...applicantOutcomeFields,
    reportReferenceNumber: optionalText,
    consumerId: optionalText.describe('Personal.'),
  })
  .meta({ id: 'consumerResult', description: 'The outcome for one applicant of FAILSAFE.' });

export const unattributedConsumerSchema = consumerResultSchema.omit({ applicantId: true, outcome: true }).meta({
  id: 'unattributedConsumer',
  description: 'One entry of an answer about several applicants. The answer does not show whose it is.',
});

const consumerFields = {
  /** For an answered FAILSAFE: one for each applicant, in their order. */
  consumers: z.array(consumerResultSchema).optional(),
  unattributed: z.array(unattributedConsumerSchema).optional(),
};

export const pullStatusSchema = z
  .object({
    pullId: z.string(),
    productCode,
    state: z.enum(['running', 'held', ...outcome.options, ...CLOSED_STATES]),
    ...inquiryFields,
    ...answeredFields,
    attention: ssnMismatchSchema,
    ...runStatusFields,
  })
  .meta({ id: 'pullStatus' });

export const pullResultSchema = z.object({
  pullId: z.string(),
  environment: z.enum(ENVIRONMENTS),
  productCode,
  outcome,
  attempts: inquiryFields.attempts,
  customerTraceNumber: z.string(),
  ...answeredFields,
  /** With `record`, unless FAILSAFE gave each consumer a number of its own. */
  reference: reportReferenceSchema.optional(),
  ...consumerFields,
  attention: ssnMismatchSchema,
});

export const pullReferencesSchema = z.object({
  pullId: z.string(),
  references: z.array(z.object({ productCode, reference: reportReferenceSchema })),
  ...consumerFields,
  withoutRecord: listWithoutRecord({ productCode }),
});

/** Answer of a pull's query `status`: nothing personal. */
export type PullStatus = z.infer<typeof pullStatusSchema>;
export type PullResult = z.infer<typeof pullResultSchema>;
export type PullOutcome = PullResult['outcome'];
export type PullReferences = z.infer<typeof pullReferencesSchema>;
