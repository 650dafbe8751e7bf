/** When an attempt of unknown outcome may be sent again: not while its request may still arrive. */
import type { HoldAction } from './failure-types.ts';

/** Why a `resend` is refused before this instant. */
export function resendRule(resendFrom: string): string {
  return `the first request may still arrive: resend is taken from ${resendFrom} on`;
}

/** Why this decision comes too early, or `null`. The ledger's own clock decides; this answers sooner. */
export function resendProblem(
  { resendFrom }: { resendFrom?: string },
  { action }: { action: HoldAction },
  nowMs: number,
): string | null {
  if (action !== 'resend' || resendFrom === undefined || Date.parse(resendFrom) <= nowMs) return null;
  return resendRule(resendFrom);
}
