/** Legal holds: they keep a run, or a whole review, from being disposed of. */
import { z } from 'zod';
import { text } from '../../fields/fields.ts';
import { parseWith } from '../../fields/problems.ts';
import { legalHoldFields } from '../../ledger/audit/audited.ts';
import { runKeyProblem } from '../../model/run-key.ts';
import { pageSchema, toPage } from '../lists/pages.ts';
import { unknownRun } from '../problem.ts';
import { keepReached } from '../reach.ts';
import { type Reply, type Route, route } from '../route.ts';

const holdSchema = z.object(legalHoldFields).meta({ id: 'legalHold' });
const others = z.array(holdSchema).meta({ description: 'The other holds in force that cover it or a part of it.' });

const orderSchema = z
  .strictObject({
    matter: z
      .string()
      .transform((matter) => matter.trim())
      .pipe(text(100))
      .meta({ description: 'The legal matter; each matter has its own hold.' }),
    reason: text(500).meta({ description: 'Why; kept in the ledger, so nothing personal about the consumer.' }),
  })
  .meta({ id: 'legalHoldOrder' });

const setSchema = z
  .object({
    ...legalHoldFields,
    isNew: z.boolean().meta({ description: '`false`: this matter had a hold on it already, and nothing was written.' }),
    others,
    destroyed: z
      .object({ inquiries: z.int(), histories: z.int() })
      .meta({ description: 'What a disposal has destroyed by now.' }),
  })
  .meta({ id: 'setLegalHold' });

const releasedSchema = z
  .object({
    released: holdSchema.nullable().meta({ description: '`null`: this matter had no hold on it.' }),
    others,
  })
  .meta({ id: 'releasedLegalHold' });

const listQuery = z.strictObject({
  runKey: z
    .string()
    .refine((id) => runKeyProblem(id) === null, 'must be as lists have it: a journeyId, pull:<pullId>')
    .exactOptional()
    .describe('Only those that cover this run or a part of it.'),
});

export const legalHoldRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/legal-holds',
    operationId: 'listLegalHolds',
    summary: 'List every legal hold in force',
    scope: 'inquiries:read',
    query: listQuery,
    answers: {
      200: { description: 'All of them.', schema: pageSchema('legalHoldList', holdSchema, 'The oldest first.') },
    },
    async handle(call): Promise<Reply<200>> {
      const all = await (await call.services.openLedger()).retention.legalHolds(call.query.runKey);
      return { status: 200, body: toPage(await keepReached(call, all, ({ runKey }) => runKey)) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/runs/{runKey}/legal-holds',
    operationId: 'setLegalHold',
    summary: 'Keep the data of a run from disposal until each of its legal holds is released',
    scope: 'inquiries:keep',
    about: ({ runKey }) => runKey,
    body: orderSchema,
    answers: { 200: { description: 'It is in force, now or since before.', schema: setSchema } },
    async handle({ services, params, body, by }): Promise<Reply<200>> {
      const order = { ...parseWith(orderSchema, body), by: by() };
      const hold = await (await services.openLedger()).retention.setLegalHold(params.runKey, order);
      if (!hold) throw unknownRun();
      return { status: 200, body: hold };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/runs/{runKey}/legal-holds/release',
    operationId: 'releaseLegalHold',
    summary: 'Release the legal hold of one matter',
    scope: 'inquiries:keep',
    about: ({ runKey }) => runKey,
    body: orderSchema,
    answers: { 200: { description: 'It is released, now or since before.', schema: releasedSchema } },
    async handle({ services, params, body, by }): Promise<Reply<200>> {
      const order = { ...parseWith(orderSchema, body), by: by() };
      const ledger = await services.openLedger();
      return { status: 200, body: await ledger.retention.releaseLegalHold(params.runKey, order) };
    },
  }),
];
