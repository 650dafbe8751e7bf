/**
 * The fields of the interface's request tables and, made of them, an applicant (2.3). Where a table leaves a question
 * open (length semantics, code lists), the comment beside the row gives our answer.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { parseInstantMs } from '../base/instants.ts';
import { CALENDAR_DATE } from '../base/portable-patterns.ts';
import type { Applicant, FailsafeApplicant } from '../model/applicant.ts';
import type { Problem } from '../model/problems.ts';
import { alphanumeric, latinText } from './alphanumeric.ts';
import { getMessageFields, refuseRepeated } from './fields.ts';

/** The interface shows no limit on names, phones and addresses of one applicant. This limit is ours. */
const MAX_ENTRIES = 20;

function digits(count: number, rule: string) {
  return z.string().regex(new RegExp(`^[0-9]{${count}}$`), rule);
}

function list<T extends z.ZodType>(entry: T) {
  return z.array(entry).min(1).max(MAX_ENTRIES);
}

/** Our limit: an older person cannot ask for a loan. The interface shows none (2.3). */
const FIRST_BIRTH_YEAR = 1900;

const dateOfBirthSchema = z
  .string()
  .refine((text) => parseInstantMs(`${text}T00:00:00Z`) !== null, {
    error: 'must be a calendar date YYYY-MM-DD',
    abort: true,
  })
  .refine((text) => Number(text.slice(0, 4)) >= FIRST_BIRTH_YEAR, `must be in ${FIRST_BIRTH_YEAR} or later`)
  .refine((text) => text <= new Date().toISOString().slice(0, 10), 'must not be in the future')
  .meta({
    format: 'date',
    pattern: CALENDAR_DATE,
    description: `YYYY-MM-DD, in ${FIRST_BIRTH_YEAR} or later, not in the future.`,
  });

const EMAIL_ADDRESS = /^[^\s@]+@[^\s@]+$/;

const emailAddressSchema = alphanumeric(80)
  .refine((value) => EMAIL_ADDRESS.test(value), 'must be an e-mail address')
  .meta({ pattern: EMAIL_ADDRESS.source });

/** `node:net` admits zone ids (`fe80::1%eth0`), which name nothing outside the consumer's device. */
const ipAddressSchema = alphanumeric(45)
  .refine((value) => isIP(value) !== 0 && !value.includes('%'), 'must be an IPv4 or IPv6 address')
  .meta({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] });

const nameSchema = z.strictObject({
  first: latinText(30),
  middle: latinText(30).optional(),
  last: latinText(30),
  gen: alphanumeric(1).optional(),
});

const phoneSchema = z.strictObject({
  phoneNumber: digits(10, 'must be exactly 10 digits, without formatting'),
  phoneType: z.enum(['HOME', 'MOBL', 'WORK']).optional(),
});

/** `zip` is AN 5, yet "5 or 9 digits" (interface 2.3): nine digits, or ZIP+4, become `zip` and `zip4`. */
const ZIP = /^([0-9]{5})(?:-?([0-9]{4}))?$/;

const addressSchema = z
  .strictObject({
    addressIdentifier: z.enum(['C', 'P']),
    line1: latinText(40),
    line2: latinText(40).optional(),
    city: latinText(30),
    // The interface does not show the list of state codes (2.3).
    state: z
      .string()
      .regex(/^[A-Za-z]{2}$/, 'must be a two-letter state code')
      .transform((text) => text.toUpperCase()),
    zip: z.string().regex(ZIP, 'must be 5 digits, 9 digits or ZIP+4'),
    zip4: digits(4, 'must be exactly 4 digits').optional(),
  })
  .transform((address, context) => {
    const [, zip = address.zip, extension] = ZIP.exec(address.zip) ?? [];
    if (extension === undefined) return address;
    if (address.zip4 !== undefined && address.zip4 !== extension) {
      context.addIssue({ code: 'custom', path: ['zip4'], message: 'must agree with the last four digits of zip' });
      return z.NEVER;
    }
    return { ...address, zip, zip4: extension };
  });

/** Numbers that begin with 000 are not issued. They are placeholders for unknown numbers. */
const ssnSchema = digits(9, 'must be exactly 9 digits, without dashes').refine(
  (text) => !/^000[0-9]{6}$/.test(text),
  'must be a number that can be issued: none begins with 000',
);

const applicantShape = {
  applicantId: getMessageFields().applicantId,
  names: list(nameSchema),
  ssn: ssnSchema,
  dob: dateOfBirthSchema,
  phones: list(phoneSchema),
  emailAddress: emailAddressSchema,
  ipAddress: ipAddressSchema,
  addresses: list(addressSchema),
};

/** `applicants[]` of table 2.3; the result has `zip` and `zip4` apart and the state in capitals. */
const applicantSchema = z.strictObject(applicantShape).meta({ id: 'applicant' }) satisfies z.ZodType<Applicant>;

/** A request can have at most two digits of applicantId (interface 8). A profile sets a limit of its own. */
export const MOST_APPLICANTS = 99;

/**
 * Applicants with different identifiers and different SSNs. The interface says nothing of SSNs: the rule is ours. With one SSN
 * for two applicants, an answer's consumers could not be matched to them.
 */
function listApplicants<T extends z.ZodType<{ applicantId: string; ssn: string }>>(applicant: T) {
  return z
    .array(applicant)
    .min(1)
    .max(MOST_APPLICANTS)
    .superRefine(refuseRepeated(['applicantId', 'ssn']));
}

/** Returns the problem of more applicants than a profile allows; the interface says "typically 1 to 2" (2.3). */
export function findApplicantLimitProblems(
  applicants: unknown,
  maxApplicants: number,
  path = '/applicants',
): Problem[] {
  if (!Array.isArray(applicants) || applicants.length <= maxApplicants) return [];
  const entries = maxApplicants === 1 ? '1 entry' : `${maxApplicants} entries`;
  const rule = `must have at most ${entries}, by GATEWAY_MAX_APPLICANTS: the interface says "typically 1 to 2"`;
  return [{ path, rule }];
}

export const applicantsSchema: z.ZodType<Applicant[]> = listApplicants(applicantSchema);

export const failsafeApplicantSchema = z
  .strictObject({
    ...applicantShape,
    emailAddress: applicantShape.emailAddress.optional(),
    ipAddress: applicantShape.ipAddress.optional(),
  })
  .meta({
    id: 'failsafeApplicant',
    description: 'emailAddress, ipAddress, gen, line2 and zip4 are not sent (interface 4.3).',
  });

export const failsafeApplicantsSchema: z.ZodType<FailsafeApplicant[]> = listApplicants(failsafeApplicantSchema);
