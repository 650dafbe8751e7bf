/** Which holds a command is about. */
import type { HoldsQuery } from '../../client.ts';
import { FAILURE_TYPES, type FailureType, isFailureType } from '../../model/failure-types.ts';
import { UsageError } from '../output/errors.ts';
import { sinceOf } from '../output/since.ts';

export function queryOf({ type, since, ledger }: { type?: string; since?: string; ledger: boolean }): HoldsQuery {
  const failureType = failureTypeOf(type);
  const from = sinceOf(since);
  return {
    ledger,
    ...(failureType === undefined ? {} : { failureType }),
    ...(from === undefined ? {} : { since: from }),
  };
}

function failureTypeOf(type: string | undefined): FailureType | undefined {
  if (type === undefined || isFailureType(type)) return type;
  throw new UsageError(`--type must be one of ${FAILURE_TYPES.join(', ')}`);
}
