/** Decisions about inquiries on hold: one, or the same about many, which may be previewed. */
import { z } from 'zod';
import type { CallError } from '../../client/connection/errors.ts';
import { failsafeApplicantsSchema } from '../../fields/applicant-schemas.ts';
import { Refusal } from '../../http/refusal.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { acceptedSchema } from '../../messages/journey/shapes.ts';
import type { MessageOf } from '../../messages/message.ts';
import { decision } from '../../messages/resolve-inquiry.ts';
import { decisionContent } from '../../model/decision-content.ts';
import { type Decided, decideMany, type Failed, type Previewed, previewMany } from '../../operator/decide.ts';
import { createMessageRefusal, translateToRefusal } from '../problem.ts';
import { isReached, waitUntilNextStep } from '../reach.ts';
import { type Call, defineRoute, PATH_PARAMETERS, type Route } from '../route.ts';
import type { ApiServices } from '../services.ts';

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
    outcome: z.enum(['noRecord', 'noReport']).optional(),
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
    preview: z
      .literal(true)
      .optional()
      .meta({ description: 'A preview: the API decides nothing and says what it would decide.' }),
  })
  .meta({ id: 'sameDecision' });

const decidedRow = z.object({
  runKey: z.string(),
  customerTraceNumber: z.string(),
  attempt: z.int().min(1),
  result: z.enum(['decided', 'duplicate', 'decidable', 'refused', 'failed']).meta({
    description:
      'decidable: in a preview, it would be decided. refused: nothing was decided. failed: the outcome is not known; send the same again.',
  }),
  recorded: z.boolean().optional().meta({ description: 'Whether the ledger has the decision.' }),
  heldBy: decidedSchema.shape.heldBy.optional(),
  code: z.string().optional().meta({ description: 'The code of the problem document, if nothing was decided.' }),
  detail: z.string().optional(),
  decided: z
    .object({
      decisionId: z.string(),
      action: z.string(),
      by: z.string(),
      at: z.string().meta({ format: 'date-time' }),
    })
    .optional()
    .meta({ id: 'decidedBefore', description: 'The decision about this attempt that was recorded first.' }),
});

const decidedManySchema = z.object({ inquiries: z.array(decidedRow) }).meta({ id: 'decidedMany' });

export const decisionRoutes: readonly Route[] = [
  defineRoute({
    at: 'POST /v1/runs/{runKey}/decisions',
    operationId: 'decideInquiry',
    summary: 'Decide about an inquiry of a run on hold',
    description:
      'The token says who decides. If the run is lost, the API writes the decision into the ledger, and the next start of the run finds it.',
    scope: 'holds:decide',
    body: given,
    answer: decidedSchema,
    done: 'The decision was accepted.',
    problems: {
      409:
        '`decided`: this attempt has another decision already; the member `decided` says whose, when and which. `notOnHold`, ' +
        '`unproven`, `ending` or `notNow`: `detail` says why the decision is not possible now. `differs`: `decisionId` was used ' +
        'with other content.',
    },
    async run({ services, sending, params: { runKey }, body, by }) {
      const [decided] = await decideMany(services.journeys, [{ runKey }], async () => ({
        decision: await signDecision(services, { ...body, by: by() }),
        options: sending,
      }));
      if (!decided || decided.error) throw decided && (toRefusal(decided) ?? decided.error);
      return decided.made;
    },
  }),
  defineRoute({
    at: 'POST /v1/decisions',
    operationId: 'decideMany',
    summary: 'Decide the same about many inquiries on hold, or preview it',
    description:
      'The API judges each inquiry by itself: a refused one does not stop the others. The decision takes no reference, applicants or proof, since those belong to one inquiry alone.',
    scope: 'holds:decide',
    sendsMessages: true,
    body: manyBody,
    answer: decidedManySchema,
    done: 'The result for each inquiry, in the order given.',
    async run(call) {
      const { journeys } = call.services;
      const { inquiries, preview, ...decision } = call.body;
      call.note({ count: inquiries.length });
      const [by, check] = [call.by(), createCheck(call)];
      const rows = preview
        ? await previewMany(journeys, inquiries, async (named) => {
            await check(named.runKey);
            return { ...decision, ...named };
          })
        : await decideMany(journeys, inquiries, async ({ runKey, ...inquiry }) => {
            const options = await check(runKey);
            return { decision: await signDecision(call.services, { ...decision, ...inquiry, by }), options };
          });
      return { inquiries: rows.map(describeDecided) };
    },
  }),
];

type Named = z.infer<typeof manyBody>['inquiries'][number];

/** Describes the result of one decision of many, or the judgment on it. @throws an error that is no refusal: a bug */
function describeDecided(row: Decided<Named> | Previewed<Named>): z.infer<typeof decidedRow> {
  const { runKey, customerTraceNumber, attempt } = row;
  const named = { runKey, customerTraceNumber, attempt };
  if (row.error) {
    const refusal = toRefusal(row);
    if (!refusal) throw row.error;
    const { status, reason: code, message: detail } = refusal;
    return {
      ...named,
      result: status >= 500 ? 'failed' : 'refused',
      code,
      detail,
      decided: row.earlier,
    };
  }
  if (!('made' in row)) return { ...named, result: 'decidable', heldBy: row.hold?.heldBy };
  return { ...named, result: row.made.duplicate ? 'duplicate' : 'decided', recorded: row.made.recorded };
}

/** Names the earlier decision to the second of two operators. */
function toRefusal({ error, earlier }: Failed): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (!earlier) return translateToRefusal(error);
  return createMessageRefusal(error as CallError, { decided: earlier });
}

/** For all of them: callers and proxies give up after a minute or less. */
const LONGEST_MS = 25_000;

/** Checks that there is time left for one of many, and that the caller reaches its run: the same answer as for an unknown one. */
function createCheck(call: Pick<Call, 'services' | 'caller' | 'sending'>) {
  const startedAt = performance.now();
  return async (runKey: string): Promise<Call['sending']> => {
    const leftMs = Math.floor(startedAt + LONGEST_MS - performance.now());
    if (leftMs < 1) throw new Refusal('outOfTime');
    if (!(await isReached(call, runKey))) {
      // The answer takes whole steps, as any refusal.
      await waitUntilNextStep({ startedAt });
      throw new Refusal('notFound');
    }
    return { ...call.sending, timeoutMs: Math.min(call.sending.timeoutMs, leftMs) };
  };
}

/** Signs the decision in the name that the token gives, unless its sender has signed it. @throws InvalidInputError */
async function signDecision(
  { environment, signer }: ApiServices,
  content: object,
): Promise<MessageOf<typeof decision>> {
  const checked = parseMessage(decision, content);
  if (checked.proof !== undefined || !signer) return checked;
  return { ...checked, proof: await signer.sign(decisionContent(environment, checked)) };
}
