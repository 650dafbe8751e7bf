/**
 * Counts and sums of what changed between two reports: the only part of a comparison that a journey's result holds.
 */
import { z } from 'zod';
import { STAGES } from '../../model/products.ts';

const count = z.int().min(0);
const figure = z.string().describe('A decimal string.');
const sums = z.object({ balance: figure, creditLimit: figure });
const beforeAndAfter = z.object({ earlier: figure, later: figure });

const countsSchema = z.object({
  applicantsCompared: count,
  applicantsJoined: count,
  applicantsLeft: count,
  newAccounts: count,
  vanishedAccounts: count,
  closedAccounts: count,
  reopenedAccounts: count,
  /** All other changes of a status code. */
  statusChanges: count,
  balanceMoves: count,
  creditLimitMoves: count,
  newNames: count,
  vanishedNames: count,
  newAddresses: count,
  vanishedAddresses: count,
  unreadable: count,
});

type CountedChange = Exclude<keyof typeof countsSchema.shape, 'applicantsCompared'>;

export const COUNTED_CHANGES = Object.keys(countsSchema.omit({ applicantsCompared: true }).shape) as CountedChange[];

const totalsSchema = z.object({
  balance: beforeAndAfter,
  creditLimit: beforeAndAfter,
  newAccounts: sums,
  vanishedAccounts: sums,
});

/**
 * Why a comparison is missing: a report was disposed of, is not in the ledger, or cannot be read, or the attempt could
 * not compare it.
 */
const comparisonGap = z.enum(['disposed', 'noReport', 'unreadable', 'notCompared']);

const comparedWith = z.enum(STAGES);

export const stageChangesSchema = z
  .union([
    z.object({ comparedWith, counts: countsSchema, totals: totalsSchema }).meta({ id: 'comparedStage' }),
    z.object({ comparedWith, unavailable: comparisonGap }).meta({ id: 'stageNotCompared' }),
  ])
  .meta({ id: 'stageChanges', description: 'The changes since the report before (docs/changes.md).' });

export type ChangeCounts = z.infer<typeof countsSchema>;
export type ChangeTotals = z.infer<typeof totalsSchema>;
export type ComparisonGap = z.infer<typeof comparisonGap>;
export type StageChanges = z.infer<typeof stageChangesSchema>;

export type ChangeSummary = { counts: ChangeCounts; totals: ChangeTotals };
