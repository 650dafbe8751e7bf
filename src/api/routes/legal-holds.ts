/** Legal holds: they keep a run, or a whole review, from being disposed of. */
import { z } from 'zod';
import { text } from '../../fields/fields.ts';
import { Refusal } from '../../http/refusal.ts';
import { legalHoldFields } from '../../ledger/audit/audited.ts';
import { createPageSchema, toPage } from '../lists/pages.ts';
import { keepReached } from '../reach.ts';
import { defineRoute, PATH_PARAMETERS, type Route, recordedReason } from '../route.ts';

const holdSchema = z.object(legalHoldFields).meta({ id: 'legalHold' });
const others = z.array(holdSchema).meta({ description: 'The other holds in force that cover it or a part of it.' });

const orderSchema = z
  .strictObject({
    matter: z
      .string()
      .transform((matter) => matter.trim())
      .pipe(text(100))
      .meta({ description: 'The legal matter; each matter has its own hold.' }),
    reason: recordedReason,
  })
  .meta({ id: 'legalHoldOrder' });

const setSchema = z
  .object({
    ...legalHoldFields,
    isNew: z.boolean().meta({ description: '`false`: this matter had a hold on it already, and nothing was written.' }),
    others,
    destroyed: z
      .object({ inquiries: z.int(), histories: z.int() })
      .meta({ description: 'What a disposal has destroyed so far.' }),
  })
  .meta({ id: 'setLegalHold' });

const releasedSchema = z
  .object({
    released: holdSchema.nullable().meta({ description: '`null`: this matter had no hold on it.' }),
    others,
  })
  .meta({ id: 'releasedLegalHold' });

const listQuery = z.strictObject({
  runKey: PATH_PARAMETERS.runKey.optional().describe('Only those that cover this run or a part of it.'),
});

export const legalHoldRoutes: readonly Route[] = [
  defineRoute({
    at: 'GET /v1/legal-holds',
    operationId: 'listLegalHolds',
    summary: 'List every legal hold in force',
    scope: 'inquiries:read',
    query: listQuery,
    answer: createPageSchema('legalHoldList', holdSchema, 'The oldest first.'),
    async run(call) {
      const all = await (await call.services.openLedger()).retention.legalHolds(call.query.runKey);
      return toPage(await keepReached(call, all));
    },
  }),
  defineRoute({
    at: 'POST /v1/runs/{runKey}/legal-holds',
    operationId: 'setLegalHold',
    summary: 'Keep the data of a run from disposal until each of its legal holds is released',
    scope: 'inquiries:keep',
    body: orderSchema,
    answer: setSchema,
    done: 'The hold is in force: this call set it, or an earlier one.',
    async run({ services, params, body, by }) {
      const { retention } = await services.openLedger();
      const hold = await retention.setLegalHold(params.runKey, { ...body, by: by() });
      if (!hold) throw new Refusal('notFound');
      return hold;
    },
  }),
  defineRoute({
    at: 'POST /v1/runs/{runKey}/legal-holds/release',
    operationId: 'releaseLegalHold',
    summary: 'Release the legal hold of one matter',
    scope: 'inquiries:keep',
    body: orderSchema,
    answer: releasedSchema,
    done: 'The hold is released: this call released it, or an earlier one.',
    async run({ services, params, body, by }) {
      const { retention } = await services.openLedger();
      return retention.releaseLegalHold(params.runKey, { ...body, by: by() });
    },
  }),
];
