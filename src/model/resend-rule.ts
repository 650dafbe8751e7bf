/** When an attempt of unknown outcome may be sent again: only after its request can no longer arrive. */
import type { HoldAction } from './failure-types.ts';

/** The rule that refuses a `resend` before this instant. */
export function resendRule(resendFrom: string): string {
  return `the first request may still arrive: resend is taken from ${resendFrom} on`;
}

/**
 * Why this decision comes too early, or `null`. The ledger decides by its own clock; this check only answers sooner.
 */
export function resendProblem(
  { resendFrom }: { resendFrom?: string },
  { action }: { action: HoldAction },
  nowMs: number,
): string | null {
  if (action !== 'resend' || resendFrom === undefined || Date.parse(resendFrom) <= nowMs) return null;
  return resendRule(resendFrom);
}
