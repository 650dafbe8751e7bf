/** What was asked of the gateway, attempt by attempt, from the ledger. */
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { INSTANT } from '../../base/portable-patterns.ts';
import { AUDIT_OUTCOMES, type AuditedAttempt, type InquiriesQuery, InquiryTotals } from '../../ledger/inquiry-audit.ts';
import { applicantOutcomeFields } from '../../messages/journey/result-schemas.ts';
import { FAILURE_TYPES } from '../../model/failure-types.ts';
import { ownerIdProblem } from '../../model/owner-id.ts';
import { ENVIRONMENTS, PRODUCTS } from '../../model/products.ts';
import { reachesAll, readersReach } from '../caller.ts';
import { cursorsFor, describeCursor, fillPage } from '../cursors.ts';
import { limitIn, limitParameter } from '../page-limit.ts';
import { keepReached } from '../reach.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';

const instantText = z
  .string()
  .refine((value) => parseInstantMs(value) !== null, 'must be an RFC 3339 instant with offset')
  .meta({ format: 'date-time', pattern: INSTANT });

const filters = {
  from: instantText.exactOptional().describe('Only what was claimed then or later, RFC 3339.'),
  before: instantText.exactOptional().describe('Only what was claimed before then, RFC 3339.'),
  ownerId: z
    .string()
    .refine((id) => ownerIdProblem(id) === null, 'must be as lists have it: a journeyId, pull:<pullId>')
    .exactOptional()
    .describe('Only of this run.'),
  customerTraceNumber: z.string().max(40).exactOptional().describe('Only this inquiry.'),
  applicants: z
    .string()
    .regex(/^[1-9]\d?$/, 'must be a whole number from 1 to 99')
    .exactOptional()
    .describe('Only about so many applicants.'),
  endUser: z.string().max(200).exactOptional().describe('Only for this end user, by code or name.'),
  productCode: z.enum(PRODUCTS).exactOptional().describe('Only of this product.'),
  outcome: z.enum(AUDIT_OUTCOMES).exactOptional().describe('Only what came to this.'),
  reportReferenceNumber: z.string().max(100).exactOptional().describe('Only the inquiry that brought this report.'),
};
const after = describeCursor(z.string());
const totalsQuery = z.strictObject({ after, ...filters });
const listQuery = z.strictObject({ limit: limitParameter, after, ...filters });

const text = z.string();
const instant = z.string().meta({ format: 'date-time' });
const decision = z
  .object({
    ...{ decisionId: text, action: text, by: text, reason: text, providerSaid: text, decidedAt: instant },
    provenBy: text.exactOptional().meta({ description: 'The id of the key that signed it.' }),
  })
  .meta({ id: 'auditedDecision' });

const attemptSchema = z
  .object({
    claimedAt: instant,
    requestedAt: instant.exactOptional(),
    ownerId: text,
    workflowType: text,
    customerTraceNumber: text,
    attempt: z.int().min(1),
    sentTraceNumber: text
      .exactOptional()
      .meta({ description: 'The number under which it was sent, where that is not the inquiry’s own.' }),
    environment: z.enum(ENVIRONMENTS),
    profile: text,
    customerId: text,
    productCode: z.enum(PRODUCTS),
    shareId: text.exactOptional(),
    ordinal: z.int().min(0).meta({ description: 'Counts amendments and deliberate repeats; 0 for the first.' }),
    endUserCode: text.exactOptional(),
    endUser: text.exactOptional(),
    permissiblePurposeCode: text.exactOptional(),
    amends: text.exactOptional().meta({ description: 'The trace number that it amends.' }),
    applicants: z.int().min(1).exactOptional().meta({ description: 'How many it is about.' }),
    outcome: z.enum(AUDIT_OUTCOMES),
    posted: z
      .enum(['yes', 'no', 'unknown'])
      .meta({ description: 'Whether the consumer’s file has an inquiry, as far as is known.' }),
    returnCode: text.exactOptional(),
    returnReasonCode: text.exactOptional(),
    applicantOutcomes: z.array(z.object(applicantOutcomeFields)).exactOptional(),
    noRecordReference: text.exactOptional(),
    accesses: z.object({ count: z.int(), reissues: z.int(), lastAt: instant }).exactOptional(),
    httpStatus: z.int().exactOptional(),
    failureType: z.enum(FAILURE_TYPES).exactOptional(),
    permittedBy: decision.exactOptional(),
    decision: decision.exactOptional(),
    consents: z.array(z.object({ applicantId: text, consentId: text })),
    late: z.object({ at: instant, outcome: z.enum(AUDIT_OUTCOMES).exactOptional() }).exactOptional(),
    abandonedAt: instant.exactOptional(),
    disposedAt: instant.exactOptional(),
    legalHolds: z
      .array(
        z.object({
          journeyId: text.meta({ description: 'What it was set on: a run, one row of a review, or a review.' }),
          ...{ matter: text, setAt: instant, by: text, reason: text },
        }),
      )
      .meta({ description: 'Every hold in force that covers the inquiry. None of it can be disposed of until then.' }),
  })
  .meta({ id: 'inquiryAttempt' });

const pageSchema = z
  .object({
    inquiries: z.array(attemptSchema).meta({ description: 'Attempt by attempt, the oldest first.' }),
    next: text.exactOptional().meta({ description: 'For the query parameter `after`; absent on the last page.' }),
  })
  .meta({ id: 'inquiryList' });

const count = z.int().min(0);
const totalsSchema = z
  .object({
    totals: z
      .array(
        z.object({
          productCode: z.enum(PRODUCTS),
          endUserCode: text.exactOptional(),
          endUser: text.exactOptional(),
          sent: count.meta({ description: 'Attempts that were sent, at least in part: the sum of the other three.' }),
          ...{ posted: count, notPosted: count, unknown: count },
        }),
      )
      .meta({ description: 'By product, then end user.' }),
    next: text.exactOptional().meta({
      description: 'More is to be counted: for the query parameter `after`. The sums of all answers are the totals.',
    }),
  })
  .meta({ id: 'inquiryTotals' });

/** One answer counts at most so many attempts: some seconds of reading. */
const COUNTED_AT_ONCE = 20_000;

/** Where the runs must be asked whose they are. */
const ASKED_AT_ONCE = 1_000;

export const inquiryRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/inquiries',
    operationId: 'listInquiries',
    summary: 'What was asked of the gateway: for whom, why, by whose leave, and what came of it',
    description: 'Nothing personal.',
    scope: 'inquiries:read',
    query: listQuery,
    answers: { 200: { description: 'One page.', schema: pageSchema } },
    async handle(call): Promise<Reply<200>> {
      const { query, noted } = call;
      const { rows: inquiries, next } = await readPage(call, query, limitIn(query));
      noted({ count: inquiries.length });
      return { status: 200, body: { inquiries, ...(next === undefined ? {} : { next }) } };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/inquiries/totals',
    operationId: 'countInquiries',
    summary: 'How many attempts were sent and posted, by product and end user: for comparison with an invoice',
    description: `Only what the token reaches. One answer counts at most ${COUNTED_AT_ONCE} attempts; \`next\` leads to the rest.`,
    scope: 'inquiries:read',
    query: totalsQuery,
    answers: { 200: { description: 'The totals, or a part of them.', schema: totalsSchema } },
    async handle(call): Promise<Reply<200>> {
      const { query, noted } = call;
      const { rows, next } = await readPage(call, query, COUNTED_AT_ONCE);
      const totals = new InquiryTotals();
      for (const attempt of rows) totals.add(attempt);
      noted({ count: totals.list.length });
      return { status: 200, body: { totals: totals.list, ...(next === undefined ? {} : { next }) } };
    },
  }),
];

type TotalsQuery = z.infer<typeof totalsQuery>;

/** The ledger leaves out what names another profile or end user. Of the others the runs say whose they are. */
async function readPage(
  call: Pick<Call, 'caller' | 'services'>,
  query: TotalsQuery,
  limit: number,
): Promise<{ rows: AuditedAttempt[]; next?: string }> {
  const { caller, services } = call;
  const cursors = cursorsFor(call, 'inquiries', query);
  const place = query.after === undefined ? undefined : ((await cursors.open(query.after)) as Place);
  const ledger = await services.openLedger();
  const attempts = ledger.inquiriesBetween({
    ...toLedgerQuery(query, place),
    ...readersReach(caller),
  });
  const isAll = reachesAll(caller);
  const size = isAll ? limit : Math.min(limit, ASKED_AT_ONCE);
  const { rows, last } = await fillPage(batchesAfter(attempts, place, size), {
    limit,
    judge: isAll ? null : (batch) => keepReached(call, batch, ({ ownerId }) => ownerId),
  });
  if (last === undefined) return { rows };
  const { claimedAt, customerTraceNumber, attempt } = last;
  return { rows, next: await cursors.seal({ claimedAt, customerTraceNumber, attempt }) };
}

function toLedgerQuery({ from, before, applicants, ...query }: TotalsQuery, place: Place | undefined): InquiriesQuery {
  const { ownerId, customerTraceNumber, endUser, productCode, outcome, reportReferenceNumber } = query;
  return defined({
    from: place?.claimedAt ?? from,
    before,
    ...{ ownerId, customerTraceNumber, endUser, productCode, outcome, reportReferenceNumber },
    applicants: applicants === undefined ? undefined : Number(applicants),
  });
}

/** The last attempt of a page. */
type Place = Pick<AuditedAttempt, 'claimedAt' | 'customerTraceNumber' | 'attempt'>;

/** A batch is given out once it is full and one more attempt is seen. */
async function* batchesAfter(attempts: AsyncIterable<AuditedAttempt>, place: Place | undefined, size: number) {
  let rows: AuditedAttempt[] = [];
  for await (const attempt of attempts) {
    if (place && !isLater(attempt, place)) continue;
    if (rows.length === size) {
      yield { rows, hasMore: true };
      rows = [];
    }
    rows.push(attempt);
  }
  yield { rows, hasMore: false };
}

/** In the ledger's own order: by the instant of the claim, then by what names the attempt. */
function isLater(one: Place, { claimedAt, customerTraceNumber, attempt }: Place): boolean {
  if (one.claimedAt !== claimedAt) return one.claimedAt > claimedAt;
  if (one.customerTraceNumber !== customerTraceNumber) return one.customerTraceNumber > customerTraceNumber;
  return one.attempt > attempt;
}
