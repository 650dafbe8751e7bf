/**
 * Validation rules beyond a message's shape, as the published schemas have them. A validator of an update is never
 * replayed, so its rules may change at any time; a signal that counted once must count again on replay. Each returns a
 * path and a rule, never a value, or `null`.
 */

import { isRecord } from '../../base/is-record.ts';
import { EVIDENCE_REFERENCE, mayHoldSsn } from '../../model/opaque-id.ts';

/** Not for signals: what is in category C changes with the runtime's Unicode tables. */
const FORBIDDEN_CHARACTER = /[\p{C}\p{Zl}\p{Zp}]/u;

/** @param message that keeps to its shape. An activity holds applicants against the interface's table. */
export function updateProblem(message: unknown): string | null {
  if (!isRecord(message)) return null;
  const { applicants: _, ...rest } = message;
  return textProblem(rest, '') ?? evidenceProblem(message);
}

function textProblem(value: unknown, path: string): string | null {
  if (typeof value === 'string') {
    return FORBIDDEN_CHARACTER.test(value) ? `${path} must not hold control characters` : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const problem = textProblem(inner, `${path}/${name}`);
    if (problem !== null) return problem;
  }
  return null;
}

/** Evidence is kept in the ledger as it came: what looks personal must not get there. */
export function evidenceProblem(message: unknown): string | null {
  const evidence = isRecord(message) ? message.evidence : undefined;
  const reference = isRecord(evidence) ? evidence.reference : undefined;
  if (typeof reference !== 'string') return null;
  if (!EVIDENCE_REFERENCE.test(reference)) {
    return '/evidence/reference must be printable characters without spaces and "@"';
  }
  if (!mayHoldSsn(reference)) return null;
  return '/evidence/reference must be opaque: it looks as if it held a social security number';
}
