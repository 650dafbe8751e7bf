/**
 * The table of operations: what each takes and answers with. The HTTP API (api/lists/listing-routes.ts) and the command line
 * (cli/commands/listing-commands.ts) print their fronts from it.
 */
import type { z } from 'zod';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReadersReach } from '../ledger/owners.ts';
import { capitalize } from '../words/writer.ts';
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

export function defineListing<Input extends z.ZodObject, Output extends z.ZodObject, Row extends z.infer<Output>>(
  listing: ListingOf<Input, Output, Row>,
): Listing {
  return listing as unknown as Listing;
}

/** `unmatchedConsents` of `unmatched-consents`. */
export function toCamelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `auditDecisions`, `listInquiries`. */
export function toOperationId({ name, path }: Pick<Listing, 'name' | 'path'>): string {
  return `${path === undefined ? 'audit' : 'list'}${capitalize(toCamelCase(name))}`;
}
