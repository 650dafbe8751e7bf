/** Which holds a command is about. */
import type { Command } from 'commander';
import { defined } from '../../base/defined.ts';
import { parseDurationMs, parseInstantMs } from '../../base/instants.ts';
import type { HoldsQuery, OpenHold } from '../../client.ts';
import { FAILURE_TYPES, type FailureType, isFailureType } from '../../model/failure-types.ts';
import { PRODUCTS } from '../../model/products.ts';
import { UsageError } from '../output/errors.ts';

/** What a hold must have; one of which it is not known is left out. */
export interface HoldFilter {
  /** A code or a name, as it was sent. */
  endUser?: string;
  product?: string;
  profile?: string;
}

export function withHoldFilters(command: Command): Command {
  return command
    .option('--end-user <name>', 'only for this end user: its code or its name')
    .option('--product <productCode>', 'only of this product')
    .option('--profile <name>', 'only of this gateway profile');
}

/** @throws UsageError */
export function holdFilterOf({ endUser, product, profile }: HoldFilter): HoldFilter {
  if (product !== undefined && !(PRODUCTS as readonly string[]).includes(product)) {
    throw new UsageError(`--product must be one of ${PRODUCTS.join(', ')}`);
  }
  return defined({ endUser, product, profile });
}

export function isFiltered(filter: HoldFilter): boolean {
  return Object.keys(filter).length > 0;
}

export function passes(hold: OpenHold, { endUser, product, profile }: HoldFilter): boolean {
  return (
    (endUser === undefined || hold.endUserCode === endUser || hold.endUser === endUser) &&
    (product === undefined || hold.productCode === product) &&
    (profile === undefined || hold.profile === profile)
  );
}

export function queryOf({ type, since, ledger }: { type?: string; since?: string; ledger: boolean }): HoldsQuery {
  const failureType = failureTypeOf(type);
  const from = sinceOf(since);
  return {
    ledger,
    ...defined({ failureType, since: from }),
  };
}

function failureTypeOf(type: string | undefined): FailureType | undefined {
  if (type === undefined || isFailureType(type)) return type;
  throw new UsageError(`--type must be one of ${FAILURE_TYPES.join(', ')}`);
}

/** `--since`: an instant, or how long ago. Returns RFC 3339. */
export function sinceOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return new Date(Date.now() - durationMs).toISOString();
  if (parseInstantMs(text) !== null) return text;
  throw new UsageError(
    '--since must be an instant (2026-01-31T14:00:00Z) or how long ago, in days and time (PT2H, P1DT12H)',
  );
}
