/** Which holds a command is about. */
import { defined } from '../../base/defined.ts';
import { parseDurationMs } from '../../base/durations.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { HoldsQuery } from '../../client.ts';
import { FAILURE_TYPES, type FailureType, isFailureType } from '../../model/failure-types.ts';
import { UsageError } from '../output/errors.ts';

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
