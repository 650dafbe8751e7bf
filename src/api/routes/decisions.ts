/** Decisions about inquiries on hold: of one run, or the same about many. */
import { z } from 'zod';
import { GATEWAY_LIMITS } from '../../config/variables.ts';
import { failsafeApplicantsSchema } from '../../fields/applicant-schemas.ts';
import { parseWith } from '../../fields/problems.ts';
import { acceptedSchema } from '../../messages/journey/shapes.ts';
import { decision } from '../../messages/resolve-inquiry.ts';
import { runKeyProblem } from '../../model/run-key.ts';
import { decidedSameSchema, decideOne, decideSame, previewSame, previewSchema } from '../holds/decide.ts';
import { type Reply, type Route, route, TRACE_NUMBER } from '../route.ts';

const given = decision
  .schema(failsafeApplicantsSchema(GATEWAY_LIMITS.maxApplicants.max))
  .omit({ by: true })
  .meta({ id: 'decision' });

/** The answer does not say the run's state: that is in its status, which takes a separate scope. */
const decidedSchema = z
  .object({
    accepted: acceptedSchema.shape.accepted,
    duplicate: acceptedSchema.shape.duplicate,
    recorded: z.boolean().meta({ description: 'Whether the ledger has the decision.' }),
    heldBy: z.enum(['run', 'ledger']).meta({
      description:
        'run: the run continues with the decision. ledger: there is no run; its next start continues with the decision.',
    }),
  })
  .meta({ id: 'decided' });

/** One decision about many inquiries: no field belongs to a single one. */
const sameDecision = {
  decisionId: given.shape.decisionId,
  action: given.shape.action.exclude(['amend']),
  providerSaid: given.shape.providerSaid,
  reason: given.shape.reason,
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
          attempt: given.shape.attempt,
        }),
      )
      .min(1)
      .max(MOST_AT_ONCE),
  })
  .meta({ id: 'sameDecision' });

const NOTHING_OF_ONE = 'No reference, applicants or proof: those belong to one inquiry alone.';

export const decisionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/runs/{runKey}/decisions',
    operationId: 'decideInquiry',
    summary: 'Decide about an inquiry of a run on hold',
    description:
      'The token says who decides. If the run is lost, the API writes the decision into the ledger, and the next start of the run finds it.',
    scope: 'holds:decide',
    about: ({ runKey }) => runKey,
    body: given,
    answers: { 200: { description: 'It was taken.', schema: decidedSchema } },
    problems: {
      409:
        '`decided`: another decision about this attempt stands; `decided` says who took it, when and which. `notOnHold`, ' +
        '`unproven`, `ending` or `notNow`: `detail` says why it makes no sense as things stand. `differs`: `decisionId` was used ' +
        'with other content.',
    },
    async handle({ services, sending, params, body, by }): Promise<Reply<200>> {
      const { status: _, ...made } = await decideOne({ services, sending }, params.runKey, { ...body, by: by() });
      return { status: 200, body: made };
    },
  }),
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
