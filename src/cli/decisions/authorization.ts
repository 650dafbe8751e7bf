/** `--by` and `--reason` of entries in the ledger's log. */

import type { Command } from 'commander';
import { HIDDEN_CHARACTER } from '../../base/hidden-characters.ts';
import type { Authorization } from '../../ledger/orders.ts';
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
export function checkedAuthorization({ by = '', reason = '' }: AuthorizationOptions): Authorization {
  const isGood = (text: string) => text.trim() !== '' && text.length <= MAX_LENGTH && !HIDDEN_CHARACTER.test(text);
  const wrong = Object.entries({ by, reason }).flatMap(([name, text]) => (isGood(text) ? [] : [`--${name}`]));
  if (wrong.length === 0) return { by, reason };
  throw new UsageError(`${wrong.join(' and ')} must be 1 to ${MAX_LENGTH} characters, and no control characters`);
}
