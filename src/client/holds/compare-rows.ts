/** Compares the ledger's rows of what needs a person with what the runs themselves say. It changes nothing. */
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../base/defined.ts';
import { inParallel } from '../../base/in-parallel.ts';
import type { WorkEnd, WorkRow } from '../../ledger/holds/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { JourneyStatus } from '../../messages/journey/shapes.ts';
import { PORTFOLIO_UNAVAILABLE } from '../../messages/portfolio/limits.ts';
import { ownerIdOfWorkflow, ownerOf, rowOwnerId, workflowIdOf } from '../../model/owner-id.ts';
import { JourneyNotFoundError, WorkerUnavailableError } from '../connection/errors.ts';
import { type HoldsContext, runningJourneys } from './open-holds.ts';
import { isRunOpen, readOpenRows } from './rows-as-holds.ts';

/**
 * - `noRow`: the run waits, and lists without a worker lack it
 * - `noHold`: the row is open, and its run does not wait
 * - `otherHold`: the run waits for a decision about another attempt, or for another reason
 */
export interface RowDifference {
  kind: 'noRow' | 'noHold' | 'otherHold';
  /** The owner's id. */
  ownerId: string;
  customerTraceNumber?: string;
  /** By the run where it waits, else by the row. */
  reason: string;
  words: string;
  mendedBy: string;
}

export interface ComparedRows {
  differences: RowDifference[];
  compared: number;
  /** Runs that no worker answered for. */
  unanswered: string[];
  /** `false`: there are more runs than were asked. */
  isWhole: boolean;
}

/** Enough to be quick, little enough for a development server. */
const AT_ONCE = 8;
/** A run that has just gone on hold tells the ledger within a moment. */
const LOOK_AGAIN_AFTER_MS = 2_000;

interface Need {
  held: boolean;
  ownerId: string;
  reason: string;
  customerTraceNumber?: string;
  attempt?: number;
}

type AnyStatus = Pick<JourneyStatus, 'holds'> &
  Partial<Pick<JourneyStatus, 'shares' | 'stages'>> & { attention?: string; customerTraceNumber?: string };

/**
 * Compares at most `limit` running runs. A difference counts where it is there at a second look, too.
 *
 * @internal
 */
export async function compareRows(context: HoldsContext, limit: number): Promise<ComparedRows> {
  const ledger = await context.ledger?.();
  if (!ledger) throw new Error('a client without a ledger has nothing to compare');
  const [listed, rows] = [await runningJourneys(context), await readOpenRows(ledger)];
  const all = [...new Set([...listed.keys(), ...rows.map(({ ownerId }) => workflowIdOf(ownerId))])];
  const chosen = all.slice(0, limit);
  const first = await compareRuns(context, ledger, chosen);
  const again = [...new Set(first.differences.map(({ ownerId }) => workflowIdOf(ownerId)))];
  if (again.length > 0) await delay(LOOK_AGAIN_AFTER_MS);
  const second = again.length > 0 ? await compareRuns(context, ledger, again) : { differences: [], unanswered: [] };
  return {
    differences: second.differences,
    compared: chosen.length,
    unanswered: [...first.unanswered, ...second.unanswered],
    isWhole: chosen.length === all.length,
  };
}

async function compareRuns(
  { client, status }: HoldsContext,
  ledger: Ledger,
  workflowIds: readonly string[],
): Promise<Pick<ComparedRows, 'differences' | 'unanswered'>> {
  const unanswered: string[] = [];
  const differences = await inParallel(workflowIds, AT_ONCE, async (workflowId) => {
    const ownerId = ownerIdOfWorkflow(workflowId) ?? workflowId;
    if (unanswered.length >= AT_ONCE) {
      unanswered.push(ownerId);
      return [];
    }
    try {
      // What a run that is gone has left, nothing contradicts.
      if (!(await isRunOpen(client, workflowId))) return [];
      const [says, rows] = await Promise.all([status(ownerId), ledger.work.of(ownerId)]);
      return differencesOf(needsOf(ownerId, says), rows);
    } catch (error) {
      if (error instanceof WorkerUnavailableError) unanswered.push(ownerId);
      else if (!(error instanceof JourneyNotFoundError)) throw error;
      return [];
    }
  });
  return { differences: differences.flat(), unanswered };
}

/** What the status of a run says that it needs. */
function needsOf(ownerId: string, says: AnyStatus): Need[] {
  const { id } = ownerOf(ownerId);
  const { attention, holds, stages = [], shares = [] } = says;
  return [
    ...holds.map(({ accountId, failureType: reason, attempts: attempt, customerTraceNumber }) => ({
      ...{ held: true, reason, attempt, customerTraceNumber },
      ownerId: accountId === undefined ? ownerId : rowOwnerId(id, accountId),
    })),
    ...[...stages, ...shares].flatMap(({ attention: reason, customerTraceNumber }) =>
      reason === undefined ? [] : [{ held: false, ownerId, reason, ...defined({ customerTraceNumber }) }],
    ),
    ...(attention === undefined
      ? []
      : [{ held: false, ownerId, reason: attention, ...defined({ customerTraceNumber: says.customerTraceNumber }) }]),
  ];
}

/** @param rows all that there ever were of the run */
export function differencesOf(
  needs: readonly Need[],
  rows: readonly (WorkRow & { closed?: WorkEnd })[],
): RowDifference[] {
  const open = rows.filter(({ closed }) => !closed);
  const isAbout = (row: WorkRow, need: Need) =>
    (row.kind === 'held') === need.held &&
    row.customerTraceNumber === need.customerTraceNumber &&
    (need.held || (row.reason === need.reason && row.ownerId === need.ownerId));
  const ofNeeds = needs.flatMap((need): RowDifference[] => {
    const { held, ownerId, reason, customerTraceNumber, attempt } = need;
    const row = open.find((one) => isAbout(one, need));
    if (row && (!held || (row.attempt === attempt && row.reason === reason))) return [];
    const isSeen = !held && rows.some((one) => isAbout(one, need) && one.closed?.how === 'seen');
    if (isSeen) return [];
    const kind = row ? 'otherHold' : 'noRow';
    return [{ ...{ kind, ownerId, reason }, ...defined({ customerTraceNumber }), ...WORDS[kind] }];
  });
  const ofRows = open
    // Other rows stand by what the ledger has, or by what does not end with a run.
    .filter(({ kind, reason }) => kind === 'held' || reason === PORTFOLIO_UNAVAILABLE)
    .filter((row) => !needs.some((need) => isAbout(row, need)))
    .map(({ ownerId, reason, customerTraceNumber }) => ({
      ...{ kind: 'noHold' as const, ownerId, reason },
      ...defined({ customerTraceNumber }),
      ...WORDS.noHold,
    }));
  return [...ofNeeds, ...ofRows];
}

const NOTE_IS_LATE =
  '`credit-journey holds` asks the run, and lists it. `temporal workflow describe` shows whether its activity noteWork fails';

const WORDS: Record<RowDifference['kind'], Pick<RowDifference, 'words' | 'mendedBy'>> = {
  noRow: { words: 'the run waits, and the ledger has no row of it', mendedBy: NOTE_IS_LATE },
  otherHold: { words: 'the run waits for another decision than the row says', mendedBy: NOTE_IS_LATE },
  noHold: {
    words: 'the row is open, and its run does not wait for it',
    mendedBy:
      'the next attempt, or the end of the run, closes it; a reset of the run (`temporal workflow reset`) has it say anew what it needs',
  },
};
