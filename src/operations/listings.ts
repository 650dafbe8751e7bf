/**
 * Every listing of the ledger's records: what it takes and answers with. The HTTP API (operations/listing-operations.ts) and the
 * command line (cli/commands/listing-commands.ts) print their fronts from this table.
 */
import type { z } from 'zod';
import { InquiryTotals, RECORDS } from '../ledger/audit/audited.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReadersReach } from '../ledger/owners.ts';
import { capitalize, toCamelCase } from '../words/writer.ts';
import type { Scope } from './scopes.ts';

/** Sums over the rows of a listing. The command line also prints them below the rows. */
interface Totals<Row> {
  summary: string;
  row: z.ZodObject;
  create(): { add(row: Row): void; readonly list: readonly object[] };
}

interface ListingOf<Input extends z.ZodObject, Output extends z.ZodObject, Row extends z.infer<Output>> {
  /** Names the command, the member of its document and the last part of the path. */
  name: string;
  /** The path of a resource. Every other listing is below `/v1/audit`. */
  path?: `/v1/${string}`;
  summary: string;
  description?: string;
  scope: Scope;
  /** The conditions, all of them text: they come from a query or from a command line. */
  input: Input;
  /** One row. Its members are the columns of CSV, in their order. */
  output: Output;
  /** The member with the instant by which the ledger orders its rows. */
  at: keyof Row & string;
  /** The members that tell rows of one instant apart. */
  key: readonly (keyof Row & string)[];
  /** The oldest rows come first. `from` may be later than the caller has asked for: where the page before has ended. */
  read(ledger: Ledger, query: z.infer<Input> & ReadersReach): AsyncIterable<Row>;
  totals?: Totals<Row>;
}

/** A listing of one kind of ledger record. HTTP serves it in pages, and the command line streams it. */
// biome-ignore lint/suspicious/noExplicitAny: a table has listings of any row
export type Listing = ListingOf<z.ZodObject, z.ZodObject, any>;

function defineListing<Input extends z.ZodObject, Output extends z.ZodObject, Row extends z.infer<Output>>(
  listing: ListingOf<Input, Output, Row>,
): Listing {
  return listing as unknown as Listing;
}

/** `auditDecisions`, `listInquiries`. */
export function toOperationId({ name, path }: Pick<Listing, 'name' | 'path'>): string {
  return `${path === undefined ? 'audit' : 'list'}${capitalize(toCamelCase(name))}`;
}

export const inquiries = defineListing({
  name: 'inquiries',
  path: '/v1/inquiries',
  summary: 'list the attempts at the gateway: for whom, why, by which authorization, and the outcome',
  description: 'The rows contain nothing personal. An attempt belongs to the period in which it was claimed.',
  scope: 'inquiries:read',
  ...RECORDS.inquiries,
  at: 'claimedAt',
  key: ['customerTraceNumber', 'attempt'],
  read: (ledger, query) => ledger.inquiriesBetween(query),
  totals: {
    summary: 'Count the attempts that were sent and posted, by product and end user, to compare with an invoice',
    row: RECORDS.inquiries.total,
    create: () => new InquiryTotals(),
  },
});

export const decisions = defineListing({
  name: 'decisions',
  summary: 'list decisions: who decided what about which inquiry or run, when and why',
  scope: 'inquiries:read',
  ...RECORDS.decisions,
  at: 'recordedAt',
  key: ['runKey', 'shareId', 'customerTraceNumber', 'decisionId', 'action'],
  read: (ledger, query) => ledger.decisionsBetween(query),
});

export const consents = defineListing({
  name: 'consents',
  summary: 'list consents: who granted or refused what, when and with which evidence, and which decision now counts',
  scope: 'inquiries:read',
  ...RECORDS.consents,
  at: 'recordedAt',
  key: ['runKey', 'shareId', 'applicantId', 'consentId', 'decision'],
  async *read(ledger, { proofs, ...query }) {
    for await (const { proof, ...row } of ledger.consentsBetween(query)) {
      // The content of a proof belongs to the consent system, and is long. The reader gets it only on request.
      yield { ...row, stands: await ledger.stands(row), proof: proofs && proof };
    }
  },
});

export const unmatchedConsents = defineListing({
  name: 'unmatched-consents',
  path: '/v1/unmatched-consents',
  summary: 'list the consents that match no journey, share or applicant, the oldest first',
  description:
    'The ledger keeps them, and they count once it knows what they name. The API cannot tell which token an unknown id will ' +
    'belong to, so only a token for all profiles and end users sees such an id.',
  scope: 'holds:read',
  ...RECORDS.unmatchedConsents,
  at: 'since',
  key: ['runKey', 'shareId', 'applicantId', 'consentId', 'decision'],
  read: (ledger, query) => ledger.unmatchedBetween(query),
});

export const shares = defineListing({
  name: 'shares',
  summary: 'list posted shares: who shared what with whom, when and under whose consent',
  scope: 'inquiries:read',
  ...RECORDS.shares,
  at: 'claimedAt',
  key: ['customerTraceNumber', 'attempt'],
  read: (ledger, query) => ledger.sharesBetween(query),
});

export const disposals = defineListing({
  name: 'disposals',
  summary: 'list disposals and legal holds: who did what, when and why',
  scope: 'inquiries:read',
  ...RECORDS.disposals,
  at: 'recordedAt',
  key: ['kind', 'runKey', 'matter'],
  read: (ledger, query) => ledger.disposalsBetween(query),
});

export const accesses = defineListing({
  name: 'accesses',
  summary: 'list readings: who read which report, when, and for which purpose',
  scope: 'inquiries:read',
  ...RECORDS.accesses,
  at: 'recordedAt',
  key: ['accessId'],
  read: (ledger, query) => ledger.accessesBetween(query),
});

export const LISTINGS = [inquiries, decisions, consents, unmatchedConsents, shares, disposals, accesses];
