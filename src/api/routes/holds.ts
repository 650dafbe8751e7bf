/** Work that needs an operator: lists it, counts it, and marks it as seen. Decisions: decisions.ts. */
import { z } from 'zod';
import { messageFields, text } from '../../fields/fields.ts';
import { parseWith } from '../../fields/problems.ts';
import { Refusal } from '../../http/refusal.ts';
import { instantText } from '../../ledger/audit/audited.ts';
import { type FlagReason, placeAfter, type WorkRow } from '../../ledger/holds/work.ts';
import { FAILURE_TYPES } from '../../model/failure-types.ts';
import { PRODUCTS } from '../../model/products.ts';
import { runKeyProblem } from '../../model/run-key.ts';
import { describeHold, holdSchema } from '../../operator/holds.ts';
import { markRunSeen, markSeen } from '../../operator/ledger-decisions.ts';
import { readOpenWork } from '../../operator/open-work.ts';
import { ATTENTION_GUIDE } from '../../words/holds.ts';
import { readersReach } from '../caller.ts';
import { afterParameter, limitParameter, pageSchema, readPage } from '../lists/pages.ts';
import { requireFound } from '../reach.ts';
import { type Reply, type Route, route } from '../route.ts';

const FLAGS = Object.keys(ATTENTION_GUIDE) as FlagReason[];
const REASONS = [...FAILURE_TYPES, ...FLAGS] as const;

/** The conditions of the listing, over HTTP and on the command line. */
export const holdFilters = z.strictObject({
  kind: z.enum(['held', 'flagged']).exactOptional().describe('Only rows of this kind.'),
  reason: z.enum(REASONS).exactOptional().describe('Only for this reason.'),
  since: instantText.exactOptional().describe('Only rows from this instant on, RFC 3339.'),
  productCode: z.enum(PRODUCTS).exactOptional().describe('Only of this product.'),
  profile: z.string().max(64).exactOptional().describe('Only of this gateway profile.'),
  endUserCode: z.string().max(64).exactOptional().describe('Only for this end user.'),
  runKey: z
    .string()
    .refine(
      (id) => runKeyProblem(id) === null,
      'must be a journeyId, pull:<pullId>, share:<shareId> or portfolio:<reviewId>',
    )
    .exactOptional()
    .describe('Only of this run; of a review also of its rows.'),
});
const listQuery = z.strictObject({
  limit: limitParameter,
  after: afterParameter,
  ...holdFilters.shape,
});

const holdList = pageSchema('holdList', holdSchema, 'The oldest first.', {
  asOf: z.string().meta({ format: 'date-time' }),
  total: z.int().min(0).meta({ description: 'The number of rows on all pages.' }),
});

const countsSchema = z
  .object({
    asOf: z.string().meta({ format: 'date-time' }),
    counts: z.array(
      z.object({
        kind: z.enum(['held', 'flagged']),
        reason: z.string(),
        count: z.int().min(1),
        oldest: z.string().meta({ format: 'date-time', description: 'The time since which the oldest row waits.' }),
      }),
    ),
  })
  .meta({ id: 'holdCounts' });

const seenBody = z
  .strictObject({
    decisionId: messageFields().decisionId,
    reason: text(500).meta({ description: 'Why; kept in the ledger, so nothing personal about the consumer.' }),
  })
  .meta({ id: 'seen' });

const runSeenBody = seenBody
  .extend({ flag: z.enum(FLAGS).meta({ description: 'The flag to mark as seen: the `reason` of the row.' }) })
  .meta({ id: 'runSeen' });

const seenSchema = z.object({ accepted: z.literal(true), duplicate: z.boolean() }).meta({ id: 'seenAnswer' });

export const holdRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/holds',
    operationId: 'listHolds',
    summary: 'List what needs a person, the oldest first',
    description: 'The list is from the ledger and needs no worker. `decideAt` is the address for the decision.',
    scope: 'holds:read',
    query: listQuery,
    answers: { 200: { description: 'One page.', schema: holdList } },
    async handle(call): Promise<Reply<200>> {
      const { query, caller } = call;
      const { limit: _, after: __, ...conditions } = query;
      const asOf = new Date().toISOString();
      // For whom a run is, here the ledger alone says.
      const filters = { ...conditions, ...readersReach(caller) };
      const ledger = await call.services.openLedger();
      const [page, counts] = await Promise.all([
        readPage<WorkRow, string>(call, {
          ...{ name: 'holds', query },
          read: (after, limit) => readOpenWork(ledger, { ...filters, limit, after }),
          readOwner: ({ runKey }) => runKey,
          toPlace: placeAfter,
        }),
        ledger.work.counts(filters),
      ]);
      const total = counts.reduce((sum, { count }) => sum + count, 0);
      return { status: 200, body: { asOf, total, ...page, data: page.data.map(describeHold) } };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/holds/counts',
    operationId: 'countHolds',
    summary: 'Count what needs a person, by kind and reason',
    scope: 'holds:read',
    query: holdFilters,
    answers: { 200: { description: 'The counts, the largest first.', schema: countsSchema } },
    async handle({ services, caller, query }): Promise<Reply<200>> {
      const asOf = new Date().toISOString();
      const ledger = await services.openLedger();
      const counts = await ledger.work.counts({ ...query, ...readersReach(caller) });
      return { status: 200, body: { asOf, counts } };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/inquiries/{customerTraceNumber}/seen',
    operationId: 'markSeen',
    summary: 'Mark a flag about an inquiry as seen',
    description: 'No run waits for a flag. The ledger records who marked it as seen.',
    scope: 'holds:decide',
    body: seenBody,
    answers: { 200: { description: 'It was taken off, now or before.', schema: seenSchema } },
    problems: { 409: '`notOnHold`: nothing is flagged. `differs`: `decisionId` was used with other content.' },
    async handle(call): Promise<Reply<200>> {
      const { services, params, body, by, note } = call;
      const { customerTraceNumber } = params;
      const { decisionId, reason } = parseWith(seenBody, body);
      const ledger = await services.openLedger();
      const inquiry = await requireFound(call, await ledger.inquiry(customerTraceNumber));
      note({ journeyId: inquiry.runKey, customerTraceNumber });
      const { duplicate } = await markSeen(services.journeys, { decisionId, customerTraceNumber, by: by(), reason });
      return { status: 200, body: { accepted: true, duplicate } };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/runs/{runKey}/seen',
    operationId: 'markRunSeen',
    summary: 'Mark a flag about a whole run as seen',
    description:
      'For rows without a trace number, such as `ssnMismatch` of a portfolio review. No run waits for such a flag. The ' +
      'ledger records who marked it as seen. The API takes nothing off the list that an open run still needs.',
    scope: 'holds:decide',
    body: runSeenBody,
    answers: { 200: { description: 'It was taken off, now or before.', schema: seenSchema } },
    problems: { 409: '`notListed`: nothing of this is on the list.' },
    async handle({ services, params, body, by }): Promise<Reply<200>> {
      const { runKey } = params;
      const seen = parseWith(runSeenBody, body);
      if (await markRunSeen(services.journeys, { runKey, ...seen, by: by() })) {
        return { status: 200, body: { accepted: true, duplicate: false } };
      }
      const ledger = await services.openLedger();
      const isDuplicate = (await ledger.work.of(runKey)).some(
        ({ reason, closed }) => reason === seen.flag && closed?.how === 'seen' && closed.by === seen.decisionId,
      );
      if (!isDuplicate) throw new Refusal('notListed', 'nothing of this is on the list');
      return { status: 200, body: { accepted: true, duplicate: true } };
    },
  }),
];
