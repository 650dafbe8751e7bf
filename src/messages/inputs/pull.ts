/** The inputs of single pulls (docs/pulls.md): one report product, or FAILSAFE. */
import { z } from 'zod';
import { getMessageFields } from '../../fields/fields.ts';
import type { Applicant, FailsafeApplicant } from '../../model/applicant.ts';
import { REPORT_PRODUCTS } from '../../model/products.ts';
import type { Checked, MessageOf } from '../message.ts';

const fields = getMessageFields();

export const creditReport = {
  published: { file: 'credit-report-input', description: 'One report of one product.' },
  applicants: 'report',
  schema: (applicants: z.ZodType<Applicant[]>) =>
    z.strictObject({
      pullId: fields.pullId,
      profile: fields.profile,
      productCode: z.enum(REPORT_PRODUCTS),
      endUserCode: fields.endUserCode,
      permissiblePurposeCode: fields.permissiblePurposeCode,
      applicants,
    }),
} satisfies Checked;

export const failsafeCheck = {
  published: {
    file: 'failsafe-check-input',
    description: 'The ledger keeps end user and purpose; the request to the gateway has neither.',
  },
  applicants: 'failsafe',
  schema: (applicants: z.ZodType<FailsafeApplicant[]>) =>
    z.strictObject({
      pullId: fields.pullId,
      profile: fields.profile,
      productCode: z.literal('FAILSAFE').describe('The product.'),
      endUserCode: fields.endUserCode.optional(),
      permissiblePurposeCode: fields.permissiblePurposeCode.optional(),
      applicants,
    }),
} satisfies Checked;

export type CreditReportInput = MessageOf<typeof creditReport>;
/** Input of the workflow `failsafeCheck`. End user and purpose are for the ledger: FAILSAFE's request has neither. */
export type FailsafeCheckInput = MessageOf<typeof failsafeCheck>;
export type PullInput = CreditReportInput | FailsafeCheckInput;
export type PullProduct = PullInput['productCode'];
