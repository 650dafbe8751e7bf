/** Consents that match nothing which the ledger knows: listed, and taken off the list. */
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { text } from '../../fields/fields.ts';
import { parseWith } from '../../fields/problems.ts';
import { UNMATCHED, type UnmatchedConsent, type UnmatchedQuery } from '../../ledger/kept-consents.ts';
import type { Ledger } from '../../ledger/port.ts';
import { ownerIdProblem } from '../../model/owner-id.ts';
import { reachesAll, readersReach } from '../caller.ts';
import { cursorsFor, describeCursor, fillPage } from '../cursors.ts';
import { limitIn, limitParameter } from '../page-limit.ts';
import { keepReached, requireReach } from '../reach.ts';
import { type Reply, type Route, route } from '../route.ts';

const NOBODYS = 'Of an id that nobody knows, nobody can say whose the run will be: that takes a token for everything.';

const unmatchedSchema = z
  .object({
    journeyId: z.string().meta({ description: 'As the consent names it: a journeyId, or share:<shareId>.' }),
    shareId: z.string(),
    applicantId: z.string(),
    consentId: z.string(),
    decision: z.enum(['granted', 'denied', 'revoked']),
    unmatched: z.enum(UNMATCHED).meta({ description: 'What is not known yet.' }),
    since: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'unmatchedConsent' });

const listQuery = z.strictObject({
  limit: limitParameter,
  after: describeCursor(z.string()),
});

const pageSchema = z
  .object({
    consents: z.array(unmatchedSchema).meta({ description: 'The oldest first.' }),
    next: z.string().exactOptional().meta({ description: 'For the query parameter `after`; absent on the last page.' }),
  })
  .meta({ id: 'unmatchedConsents' });

const seenBody = z
  .strictObject({
    ownerId: z
      .string()
      .refine((id) => ownerIdProblem(id) === null, 'must be a journeyId or share:<shareId>')
      .meta({ description: 'The `journeyId` of the consents, as the list has it.' }),
    reason: text(500),
  })
  .meta({ id: 'seenConsents' });

const seenSchema = z
  .object({
    accepted: z.literal(true),
    count: z.int().min(0).meta({ description: 'How many were taken off; 0 where they were taken off before.' }),
  })
  .meta({ id: 'seenConsentsAnswer' });

export const unmatchedConsentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/unmatched-consents',
    operationId: 'listUnmatchedConsents',
    summary: 'Consents that match no journey, share or applicant: the oldest first',
    description: `They are kept, and count once somebody knows them. ${NOBODYS}`,
    scope: 'holds:read',
    query: listQuery,
    answers: { 200: { description: 'One page.', schema: pageSchema } },
    async handle(call): Promise<Reply<200>> {
      const { services, query, noted } = call;
      const limit = limitIn(query);
      const cursors = cursorsFor(call, 'unmatchedConsents', query);
      const after = query.after === undefined ? undefined : ((await cursors.open(query.after)) as UnmatchedConsent);
      const { rows: consents, last } = await fillPage(
        batchesAfter(await services.openLedger(), { limit: limit + 1, ...readersReach(call.caller) }, after),
        {
          limit,
          judge: reachesAll(call.caller) ? null : (rows) => keepReached(call, rows, ({ journeyId }) => journeyId),
        },
      );
      noted({ count: consents.length });
      return { status: 200, body: { consents, ...(last ? { next: await cursors.seal(last) } : {}) } };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/unmatched-consents/seen',
    operationId: 'markConsentsSeen',
    summary: 'Take the unmatched consents of one run off the list',
    description: `They stay kept, and count once somebody knows them. ${NOBODYS}`,
    scope: 'holds:decide',
    body: seenBody,
    answers: { 200: { description: 'They were taken off, now or before.', schema: seenSchema } },
    problems: { 404: 'The token does not reach the run.' },
    async handle(call): Promise<Reply<200>> {
      const { ownerId, reason } = parseWith(seenBody, call.body);
      call.noted({ journeyId: ownerId });
      await requireReach(call, ownerId);
      const count = await call.services.journeys.markConsentsSeen({ ownerId, by: call.by(), reason });
      call.noted({ count });
      return { status: 200, body: { accepted: true, count } };
    },
  }),
];

async function* batchesAfter(ledger: Ledger, query: UnmatchedQuery, first: UnmatchedConsent | undefined) {
  for (let after = first, hasMore = true; hasMore; ) {
    const found = await ledger.kept.unmatched({ ...query, ...defined({ after }) });
    const rows = found.slice(0, query.limit - 1);
    hasMore = found.length === query.limit;
    yield { rows, hasMore };
    after = rows.at(-1);
  }
}
