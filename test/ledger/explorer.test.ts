import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { CLAIM_RULES, SHARE_RULES } from '../../src/ledger/claim.ts';
import { type Exploration, explore, type Scope } from './explorer.ts';
import type { EndName, Mutation } from './explorer-scene.ts';
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
};
const EVERY_END: readonly EndName[] = ['outcome', 'unexpected', 'throttled', 'refused', 'notEntitled', 'lost'];
/** One for each way to go on: with an outcome, by itself, by a decision. */
const THREE_ENDS: readonly EndName[] = ['outcome', 'throttled', 'lost'];

function scope(name: string, budget: Partial<Budget>, rest: Partial<Scope> = {}): Scope {
  return { name, ends: THREE_ENDS, budget: { ...NOTHING, ...budget }, ...rest };
}

/** Without end is more than the two crashes and the one late answer that matter, and needs no counting. */
const ANY = Number.POSITIVE_INFINITY;

const ONE_RUN = scope(
  '2 workers, 3 attempts, any crashes, time-outs and late answers, 1 reset, 1 decision',
  { crashes: ANY, timeOuts: ANY, resets: 1, decisions: 1 },
  { ends: EVERY_END },
);
const STARTED_AGAIN = scope('the same, started again once for these or corrected applicants, in place of the reset', {
  crashes: ANY,
  timeOuts: 1,
  restarts: 1,
  decisions: 1,
});
const FOREIGN_LEDGER = scope(
  'the same with 1 reset, while a foreign ledger takes the place of the run’s own',
  { crashes: ANY, timeOuts: 1, resets: 1, decisions: 1, swaps: 1 },
  { swap: 'foreign' },
);
const OLDER_LEDGER = scope(
  'the same, while a backup takes the ledger’s place that lacks an attempt which the run has passed',
  { crashes: ANY, timeOuts: 1, decisions: 1, swaps: 1 },
  { swap: 'older' },
);
const WATCHED_LEDGER = scope(
  'the same, while a backup takes its place that lacks just the attempt in flight, which is found out',
  { crashes: ANY, timeOuts: 1, decisions: 1, swaps: 1 },
  { swap: 'olderByTheAttemptInFlight', isWatched: true },
);
const MISCOUNTING_RUN = scope('a run that once asks for one attempt too many', {
  crashes: ANY,
  timeOuts: 1,
  decisions: 1,
  miscounts: 1,
});
const DISPOSED_OF = scope('the same, disposed of at any moment, and started again once', {
  crashes: ANY,
  timeOuts: 1,
  restarts: 1,
  decisions: 1,
  disposals: 1,
});
const CHANGED_CUSTOMER = scope(
  'the same, started again once under a changed customer, while the first run’s attempts go on',
  { crashes: ANY, timeOuts: 1, restarts: 1, decisions: 1 },
  { customerChanges: true },
);
const MIXED_WORKERS = scope(
  'the same on workers of two versions, of which the older knows no disposal, migrated at any moment',
  { crashes: ANY, timeOuts: 1, restarts: 1, decisions: 1, disposals: 1 },
  { mixedWorkers: true },
);
const AWAITED_IN_AN_OLDER_LEDGER = scope(
  'the same, while a backup takes the ledger’s place that lacks an attempt which the run waits for, and nobody decides',
  { crashes: ANY, timeOuts: 1, swaps: 1 },
  { swap: 'olderThanAWait' },
);
const WITHDRAWN = scope('a run that is withdrawn while a worker out of touch has its attempt', {
  crashes: ANY,
  timeOuts: 1,
  decisions: 1,
  withdrawals: 1,
});
const REFUSED_INPUT = scope(
  'a worker that may refuse the input of an attempt, whose run is started again once',
  { crashes: ANY, restarts: 1, decisions: 1 },
  { refusesInput: true },
);
/** The small ones first: a counterexample in them is found at once. */
const SCOPES = [
  MISCOUNTING_RUN,
  WITHDRAWN,
  AWAITED_IN_AN_OLDER_LEDGER,
  DISPOSED_OF,
  MIXED_WORKERS,
  OLDER_LEDGER,
  WATCHED_LEDGER,
  CHANGED_CUSTOMER,
  STARTED_AGAIN,
  REFUSED_INPUT,
  FOREIGN_LEDGER,
  ONE_RUN,
];

function tell(t: TestContext, { name }: Scope, { states, steps, depth, counterexample }: Exploration): void {
  t.diagnostic(`${name}: ${states} states, ${steps} steps, the furthest ${depth} steps away`);
  if (!counterexample) return;
  t.diagnostic(`${counterexample.violation}:`);
  counterexample.trace.forEach((step, index) => {
    t.diagnostic(`  ${index + 1}. ${step}`);
  });
}

describe('the exhaustive explorer', () => {
  for (const each of [...SCOPES].reverse()) {
    test(`finds the promise kept in every state of: ${each.name}`, (t) => {
      const exploration = explore(each);
      tell(t, each, exploration);
      assert.equal(exploration.counterexample, undefined);
      assert.ok(exploration.states > 1_000, 'it has looked at next to nothing');
    });
  }

  // Those of shares: share-explorer.ts.
  for (const rule of CLAIM_RULES.filter((each) => !SHARE_RULES.includes(each))) {
    test(`finds the promise broken without the rule ${rule.name}`, (t) => {
      const rules = CLAIM_RULES.filter((other) => other !== rule);
      for (const each of SCOPES) {
        const exploration = explore(each, { rules });
        if (!exploration.counterexample) continue;
        tell(t, each, exploration);
        return;
      }
      assert.fail(`${rule.name} is not missed: it is redundant, or what it is for is not explored`);
    });
  }

  // Fence 2 doubles fence 1 here: a run asks for attempt n+1 only when it has seen the ledger's end of attempt n.
  test('finds inFlight and needsDecision missed only where a run miscounts: they hold whatever the workflow does', (t) => {
    const rules = CLAIM_RULES.filter(({ name }) => name !== 'inFlight' && name !== 'needsDecision');
    const counting = { ...ONE_RUN, ends: THREE_ENDS };
    const exploration = explore(counting, { rules });
    tell(t, counting, exploration);
    assert.equal(exploration.counterexample, undefined);
    assert.ok(explore(MISCOUNTING_RUN, { rules }).counterexample);
  });

  test('finds a send that nobody decided where a worker sends past its sendBy', (t) => {
    const exploration = explore(MISCOUNTING_RUN, { rules: CLAIM_RULES, sendsLate: true });
    tell(t, MISCOUNTING_RUN, exploration);
    assert.match(exploration.counterexample?.violation ?? '', /^sent /);
  });

  const MUTATED: [what: string, scope: Scope, mutation: Omit<Mutation, 'rules'>, violation: RegExp][] = [
    [
      'a posting after the end of a run whose look-up closes nothing',
      WITHDRAWN,
      { closesNothing: true },
      /^sent after its run/,
    ],
    ['a second send where a look-up closes over a gap', OLDER_LEDGER, { closesOverGaps: true }, /^sent once more/],
    [
      'a second send where lookAgain closes',
      AWAITED_IN_AN_OLDER_LEDGER,
      { closesWhereverItLooks: true },
      /^sent once more/,
    ],
    [
      'an attempt passed over where a decision need not judge it',
      REFUSED_INPUT,
      { decidesAnyway: true },
      /pass over|overrule/,
    ],
  ];
  for (const [what, where, mutation, violation] of MUTATED) {
    test(`finds ${what}`, (t) => {
      const exploration = explore(where, { rules: CLAIM_RULES, ...mutation });
      tell(t, where, exploration);
      assert.match(exploration.counterexample?.violation ?? 'none', violation);
    });
  }

  test('finds an outcome given to another request where a look-up compares no digest', (t) => {
    const exploration = explore(STARTED_AGAIN, { rules: CLAIM_RULES, looksUpAnybody: true });
    tell(t, STARTED_AGAIN, exploration);
    assert.equal(exploration.counterexample?.violation, 'gave an outcome to another request');
  });
});

describe('the holes that docs/protocol.md admits', () => {
  test('are open where a foreign ledger comes and a reset makes the run forget its own', (t) => {
    const hole = { ...FOREIGN_LEDGER, resetsToTheStart: true };
    const exploration = explore(hole);
    tell(t, hole, exploration);
    assert.equal(exploration.counterexample?.violation, 'sent once more than was decided');
  });

  test('are open where a backup comes that lacks just the attempt which a lost worker was making', (t) => {
    const hole: Scope = { ...OLDER_LEDGER, swap: 'olderByTheAttemptInFlight' };
    const exploration = explore(hole);
    tell(t, hole, exploration);
    assert.equal(exploration.counterexample?.violation, 'sent once more than was decided');
  });
});
