/** Reports, changes, references and refusals out of the ledger: masked, or whole where the token may see that. */
import { z } from 'zod';
import { omitUndefined } from '../../base/defined.ts';
import type { AccessRecord } from '../../http/audit.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Reader, readerProblems } from '../../ledger/reports/reports.ts';
import { consumerWithoutRecordSchema, journeyReferencesSchema } from '../../messages/journey/shapes.ts';
import { consumerResultSchema, unattributedConsumerSchema } from '../../messages/pull/shapes.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { PRODUCTS, type ProductCode } from '../../model/products.ts';
import { requireScope } from '../caller.ts';
import { requireFound } from '../reach.ts';
import { readChangesAnswer, readReferencesAnswer, readRefusalAnswer, readReportAnswer } from '../report-answers.ts';
import type { Call, Route } from '../route.ts';

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
    runKey: z.string(),
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
function toReader({ caller, by, query }: Pick<Call, 'caller' | 'by' | 'query'>): Reader {
  const { reveal: asked, purpose, endUser } = query as Words;
  const isRedacted = asked !== 'true';
  if (!isRedacted) requireScope(caller, 'reports:reveal');
  const said = omitUndefined({ purpose, endUser });
  const problems = readerProblems(said);
  if (problems.length > 0) throw new InvalidInputError(problems);
  return { by: by(), via: caller.isLocal ? 'ledger' : 'api', ...said, isRedacted };
}

const OTHER_END_USER = { 403: 'Also: it was pulled for another end user than `endUser`.' };
const LOGGED = 'The ledger records who read it, by the token, and when.';

interface Reading extends Pick<Route, 'operationId' | 'summary' | 'description'> {
  query: z.ZodObject;
  path: `/v1/${string}`;
  answer: z.ZodType;
  read(call: Call, ledger: Ledger, reader: Reader): Promise<{ body: object | string; noted: Partial<AccessRecord> }>;
}

function readingRoute({ answer, read, ...form }: Reading): Route {
  return {
    ...{ method: 'GET', scope: 'reports:read', description: LOGGED, ...form },
    answers: { 200: { description: 'The stored record.', schema: answer } },
    problems: { ...('endUser' in form.query.shape ? OTHER_END_USER : {}), 410: 'It was disposed of.' },
    async handle(call) {
      const reader = toReader(call);
      const { body, noted } = await read(call, await call.services.openLedger(), reader);
      call.note({ count: 1, revealed: !reader.isRedacted, ...noted });
      return { status: 200, body };
    },
  };
}

export const reportRoutes: readonly Route[] = [
  readingRoute({
    path: '/v1/runs/{runKey}/reports/{productCode}',
    operationId: 'getReport',
    summary: 'Read the newest report of one product for a journey, a pull or a row of a portfolio review',
    query: reportQuery,
    answer: reportSchema,
    async read({ params, query, note }, ledger, reader) {
      const wanted = { runKey: params.runKey as string, productCode: params.productCode as ProductCode };
      note({ productCode: wanted.productCode });
      const { customerTraceNumber: asked } = query as z.infer<typeof reportQuery>;
      const named = { ...wanted, ...omitUndefined({ customerTraceNumber: asked }) };
      const { text, customerTraceNumber } = await readReportAnswer(ledger, named, reader);
      if (reader.purpose !== undefined) note({ reissued: true });
      return { body: text, noted: { customerTraceNumber } };
    },
  }),
  readingRoute({
    path: '/v1/runs/{runKey}/references',
    operationId: 'getReferences',
    summary: 'Read the references of a run, for later shares',
    description: 'A share by itself has its own references once it is posted.',
    query: referencesQuery,
    answer: referencesSchema,
    async read({ params }, ledger, reader) {
      const { answer, count } = await readReferencesAnswer(ledger, params.runKey as string, reader);
      return { body: answer, noted: { count } };
    },
  }),
  readingRoute({
    path: '/v1/journeys/{journeyId}/changes',
    operationId: 'getJourneyChanges',
    summary: 'Read what changed between the newest preclose report and the report before it',
    query: changesQuery,
    answer: changesSchema,
    async read({ params }, ledger, reader) {
      const { text, customerTraceNumber } = await readChangesAnswer(ledger, params.journeyId as string, reader);
      return { body: text, noted: { customerTraceNumber } };
    },
  }),
  readingRoute({
    path: '/v1/inquiries/{customerTraceNumber}/attempts/{attempt}/refusal',
    operationId: 'getRefusal',
    summary: 'Read what the gateway wrote beside the refusal of an attempt',
    description: `A hold with \`refusalKept\` has one. A masked body keeps only its shape and its codes. ${LOGGED}`,
    query: refusalQuery,
    answer: refusalSchema,
    async read(call, ledger, reader) {
      const { customerTraceNumber = '', attempt } = call.params;
      const inquiry = await requireFound(call, await ledger.inquiry(customerTraceNumber));
      call.note({ journeyId: inquiry.runKey, customerTraceNumber });
      const { text } = await readRefusalAnswer(ledger, { customerTraceNumber, attempt: Number(attempt) }, reader);
      return { body: text, noted: {} };
    },
  }),
];
