/** How long each key has been encrypting (docs/protection.md: at most 90 days). */
import { defined } from '../../base/defined.ts';
import { parseInstantMs } from '../../base/instants.ts';
import type { RingKey } from './key-ring.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The age at which a current key must be replaced. */
export const MAX_ENCRYPTING_DAYS = 90;
/** The age from which warnings appear: two weeks to act in. */
const WARN_FROM_DAYS = 76;

export interface KeyAge extends Pick<RingKey, 'id' | 'use' | 'status' | 'createdAt'> {
  retiredAt?: string;
  /** The key management service that wraps it; absent where the file has it in the clear. */
  wrappedBy?: string;
  /** Whole days since the key was made. */
  ageDays: number;
  /** `retired`: the key encrypts nothing more, and may have any age. */
  verdict: 'good' | 'due' | 'overdue' | 'retired';
}

type KeyFacts = Pick<RingKey, 'id' | 'use' | 'status' | 'createdAt'> & {
  retiredAt?: string | undefined;
  kms?: string | undefined;
};

/** Every key of the ring, or of its file, with its age at `nowMs`; no secrets. */
export function keyAges({ keys }: { keys: readonly KeyFacts[] }, nowMs: number = Date.now()): KeyAge[] {
  return keys.map(({ id, use, status, createdAt, retiredAt, kms }) => {
    const ageMs = nowMs - (parseInstantMs(createdAt) ?? 0);
    const ageDays = Math.max(0, Math.floor(ageMs / DAY_MS));
    const verdict = status === 'retired' ? 'retired' : verdictOf(ageMs);
    const optional = defined({ retiredAt, wrappedBy: kms });
    return { id, use, status, createdAt, ...optional, ageDays, verdict };
  });
}

function verdictOf(ageMs: number): KeyAge['verdict'] {
  if (ageMs > MAX_ENCRYPTING_DAYS * DAY_MS) return 'overdue';
  return ageMs >= WARN_FROM_DAYS * DAY_MS ? 'due' : 'good';
}
