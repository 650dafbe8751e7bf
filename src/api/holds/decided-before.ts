/** What another person has decided about an attempt: for the one who comes second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { LedgerUnavailableError } from '../../ledger/errors.ts';
import type { DecisionRecord } from '../../ledger/records.ts';
import type { ApiServices } from '../services.ts';
import { isOwnOf } from './own-inquiry.ts';

export const decidedSchema = z
  .object({
    decisionId: z.string(),
    action: z.string(),
    by: z.string(),
    at: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'decidedBefore', description: 'Another decision about this attempt, which stands.' });

export type DecidedBefore = z.infer<typeof decidedSchema>;

/** A run takes a decision a moment before the ledger has it. */
const TRIES = 5;
const PAUSE_MS = 200;

interface Asked {
  customerTraceNumber: string;
  attempt: number;
  decisionId: string;
}

/** `undefined` also where the ledger cannot say. */
export async function decidedBefore(
  { openLedger }: Pick<ApiServices, 'openLedger'>,
  ownerId: string,
  { customerTraceNumber, attempt, decisionId }: Asked,
  tries = TRIES,
): Promise<DecidedBefore | undefined> {
  const ledger = await openLedger();
  for (let left = tries; left > 0; left--) {
    const found = await ledger.inquiry(customerTraceNumber).catch((error: unknown) => {
      if (error instanceof LedgerUnavailableError) return null;
      throw error;
    });
    const isOther = (one: DecisionRecord) =>
      one.attempt === attempt && one.decisionId !== decisionId && one.action !== 'repeat';
    const other = found && isOwnOf(ownerId, found.ownerId) ? found.decisions.findLast(isOther) : undefined;
    if (other) {
      const { action, by, decidedAt } = other;
      return { decisionId: other.decisionId, action, by, at: decidedAt };
    }
    if (left > 1) await sleep(PAUSE_MS);
  }
  return undefined;
}
