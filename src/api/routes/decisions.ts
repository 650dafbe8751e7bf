/** Decisions about inquiries on hold: of one run, the same about many, and a preview of their effect. */
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import type { CallError } from '../../client/connection/errors.ts';
import { failsafeApplicantsSchema } from '../../fields/applicant-schemas.ts';
import { Refusal } from '../../http/refusal.ts';
import { acceptedSchema } from '../../messages/journey/shapes.ts';
import { decision } from '../../messages/resolve-inquiry.ts';
import { HOLD_ACTIONS } from '../../model/failure-types.ts';
import { type Decided, decideMany, type Failed, type Previewed, previewMany } from '../../operator/decide.ts';
import { createMessageRefusal, refuseUnknownRun, translateToRefusal } from '../problem.ts';
import { isReached, waitUntilNextStep } from '../reach.ts';
import { type Call, defineRoute, PATH_PARAMETERS, type Route } from '../route.ts';
import { signDecision } from '../signing.ts';

const given = decision.schema(failsafeApplicantsSchema).omit({ by: true }).meta({ id: 'decision' });

/** The answer leaves out the run's state: the status has it, and takes a separate scope. */
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

export const MOST_AT_ONCE = 100;

/** One decision about many inquiries, so no field may name a single inquiry. */
const manyBody = z
  .strictObject({
    decisionId: given.shape.decisionId,
    action: given.shape.action,
    providerSaid: given.shape.providerSaid,
    reason: given.shape.reason,
    outcome: z.enum(['noRecord', 'noReport']).exactOptional(),
    inquiries: z
      .array(
        z.strictObject({
          runKey: PATH_PARAMETERS.runKey,
          // The answer repeats it, so that it must be nothing else.
          customerTraceNumber: PATH_PARAMETERS.customerTraceNumber,
          attempt: given.shape.attempt,
        }),
      )
      .min(1)
      .max(MOST_AT_ONCE),
  })
  .meta({ id: 'sameDecision' });

const NOTHING_OF_ONE = 'It takes no reference, applicants or proof, since those belong to one inquiry alone.';

const earlierSchema = z
  .object({
    decisionId: z.string(),
    action: z.string(),
    by: z.string(),
    at: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'decidedBefore', description: 'The decision about this attempt that was recorded first.' });

const inquiryFields = { runKey: z.string(), customerTraceNumber: z.string(), attempt: z.int().min(1) };
const why = {
  code: z.string().exactOptional().meta({ description: 'The code of the problem document, if nothing was decided.' }),
  detail: z.string().exactOptional(),
  decided: earlierSchema.exactOptional(),
};

const decidedSchemaOfOne = z.object({
  ...inquiryFields,
  result: z.enum(['decided', 'duplicate', 'refused', 'failed']).meta({
    description: 'refused: nothing was decided. failed: the outcome is not known; send the same again.',
  }),
  recorded: z.boolean().exactOptional().meta({ description: 'Whether the ledger has the decision.' }),
  ...why,
});

const decidedSameSchema = z.object({ inquiries: z.array(decidedSchemaOfOne) }).meta({ id: 'decidedMany' });

const previewSchema = z
  .object({
    decidable: z.int().min(0).meta({ description: 'How many would be decided.' }),
    inquiries: z.array(
      z.object({
        ...inquiryFields,
        decidable: z.boolean(),
        reason: z.string().exactOptional().meta({ description: 'The reason of the hold.' }),
        heldBy: z.enum(['run', 'ledger']).exactOptional(),
        allowedActions: z.array(z.enum([...HOLD_ACTIONS, 'seen'])).exactOptional(),
        ...why,
      }),
    ),
  })
  .meta({ id: 'decisionPreview' });

export const decisionRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/runs/{runKey}/decisions',
    operationId: 'decideInquiry',
    summary: 'Decide about an inquiry of a run on hold',
    description:
      'The token says who decides. If the run is lost, the API writes the decision into the ledger, and the next start of the run finds it.',
    scope: 'holds:decide',
    body: given,
    answers: { 200: { description: 'It was taken.', schema: decidedSchema } },
    problems: {
      409:
        '`decided`: another decision about this attempt stands; `decided` says who took it, when and which. `notOnHold`, ' +
        '`unproven`, `ending` or `notNow`: `detail` says why it makes no sense as things stand. `differs`: `decisionId` was used ' +
        'with other content.',
    },
    async handle({ services, sending, params: { runKey = '' }, body, by }) {
      const [decided] = (await decideMany(services.journeys, [{ runKey }], async () => ({
        decision: await signDecision(services, { ...body, by: by() }),
        options: sending,
      }))) as [Decided<{ runKey: string }>];
      if (decided.error) throw toRefusal(decided) ?? decided.error;
      return { status: 200, body: decided.made };
    },
  },
  defineRoute({
    method: 'POST',
    path: '/v1/decisions/preview',
    operationId: 'previewDecisions',
    summary: 'Preview the same decision about many inquiries',
    description: `The preview decides nothing. ${NOTHING_OF_ONE}`,
    scope: 'holds:read',
    sendsMessages: true,
    body: manyBody,
    answer: previewSchema,
    done: 'A judgment for each inquiry, in the order given.',
    async run(call) {
      const { inquiries, ...decision } = call.body;
      call.note({ count: inquiries.length });
      const check = createCheck(call);
      const judged = await previewMany(call.services.journeys, inquiries, async (named) => {
        await check(named.runKey);
        return { ...decision, ...named };
      });
      const answers = judged.map(describeJudged);
      return { decidable: answers.filter(({ decidable }) => decidable).length, inquiries: answers };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/decisions',
    operationId: 'decideMany',
    summary: 'Decide the same about many inquiries on hold',
    description: `The API judges each inquiry by itself: a refused one does not stop the others. ${NOTHING_OF_ONE}`,
    scope: 'holds:decide',
    sendsMessages: true,
    body: manyBody,
    answer: decidedSameSchema,
    done: 'The result for each inquiry, in the order given.',
    async run(call) {
      const { services, body } = call;
      const { inquiries, ...decision } = body;
      call.note({ count: inquiries.length });
      const [by, check] = [call.by(), createCheck(call)];
      const decided = await decideMany(services.journeys, inquiries, async ({ runKey, ...inquiry }) => {
        const options = await check(runKey);
        return { decision: await signDecision(services, { ...decision, ...inquiry, by }), options };
      });
      return { inquiries: decided.map(describeDecided) };
    },
  }),
];

type Named = z.infer<typeof manyBody>['inquiries'][number];
type Asking = Pick<Call, 'services' | 'caller' | 'sending' | 'startedAt'>;

/** Describes the result of one decision of many. */
function describeDecided(decided: Decided<Named>): z.infer<typeof decidedSchemaOfOne> {
  const { runKey, customerTraceNumber, attempt } = decided;
  const named = { runKey, customerTraceNumber, attempt };
  if (decided.error) {
    const { status, ...why } = explain(decided);
    return { ...named, result: status >= 500 ? 'failed' : 'refused', ...why };
  }
  const { duplicate, recorded } = decided.made;
  return { ...named, result: duplicate ? 'duplicate' : 'decided', recorded };
}

/** Describes the judgment on one decision of many. */
function describeJudged(judged: Previewed<Named>): z.infer<typeof previewSchema>['inquiries'][number] {
  const { runKey, customerTraceNumber, attempt, hold } = judged;
  const about = hold && { reason: hold.reason, heldBy: hold.heldBy, allowedActions: hold.allowedActions };
  const named = { runKey, customerTraceNumber, attempt, decidable: !judged.error, ...about };
  if (!judged.error) return named;
  const { status: _, ...why } = explain(judged);
  return { ...named, ...why };
}

/** @throws what is no refusal: a bug */
function explain(failed: Failed): { status: number } & Pick<z.infer<typeof decidedSchemaOfOne>, keyof typeof why> {
  const { error, earlier } = failed;
  if (error instanceof OutOfTimeError) return { status: 503, code: 'outOfTime', detail: error.message };
  const refusal = toRefusal(failed);
  if (!refusal) throw error;
  const { status, reason: code, message: detail } = refusal;
  return { status, code, detail, ...omitUndefined({ decided: earlier }) };
}

/** Names the earlier decision to the second of two operators. */
function toRefusal({ error, earlier }: Failed): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (!earlier) return translateToRefusal(error);
  return createMessageRefusal(error as CallError, { decided: earlier });
}

class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** For all of them: callers and proxies give up after a minute or less. */
const LONGEST_MS = 25_000;

/** Checks that there is time left for one of many, and that the caller reaches its run: the same answer as for an unknown one. */
function createCheck(asking: Asking): (runKey: string) => Promise<Call['sending']> {
  const { sending } = asking;
  const endsAt = performance.now() + LONGEST_MS;
  return async (runKey) => {
    const leftMs = Math.floor(endsAt - performance.now());
    if (leftMs < 1) throw new OutOfTimeError('the others took too long: send it again');
    if (!(await isReached(asking, runKey))) {
      // The answer takes whole steps, as any refusal.
      await waitUntilNextStep(asking);
      throw refuseUnknownRun();
    }
    return { ...sending, timeoutMs: Math.min(sending.timeoutMs, leftMs) };
  };
}
