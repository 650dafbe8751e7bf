/** The key of those who decide, for one process, and the proofs that they make. */
import { decisionContent, type ProvableDecision, type ProvableRepeat, repeatContent } from '../../src/client.ts';
import { inAnHour, newSigningKey } from './signing-keys.ts';

const key = await newSigningKey('decisions');

export const DECISION_KEYS = key.keySet;

/** A proof of this content, good for an hour; `claims` stand above what it has by itself, `undefined` leaves one out. */
export function signDecision(decision: unknown, claims: Record<string, unknown> = {}): Promise<string> {
  return key.sign({ decision, exp: inAnHour(), iat: Math.floor(Date.now() / 1000), ...claims });
}

/** The message with a proof of it, or of what it is changed to. */
export async function provenDecision<T extends ProvableDecision>(
  message: T,
  change: Partial<ProvableDecision> = {},
  claims: Record<string, unknown> = {},
): Promise<T & { proof: string }> {
  const content = decisionContent('sandbox', { ...message, ...change });
  return { ...message, proof: await signDecision(content, claims) };
}

export async function provenRepeat<T extends ProvableRepeat>(message: T): Promise<T & { proof: string }> {
  return { ...message, proof: await signDecision(repeatContent('sandbox', message)) };
}
