/** The scopes of the explorer: budgets of faults, each with the surroundings of its world. */
import type { TestContext } from 'node:test';
import type { Exploration, Scope } from './explorer.ts';
import type { EndName } from './explorer-scene.ts';
import type { Budget } from './explorer-world.ts';

const NOTHING: Budget = {
  crashes: 0,
  resets: 0,
  decisions: 0,
  timeOuts: 0,
  restarts: 0,
  swaps: 0,
  disposals: 0,
  miscounts: 0,
  withdrawals: 0,
  pauses: 0,
};
const EVERY_END: readonly EndName[] = ['outcome', 'unexpected', 'throttled', 'refused', 'notEntitled', 'lost'];
/** One end for each way in which a run continues: with an outcome, by a retry, by a decision. */
export const THREE_ENDS: readonly EndName[] = ['outcome', 'throttled', 'lost'];

function scope(name: string, budget: Partial<Budget>, rest: Partial<Scope> = {}): Scope {
  return { name, ends: THREE_ENDS, budget: { ...NOTHING, ...budget }, ...rest };
}

/** Any number: only two crashes and one late answer matter, and an unlimited budget needs no counting. */
const ANY = Number.POSITIVE_INFINITY;

export const ONE_RUN = scope(
  '2 workers, 3 attempts, any crashes, time-outs and late answers, 1 reset, 1 decision',
  { crashes: ANY, timeOuts: ANY, resets: 1, decisions: 1 },
  { ends: EVERY_END },
);
export const STARTED_AGAIN = scope('a run that is started again once with the same or with corrected applicants', {
  crashes: ANY,
  timeOuts: 1,
  restarts: 1,
  decisions: 1,
});
export const FOREIGN_LEDGER = scope(
  'a run that is reset once and whose ledger is replaced by a foreign ledger',
  { crashes: ANY, timeOuts: 1, resets: 1, decisions: 1, swaps: 1 },
  { swap: 'foreign' },
);
export const OLDER_LEDGER = scope(
  'a run whose ledger is replaced by a backup that lacks an attempt which the run has passed',
  { crashes: ANY, timeOuts: 1, decisions: 1, swaps: 1 },
  { swap: 'older' },
);
export const WATCHED_LEDGER = scope(
  'a run whose watched ledger is replaced by a backup that lacks only the attempt in flight',
  { crashes: ANY, timeOuts: 1, decisions: 1, swaps: 1 },
  { swap: 'olderByTheAttemptInFlight', isWatched: true },
);
export const MISCOUNTING_RUN = scope('a run that once asks for one attempt too many', {
  crashes: ANY,
  timeOuts: 1,
  decisions: 1,
  miscounts: 1,
});
export const DISPOSED_OF = scope('a run that is disposed of at any moment and started again once', {
  crashes: ANY,
  timeOuts: 1,
  restarts: 1,
  decisions: 1,
  disposals: 1,
});
export const CHANGED_CUSTOMER = scope(
  'a run that is started again once under a changed customer while the first run’s attempts continue',
  { crashes: ANY, timeOuts: 1, restarts: 1, decisions: 1 },
  { startedAgainFor: ['C'] },
);
export const MIXED_WORKERS = scope(
  'a run on workers of two versions, the older without disposal, and a migration at any moment',
  { crashes: ANY, timeOuts: 1, restarts: 1, decisions: 1, disposals: 1 },
  // Until the migration there is no disposal, and after it the older workers claim nothing: corrected applicants meet
  // nothing here that they do not meet in the scenes before.
  { mixedWorkers: true, startedAgainFor: ['A'] },
);
export const AWAITED_IN_AN_OLDER_LEDGER = scope(
  'a run without decisions whose ledger is replaced by a backup that lacks an attempt which the run waits for',
  { crashes: ANY, timeOuts: 1, swaps: 1 },
  { swap: 'olderThanAWait' },
);
export const WITHDRAWN = scope(
  'a run that is withdrawn while a partitioned worker has its attempt and no ledger has the withdrawal',
  { crashes: ANY, timeOuts: 1, decisions: 1, withdrawals: 1 },
  { withdrawsUnrecorded: true },
);
export const WITHDRAWN_AND_RESET = scope('a run that is reset once to before a withdrawal that the ledger has', {
  crashes: ANY,
  timeOuts: 1,
  resets: 1,
  withdrawals: 1,
});
export const REFUSED_INPUT = scope(
  'a run that is started again once and whose worker may refuse the input of an attempt',
  { crashes: ANY, restarts: 1, decisions: 1 },
  { refusesInput: true },
);
export const PAUSED = scope('a run whose inquiries an operator pauses once and resumes', {
  crashes: ANY,
  timeOuts: 1,
  decisions: 1,
  pauses: 1,
});
/** Scopes that are explored completely within seconds. */
export const SMALL_SCOPES = [
  MISCOUNTING_RUN,
  WITHDRAWN,
  WITHDRAWN_AND_RESET,
  AWAITED_IN_AN_OLDER_LEDGER,
  OLDER_LEDGER,
  WATCHED_LEDGER,
  REFUSED_INPUT,
  PAUSED,
];
/** Scopes whose complete exploration takes up to a minute. */
export const LARGE_SCOPES = [DISPOSED_OF, STARTED_AGAIN, MIXED_WORKERS, CHANGED_CUSTOMER, FOREIGN_LEDGER, ONE_RUN];
/** The small scopes come first, since a counterexample in them is found at once. */
export const SCOPES = [...SMALL_SCOPES, ...LARGE_SCOPES];

export function tell(t: TestContext, { name }: Scope, { states, steps, depth, counterexample }: Exploration): void {
  t.diagnostic(`${name}: ${states} states, ${steps} steps, the furthest ${depth} steps away`);
  if (!counterexample) return;
  t.diagnostic(`${counterexample.violation}:`);
  counterexample.trace.forEach((step, index) => {
    t.diagnostic(`  ${index + 1}. ${step}`);
  });
}
