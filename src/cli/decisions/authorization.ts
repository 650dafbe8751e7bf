/** `--by` and `--reason` of entries in the ledger's log. */

import type { Command } from 'commander';
import { HIDDEN_CHARACTER } from '../../base/hidden-characters.ts';
import type { Authorization } from '../../ledger/retention/retention.ts';
import { UsageError } from '../output/errors.ts';

export interface AuthorizationOptions {
  by?: string;
  reason?: string;
}

const MAX_LENGTH = 500;

export function withAuthorizationOptions(command: Command): Command {
  return command
    .option('--by <name>', 'who asks for it; kept in the ledger')
    .option('--reason <text>', 'why; kept in the ledger, so nothing personal about the consumer');
}

/** @throws UsageError */
export function checkedAuthorization({ by, reason }: AuthorizationOptions): Authorization {
  const missing = Object.entries({ by, reason }).flatMap(([name, text]) => (text?.trim() ? [] : [`--${name}`]));
  if (missing.length > 0) throw new UsageError(`${missing.join(' and ')} must be given`);
  const authorization = { by: by ?? '', reason: reason ?? '' };
  const long = Object.entries(authorization).find(([, text]) => text.length > MAX_LENGTH);
  if (long) throw new UsageError(`--${long[0]} must be 1 to ${MAX_LENGTH} characters`);
  const hidden = Object.entries(authorization).find(([, text]) => HIDDEN_CHARACTER.test(text));
  if (hidden) throw new UsageError(`--${hidden[0]} must not hold control characters`);
  return authorization;
}
