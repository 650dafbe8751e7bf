/** The input of `shareReport`: a report shared at any time (docs/shares.md). */
import { z } from 'zod';
import { isRecord } from '../../base/is-record.ts';
import { getMessageFields, requireSecondaryUser } from '../../fields/fields.ts';
import { REPORT_PRODUCTS } from '../../model/products.ts';
import type { Checked, MessageOf } from '../message.ts';

const fields = getMessageFields();

const storedFields = {
  productCode: z.enum(REPORT_PRODUCTS).describe('The product of the report.'),
  customerTraceNumber: fields.customerTraceNumber.describe('Which of several reports. Default: the newest.').optional(),
};

/** A report that is not in the ledger, by what its receiver had to store (interface 2.4). */
const givenReportSchema = z.strictObject({
  reference: fields.reference,
  /** The end user that the report was pulled for. */
  endUserCode: fields.endUserCode,
});

/** A report in the ledger: the newest of its owner and product, unless a trace number names another. */
const pulledReportSchema = z.strictObject({ pullId: fields.pullId, ...storedFields });
const journeyReportSchema = z.strictObject({ journeyId: fields.journeyId, ...storedFields });

function createForm<Report extends z.ZodType>(report: Report) {
  const schema = z.strictObject({
    shareId: fields.shareId,
    profile: fields.profile,
    ...fields.secondaryUserFields,
    permissiblePurposeCode: fields.permissiblePurposeCode,
    ...fields.consentWaits,
    report,
  });
  const complete = requireSecondaryUser(schema);
  return () => complete;
}

const anyForm = createForm(z.union([journeyReportSchema, pulledReportSchema, givenReportSchema]));

/** The forms by the member that names the report. */
const FORMS = {
  journeyId: createForm(journeyReportSchema),
  pullId: createForm(pulledReportSchema),
  reference: createForm(givenReportSchema),
};

export const shareReport = {
  published: {
    file: 'share-report-input',
    description:
      'One report, from the ledger or given in full, for one secondary user: another end user than the report’s own. A ' +
      'reference that the ledger knows agrees with it in end user, applicants and consumers.',
  },
  schema: anyForm,
  forms: [FORMS.journeyId, FORMS.pullId, FORMS.reference],
  chooseForm: ({ report }) => {
    const name = (['reference', 'pullId'] as const).find((member) => isRecord(report) && member in report);
    return FORMS[name ?? 'journeyId'];
  },
  // The worker checks what only the ledger knows of the report.
  rules: (input) => {
    const { report } = input;
    const ownUser = isRecord(report) ? report.endUserCode : undefined;
    const isOwn = typeof ownUser === 'string' && ownUser === input.endUserCode;
    return isOwn ? [{ path: '/endUserCode', rule: 'must not be the report’s own end user' }] : [];
  },
} satisfies Checked;

export type ShareReportInput = MessageOf<typeof shareReport>;
export type GivenReportInput = Extract<ShareReportInput['report'], { reference: unknown }>;
export type StoredReportInput = Exclude<ShareReportInput['report'], GivenReportInput>;
