/** Decisions about inquiries on hold: of one run, or the same about many. */
import { z } from 'zod';
import { GATEWAY_LIMITS } from '../../config/variables.ts';
import { applicantsSchema, failsafeApplicantsSchema } from '../../fields/applicant-schemas.ts';
import { parseWith } from '../../fields/problems.ts';
import { acceptedSchema, journeyStatusSchema } from '../../messages/journey/shapes.ts';
import { portfolioStatusSchema } from '../../messages/portfolio/shapes.ts';
import { pullStatusSchema } from '../../messages/pull/shapes.ts';
import { decision, resolveInquiry, resolveShareReport } from '../../messages/resolve-inquiry.ts';
import { shareReportStatusSchema } from '../../messages/share/shapes.ts';
import { type RunKind, runKeyProblem } from '../../model/run-key.ts';
import { decidedSameSchema, decideOne, decideSame, previewSame, previewSchema } from '../holds/decide.ts';
import { type Reply, type Route, route, TRACE_NUMBER } from '../route.ts';
import { runKeyOfKind } from './runs.ts';

const { max } = GATEWAY_LIMITS.maxApplicants;

const ofJourney = resolveInquiry
  .schema(applicantsSchema(max))
  .omit({ journeyId: true, by: true })
  .meta({ id: 'journeyDecision' });
const ofPull = decision.schema(failsafeApplicantsSchema(max)).omit({ by: true }).meta({ id: 'decision' });
const ofShare = resolveShareReport.schema().omit({ shareId: true, by: true }).meta({ id: 'shareDecision' });

function decisionAnswerSchema(status: z.ZodType, id: string) {
  return z
    .object({
      accepted: acceptedSchema.shape.accepted,
      duplicate: acceptedSchema.shape.duplicate,
      recorded: z.boolean().meta({ description: 'Whether the ledger has the decision.' }),
      heldBy: z.enum(['run', 'ledger']).meta({
        description:
          'run: the run continues with the decision. ledger: there is no run; its next start continues with the decision.',
      }),
      status: z.exactOptional(status),
    })
    .meta({ id });
}

const problems = {
  409:
    '`decided`: another decision about this attempt stands; `decided` says who took it, when and which. `notOnHold`, ' +
    '`unproven`, `ending` or `notNow`: `detail` says why it makes no sense as things stand. `differs`: `decisionId` was used ' +
    'with other content.',
} as const;

const description =
  'The token says who decides. If the run is lost, the API writes the decision into the ledger, and the next start of the run finds it.';

interface DecidedKind {
  kind: RunKind;
  path: `/v1/${string}`;
  operationId: string;
  /** The summary's name for the thing on hold. */
  words: string;
  body: z.ZodType;
  answer: z.ZodType;
}

const KINDS: readonly DecidedKind[] = [
  {
    ...{ kind: 'journey', path: '/v1/journeys/{journeyId}/decisions', operationId: 'decideJourneyInquiry' },
    ...{
      words: 'an inquiry of a journey',
      body: ofJourney,
      answer: decisionAnswerSchema(journeyStatusSchema, 'journeyDecided'),
    },
  },
  {
    ...{ kind: 'pull', path: '/v1/pulls/{pullId}/decisions', operationId: 'decidePullInquiry' },
    ...{ words: 'a pull', body: ofPull, answer: decisionAnswerSchema(pullStatusSchema, 'pullDecided') },
  },
  {
    ...{ kind: 'share', path: '/v1/shares/{shareId}/decisions', operationId: 'decideShareInquiry' },
    ...{
      words: 'a share by itself',
      body: ofShare,
      answer: decisionAnswerSchema(shareReportStatusSchema, 'shareDecided'),
    },
  },
  {
    ...{ kind: 'portfolio', path: '/v1/portfolio-reviews/{reviewId}/decisions', operationId: 'decideReviewInquiry' },
    ...{
      words: 'an inquiry of a portfolio review',
      body: ofPull,
      answer: decisionAnswerSchema(portfolioStatusSchema, 'reviewDecided'),
    },
  },
];

function decisionRoute({ kind, words, answer, ...form }: DecidedKind): Route {
  const about = runKeyOfKind(kind);
  return {
    ...{ method: 'POST', ...form, about, description, scope: 'holds:decide', problems },
    summary: `Decide about ${words} on hold`,
    answers: { 200: { description: 'It was taken.', schema: answer } },
    async handle({ services, sending, params, body, by }) {
      return { status: 200, body: await decideOne({ services, sending }, about(params), { ...body, by: by() }) };
    },
  };
}

/** One decision about many inquiries: no field belongs to a single one. */
const sameDecision = {
  decisionId: ofPull.shape.decisionId,
  action: ofPull.shape.action.exclude(['amend']),
  providerSaid: ofPull.shape.providerSaid,
  reason: ofPull.shape.reason,
  outcome: z.enum(['noRecord', 'noReport']).exactOptional(),
};

const MOST_AT_ONCE = 100;

const manyBody = z
  .strictObject({
    ...sameDecision,
    inquiries: z
      .array(
        z.strictObject({
          runKey: z.string().refine((id) => runKeyProblem(id) === null, 'must be as the list of holds has it'),
          // The answer repeats it, so that it must be nothing else.
          customerTraceNumber: z.string().regex(new RegExp(TRACE_NUMBER.form), TRACE_NUMBER.rule),
          attempt: ofPull.shape.attempt,
        }),
      )
      .min(1)
      .max(MOST_AT_ONCE),
  })
  .meta({ id: 'sameDecision' });

const NOTHING_OF_ONE = 'No reference, applicants or proof: those belong to one inquiry alone.';

export const decisionRoutes: readonly Route[] = [
  ...KINDS.map(decisionRoute),
  route({
    method: 'POST',
    path: '/v1/decisions/preview',
    operationId: 'previewDecisions',
    summary: 'Preview the same decision about many inquiries',
    description: `The preview decides nothing. ${NOTHING_OF_ONE}`,
    scope: 'holds:read',
    tellsRuns: true,
    body: manyBody,
    answers: { 200: { description: 'A judgment for each inquiry, in the order given.', schema: previewSchema } },
    async handle(call): Promise<Reply<200>> {
      const { inquiries, ...decision } = parseWith(manyBody, call.body);
      call.note({ count: inquiries.length });
      return { status: 200, body: await previewSame(call, { decision, inquiries }) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/decisions',
    operationId: 'decideMany',
    summary: 'Decide the same about many inquiries on hold',
    description: `The API judges each inquiry by itself: a refused one does not stop the others. ${NOTHING_OF_ONE}`,
    scope: 'holds:decide',
    tellsRuns: true,
    body: manyBody,
    answers: { 200: { description: 'The result for each inquiry, in the order given.', schema: decidedSameSchema } },
    async handle(call): Promise<Reply<200>> {
      const { inquiries, ...decision } = parseWith(manyBody, call.body);
      call.note({ count: inquiries.length });
      return { status: 200, body: await decideSame(call, { decision: { ...decision, by: call.by() }, inquiries }) };
    },
  }),
];
