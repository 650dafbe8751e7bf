/**
 * The redacted view of a decoded value, for readers who may not see everything. Masks by field name at any depth, and
 * by form in free text. A masked value differs from every real one, so that no input accepts it.
 */
import { toJsonPointer } from '../../base/differing-paths.ts';
import { parseJson } from '../../base/json-safety.ts';
import { checkRunKey } from '../../model/run-key.ts';

// Names of personal members of decoded JSON: those of the interface (2.3 to 2.6) and other systems' names for the same.
// A comparison of names looks at letters and digits alone, in any case.

type FieldKind =
  /** Its last four digits are shown. */
  | 'ssn'
  /** Its year is shown. */
  | 'birthDate'
  /** Five digits are shown. */
  | 'zip'
  /** Within it, city and state are shown. */
  | 'address'
  | 'masked'
  /** An id that may hold long runs of digits without being personal. */
  | 'reference'
  /** An id of our callers. It is shown where a start takes it as one: it lies in workflow ids in the clear. */
  | 'id'
  /** A member of a personal object that does not identify the person. */
  | 'plain';

const NAMES: Record<Exclude<FieldKind, 'plain'>, readonly string[]> = {
  ssn: ['ssns', 'socialSecurity', 'socialSecurityNumbers', 'itin', 'taxId', 'tin'],
  birthDate: ['dobs', 'datesOfBirth', 'birthDates', 'birthday', 'birth'],
  zip: ['zip', 'zipCode', 'postalCode', 'postcode'],
  address: ['address', 'addresses', 'relatedAddresses', 'residence', 'residences', 'mailingAddress', 'homeAddress'],
  masked: [
    ...['names', 'first', 'middle', 'last', 'gen', 'middleInitial'],
    ...['givenName', 'familyName', 'surname', 'maidenName', 'nickname', 'alias', 'aliases', 'aka', 'akas', 'suffix'],
    ...['applicantName', 'consumerName', 'customerName', 'borrowerName', 'spouseName', 'mothersMaidenName'],
    ...['employer', 'employers', 'employerName', 'employment', 'employments'],
    ...['phones', 'phoneNumbers', 'phoneNbr', 'mobile', 'cell', 'fax'],
    ...['emails', 'mail', 'emailAddresses'],
    ...['line1', 'line2', 'line3', 'street', 'street1', 'street2', 'streetName', 'houseNumber'],
    ...['address1', 'address2', 'addressLine', 'addressLine1', 'addressLine2', 'zip4', 'zipPlus4', 'unit', 'apartment'],
    ...['accountNumbers', 'accountNo', 'acctNumber', 'account', 'cardNumber', 'iban', 'routingNumber'],
    ...['consumerIds', 'ip', 'driversLicense', 'driverLicense', 'licenseNumber', 'passport'],
    ...['passportNumber', 'latitude', 'longitude'],
    // The provider's free text (docs/decisions/gateway.md).
    ...['returnReasonDesc', 'errorMessage'],
    // No payload of ours ever holds these (docs/protocol.md); a caller may still have sent one.
    ...['accessToken', 'clientSecret', 'secret', 'password', 'authorization', 'apiKey'],
  ],
  reference: ['customerTraceNumber', 'otherTraceNumber', 'amends', 'reportReferenceNumber'],
  id: [...['journeyId', 'pullId', 'shareId', 'reviewId', 'runKey', 'workflowId'], ...['consentId', 'decisionId']],
};

/** Endings of names, such as `coBorrowerSsn`, `home_phone` and `applicant1Email`, and the names themselves. */
const ENDINGS = (
  [
    ['ssn', ['ssn', 'socialsecuritynumber']],
    ['birthDate', ['dob', 'dateofbirth', 'birthdate']],
    ['masked', ['firstname', 'middlename', 'lastname', 'fullname', 'email', 'emailaddress', 'phone', 'phonenumber']],
    ['masked', ['accountnumber', 'consumerid', 'streetaddress', 'ipaddress']],
  ] as const
).flatMap(([kind, endings]) => endings.map((ending) => [ending, kind] as const));

/** Members of an address, and of the REFUPD entries of identification lists (interface 2.5). */
const PLAIN_WITHIN = new Set([
  ...['applicantid', 'addressidentifier', 'phonetype', 'state', 'city', 'country', 'refid'],
  ...['firstreporteddate', 'totaloccurrences', 'activeoccurrences'],
]);

const KINDS = new Map<string, FieldKind>(
  Object.entries(NAMES).flatMap(([kind, names]) =>
    names.map((name) => [normalizeName(name), kind as FieldKind] as const),
  ),
);

/**
 * Decides how to treat a member.
 *
 * @param within how the object that contains it is treated
 */
function findFieldKind(name: string, within: FieldKind | undefined): FieldKind | undefined {
  const plain = normalizeName(name);
  if (within !== undefined && PLAIN_WITHIN.has(plain)) return 'plain';
  const kind = KINDS.get(plain) ?? ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1];
  if (kind !== undefined) return kind;
  // Any member within a list of names or phones is personal, under every name.
  return within === 'plain' || within === 'reference' || within === 'id' ? undefined : within;
}

function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Every text of every input schema refuses two in a row (fields/fields.ts). One alone is punctuation. */
const BULLET = '\u2022';

/** Replaces a value of which nothing is shown. */
export const MASKED = BULLET.repeat(6);

/** Two bullets in a row, also in the raw text of JSON: no message of ours needs them. */
const BULLETS_IN_TEXT = /(?:\u2022|\\u2022){2}/i;

/** Searching longer texts would block other requests; no message of ours has any. */
const MAX_SEARCHED_CHARACTERS = 100_000;

/** More levels than the payload codec reads. */
const MAX_LEVELS = 100;

/** Copies JSON with everything personal masked. The result is JSON again. */
export function redact(value: unknown): unknown {
  return redactValue(value, undefined, MAX_LEVELS);
}

/** The only texts that a body of unknown shape may show: codes of a known form. */
const CODES: Record<string, RegExp> = {
  returnCode: /^(?:Record|No Record|Error)$/,
  returnReasonCode: /^[A-Za-z0-9]{1,4}$/,
};

/** Copies JSON of unknown form: its shape and its codes. Names of members may be personal as well. */
export function redactShape(value: unknown, levels = MAX_LEVELS, code?: RegExp): unknown {
  if (typeof value === 'string') return value === '' || code?.test(value) ? value : MASKED;
  if (typeof value === 'number') return MASKED;
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return MASKED;
  if (Array.isArray(value)) return value.map((entry) => redactShape(entry, levels - 1));
  const seen = new Set<string>();
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      toDistinct(/^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(name) ? name : MASKED, seen),
      redactShape(inner, levels - 1, Object.hasOwn(CODES, name) ? CODES[name] : undefined),
    ]),
  );
}

function redactValue(value: unknown, kind: FieldKind | undefined, levels: number): unknown {
  if (typeof value === 'string') return redactText(value, kind, levels);
  if (typeof value === 'number') return redactNumber(value, kind);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return MASKED;
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, kind, levels - 1));
  const seen = new Set<string>();
  const members = Object.entries(value).map(([name, inner]) => {
    // A name may be personal too, where the sender uses a map in place of a list.
    const shown = toDistinct(maskText(name, WITH_DIGITS), seen);
    return [shown, redactValue(inner, findFieldKind(name, kind), levels - 1)] as const;
  });
  // Defines own members, `__proto__` among them.
  return Object.fromEntries(members);
}

function toDistinct(name: string, seen: Set<string>): string {
  let shown = name;
  for (let count = 2; seen.has(shown); count++) shown = `${name} (${count})`;
  seen.add(shown);
  return shown;
}

function redactText(text: string, kind: FieldKind | undefined, levels: number): string {
  if (text === '') return text;
  switch (kind) {
    case 'ssn':
      return maskSsn(text);
    case 'birthDate':
      return maskBirthDate(text);
    case 'zip':
      return /^\d{5}(?:-?\d{4})?$/.test(text) ? text.slice(0, 5) : MASKED;
    case 'masked':
    case 'address':
      return MASKED;
    case 'reference':
      return maskText(text, WITHOUT_DIGITS);
    case 'id':
      return maskText(text, checkRunKey(text) === null ? WITHIN_IDS : WITH_DIGITS);
    case 'plain':
    case undefined:
      return redactJsonText(text, levels) ?? maskText(text, WITH_DIGITS);
  }
}

function redactNumber(number: number, kind: FieldKind | undefined): unknown {
  if (kind === undefined || kind === 'plain') return /^\d{9}$/.test(String(number)) ? MASKED : number;
  return redactText(String(number), kind, 0);
}

function maskSsn(text: string): string {
  const digits = text.replaceAll(/\D/g, '');
  return digits.length < 4 ? MASKED : `${MASKED}${digits.slice(-4)}`;
}

function maskBirthDate(text: string): string {
  const year = /^(?:(\d{4})(?!\d)|((?:19|20)\d{2})\d{4}$|\d{1,2}\D\d{1,2}\D(\d{4})$)/.exec(text);
  const shown = year?.[1] ?? year?.[2] ?? year?.[3];
  return shown === undefined ? MASKED : `${shown}-${BULLET.repeat(2)}-${BULLET.repeat(2)}`;
}

/** JSON inside a text, as in messages of failures; `null` where the text is not JSON. */
function redactJsonText(text: string, levels: number): string | null {
  const [first] = text.trimStart();
  if (levels === 0 || (first !== '{' && first !== '[')) return null;
  const parsed = parseJson(text);
  return parsed && JSON.stringify(redactValue(parsed[0], undefined, levels - 1));
}

/** Kept as they are: UUIDs and digests hold long runs of digits and are not personal. */
const OPAQUE = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}/;
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/u;
const DASHED_SSN = /(?<!\d)\d{3}[- .]\d{2}[- .]\d{4}(?!\d)/;
const PHONE = /(?<!\d)(?:\+?1[- .]?)?(?:\(\d{3}\) ?|\d{3}[- .])\d{3}[- .]\d{4}(?!\d)/;
/** SSN, ZIP+4, telephone, account or card number. Not after a dot: fractions of a second. */
const DIGITS = /(?<![\d.])\d{9,19}(?!\d)/;

/** A loan number, or one that looks like a telephone, is an id; an SSN never is. */
const WITHIN_IDS = joinPatterns(OPAQUE, DASHED_SSN);
const WITHOUT_DIGITS = joinPatterns(OPAQUE, EMAIL, DASHED_SSN, PHONE);
const WITH_DIGITS = joinPatterns(OPAQUE, EMAIL, DASHED_SSN, PHONE, DIGITS);
const IS_OPAQUE = new RegExp(`^(?:${OPAQUE.source})$`, 'iu');

function joinPatterns(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'giu');
}

/** Masks parts of the text that have the form of personal data. It cannot recognize names. */
function maskText(text: string, personal: RegExp): string {
  if (text.length > MAX_SEARCHED_CHARACTERS) return MASKED;
  return text.replaceAll(personal, (found) => {
    return IS_OPAQUE.test(found) && !/^\d+$/.test(found) ? found : MASKED;
  });
}

/** The JSON pointer of a masked value; `null` where there is none. */
export function readRedactedPointer(value: unknown): string | null {
  const path: string[] = [];
  return holdsRedacted(value, path) ? toJsonPointer(path) : null;
}

function holdsRedacted(value: unknown, path: string[]): boolean {
  if (typeof value === 'string') return hasBullets(value);
  if (typeof value !== 'object' || value === null) return false;
  for (const [name, inner] of Object.entries(value)) {
    path.push(toPointerPart(name, value));
    if (hasBullets(name) || holdsRedacted(inner, path)) return true;
    path.pop();
  }
  return false;
}

/**
 * A name that the sender made up may be personal (model/problems.ts). The pointer shows only names that look like a
 * field.
 */
function toPointerPart(name: string, holder: object): string {
  return Array.isArray(holder) || /^[A-Za-z][A-Za-z0-9]{0,39}$/.test(name) ? name : '*';
}

/** Returns true if text, or unparsed JSON, contains the mark of a masked value. */
export function hasBullets(text: string): boolean {
  return BULLETS_IN_TEXT.test(text);
}
