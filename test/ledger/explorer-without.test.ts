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

/** The scope that needs each rule, for rules that the small scopes do not need. */
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

describe('the exhaustive explorer with a rule removed or the protocol changed', () => {
  // share-explorer.ts covers the rules of shares.
  for (const rule of CLAIM_RULES.filter((each) => !SHARE_RULES.includes(each))) {
    test(`finds a violation without the rule ${rule.name}`, (t) => {
      const rules = CLAIM_RULES.filter((other) => other !== rule);
      // The rule's own scope comes first: the others are explored only if the rule has become redundant there.
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

  test('finds an undecided send when a worker sends after its sendBy', (t) => {
    const exploration = explore(MISCOUNTING_RUN, { rules: CLAIM_RULES, sendsLate: true });
    tell(t, MISCOUNTING_RUN, exploration);
    assert.match(exploration.counterexample?.violation ?? '', /^sent /);
  });

  const MUTATED: [what: string, scope: Scope, mutation: Omit<Mutation, 'rules'>, violation: RegExp][] = [
    [
      'a posting after the end of a withdrawn run when its look-up closes no attempt and no ledger has the withdrawal',
      WITHDRAWN,
      { closesNothing: true },
      /^sent after its run/,
    ],
    [
      'a second send when a look-up closes an attempt over a gap',
      OLDER_LEDGER,
      { closesOverGaps: true },
      /^sent once more/,
    ],
    [
      'a second send when lookAgain closes an attempt',
      AWAITED_IN_AN_OLDER_LEDGER,
      { closesWhereverItLooks: true },
      /^sent once more/,
    ],
    [
      'a skipped attempt when a decision need not be about it',
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

  test('finds an outcome given to another request when a look-up compares no digest', (t) => {
    const exploration = explore(STARTED_AGAIN, { rules: CLAIM_RULES, looksUpAnybody: true });
    tell(t, STARTED_AGAIN, exploration);
    assert.equal(exploration.counterexample?.violation, 'gave an outcome to another request');
  });
});

describe('the gaps that docs/protocol.md documents', () => {
  test('allow a second send when a foreign ledger replaces the run’s own and a reset makes the run forget it', (t) => {
    const hole = { ...FOREIGN_LEDGER, resetsToTheStart: true };
    const exploration = explore(hole);
    tell(t, hole, exploration);
    assert.equal(exploration.counterexample?.violation, 'sent once more than was decided');
  });

  test('allow a second send when a backup lacks only the attempt that a lost worker was making', (t) => {
    const hole: Scope = { ...OLDER_LEDGER, swap: 'olderByTheAttemptInFlight' };
    const exploration = explore(hole);
    tell(t, hole, exploration);
    assert.equal(exploration.counterexample?.violation, 'sent once more than was decided');
  });
});
