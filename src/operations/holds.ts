/** Work that needs an operator: listed, counted, decided about one by one or many at once, and marked as seen. */
import { z } from 'zod';
import { pick } from '../base/defined.ts';
import { runInParallel } from '../base/in-parallel.ts';
import { hasCode } from '../client/connection/errors.ts';
import { failsafeApplicantsSchema } from '../fields/applicant-schemas.ts';
import { getMessageFields } from '../fields/fields.ts';
import { Refusal } from '../http/refusal.ts';
import { instantText } from '../ledger/audit/audited.ts';
import { addCounts, type FlagReason, type OperatorTask, type TaskQuery } from '../ledger/holds/holds.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { acceptedSchema, count, instant } from '../messages/journey/shapes.ts';
import { decision } from '../messages/resolve-inquiry.ts';
import { decisionContent } from '../model/decision-content.ts';
import { FAILURE_TYPES } from '../model/failure-types.ts';
import { PRODUCTS } from '../model/products.ts';
import { decide, findEarlier, markSeen, requireDecidable } from '../operator/decide.ts';
import { describeHold, holdSchema } from '../operator/holds.ts';
import { ATTENTION_GUIDE } from '../words/holds.ts';
import { type Call, defineOperation, type Operation, PATH_PARAMETERS, recordedReason } from './operation.ts';
import { afterParameter, createPageSchema, limitParameter, readPage } from './pages.ts';
import { createMessageRefusal, translateToRefusal } from './problem.ts';
import {
  isReached,
  keepReached,
  reachesAll,
  requireFound,
  requireReach,
  toReadersReach,
  waitUntilNextStep,
} from './reach.ts';
import type { ApiServices } from './services.ts';

const FLAGS = Object.keys(ATTENTION_GUIDE) as FlagReason[];
const TYPES = [...FAILURE_TYPES, ...FLAGS] as const;

/** The conditions of the listing, over HTTP and on the command line. */
export const holdFilters = z.strictObject({
  kind: z.enum(['held', 'flagged']).optional().describe('Only rows of this kind.'),
  failureType: z.enum(TYPES).optional().describe('Only of this failure type or flag.'),
  since: instantText.optional().describe('Only rows from this instant on, RFC 3339.'),
  productCode: z.enum(PRODUCTS).optional().describe('Only of this product.'),
  profile: z.string().max(64).optional().describe('Only of this gateway profile.'),
  endUserCode: z.string().max(64).optional().describe('Only for this end user.'),
  runKey: PATH_PARAMETERS.runKey.optional().describe('Only of this run; for a review, also of its rows.'),
});

const seenBody = z
  .strictObject({ decisionId: getMessageFields().decisionId, reason: recordedReason })
  .meta({ id: 'seen' });

const SEEN = {
  scope: 'holds:decide',
  answer: z.object({ accepted: z.literal(true), duplicate: z.boolean() }).meta({ id: 'seenAnswer' }),
  done: 'The row is off the list: this call took it off, or an earlier one.',
  problems: { 409: '`notListed`: no such row is on the list. `differs`: `decisionId` was used with other content.' },
} as const;

const given = decision.schema(failsafeApplicantsSchema).omit({ by: true }).meta({ id: 'decision' });

/** The answer leaves out the run's state: the status has it, and takes a separate scope. */
const decidedSchema = z
  .object({
    ...acceptedSchema.pick({ accepted: true, duplicate: true }).shape,
    recorded: z.boolean().describe('Whether the ledger has the decision.'),
    heldBy: z
      .enum(['run', 'ledger'])
      .describe(
        'run: the run continues with the decision. ledger: there is no run; its next start continues with the decision.',
      ),
  })
  .meta({ id: 'decided' });

export type Decided = z.infer<typeof decidedSchema>;

export const MOST_AT_ONCE = 100;

/** One decision about many inquiries, so no field may name a single inquiry. */
const manyBody = z
  .strictObject({
    ...given.pick({ decisionId: true, action: true, providerSaid: true, reason: true }).shape,
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
    preview: z.literal(true).optional().describe('A preview: the API decides nothing and says what it would decide.'),
  })
  .meta({ id: 'sameDecision' });

const decidedRow = z.object({
  runKey: z.string(),
  customerTraceNumber: z.string(),
  attempt: z.int().min(1),
  result: z
    .enum(['decided', 'duplicate', 'decidable', 'refused', 'failed'])
    .describe(
      'decidable: in a preview, it would be decided. refused: nothing was decided. failed: the outcome is not known; send the same again.',
    ),
  recorded: z.boolean().optional().describe('Whether the ledger has the decision.'),
  heldBy: decidedSchema.shape.heldBy.optional(),
  code: z.string().optional().describe('The code of the problem document, if nothing was decided.'),
  detail: z.string().optional(),
  decided: z
    .object({ decisionId: z.string(), action: z.string(), by: z.string(), at: instant })
    .optional()
    .meta({ id: 'decidedBefore', description: 'The decision about this attempt that was recorded first.' }),
});

export type DecidedRow = z.infer<typeof decidedRow>;

export const holdOperations: readonly Operation[] = [
  defineOperation({
    at: 'GET /v1/holds',
    operationId: 'listHolds',
    summary: 'List what needs a person, the oldest first',
    description: 'The list is from the ledger and needs no worker. `decideAt` is the address for the decision.',
    scope: 'holds:read',
    query: z.strictObject({ limit: limitParameter, after: afterParameter, ...holdFilters.shape }),
    answer: createPageSchema('holdList', holdSchema, 'The oldest first.', { asOf: instant }),
    done: 'One page.',
    async run(call) {
      const asOf = new Date().toISOString();
      // This listing judges the owner of a run by the ledger alone.
      const filters = toTaskFilters(call);
      const ledger = await call.services.openLedger();
      const page = await readPage<OperatorTask, NonNullable<TaskQuery['after']>>(call, {
        name: 'holds',
        query: call.query,
        async *read(first, limit) {
          let after = first;
          do {
            const { rows, hasMore } = await ledger.tasks.open({ ...filters, limit, after });
            after = hasMore ? pick(rows.at(-1) as OperatorTask, ['since', 'workId']) : undefined;
            yield { rows, next: after };
          } while (after);
        },
      });
      return { asOf, ...page, data: page.data.map(describeHold) };
    },
  }),
  defineOperation({
    at: 'GET /v1/holds/counts',
    operationId: 'countHolds',
    summary: 'Count what needs a person, by kind and failure type',
    scope: 'holds:read',
    query: holdFilters,
    answer: z
      .object({
        asOf: instant,
        counts: z.array(
          z.object({
            kind: z.enum(['held', 'flagged']),
            failureType: z.string(),
            count: z.int().min(1),
            oldest: instant.describe('The time since which the oldest row waits.'),
          }),
        ),
      })
      .meta({ id: 'holdCounts' }),
    done: 'The counts, the largest first.',
    async run(call) {
      const { services, caller } = call;
      const asOf = new Date().toISOString();
      const { tasks } = await services.openLedger();
      const filters = toTaskFilters(call);
      // The ledger cannot tell whether the token reaches all end users of a run. The list leaves such rows out.
      const counts = reachesAll(caller)
        ? await tasks.counts(filters)
        : addCounts(await keepReached(call, await tasks.countsOfRuns(filters)));
      return { asOf, counts: counts.map(({ reason: failureType, ...rest }) => ({ failureType, ...rest })) };
    },
  }),
  defineOperation({
    at: 'POST /v1/inquiries/{customerTraceNumber}/seen',
    operationId: 'markSeen',
    summary: 'Mark a flag about an inquiry as seen',
    description: 'No run waits for a flag. The ledger records who marked it as seen.',
    ...SEEN,
    body: seenBody,
    async run(call) {
      const { services, params, body, by, note } = call;
      const { customerTraceNumber } = params;
      const ledger = await services.openLedger();
      const inquiry = await requireFound(call, await ledger.inquiry(customerTraceNumber));
      note({ journeyId: inquiry.runKey, customerTraceNumber });
      return { accepted: true, ...(await markSeen(services.journeys, { ...body, customerTraceNumber, by: by() })) };
    },
  }),
  defineOperation({
    at: 'POST /v1/runs/{runKey}/seen',
    operationId: 'markRunSeen',
    summary: 'Mark a flag about a whole run as seen',
    description:
      'For rows without a trace number, such as `ssnMismatch` of a portfolio review. No run waits for such a flag. The ' +
      'ledger records who marked it as seen. The API takes nothing off the list that an open run still needs.',
    ...SEEN,
    body: seenBody
      .extend({ flag: z.enum(FLAGS).describe('The flag to mark as seen: the `failureType` of the row.') })
      .meta({ id: 'runSeen' }),
    async run({ services, params: { runKey }, body, by }) {
      return { accepted: true, ...(await markSeen(services.journeys, { ...body, runKey, by: by() })) };
    },
  }),
  defineOperation({
    at: 'POST /v1/unmatched-consents/seen',
    operationId: 'markConsentsSeen',
    summary: 'Mark the unmatched consents of one run as seen',
    description:
      'The ledger keeps these consents, and they count once it knows what they name. The API cannot tell which token an unknown id will belong to, so such an id needs a token for all profiles and end users.',
    scope: 'holds:decide',
    body: z
      .strictObject({
        runKey: PATH_PARAMETERS.runKey.describe('The `runKey` of the consents, as in the list.'),
        reason: recordedReason,
      })
      .meta({ id: 'seenConsents' }),
    answer: z
      .object({
        accepted: z.literal(true),
        count: count.describe('The number of consents that this call marked as seen; 0 if they were marked before.'),
      })
      .meta({ id: 'seenConsentsAnswer' }),
    done: 'They are off the list: this call took them off, or an earlier one.',
    problems: { 404: 'The token does not reach the run.' },
    async run(call) {
      const { runKey, reason } = call.body;
      call.note({ journeyId: runKey });
      await requireReach(call, runKey);
      const ledger = await call.services.openLedger();
      const count = await ledger.consents.markSeen(ledger.identity.ledgerId, { runKey, by: call.by(), reason });
      call.note({ count });
      return { accepted: true, count };
    },
  }),
  defineOperation({
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
    run: ({ services, sending, params: { runKey }, body, by }) =>
      decideAndSign(services, runKey, { ...body, by: by() }, sending),
  }),
  defineOperation({
    at: 'POST /v1/decisions',
    operationId: 'decideMany',
    summary: 'Decide the same about many inquiries on hold, or preview it',
    description:
      'The API judges each inquiry by itself: a refused one does not stop the others. The decision takes no reference, applicants or proof, since those belong to one inquiry alone.',
    scope: 'holds:decide',
    sendsMessages: true,
    body: manyBody,
    answer: z.object({ inquiries: z.array(decidedRow) }).meta({ id: 'decidedMany' }),
    done: 'The result for each inquiry, in the order given.',
    async run(call) {
      const { services, note } = call;
      const { inquiries, preview, ...decision } = call.body;
      note({ count: inquiries.length });
      const by = call.by();
      const startedAt = performance.now();
      const decideOne = async (named: Named): Promise<Outcome> => {
        const { runKey, ...inquiry } = named;
        const leftMs = Math.floor(startedAt + LONGEST_MS - performance.now());
        if (leftMs < 1) throw new Refusal('outOfTime');
        if (!(await isReached(call, runKey))) {
          // An unknown run has the same answer, which takes whole steps, as any refusal.
          await waitUntilNextStep({ startedAt });
          throw new Refusal('notFound');
        }
        const options = { ...call.sending, timeoutMs: Math.min(call.sending.timeoutMs, leftMs) };
        const content = { ...decision, ...inquiry };
        if (preview) {
          const { heldBy } = await requireDecidable(services.journeys, runKey, content).catch((error) =>
            throwRefusal(error, services.journeys, runKey, inquiry, 1),
          );
          return { result: 'decidable', heldBy };
        }
        const { duplicate, recorded } = await decideAndSign(services, runKey, { ...content, by }, options);
        return { result: duplicate ? 'duplicate' : 'decided', recorded };
      };
      // Every one is decided, also where a bug ends another.
      const settled = await runInParallel(inquiries, AT_ONCE, (named) =>
        decideOne(named).catch((error: unknown) => ({ error })),
      );
      const outcomes = settled.map((outcome) => ('error' in outcome ? describeRefusal(outcome.error) : outcome));
      return { inquiries: inquiries.map((named, index) => ({ ...named, ...(outcomes[index] as Outcome) })) };
    },
  }),
];

/** The conditions as the ledger has them, for what the caller reaches. */
function toTaskFilters({ query, caller }: Pick<Call<string, z.infer<typeof holdFilters>>, 'query' | 'caller'>) {
  const { failureType: reason, ...conditions } = query;
  return { ...conditions, reason, ...toReadersReach(caller) };
}

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;

/** For all of them: callers and proxies give up after a minute or less. */
const LONGEST_MS = 25_000;

type Named = z.infer<typeof manyBody>['inquiries'][number];
type Outcome = Omit<DecidedRow, keyof Named>;

/** @throws an error that is no refusal: a bug */
function describeRefusal(error: unknown): Outcome {
  const refusal = translateToRefusal(error);
  if (!refusal) throw error;
  const { status, reason: code, message: detail, details } = refusal;
  return { result: status >= 500 ? 'failed' : 'refused', code, detail, ...details };
}

/**
 * Makes the decision, in the name that the token gives. The API signs it unless its sender has.
 *
 * @throws InvalidInputError, CallError, Refusal 409
 */
async function decideAndSign(services: ApiServices, runKey: string, content: object, options: Call['sending']) {
  const { journeys, environment, signer } = services;
  const message = parseMessage(decision, content);
  if (signer) message.proof ??= await signer.sign(decisionContent(environment, message));
  return decide(journeys, runKey, message, options).catch((error) => throwRefusal(error, journeys, runKey, message));
}

/** Names the earlier decision to the second of two operators. */
async function throwRefusal(error: unknown, ...about: Parameters<typeof findEarlier>): Promise<never> {
  if (!hasCode(error, 'updateRefused', 'decisionRefused')) throw error;
  const decided = await findEarlier(...about);
  throw decided ? createMessageRefusal(error, { decided }) : error;
}
