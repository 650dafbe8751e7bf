/** Work that needs an operator: lists it, counts it, and marks it as seen, and unmatched consents too. Decisions: decisions.ts. */
import { z } from 'zod';
import { getMessageFields } from '../../fields/fields.ts';
import { Refusal } from '../../http/refusal.ts';
import { instantText } from '../../ledger/audit/audited.ts';
import type { FlagReason, WorkQuery, WorkRow } from '../../ledger/holds/work.ts';
import { FAILURE_TYPES } from '../../model/failure-types.ts';
import { PRODUCTS } from '../../model/products.ts';
import { describeHold, holdSchema, readOpenWork } from '../../operator/holds.ts';
import { markRunSeen, markSeen } from '../../operator/ledger-decisions.ts';
import { ATTENTION_GUIDE } from '../../words/holds.ts';
import { afterParameter, createPageSchema, limitParameter, readPage } from '../lists/pages.ts';
import { requireFound, requireReach, toReadersReach } from '../reach.ts';
import { defineRoute, PATH_PARAMETERS, type Route, recordedReason } from '../route.ts';

const FLAGS = Object.keys(ATTENTION_GUIDE) as FlagReason[];
const REASONS = [...FAILURE_TYPES, ...FLAGS] as const;

/** The conditions of the listing, over HTTP and on the command line. */
export const holdFilters = z.strictObject({
  kind: z.enum(['held', 'flagged']).optional().describe('Only rows of this kind.'),
  reason: z.enum(REASONS).optional().describe('Only for this reason.'),
  since: instantText.optional().describe('Only rows from this instant on, RFC 3339.'),
  productCode: z.enum(PRODUCTS).optional().describe('Only of this product.'),
  profile: z.string().max(64).optional().describe('Only of this gateway profile.'),
  endUserCode: z.string().max(64).optional().describe('Only for this end user.'),
  runKey: PATH_PARAMETERS.runKey.optional().describe('Only of this run; for a review, also of its rows.'),
});
const listQuery = z.strictObject({
  limit: limitParameter,
  after: afterParameter,
  ...holdFilters.shape,
});

const holdList = createPageSchema('holdList', holdSchema, 'The oldest first.', {
  asOf: z.string().meta({ format: 'date-time' }),
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
    decisionId: getMessageFields().decisionId,
    reason: recordedReason,
  })
  .meta({ id: 'seen' });

const runSeenBody = seenBody
  .extend({ flag: z.enum(FLAGS).meta({ description: 'The flag to mark as seen: the `reason` of the row.' }) })
  .meta({ id: 'runSeen' });

const seenSchema = z.object({ accepted: z.literal(true), duplicate: z.boolean() }).meta({ id: 'seenAnswer' });

const TAKEN_OFF = 'The row is off the list: this call took it off, or an earlier one.';

const REACH_OF_UNKNOWN_ID =
  'The API cannot tell which token an unknown id will belong to, so such an id needs a token for all profiles and end users.';

const consentsSeenBody = z
  .strictObject({
    runKey: PATH_PARAMETERS.runKey.describe('The `runKey` of the consents, as in the list.'),
    reason: recordedReason,
  })
  .meta({ id: 'seenConsents' });

const consentsSeenSchema = z
  .object({
    accepted: z.literal(true),
    count: z
      .int()
      .min(0)
      .meta({ description: 'The number of consents that this call marked as seen; 0 if they were marked before.' }),
  })
  .meta({ id: 'seenConsentsAnswer' });

export const holdRoutes: readonly Route[] = [
  defineRoute({
    at: 'GET /v1/holds',
    operationId: 'listHolds',
    summary: 'List what needs a person, the oldest first',
    description: 'The list is from the ledger and needs no worker. `decideAt` is the address for the decision.',
    scope: 'holds:read',
    query: listQuery,
    answer: holdList,
    done: 'One page.',
    async run(call) {
      const { query, caller } = call;
      const { limit: _, after: __, ...conditions } = query;
      const asOf = new Date().toISOString();
      // This listing judges the owner of a run by the ledger alone.
      const filters = { ...conditions, ...toReadersReach(caller) };
      const ledger = await call.services.openLedger();
      const page = await readPage<WorkRow, NonNullable<WorkQuery['after']>>(call, {
        name: 'holds',
        query,
        async *read(after, limit) {
          for await (const { rows, hasMore } of readOpenWork(ledger, { ...filters, limit, after })) {
            const { since = '', workId = '' } = rows.at(-1) ?? {};
            yield { rows, next: hasMore ? { since, workId } : undefined };
          }
        },
      });
      return { asOf, ...page, data: page.data.map(describeHold) };
    },
  }),
  defineRoute({
    at: 'GET /v1/holds/counts',
    operationId: 'countHolds',
    summary: 'Count what needs a person, by kind and reason',
    scope: 'holds:read',
    query: holdFilters,
    answer: countsSchema,
    done: 'The counts, the largest first.',
    async run({ services, caller, query }) {
      const asOf = new Date().toISOString();
      const ledger = await services.openLedger();
      return { asOf, counts: await ledger.work.counts({ ...query, ...toReadersReach(caller) }) };
    },
  }),
  defineRoute({
    at: 'POST /v1/inquiries/{customerTraceNumber}/seen',
    operationId: 'markSeen',
    summary: 'Mark a flag about an inquiry as seen',
    description: 'No run waits for a flag. The ledger records who marked it as seen.',
    scope: 'holds:decide',
    body: seenBody,
    answer: seenSchema,
    done: TAKEN_OFF,
    problems: { 409: '`notOnHold`: nothing is flagged. `differs`: `decisionId` was used with other content.' },
    async run(call) {
      const { services, params, body, by, note } = call;
      const { customerTraceNumber } = params;
      const ledger = await services.openLedger();
      const inquiry = await requireFound(call, await ledger.inquiry(customerTraceNumber));
      note({ journeyId: inquiry.runKey, customerTraceNumber });
      const { duplicate } = await markSeen(services.journeys, { ...body, customerTraceNumber, by: by() });
      return { accepted: true, duplicate };
    },
  }),
  defineRoute({
    at: 'POST /v1/runs/{runKey}/seen',
    operationId: 'markRunSeen',
    summary: 'Mark a flag about a whole run as seen',
    description:
      'For rows without a trace number, such as `ssnMismatch` of a portfolio review. No run waits for such a flag. The ' +
      'ledger records who marked it as seen. The API takes nothing off the list that an open run still needs.',
    scope: 'holds:decide',
    body: runSeenBody,
    answer: seenSchema,
    done: TAKEN_OFF,
    problems: { 409: '`notListed`: no such row is on the list.' },
    async run({ services, params: { runKey }, body, by }) {
      if (await markRunSeen(services.journeys, { runKey, ...body, by: by() })) {
        return { accepted: true, duplicate: false };
      }
      const ledger = await services.openLedger();
      const isDuplicate = (await ledger.work.of(runKey)).some(
        ({ reason, closed }) => reason === body.flag && closed?.how === 'seen' && closed.by === body.decisionId,
      );
      if (!isDuplicate) throw new Refusal('notListed', 'no such row is on the list');
      return { accepted: true, duplicate: true };
    },
  }),
  defineRoute({
    at: 'POST /v1/unmatched-consents/seen',
    operationId: 'markConsentsSeen',
    summary: 'Mark the unmatched consents of one run as seen',
    description: `The ledger keeps these consents, and they count once it knows what they name. ${REACH_OF_UNKNOWN_ID}`,
    scope: 'holds:decide',
    body: consentsSeenBody,
    answer: consentsSeenSchema,
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
];
