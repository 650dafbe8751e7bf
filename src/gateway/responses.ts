/**
 * The gateway's answers as the interface shows them (2.4, 2.5, 2.7, 2.8) with the variants of
 * docs/decisions/gateway.md, as types for readers of stored reports. Everything is optional: the interface marks
 * nothing in an answer as certain. `answers.ts` checks by hand what the inquiry protocol relies on.
 */
import { isRecord } from '../base/is-record.ts';
import { member } from '../base/json-safety.ts';
import { isEmpty } from './entry-meanings.ts';

export interface ConsumerName {
  first?: string;
  middle?: string;
  last?: string;
  /** REFUPD only (2.5), as are the next three. YYYY-MM-DD. */
  firstReportedDate?: string;
  totalOccurrences?: number;
  activeOccurrences?: number;
  refId?: number;
}

export interface ConsumerAddress {
  line1?: string;
  line2?: string;
  city?: string;
  state?: string;
  zip?: string;
  refId?: number;
}

/**
 * REFUPD's cross-references (2.5): the member of an account that names the `refId` of an identification entry, and the
 * lists that may hold the entry. The interface shows `names` alone (2.5): the names of the other lists are assumed, from
 * those of the interface's fields, in the singular and in the plural.
 */
export const CROSS_REFERENCES = {
  name: { member: 'consumerNameRefId', lists: ['names'] },
  address: { member: 'consumerAddressRefId', lists: ['addresses'] },
  ssn: { member: 'consumerSsnRefId', lists: ['ssns', 'ssn'] },
  dob: { member: 'consumerDOBRefId', lists: ['dobs', 'dob'] },
  phone: { member: 'consumerPhoneNbrRefId', lists: ['phones'] },
  relatedAddress: { member: 'relatedAddressRefId', lists: ['relatedAddresses', 'addresses'] },
} as const;
export type RefKind = keyof typeof CROSS_REFERENCES;
export type AccountCrossReference = { [K in RefKind as (typeof CROSS_REFERENCES)[K]['member']]?: number };

export interface ConsumerAccount {
  contributor?: string;
  /** Masked by the gateway. */
  accountNumber?: string;
  /** A code; the interface shows no list. */
  type?: string;
  /** YYYY-MM-DD */
  opened?: string;
  /** Amounts are strings (2.4). */
  balance?: string;
  creditLimit?: string;
  /** A code; the interface shows no list. */
  statusCode?: string;
  /** REFUPD only. */
  accountCrossReference?: AccountCrossReference;
}

/** The interface does not show the full field list (2.4): unknown members are kept as they came. */
export interface Consumer {
  names?: ConsumerName[];
  ssn?: string;
  /** YYYY-MM-DD */
  dob?: string;
  addresses?: ConsumerAddress[];
  accounts?: ConsumerAccount[];
  [unknown: string]: unknown;
}

/** The members of a consumer that the interface shows (2.4). An SSN may come as a number too (who-is-who.ts). */
const SHOWN_MEMBERS = { names: 'list', ssn: 'ssn', dob: 'text', addresses: 'list', accounts: 'list' } as const;

type MemberForm = (typeof SHOWN_MEMBERS)[keyof typeof SHOWN_MEMBERS];

/**
 * Returns the problems of the `consumer` of an entry that has a record: paths below the entry and rules. It must be an
 * object with some member that the interface shows, each in the form that is shown. The interface marks no single
 * member as required.
 */
export function findConsumerProblems(consumer: unknown): string[] {
  if (consumer === undefined || consumer === null || consumer === '') return ['/consumer is required with a record'];
  if (!isRecord(consumer)) return ['/consumer must be an object'];
  const shown = Object.entries<MemberForm>(SHOWN_MEMBERS).map(([name, form]) => ({
    name,
    form,
    value: member(consumer, name),
  }));
  if (shown.every(({ value }) => isEmpty(value))) return ['/consumer must not be empty'];
  return shown.flatMap(({ name, form, value }) => {
    if (value === undefined || value === null || hasForm(value, form)) return [];
    return [`/consumer/${name} must be ${form === 'list' ? 'a list of objects' : 'text'}`];
  });
}

function hasForm(value: unknown, form: MemberForm): boolean {
  if (form === 'list') return Array.isArray(value) && value.every(isRecord);
  return typeof value === 'string' || (form === 'ssn' && typeof value === 'number');
}

/** One applicant's part of an answer: of a report (2.4), or of FAILSAFE's `consumers[]` (2.8). */
export interface ResponseEntry {
  applicantId?: string;
  consumerId?: string;
  consumer?: Consumer;
  returnCode?: string;
  reportReferenceNumber?: string;
  customerTraceNumber?: string;
  productCode?: string;
  customerId?: string;
  softwareProviderId?: string;
  softwareProviderVersion?: string;
  userId?: string;
  [unknown: string]: unknown;
}

/** Any product's answer in one shape: entries are always in `applicants`, under any name that the gateway used. */
export interface GatewayResponse {
  returnCode?: string;
  reportReferenceNumber?: string;
  /** docs/decisions/gateway.md. */
  returnReasonCode?: string;
  returnReasonDesc?: string;
  errorMessage?: string;
  applicants: ResponseEntry[];
  [unknown: string]: unknown;
}

/**
 * Finds the identification entries that the REFUPD cross-references of one consumer point to (2.5). Reads each list once.
 *
 * `undefined` for 0, which means "none" by our decision: the interface does not say, and its sample uses 0 for phone
 * and related address. Also `undefined` for a `refId` that no entry has, and for one that several entries of a list
 * have.
 */
export function createRefIdResolver(
  consumer: Consumer,
): (kind: RefKind, refId: number | undefined) => Record<string, unknown> | undefined {
  const names = new Set(Object.values(CROSS_REFERENCES).flatMap(({ lists }) => [...lists]));
  const indexes = new Map([...names].map((name) => [name, indexByRefId(member(consumer, name))]));
  return (kind, refId) => {
    if (refId === undefined || refId === 0) return undefined;
    const { lists } = CROSS_REFERENCES[kind];
    const found = lists.map((name) => indexes.get(name)?.get(refId)).find((entries) => entries !== undefined);
    return found?.length === 1 ? found[0] : undefined;
  };
}

function indexByRefId(list: unknown): ReadonlyMap<unknown, Record<string, unknown>[]> {
  return Map.groupBy(Array.isArray(list) ? list.filter(isRecord) : [], ({ refId }) => refId);
}
