/** Reports, changes, references and refusals out of the ledger: masked, or whole where the token may see that. */
import { z } from 'zod';
import { parseJson } from '../base/json-safety.ts';
import { text } from '../fields/fields.ts';
import type { AccessRecord } from '../http/audit.ts';
import { type ProblemCode, Refusal } from '../http/refusal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReportOrigin } from '../ledger/records.ts';
import { listReferences, type Reader } from '../ledger/reports/reports.ts';
import { consumerWithoutRecordSchema, instant, journeyReferencesSchema } from '../messages/journey/shapes.ts';
import { consumerResultSchema, unattributedConsumerSchema } from '../messages/pull/shapes.ts';
import { PRODUCTS, type ProductCode } from '../model/products.ts';
import { redact, redactShape } from '../protection/redaction/redaction.ts';
import { requireScope } from './caller.ts';
import { type Call, defineOperation, type Operation } from './operation.ts';
import { requireFound } from './reach.ts';

const reveal = z
  .enum(['true', 'false'])
  .optional()
  .describe('`true`: the whole answer with its personal data; needs `reports:reveal`. Default: masked.');

const endUser = text(200)
  .optional()
  .describe('The end user that reads it. The API refuses any other than the one it was pulled for.');

const purpose = text(200)
  .optional()
  .describe('The purpose for which the report is served again to its end user, without a new inquiry.');

const reportQuery = z.strictObject({
  reveal,
  endUser,
  purpose,
  customerTraceNumber: z
    .string()
    .regex(/^[A-Z0-9]{1,30}$/, 'must be 1 to 30 capital letters and digits')
    .optional()
    .describe('The trace number of the inquiry. Default: the newest.'),
});

const origin = { customerTraceNumber: z.string(), attempt: z.int().min(1), storedAt: instant };
const redacted = z.boolean().describe('Whether personal data is masked.');
const { reference } = journeyReferencesSchema.shape.references.element.shape;
const inquiryName = { productCode: z.enum(PRODUCTS), customerTraceNumber: z.string() };

/** The body is an object, or the text of its JSON; `noted` is for the record of this access. */
type StoredAnswer = { body: object | string; noted: Partial<AccessRecord> };

/**
 * Writes the answer: facts about a stored body, and the body. A whole body is passed on unchanged: parsing
 * would round its longer numbers.
 *
 * @throws Refusal 404 where the ledger has none
 */
function writeAnswer(
  stored: (ReportOrigin & { body: string }) | undefined | null,
  [missing, member, mask = redact]: [ProblemCode, 'report' | 'changes' | 'body', ((value: unknown) => unknown)?],
  { isRedacted: redacted = false }: Reader,
): StoredAnswer {
  if (!stored) throw new Refusal(missing);
  const { body, ...about } = stored;
  const parsed = parseJson(body);
  // Only a refusal may be plain text. The masks of reports and changes go by the names of members, and a text has none.
  if (!parsed && member !== 'body') throw new Error('a stored body is not JSON');
  const [content] = parsed ?? [body];
  const json = redacted ? JSON.stringify(mask(content)) : parsed ? body : JSON.stringify(body);
  return {
    body: `${JSON.stringify({ ...about, redacted }).slice(0, -1)},"${member}":${json}}`,
    noted: { customerTraceNumber: about.customerTraceNumber },
  };
}

/** @throws Refusal 403 */
function toReader({ caller, by, query }: Pick<Call, 'caller' | 'by' | 'query'>): Reader {
  const { reveal: asked, purpose, endUser } = query as Partial<z.infer<typeof reportQuery>>;
  const isRedacted = asked !== 'true';
  if (!isRedacted) requireScope(caller, 'reports:reveal');
  return { by: by(), via: caller.isLocal ? 'ledger' : 'api', purpose, endUser, isRedacted };
}

const OTHER_END_USER: Readonly<Record<number, string>> = {
  403: 'Also: it was pulled for another end user than `endUser`.',
};
const LOGGED = 'The ledger records who read it, by the token, and when.';

interface Reading extends Pick<Operation, 'operationId' | 'summary' | 'description'> {
  query: z.ZodObject;
  at: `GET /v1/${string}`;
  answer: z.ZodType;
  read(call: Call, ledger: Ledger, reader: Reader): Promise<StoredAnswer>;
}

function createReading({ read, ...form }: Reading): Operation {
  return defineOperation({
    scope: 'reports:read',
    description: LOGGED,
    done: 'The stored record.',
    ...form,
    problems: { ...('endUser' in form.query.shape ? OTHER_END_USER : {}), 410: 'It was disposed of.' },
    async run(call) {
      const reader = toReader(call as Call);
      const { body, noted } = await read(call as Call, await call.services.openLedger(), reader);
      call.note({ count: 1, revealed: !reader.isRedacted, ...noted });
      return body;
    },
  });
}

export const reportOperations: readonly Operation[] = [
  createReading({
    at: 'GET /v1/runs/{runKey}/reports/{productCode}',
    operationId: 'getReport',
    summary: 'Read the newest report of one product for a journey, a pull or a row of a portfolio review',
    query: reportQuery,
    answer: z
      .object({
        ...origin,
        productCode: z.enum(PRODUCTS),
        redacted,
        report: z.unknown().describe('The report as the gateway sent it.'),
      })
      .meta({ id: 'storedReport' }),
    async read({ params, query, note }, ledger, reader) {
      const { runKey = '', productCode } = params as { runKey?: string; productCode: ProductCode };
      note({ productCode });
      const { customerTraceNumber } = query as z.infer<typeof reportQuery>;
      const stored = await ledger.readReport({ runKey, productCode, customerTraceNumber }, reader);
      const answer = writeAnswer(stored, ['noReport', 'report'], reader);
      if (reader.purpose !== undefined) note({ reissued: true });
      return answer;
    },
  }),
  createReading({
    at: 'GET /v1/runs/{runKey}/references',
    operationId: 'getReferences',
    summary: 'Read the references of a run, for later shares',
    description: 'A share by itself has its own references once it is posted.',
    query: z.strictObject({ reveal }),
    answer: z
      .object({
        runKey: z.string(),
        references: z.array(z.object({ ...inquiryName, reference })),
        shares: journeyReferencesSchema.shape.shares,
        consumers: z.array(consumerResultSchema).optional(),
        unattributed: z.array(unattributedConsumerSchema).optional(),
        withoutRecord: z.array(z.object({ ...inquiryName, ...consumerWithoutRecordSchema.shape })).optional(),
        redacted,
      })
      .meta({ id: 'storedReferences' }),
    async read({ params: { runKey = '' } }, ledger, { isRedacted: redacted }) {
      const inquiries = await ledger.inquiriesOf(runKey);
      if (inquiries.length === 0) throw new Refusal('noJourney');
      if (inquiries.every(({ disposedAt }) => disposedAt !== undefined)) {
        throw new Refusal('disposed', 'the journey was disposed of');
      }
      const found = listReferences(runKey, inquiries);
      const { references, shares, consumers = [], unattributed = [], withoutRecord = [] } = found;
      const count = [references, shares, consumers, unattributed, withoutRecord].flat().length;
      return { body: { ...(redacted ? (redact(found) as object) : found), redacted }, noted: { count } };
    },
  }),
  createReading({
    at: 'GET /v1/journeys/{journeyId}/changes',
    operationId: 'getJourneyChanges',
    summary: 'Read what changed between the newest preclose report and the report before it',
    query: z.strictObject({ reveal, endUser, purpose }),
    answer: z.object({ ...origin, redacted, changes: z.unknown() }).meta({ id: 'storedChanges' }),
    read: async ({ params: { journeyId = '' } }, ledger, reader) =>
      writeAnswer(await ledger.readChanges(journeyId, reader), ['noChanges', 'changes'], reader),
  }),
  createReading({
    at: 'GET /v1/inquiries/{customerTraceNumber}/attempts/{attempt}/refusal',
    operationId: 'getRefusal',
    summary: 'Read what the gateway wrote beside the refusal of an attempt',
    description: `A hold with \`refusalKept\` has such a body. A masked body keeps only its shape and its codes. ${LOGGED}`,
    query: z.strictObject({ reveal, endUser }),
    answer: z
      .object({
        ...origin,
        productCode: z.enum(PRODUCTS),
        httpStatus: z.int().optional(),
        isWhole: z.boolean().describe('false: the ledger has only the part that could be read.'),
        redacted,
        body: z.unknown(),
      })
      .meta({ id: 'storedRefusal' }),
    async read(call, ledger, reader) {
      const { customerTraceNumber = '', attempt } = call.params;
      const inquiry = await requireFound(call, await ledger.inquiry(customerTraceNumber));
      call.note({ journeyId: inquiry.runKey, customerTraceNumber });
      const stored = await ledger.readRefusal({ customerTraceNumber, attempt: Number(attempt) }, reader);
      // The gateway's interface shows no body of a refusal (7.5), so a masked one keeps only its shape and its codes.
      return writeAnswer(stored, ['noRefusal', 'body', redactShape], reader);
    },
  }),
];
