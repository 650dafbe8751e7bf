/**
 * The interface's request tables (2.3, 2.6, 4.3) as plain data, and a checker that uses only these tables. They were
 * written from the interface document, not from the schemas. The property tests compare the product with them.
 */

export interface Row {
  /** `[]` after a name means a list with at least one entry. */
  path: string;
  type: 'AN' | 'N' | 'Date' | 'DateTime' | 'list';
  /** The maximum for AN, the exact length for N. */
  length?: number;
  required: boolean;
  oneOf?: readonly string[];
  format?: 'email' | 'ip' | 'state';
}

const PRODUCTS_23 = ['CR', 'PREQUAL', 'PREAPP', 'PRECLOSE', 'ACCTRVW', 'REFUPD'];

export const TABLE_2_3: readonly Row[] = [
  { path: 'customerId', type: 'AN', length: 16, required: true },
  { path: 'customerTraceNumber', type: 'AN', length: 30, required: true },
  { path: 'endUserCode', type: 'AN', length: 16, required: true },
  { path: 'productCode', type: 'AN', length: 10, required: true, oneOf: PRODUCTS_23 },
  { path: 'permissiblePurposeCode', type: 'AN', length: 2, required: true },
  { path: 'softwareProviderId', type: 'AN', length: 4, required: true },
  { path: 'applicants[]', type: 'list', required: true },
  { path: 'applicants[].applicantId', type: 'AN', length: 2, required: true },
  { path: 'applicants[].names[]', type: 'list', required: true },
  { path: 'applicants[].names[].first', type: 'AN', length: 30, required: true },
  { path: 'applicants[].names[].middle', type: 'AN', length: 30, required: false },
  { path: 'applicants[].names[].last', type: 'AN', length: 30, required: true },
  { path: 'applicants[].names[].gen', type: 'AN', length: 1, required: false },
  { path: 'applicants[].ssn', type: 'N', length: 9, required: true },
  { path: 'applicants[].dob', type: 'Date', required: true },
  { path: 'applicants[].phones[]', type: 'list', required: true },
  { path: 'applicants[].phones[].phoneNumber', type: 'N', length: 10, required: true },
  {
    path: 'applicants[].phones[].phoneType',
    type: 'AN',
    length: 4,
    required: false,
    oneOf: ['HOME', 'MOBL', 'WORK'],
  },
  { path: 'applicants[].emailAddress', type: 'AN', length: 80, required: true, format: 'email' },
  { path: 'applicants[].ipAddress', type: 'AN', length: 45, required: true, format: 'ip' },
  { path: 'applicants[].addresses[]', type: 'list', required: true },
  { path: 'applicants[].addresses[].addressIdentifier', type: 'AN', length: 1, required: true, oneOf: ['C', 'P'] },
  { path: 'applicants[].addresses[].line1', type: 'AN', length: 40, required: true },
  { path: 'applicants[].addresses[].line2', type: 'AN', length: 40, required: false },
  { path: 'applicants[].addresses[].city', type: 'AN', length: 30, required: true },
  { path: 'applicants[].addresses[].state', type: 'AN', length: 2, required: true, format: 'state' },
  // On the wire `zip` has length 5; nine digits are for `zip` and `zip4` together.
  { path: 'applicants[].addresses[].zip', type: 'N', length: 5, required: true },
  { path: 'applicants[].addresses[].zip4', type: 'N', length: 4, required: false },
];

export const TABLE_2_6: readonly Row[] = [
  { path: 'customerId', type: 'AN', length: 16, required: true },
  { path: 'customerTraceNumber', type: 'AN', length: 30, required: true },
  // "Yes, unless the other is given": see `breaksOf`.
  { path: 'endUserCode', type: 'AN', length: 16, required: false },
  { path: 'endUser', type: 'AN', length: 30, required: false },
  { path: 'productCode', type: 'AN', length: 10, required: true, oneOf: ['SECONDUSE'] },
  { path: 'permissiblePurposeCode', type: 'AN', length: 2, required: true },
  { path: 'softwareProviderId', type: 'AN', length: 4, required: true },
  { path: 'accessMethod', type: 'AN', length: 2, required: true, oneOf: ['ID'] },
  { path: 'originalInquiryDate', type: 'DateTime', length: 20, required: true },
  { path: 'reportReferenceNumber', type: 'AN', length: 30, required: true },
  { path: 'applicants[]', type: 'list', required: true },
  { path: 'applicants[].consumerId', type: 'AN', length: 16, required: true },
];

const SECTION_4_3_FIELDS = [
  'applicants[]',
  'applicants[].names[]',
  'applicants[].names[].first',
  'applicants[].names[].last',
  'applicants[].names[].middle',
  'applicants[].dob',
  'applicants[].ssn',
  'applicants[].phones[]',
  'applicants[].phones[].phoneNumber',
  'applicants[].phones[].phoneType',
  'applicants[].addresses[]',
  'applicants[].addresses[].addressIdentifier',
  'applicants[].addresses[].line1',
  'applicants[].addresses[].city',
  'applicants[].addresses[].state',
  'applicants[].addresses[].zip',
];

/** The fields of the sample, each with its row of 2.3. */
export const SECTION_4_3: readonly Row[] = [
  { path: 'customerTraceNumber', type: 'AN', length: 30, required: true },
  { path: 'productCode', type: 'AN', length: 10, required: true, oneOf: ['FAILSAFE'] },
  ...TABLE_2_3.filter(({ path }) => SECTION_4_3_FIELDS.includes(path)),
];

/** Returns the rows that a request on the wire breaks. */
export function breaksOf(table: readonly Row[], request: unknown): string[] {
  const broken = checkLevel(table, '', request);
  if (table === TABLE_2_6) {
    const { endUserCode, endUser } = request as Record<string, unknown>;
    if (endUserCode === undefined && endUser === undefined) broken.push('neither endUserCode nor endUser');
  }
  return broken;
}

function checkLevel(table: readonly Row[], prefix: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${prefix} is no object`];
  const object = value as Record<string, unknown>;
  const rows = table.filter((row) => row.path.startsWith(prefix) && !/[.]/.test(row.path.slice(prefix.length)));
  const known = rows.map((row) => row.path.slice(prefix.length).replace('[]', ''));
  const broken = Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) => `${prefix}${key} is in no row`);
  for (const row of rows) {
    const field = object[row.path.slice(prefix.length).replace('[]', '')];
    if (field === undefined) {
      if (row.required) broken.push(`${row.path} is missing`);
    } else if (row.type === 'list') {
      if (!Array.isArray(field) || field.length === 0) broken.push(`${row.path} is no list of at least one`);
      else broken.push(...field.flatMap((entry) => checkLevel(table, `${row.path}.`, entry)));
    } else if (!keepsTo(row, field)) {
      broken.push(row.path);
    }
  }
  return broken;
}

function keepsTo(row: Row, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (row.oneOf) return row.oneOf.includes(value);
  switch (row.type) {
    case 'N':
      return value.length === row.length && [...value].every((character) => '0123456789'.includes(character));
    case 'Date':
      return isPastDate(value);
    case 'DateTime':
      return isPastDate(value.slice(0, 10)) && isTime(value.slice(10)) && value.length <= (row.length ?? 0);
    default:
      return isAlphanumeric(value, mayHaveAccents(row)) && value.length <= (row.length ?? 0) && hasFormat(row, value);
  }
}

/** Names and parts of addresses. A profile can pass on their accents. */
export function mayHaveAccents({ path }: Row): boolean {
  return /\.(?:first|middle|last|line1|line2|city)$/.test(path);
}

/** Type AN as in docs/decisions/gateway.md: printable ASCII, with blanks only inside. */
function isAlphanumeric(text: string, hasAccents: boolean): boolean {
  const value = hasAccents ? text.replace(/[\u0300-\u036f]|[\u00c0-\u024f\u1e00-\u1eff\u2019]/g, 'x') : text;
  if (value === '' || value.startsWith(' ') || value.endsWith(' ')) return false;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

function isPastDate(value: string): boolean {
  if (value.length !== 10 || value[4] !== '-' || value[7] !== '-') return false;
  const date = new Date(`${value}T00:00:00Z`);
  // A date that does not exist (30 February) changes when it is formatted again.
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === value && date.getTime() <= Date.now();
}

function isTime(value: string): boolean {
  const [hours = '', minutes = '', seconds = ''] = value.slice(1).split(':');
  const parts = [hours, minutes, seconds];
  if (value[0] !== ' ' || value.length !== 9 || parts.some((part) => part.length !== 2)) return false;
  return Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60;
}

function hasFormat(row: Row, value: string): boolean {
  if (row.format === 'state') return value.length === 2 && /^[A-Za-z]+$/.test(value);
  if (row.format === 'email') return value.split('@').length === 2 && !value.includes(' ');
  if (row.format === 'ip') return value.includes(':') ? isIpv6(value) : isIpv4(value);
  return true;
}

function isIpv4(value: string): boolean {
  const parts = value.split('.');
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
}

function isIpv6(value: string): boolean {
  const halves = value.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const embedded = last.includes('.');
  if (embedded && !isIpv4(last)) return false;
  const hex = embedded ? groups.slice(0, -1) : groups;
  const count = hex.length + (embedded ? 2 : 0);
  return hex.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
}
