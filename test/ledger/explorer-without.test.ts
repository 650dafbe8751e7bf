import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLAIM_RULES, SHARE_RULES } from '../../src/ledger/claim.ts';
import { explore, type Scope } from './explorer.ts';
import type { Mutation } from './explorer-scene.ts';
import {
  AWAITED_IN_AN_OLDER_LEDGER,
  CHANGED_CUSTOMER,
  DISPOSED_OF,
  FOREIGN_LEDGER,
  MISCOUNTING_RUN,
  MIXED_WORKERS,
  OLDER_LEDGER,
  PAUSED,
  REFUSED_INPUT,
  SCOPES,
  STARTED_AGAIN,
  tell,
  WATCHED_LEDGER,
  WITHDRAWN,
  WITHDRAWN_AND_RESET,
} from './explorer-scopes.ts';

/** Where a rule is missed that the small scenes do not need. */
const SCENE_OF: Record<string, Scope> = {
  anotherLedger: FOREIGN_LEDGER,
  anotherNumber: CHANGED_CUSTOMER,
  disposedOf: DISPOSED_OF,
  olderWriter: MIXED_WORKERS,
  paused: PAUSED,
  previousMissing: OLDER_LEDGER,
  restored: WATCHED_LEDGER,
  withdrawn: WITHDRAWN_AND_RESET,
};

describe('without one of its rules, or with another way to go on, the explorer', () => {
  // Those of shares: share-explorer.ts.
  for (const rule of CLAIM_RULES.filter((each) => !SHARE_RULES.includes(each))) {
    test(`finds the promise broken without the rule ${rule.name}`, (t) => {
      const rules = CLAIM_RULES.filter((other) => other !== rule);
      // The scene that the rule is for comes first: the others are walked only where it has become redundant there.
      const own = SCENE_OF[rule.name];
      for (const each of own ? [own, ...SCOPES] : SCOPES) {
        const exploration = explore(each, { rules });
        if (!exploration.counterexample) continue;
        tell(t, each, exploration);
        return;
      }
      assert.fail(`${rule.name} is not missed: it is redundant, or what it is for is not explored`);
    });
  }

  test('finds a send that nobody decided where a worker sends past its sendBy', (t) => {
    const exploration = explore(MISCOUNTING_RUN, { rules: CLAIM_RULES, sendsLate: true });
    tell(t, MISCOUNTING_RUN, exploration);
    assert.match(exploration.counterexample?.violation ?? '', /^sent /);
  });

  const MUTATED: [what: string, scope: Scope, mutation: Omit<Mutation, 'rules'>, violation: RegExp][] = [
    [
      'a posting after the end of a run whose look-up closes nothing, where no ledger has the withdrawal',
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
