/** The interface's request tables as data: 2.1, 2.3, 2.6 and the shown part of 4.3. */
import type { Format, ListRule, Table, TextRule } from './table.ts';

/** Products with the standard request and response (interface 1). */
export const REPORT_PRODUCTS: readonly string[] = ['CR', 'PREQUAL', 'PREAPP', 'PRECLOSE', 'ACCTRVW', 'REFUPD'];

function an(max: number, format?: Format): TextRule {
  return { kind: 'text', max, isAlphanumeric: true, ...(format && { format }) };
}

function optional(rule: TextRule): TextRule;
function optional(rule: ListRule): ListRule;
function optional(rule: TextRule | ListRule): TextRule | ListRule {
  return { ...rule, optional: true };
}

function exactly(...oneOf: string[]): TextRule {
  return { kind: 'text', oneOf };
}

function list(of: Table): ListRule {
  return { kind: 'list', of };
}

/** 2.1 */
export const TOKEN_REQUEST: Table = {
  audience: { kind: 'text' },
  grant_type: { kind: 'text' },
  client_id: { kind: 'text' },
  client_secret: { kind: 'text' },
};

const NAMES = list({ first: an(30), middle: optional(an(30)), last: an(30), gen: optional(an(1)) });

const PHONES = list({
  phoneNumber: { kind: 'text', format: 'phone' },
  phoneType: optional({ kind: 'text', max: 4, oneOf: ['HOME', 'MOBL', 'WORK'] }),
});

const ADDRESS: Table = {
  addressIdentifier: exactly('C', 'P'),
  line1: an(40),
  line2: optional(an(40)),
  city: an(30),
  state: { kind: 'text', format: 'state' },
  zip: { kind: 'text', format: 'zip' },
  zip4: optional({ kind: 'text', format: 'zip4' }),
};

const APPLICANT: Table = {
  applicantId: an(2),
  names: NAMES,
  ssn: { kind: 'text', format: 'ssn' },
  dob: { kind: 'text', format: 'date' },
  phones: PHONES,
  emailAddress: an(80, 'email'),
  ipAddress: an(45, 'ip'),
  addresses: list(ADDRESS),
};

const CUSTOMER: Table = {
  customerId: an(16),
  customerTraceNumber: an(30),
  permissiblePurposeCode: an(2),
  softwareProviderId: an(4),
};

/** 2.3 */
export const REPORT_REQUEST: Table = {
  ...CUSTOMER,
  endUserCode: an(16),
  productCode: exactly(...REPORT_PRODUCTS),
  applicants: list(APPLICANT),
};

/** 2.6. A separate rule checks that `endUserCode` or `endUser` is given (4.2, rule 5). */
export const SECONDARY_USE_REQUEST: Table = {
  ...CUSTOMER,
  endUserCode: optional(an(16)),
  endUser: optional(an(30)),
  productCode: exactly('SECONDUSE'),
  accessMethod: exactly('ID'),
  originalInquiryDate: an(20, 'pastDateTime'),
  reportReferenceNumber: an(30),
  applicants: list({ consumerId: an(16) }),
};

/** 4.3: the fields of the sample are required (middle name and phone type apart), the rest of 2.3 is accepted. */
export const FAILSAFE_REQUEST: Table = {
  customerTraceNumber: an(30),
  productCode: exactly('FAILSAFE'),
  customerId: optional(an(16)),
  endUserCode: optional(an(16)),
  permissiblePurposeCode: optional(an(2)),
  softwareProviderId: optional(an(4)),
  applicants: list({
    ...APPLICANT,
    applicantId: optional(an(2)),
    emailAddress: optional(an(80, 'email')),
    ipAddress: optional(an(45, 'ip')),
  }),
};
