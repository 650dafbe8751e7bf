/**
 * Which members of decoded JSON are personal, by their names: those of the interface (2.3 to 2.6) and what other
 * systems call the same. A comparison of names looks at letters and digits alone, in any case.
 */

export type FieldKind =
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
  /** A member within something personal that reveals nothing about a person. */
  | 'plain';

const NAMES: Record<Exclude<FieldKind, 'plain'>, readonly string[]> = {
  ssn: ['ssn', 'ssns', 'socialSecurity', 'socialSecurityNumber', 'socialSecurityNumbers', 'itin', 'taxId', 'tin'],
  birthDate: ['dob', 'dobs', 'dateOfBirth', 'datesOfBirth', 'birthDate', 'birthDates', 'birthday', 'birth'],
  zip: ['zip', 'zipCode', 'postalCode', 'postcode'],
  address: ['address', 'addresses', 'relatedAddresses', 'residence', 'residences', 'mailingAddress', 'homeAddress'],
  masked: [
    ...['names', 'first', 'middle', 'last', 'gen', 'firstName', 'middleName', 'middleInitial', 'lastName', 'fullName'],
    ...['givenName', 'familyName', 'surname', 'maidenName', 'nickname', 'alias', 'aliases', 'aka', 'akas', 'suffix'],
    ...['applicantName', 'consumerName', 'customerName', 'borrowerName', 'spouseName', 'mothersMaidenName'],
    ...['employer', 'employers', 'employerName', 'employment', 'employments'],
    ...[
      'phone',
      'phones',
      'phoneNumber',
      'phoneNumbers',
      'phoneNbr',
      'telephone',
      'mobile',
      'cell',
      'cellPhone',
      'fax',
    ],
    ...['email', 'emails', 'mail', 'emailAddress', 'emailAddresses'],
    ...['line1', 'line2', 'line3', 'street', 'street1', 'street2', 'streetAddress', 'streetName', 'houseNumber'],
    ...['address1', 'address2', 'addressLine', 'addressLine1', 'addressLine2', 'zip4', 'zipPlus4', 'unit', 'apartment'],
    ...['accountNumber', 'accountNumbers', 'accountNo', 'acctNumber', 'account', 'cardNumber', 'iban', 'routingNumber'],
    ...['consumerId', 'consumerIds', 'ipAddress', 'ip', 'driversLicense', 'driverLicense', 'licenseNumber', 'passport'],
    ...['passportNumber', 'latitude', 'longitude'],
    // The provider's free text (docs/decisions/gateway.md).
    ...['returnReasonDesc', 'errorMessage'],
    // No payload of ours ever holds these (docs/protocol.md); a caller may still have sent one.
    ...['accessToken', 'clientSecret', 'secret', 'password', 'authorization', 'apiKey'],
  ],
  reference: ['customerTraceNumber', 'otherTraceNumber', 'amends', 'reportReferenceNumber'],
  id: [...['journeyId', 'pullId', 'shareId', 'reviewId', 'ownerId', 'workflowId'], ...['consentId', 'decisionId']],
};

/** `coBorrowerSsn`, `home_phone`, `applicant1Email`. */
const ENDINGS: readonly [string, FieldKind][] = [
  ['ssn', 'ssn'],
  ['socialsecuritynumber', 'ssn'],
  ['dob', 'birthDate'],
  ['dateofbirth', 'birthDate'],
  ['birthdate', 'birthDate'],
  ['firstname', 'masked'],
  ['middlename', 'masked'],
  ['lastname', 'masked'],
  ['fullname', 'masked'],
  ['email', 'masked'],
  ['emailaddress', 'masked'],
  ['phone', 'masked'],
  ['phonenumber', 'masked'],
  ['accountnumber', 'masked'],
  ['consumerid', 'masked'],
  ['streetaddress', 'masked'],
  ['ipaddress', 'masked'],
];

/** Members of an address, and of the REFUPD entries of identification lists (interface 2.5). */
const PLAIN_WITHIN = new Set([
  ...['applicantid', 'addressidentifier', 'phonetype', 'state', 'city', 'country', 'refid'],
  ...['firstreporteddate', 'totaloccurrences', 'activeoccurrences'],
]);

const KINDS = new Map<string, FieldKind>(
  Object.entries(NAMES).flatMap(([kind, names]) => names.map((name) => [normal(name), kind as FieldKind] as const)),
);

/**
 * How to treat a member.
 *
 * @param within how the object that contains it is treated
 */
export function fieldKind(name: string, within: FieldKind | undefined): FieldKind | undefined {
  const plain = normal(name);
  if (within !== undefined && PLAIN_WITHIN.has(plain)) return 'plain';
  const kind = KINDS.get(plain) ?? ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1];
  if (kind !== undefined) return kind;
  // Any member within a list of names or phones is personal, under every name.
  return within === 'plain' || within === 'reference' || within === 'id' ? undefined : within;
}

function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
