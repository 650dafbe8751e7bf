/** The fields of an applicant, as the API's document has them, in the order of a form. */
import type { Applicant } from '../api/schemas.ts';

export interface Field {
  name: string;
  label: string;
  isOptional?: boolean;
  maxLength?: number;
  pattern?: string;
  among?: readonly string[];
  example?: string;
}

export const ALONE: readonly Field[] = [
  { name: 'applicantId', label: 'Applicant', maxLength: 2 },
  { name: 'ssn', label: 'SSN', pattern: '[0-9]{9}', maxLength: 9 },
  { name: 'dob', label: 'Born', example: '1985-04-12' },
  { name: 'emailAddress', label: 'E-mail', maxLength: 80 },
  { name: 'ipAddress', label: 'IP address', maxLength: 45 },
];

/** Each of which an applicant may have several. */
export const REPEATED: Readonly<Record<'names' | 'phones' | 'addresses', { one: string; fields: readonly Field[] }>> = {
  names: {
    one: 'name',
    fields: [
      { name: 'first', label: 'First name', maxLength: 30 },
      { name: 'middle', label: 'Middle name', maxLength: 30, isOptional: true },
      { name: 'last', label: 'Last name', maxLength: 30 },
      { name: 'gen', label: 'Generation', maxLength: 1, isOptional: true },
    ],
  },
  phones: {
    one: 'phone',
    fields: [
      { name: 'phoneNumber', label: 'Phone', pattern: '[0-9]{10}', maxLength: 10 },
      { name: 'phoneType', label: 'Kind', among: ['HOME', 'MOBL', 'WORK'], isOptional: true },
    ],
  },
  addresses: {
    one: 'address',
    fields: [
      { name: 'addressIdentifier', label: 'Current or previous', among: ['C', 'P'] },
      { name: 'line1', label: 'Line 1', maxLength: 40 },
      { name: 'line2', label: 'Line 2', maxLength: 40, isOptional: true },
      { name: 'city', label: 'City', maxLength: 30 },
      { name: 'state', label: 'State', pattern: '[A-Za-z]{2}', maxLength: 2 },
      { name: 'zip', label: 'ZIP', pattern: '[0-9]{5}(-?[0-9]{4})?', maxLength: 10 },
    ],
  },
};

export function emptyApplicant(applicantId: string): Applicant {
  const blank = (fields: readonly Field[]) => Object.fromEntries(fields.map(({ name }) => [name, '']));
  return {
    ...blank(ALONE),
    applicantId,
    names: [blank(REPEATED.names.fields)],
    phones: [blank(REPEATED.phones.fields)],
    addresses: [{ ...blank(REPEATED.addresses.fields), addressIdentifier: 'C' }],
  } as unknown as Applicant;
}
