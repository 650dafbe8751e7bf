/** How long keys have been encrypting (docs/protection.md: at most 90 days). */
import { parseInstantMs } from '../model/instants.ts';
import type { KeyRing, RingKey } from './key-ring.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** After this a current key must be replaced. */
export const MAX_ENCRYPTING_DAYS = 90;
/** From this day on it is said: two weeks to act in. */
export const WARN_FROM_DAYS = 76;

export interface KeyAge extends Pick<RingKey, 'id' | 'use' | 'status' | 'createdAt'> {
  retiredAt?: string;
  /** Whole days since it was made. */
  ageDays: number;
  /** `retired`: it encrypts nothing, and may be of any age. */
  verdict: 'good' | 'due' | 'overdue' | 'retired';
}

/** Every key of the ring with its age at `nowMs`; no secrets. */
export function keyAges(ring: Pick<KeyRing, 'keys'>, nowMs: number = Date.now()): KeyAge[] {
  return ring.keys.map(({ id, use, status, createdAt, retiredAt }) => {
    const ageMs = nowMs - (parseInstantMs(createdAt) ?? 0);
    const ageDays = Math.max(0, Math.floor(ageMs / DAY_MS));
    const verdict = status === 'retired' ? 'retired' : verdictOf(ageMs);
    return { id, use, status, createdAt, ...(retiredAt === undefined ? {} : { retiredAt }), ageDays, verdict };
  });
}

function verdictOf(ageMs: number): KeyAge['verdict'] {
  if (ageMs > MAX_ENCRYPTING_DAYS * DAY_MS) return 'overdue';
  return ageMs >= WARN_FROM_DAYS * DAY_MS ? 'due' : 'good';
}
