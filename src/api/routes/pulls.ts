/** Single pulls: started, read, listed, ended early. Decisions about them: decisions.ts. */
import { z } from 'zod';
import { applicantsSchema, failsafeApplicantsSchema } from '../../fields/applicant-schemas.ts';
import { choosePullInput, creditReport, failsafeCheck, type PullInput } from '../../messages/inputs/pull.ts';
import { pullResultSchema, pullStatusSchema } from '../../messages/pull/shapes.ts';
import { withdrawPull } from '../../messages/withdraw.ts';
import type { Route } from '../route.ts';
import { createRunRoutes } from './runs.ts';

const startSchema = z.union([
  creditReport.schema(applicantsSchema).meta({ id: 'startCreditReport' }),
  failsafeCheck.schema(failsafeApplicantsSchema).meta({ id: 'startFailsafeCheck' }),
]);

/** A result without the members that hold a `consumerId`, which is personal. */
const { reference: _, consumers: __, unattributed: ___, ...resultFields } = pullResultSchema.shape;

export const pullRoutes: readonly Route[] = createRunRoutes<PullInput>({
  kind: 'pull',
  path: '/v1/pulls',
  name: 'Pull',
  words: ['a pull', 'pulls'],
  reads: 'pulls:read',
  status: pullStatusSchema,
  result: {
    schema: z.object(resultFields).meta({ id: 'pullResult' }),
    description: 'The result has no references: read those with `reports:read`.',
  },
  start: {
    summary: 'Start a single pull: one report product, or FAILSAFE',
    description:
      'The same start, sent again, starts nothing new. A FAILSAFE without an end user needs a token for all end users.',
    scope: 'pulls:start',
    body: startSchema,
    hasWorkClass: true,
    findDefinition: choosePullInput,
  },
  messages: [
    {
      message: withdrawPull,
      path: '/withdrawal',
      summary: 'End a pull after any attempt in flight',
      scope: 'pulls:withdraw',
      ends: 'withdraw',
    },
  ],
});
