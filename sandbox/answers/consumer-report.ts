/** Invents a consumer's credit data from the applicant alone: the same applicant always has the same file. */

import type { RequestApplicant } from '../rules/check-request.ts';
import { digestText, sequence } from '../rules/digest.ts';
import { type Consumer, movingFile } from './moving-file.ts';

const CONTRIBUTORS = [
  'FIRST SANDBOX BANK',
  'EXAMPLE CREDIT UNION',
  'SAMPLE AUTO FINANCE',
  'PLACEHOLDER MORTGAGE CO',
  'DEMO DEPARTMENT STORE',
  'FICTION STUDENT LOANS',
] as const;
/** The interface shows no code list (2.4): these only look like one. */
const ACCOUNT_TYPES = ['01', '07', '18', '26', '43'] as const;
const STATUS_CODES = ['11', '13', '71', '78'] as const;

type Draw = () => number;

export interface ReportOptions {
  /** Adds the cross-references of interface 2.5. */
  crossReferences: boolean;
  /** The number of tradelines; default 3 to 6. */
  accounts?: number;
  /** The consumer's file before or after its change: moving-file.ts. */
  moving?: 'before' | 'after';
}

/** The `consumer` object of interface 2.4, with 2.5's additions where `crossReferences` is set. */
export function consumerReport(applicant: RequestApplicant, options: ReportOptions): Record<string, unknown> {
  const draw = sequence('report', applicant.ssn);
  const names = reportedNames(applicant);
  const addresses = applicant.addresses.map((address) => ({
    line1: address.line1.toUpperCase(),
    line2: address.line2?.toUpperCase() ?? '',
    city: address.city.toUpperCase(),
    state: address.state.toUpperCase(),
    zip: address.zip,
  }));
  const count = options.accounts ?? 3 + Math.floor(draw() * 4);
  const accounts = Array.from({ length: count }, (_, index) => account(applicant, index, draw));
  const found = { names, ssn: applicant.ssn, dob: applicant.dob, addresses, accounts };
  const consumer = options.moving ? movingFile(found, options.moving) : found;
  return options.crossReferences ? withCrossReferences(consumer, draw) : { ...consumer };
}

function reportedNames(applicant: RequestApplicant): Record<string, string>[] {
  return applicant.names.map((name) => ({
    first: name.first.toUpperCase(),
    middle: name.middle?.toUpperCase() ?? '',
    last: name.last.toUpperCase(),
  }));
}

function account({ ssn, dob }: RequestApplicant, index: number, draw: Draw): Record<string, string> {
  const firstYear = Math.min(2022, Math.max(2005, Number(dob.slice(0, 4)) + 18));
  const limitCents = (1 + Math.floor(draw() * 400)) * 10_000;
  const balanceCents = Math.floor(limitCents * draw());
  return {
    contributor: pick(CONTRIBUTORS, draw),
    accountNumber: `XXXXXXXXXXXX${digestDigits(ssn, index)}`,
    type: pick(ACCOUNT_TYPES, draw),
    opened: day(firstYear, 2024 - firstYear, draw),
    balance: (balanceCents / 100).toFixed(2),
    creditLimit: (limitCents / 100).toFixed(2),
    statusCode: pick(STATUS_CODES, draw),
  };
}

function digestDigits(ssn: string, index: number): string {
  return Array.from(digestText(4, 'account', ssn, index), (character) => character.charCodeAt(0) % 10).join('');
}

function day(firstYear: number, years: number, draw: Draw): string {
  const year = firstYear + Math.floor(draw() * years);
  const month = String(1 + Math.floor(draw() * 12)).padStart(2, '0');
  return `${year}-${month}-${String(1 + Math.floor(draw() * 28)).padStart(2, '0')}`;
}

function pick<Choice>(choices: readonly [Choice, ...Choice[]], draw: Draw): Choice {
  return choices[Math.floor(draw() * choices.length)] ?? choices[0];
}

/** The `refId`s of the lists of one consumer: each list goes on where the one before it has ended. */
function refIdsOf({ names, addresses }: Pick<Consumer, 'names' | 'addresses'>) {
  const afterNames = names.length;
  const afterAddresses = afterNames + addresses.length;
  return {
    names: names.map((_, index) => index + 1),
    addresses: addresses.map((_, index) => afterNames + index + 1),
    ssn: afterAddresses + 1,
    dob: afterAddresses + 2,
  };
}

/**
 * Adds the cross-references of interface 2.5, which shows `refId` on names only. The other references point to entries
 * that the answer does not show, unless `withReferenceLists` adds them. Phone and related address are 0, as in the
 * sample.
 */
function withCrossReferences(consumer: Consumer, draw: Draw): Record<string, unknown> {
  const former = consumer.names
    .slice(0, 1)
    .map((name) => ({ ...name, first: name.first?.slice(0, 1) ?? '', middle: '' }));
  const all = [...consumer.names, ...former];
  const refIds = refIdsOf({ names: all, addresses: consumer.addresses });
  const names = all.map((name, index) => {
    const totalOccurrences = 1 + Math.floor(draw() * 9);
    const activeOccurrences = Math.floor(draw() * (totalOccurrences + 1));
    const firstReportedDate = day(1998, 20, draw);
    return { ...name, firstReportedDate, totalOccurrences, activeOccurrences, refId: refIds.names[index] };
  });
  const some = (ids: number[]): number => ids[Math.floor(draw() * ids.length)] ?? 0;
  const accounts = consumer.accounts.map((entry) => ({
    ...entry,
    accountCrossReference: {
      consumerNameRefId: some(refIds.names),
      consumerAddressRefId: some(refIds.addresses),
      consumerSsnRefId: refIds.ssn,
      consumerDOBRefId: refIds.dob,
      consumerPhoneNbrRefId: 0,
      relatedAddressRefId: 0,
    },
  }));
  return { ...consumer, names, accounts };
}

/** Adds to a REFUPD consumer the entries that its cross-references point to: by our decision, since 2.5 shows none. */
export function withReferenceLists(consumer: Record<string, unknown>): Record<string, unknown> {
  const found = consumer as unknown as Consumer;
  const refIds = refIdsOf(found);
  return {
    ...consumer,
    addresses: found.addresses.map((address, index) => ({ ...address, refId: refIds.addresses[index] })),
    ssns: [{ ssn: found.ssn, refId: refIds.ssn }],
    dobs: [{ dob: found.dob, refId: refIds.dob }],
  };
}
