/** The key of a decision system, made once in each process, and its proofs. */
import { decisionContent, type ProvableDecision, type ProvableRepeat, repeatContent } from '../../src/client.ts';
import { inAnHour, newSigningKey } from './signing-keys.ts';

const key = await newSigningKey('decisions');

export const DECISION_KEYS = key.keySet;

/** Makes a proof that is valid for an hour. `claims` override its claims, and `undefined` leaves one out. */
export function signDecision(decision: unknown, claims: Record<string, unknown> = {}): Promise<string> {
  return key.sign({ decision, exp: inAnHour(), iat: Math.floor(Date.now() / 1000), ...claims });
}

/** Adds a proof of the message, or of the changed message. */
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
