/** Reports, changes, references and refusals out of the ledger: masked, or whole where the token may see that. */
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import { type Reader, readerProblems } from '../../ledger/reports/reports.ts';
import { consumerWithoutRecordSchema, journeyReferencesSchema } from '../../messages/journey/shapes.ts';
import { consumerResultSchema, unattributedConsumerSchema } from '../../messages/pull/shapes.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { PRODUCTS, type ProductCode } from '../../model/products.ts';
import { requireScope } from '../caller.ts';
import { requireFound } from '../reach.ts';
import { readChangesAnswer, readReferencesAnswer, readRefusalAnswer, readReportAnswer } from '../report-answers.ts';
import { type Call, type Reply, type Route, route } from '../route.ts';

const reveal = z
  .enum(['true', 'false'])
  .exactOptional()
  .describe('`true`: the whole answer with its personal data; needs `reports:reveal`. Default: masked.');

const readerFields = {
  reveal,
  endUser: z
    .string()
    .max(200)
    .exactOptional()
    .describe('The end user that reads it. The API refuses any other than the one it was pulled for.'),
};

const reportQuery = z.strictObject({
  ...readerFields,
  purpose: z
    .string()
    .max(200)
    .exactOptional()
    .describe('The purpose for which the report is served again to its end user, without a new inquiry.'),
  customerTraceNumber: z
    .string()
    .regex(/^[A-Z0-9]{1,30}$/, 'must be 1 to 30 capital letters and digits')
    .exactOptional()
    .describe('The trace number of the inquiry. Default: the newest.'),
});
const changesQuery = z.strictObject({ ...readerFields, purpose: reportQuery.shape.purpose });
const refusalQuery = z.strictObject(readerFields);
const referencesQuery = z.strictObject({ reveal });

const instant = z.string().meta({ format: 'date-time' });
const origin = { customerTraceNumber: z.string(), attempt: z.int().min(1), storedAt: instant };
const redacted = z.boolean().meta({ description: 'Whether personal data is masked.' });

const reportSchema = z
  .object({
    ...origin,
    productCode: z.enum(PRODUCTS),
    redacted,
    report: z.unknown().meta({ description: 'The report as the gateway sent it.' }),
  })
  .meta({ id: 'storedReport' });
const changesSchema = z.object({ ...origin, redacted, changes: z.unknown() }).meta({ id: 'storedChanges' });
const refusalSchema = z
  .object({
    ...origin,
    productCode: z.enum(PRODUCTS),
    httpStatus: z.int().exactOptional(),
    isWhole: z.boolean().meta({ description: 'false: the ledger has only the part that could be read.' }),
    redacted,
    body: z.unknown(),
  })
  .meta({ id: 'storedRefusal' });
const { reference } = journeyReferencesSchema.shape.references.element.shape;
const inquiryName = { productCode: z.enum(PRODUCTS), customerTraceNumber: z.string() };
const referencesSchema = z
  .object({
    journeyId: z.string().meta({ description: 'The key of the run, as in lists.' }),
    references: z.array(z.object({ ...inquiryName, reference })),
    shares: journeyReferencesSchema.shape.shares,
    consumers: z.array(consumerResultSchema).exactOptional(),
    unattributed: z.array(unattributedConsumerSchema).exactOptional(),
    said: z.array(z.object(inquiryName)).exactOptional(),
    withoutRecord: z.array(z.object({ ...inquiryName, ...consumerWithoutRecordSchema.shape })).exactOptional(),
    redacted,
  })
  .meta({ id: 'storedReferences' });

interface Words {
  reveal?: 'true' | 'false';
  purpose?: string;
  endUser?: string;
}

/** @throws Refusal 403; InvalidInputError */
function toReader({ caller, by }: Pick<Call, 'caller' | 'by'>, { reveal: asked, purpose, endUser }: Words): Reader {
  const isRedacted = asked !== 'true';
  if (!isRedacted) requireScope(caller, 'reports:reveal');
  const said = omitUndefined({ purpose, endUser });
  const problems = readerProblems(said);
  if (problems.length > 0) throw new InvalidInputError(problems);
  return { by: by(), via: caller.isLocal ? 'ledger' : 'api', ...said, isRedacted };
}

const LOGGED = 'The ledger records who read it, by the token, and when.';
const problems = {
  403: 'Also: it was pulled for another end user than `endUser`.',
  410: 'It was disposed of.',
} as const;

export const reportRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/runs/{runKey}/reports/{productCode}',
    operationId: 'getReport',
    summary: 'Read the newest report of one product for a journey, a pull or a row of a portfolio review',
    description: LOGGED,
    scope: 'reports:read',
    about: ({ runKey }) => runKey,
    query: reportQuery,
    answers: { 200: { description: 'The report.', schema: reportSchema } },
    problems,
    async handle(call): Promise<Reply<200>> {
      const { services, params, query, note } = call;
      const [runKey, productCode] = [params.runKey, params.productCode as ProductCode];
      note({ productCode });
      const reader = toReader(call, query);
      const wanted = { runKey, productCode, customerTraceNumber: query.customerTraceNumber };
      const { text, customerTraceNumber } = await readReportAnswer(await services.openLedger(), wanted, reader);
      note({ customerTraceNumber, count: 1, revealed: !reader.isRedacted });
      if (query.purpose !== undefined) note({ reissued: true });
      return { status: 200, body: text };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{runKey}/references',
    operationId: 'getReferences',
    summary: 'Read the references of a run, for later shares',
    description: 'A share by itself has its own references once it is posted.',
    scope: 'reports:read',
    about: ({ runKey }) => runKey,
    query: referencesQuery,
    answers: { 200: { description: 'The references.', schema: referencesSchema } },
    problems: { 410: problems[410] },
    async handle(call): Promise<Reply<200>> {
      const { services, params, query, note } = call;
      const reader = toReader(call, query);
      const { answer, count } = await readReferencesAnswer(await services.openLedger(), params.runKey, reader);
      note({ count, revealed: !reader.isRedacted });
      return { status: 200, body: answer };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/journeys/{journeyId}/changes',
    operationId: 'getJourneyChanges',
    summary: 'Read what changed between the newest preclose report and the report before it',
    description: LOGGED,
    scope: 'reports:read',
    about: ({ journeyId }) => journeyId,
    query: changesQuery,
    answers: { 200: { description: 'The changes.', schema: changesSchema } },
    problems,
    async handle(call): Promise<Reply<200>> {
      const { services, params, query, note } = call;
      const reader = toReader(call, query);
      const body = await readChangesAnswer(await services.openLedger(), params.journeyId, reader);
      note({ customerTraceNumber: body.customerTraceNumber, count: 1, revealed: !reader.isRedacted });
      return { status: 200, body };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/inquiries/{customerTraceNumber}/attempts/{attempt}/refusal',
    operationId: 'getRefusal',
    summary: 'Read what the gateway wrote beside the refusal of an attempt',
    description: `A hold with \`refusalKept\` has one. A masked body keeps only its shape and its codes. ${LOGGED}`,
    scope: 'reports:read',
    query: refusalQuery,
    answers: { 200: { description: 'The body.', schema: refusalSchema } },
    problems,
    async handle(call): Promise<Reply<200>> {
      const { services, params, query, note } = call;
      const { customerTraceNumber } = params;
      const ledger = await services.openLedger();
      const inquiry = await requireFound(call, await ledger.inquiry(customerTraceNumber));
      note({ journeyId: inquiry.runKey, customerTraceNumber });
      const reader = toReader(call, query);
      const of = { customerTraceNumber, attempt: Number(params.attempt) };
      const body = await readRefusalAnswer(ledger, of, reader);
      note({ count: 1, revealed: !reader.isRedacted });
      return { status: 200, body };
    },
  }),
];
