/** Options that choose rows of the work queue. */
import type { Command } from 'commander';
import { omitUndefined } from '../../base/defined.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import { placeAfter, type WorkFilters } from '../../ledger/holds/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FAILURE_TYPES, isFailureType } from '../../model/failure-types.ts';
import { PRODUCTS } from '../../model/products.ts';
import type { OpenHold } from '../../operator/open-work.ts';
import { UsageError } from '../output/errors.ts';

export interface WorkOptions {
  /** A failure type. */
  type?: string;
  since?: string;
  /** The code or name that the inquiry was sent with. */
  endUser?: string;
  product?: string;
  profile?: string;
}

export function withWorkFilters(command: Command): Command {
  return command
    .option('--type <failureType>', 'only for this reason')
    .option('--since <when>', 'only from this instant on, or from so long ago (PT2H)')
    .option('--end-user <name>', 'only for this end user: its code or its name')
    .option('--product <productCode>', 'only of this product')
    .option('--profile <name>', 'only of this gateway profile');
}

/** The options, checked. */
export interface WorkQuery extends Omit<WorkOptions, 'type'> {
  filters: WorkFilters;
}

/** @throws UsageError */
export function readQuery({ type, since, endUser, product, profile }: WorkOptions): WorkQuery {
  if (type !== undefined && !isFailureType(type)) {
    throw new UsageError(`--type must be one of ${FAILURE_TYPES.join(', ')}`);
  }
  if (product !== undefined && !(PRODUCTS as readonly string[]).includes(product)) {
    throw new UsageError(`--product must be one of ${PRODUCTS.join(', ')}`);
  }
  const filters = omitUndefined({ reason: type, gatewayProfile: profile });
  return { filters, ...omitUndefined({ since: parseSince(since), endUser, product, profile }) };
}

/** Reads the rows that the options choose, the oldest first. */
export async function readHolds(ledger: Ledger, query: WorkQuery, more: WorkFilters = {}): Promise<OpenHold[]> {
  // Loaded when a command runs: `--help` needs none of it.
  const { readOpenWork, toHold } = await import('../../operator/open-work.ts');
  const { filters, since, endUser, product } = query;
  const after = since === undefined ? undefined : placeAfter({ since, workId: '' });
  const found: OpenHold[] = [];
  for await (const { rows } of readOpenWork(ledger, { ...filters, ...more, after })) {
    found.push(...rows.map(toHold).filter((hold) => passes(hold, { endUser, product })));
  }
  return found;
}

function passes(
  hold: OpenHold,
  { endUser, product }: { endUser: string | undefined; product: string | undefined },
): boolean {
  return (
    (endUser === undefined || hold.endUserCode === endUser || hold.endUser === endUser) &&
    (product === undefined || hold.productCode === product)
  );
}

/** `--since`: an instant, or how long ago. Returns RFC 3339. */
export function parseSince(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return new Date(Date.now() - durationMs).toISOString();
  if (parseInstantMs(text) !== null) return text;
  throw new UsageError(
    '--since must be an instant (2026-01-31T14:00:00Z) or how long ago, in days and time (PT2H, P1DT12H)',
  );
}
