/** The answers of each kind of run: to its queries, at its end, and to every message. */
import { z } from 'zod';
import type { RunKind } from '../model/run-key.ts';
import {
  acceptedSchema,
  journeyReferencesSchema,
  journeyResultSchema,
  journeyStatusSchema,
  standsSchema,
} from './journey/shapes.ts';
import { portfolioResultSchema, portfolioStatusSchema } from './portfolio/shapes.ts';
import { pullReferencesSchema, pullResultSchema, pullStatusSchema } from './pull/shapes.ts';
import { shareReportReferencesSchema, shareReportResultSchema, shareReportStatusSchema } from './share/shapes.ts';

/** The further members in the answers of runs that receive consents. */
const consentFields = {
  stands: standsSchema.optional(),
  unmatched: z
    .literal('share')
    .optional()
    .describe(
      'Answer to a consent only: its share has not been requested yet. The consent is kept, and listed by unmatched-consents.',
    ),
};

export const ANSWERS = {
  journey: {
    result: journeyResultSchema,
    status: journeyStatusSchema,
    references: journeyReferencesSchema,
    update: acceptedSchema.extend({ status: journeyStatusSchema, ...consentFields }),
  },
  pull: {
    result: pullResultSchema,
    status: pullStatusSchema,
    references: pullReferencesSchema,
    update: acceptedSchema.extend({ status: pullStatusSchema }),
  },
  share: {
    result: shareReportResultSchema,
    status: shareReportStatusSchema,
    references: shareReportReferencesSchema,
    update: acceptedSchema.extend({ status: shareReportStatusSchema, ...consentFields }),
  },
  portfolio: {
    result: portfolioResultSchema,
    status: portfolioStatusSchema,
    update: acceptedSchema.extend({ status: portfolioStatusSchema }),
  },
};

type Answer<Kind extends RunKind, Name> = Name extends keyof (typeof ANSWERS)[Kind]
  ? z.infer<(typeof ANSWERS)[Kind][Name]>
  : never;

/** `status`: nothing personal. `references`, and a `result` with references: `consumerId` is personal. */
export type RunAnswers = {
  [Kind in RunKind]: { [Name in 'result' | 'status' | 'references' | 'update']: Answer<Kind, Name> };
};
export type UpdateAnswer<Kind extends RunKind = 'journey'> = RunAnswers[Kind]['update'];
