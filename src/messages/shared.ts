/** What several messages have in common: groups of fields, and rules between fields. */
import { z } from 'zod';
import { isRecord } from '../base/is-record.ts';
import { messageFields, text } from '../fields/fields.ts';
import type { Problem } from '../model/problems.ts';
import type { Loose } from './message.ts';

const fields = messageFields();

/** Interface 4.2, rule 5, for the published schemas. The parser checks it beside the schema, with all other rules. */
export const ONE_OF_TWO_NAMES = { anyOf: [{ required: ['endUserCode'] }, { required: ['endUser'] }] };

/** A secondary user. A rule beside the schema checks that at least one of the two is given. */
const secondaryUserFields = {
  /** The gateway's code of the company that gets the report. Give it where there is one: a name alone is weaker. */
  endUserCode: fields.endUserCode.exactOptional(),
  /** Its name, where it has no code, or beside the code. */
  endUser: fields.endUser.exactOptional(),
};

const share = z
  .strictObject({
    /** Your own, unique in its journey, 1 to 40 characters. Consents name it. */
    shareId: fields.shareId,
    ...secondaryUserFields,
    /** Default: the journey's `permissiblePurposeCodes.SECONDUSE`. */
    permissiblePurposeCode: fields.permissiblePurposeCode.exactOptional(),
    /**
     * The stage whose report is shared: its newest, if the stage was repeated. Default: the last stage with a record.
     */
    reportOf: fields.stage.exactOptional(),
    /** How long the share waits for consent once its report exists: ISO 8601 in days and time. Default P30D. */
    awaitConsentFor: fields.duration.exactOptional(),
    /** How old a grant may be when an attempt is scheduled. Default: any age. */
    consentValidFor: fields.duration.exactOptional(),
  })
  .meta({ id: 'share', ...ONE_OF_TWO_NAMES });

const reference = z.strictObject({
  reportReferenceNumber: fields.reportReferenceNumber,
  requestedAt: fields.instant,
  applicants: z
    .array(z.strictObject({ applicantId: fields.applicantId, consumerId: fields.consumerId }))
    .min(1, 'must be a list that is not empty'),
});

const SHARED = {
  ...fields,
  secondaryUserFields,
  share,
  reference,
  /** Who says so, and why. */
  signature: { by: text(100), reason: text(500) },
};

/** The fields by themselves, and groups of them. */
export function sharedFields(): typeof SHARED {
  return SHARED;
}

/** Interface 4.2, rule 5. */
export function secondaryUserProblems(user: unknown, path: string): Problem[] {
  if (!isRecord(user) || user.endUserCode !== undefined || user.endUser !== undefined) return [];
  return [
    { path: `${path}/endUserCode`, rule: 'is required, unless endUser is given: name endUserCode, endUser or both' },
  ];
}

/** Who and why go with these members, and with no other. */
export function signatureProblems(message: Loose, ...members: string[]): Problem[] {
  const { by, reason } = message;
  const decided = members.findLast((member) => message[member] !== undefined);
  return Object.entries({ by, reason }).flatMap(([name, value]) => {
    if ((decided === undefined) === (value === undefined)) return [];
    const rule = value === undefined ? `is required with ${decided}` : `belongs to ${members.join(' and ')} only`;
    return [{ path: `/${name}`, rule }];
  });
}

/** Two applicants with one `consumerId` are a typing error, and would share the wrong person's report. */
export function referenceProblems(reference: unknown, path = '/reference'): Problem[] {
  if (!isRecord(reference) || !Array.isArray(reference.applicants)) return [];
  const rule = 'must differ from that of every other applicant';
  return (['applicantId', 'consumerId'] as const).flatMap((field) =>
    repeatedProblems(reference.applicants as unknown[], field, `${path}/applicants`, rule),
  );
}

export function repeatedProblems(entries: unknown[], field: string, path: string, rule: string): Problem[] {
  const seen = new Set<unknown>();
  return entries.flatMap((entry, index) => {
    const value = isRecord(entry) ? entry[field] : undefined;
    if (typeof value !== 'string') return [];
    if (seen.has(value)) return [{ path: `${path}/${index}/${field}`, rule }];
    seen.add(value);
    return [];
  });
}

/** JSON Schema: `conclusion` holds where `condition` does. */
export function implies(condition: object, conclusion: object, otherwise?: object): object {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: conclusion, ...(otherwise && { else: otherwise }) };
}

/** JSON Schema: the member is there, and has this value. */
export function hasValue(member: string, value: string): object {
  return { required: [member], properties: { [member]: { const: value } } };
}
