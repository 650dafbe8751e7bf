/** The scopes of explorer.test.ts and explorer-without.test.ts that take long. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLAIM_RULES } from '../../src/ledger/claim.ts';
import { explore } from './explorer.ts';
import { LARGE_SCOPES, MISCOUNTING_RUN, ONE_RUN, THREE_ENDS, tell } from './explorer-scopes.ts';

describe('the exhaustive explorer', () => {
  for (const each of LARGE_SCOPES) {
    test(`finds no violation in any state of: ${each.name}`, (t) => {
      const exploration = explore(each);
      tell(t, each, exploration);
      assert.equal(exploration.counterexample, undefined);
      assert.ok(exploration.states > 1_000, 'it has looked at next to nothing');
    });
  }
});

describe('the exhaustive explorer with a rule removed', () => {
  // The rules repeat what the run does: it asks for attempt n+1 only when it has seen the ledger's end of attempt n.
  test('finds that the rules inFlight and needsDecision are needed only when a run miscounts its attempts', (t) => {
    const rules = CLAIM_RULES.filter(({ name }) => name !== 'inFlight' && name !== 'needsDecision');
    const counting = { ...ONE_RUN, ends: THREE_ENDS };
    const exploration = explore(counting, { rules });
    tell(t, counting, exploration);
    assert.equal(exploration.counterexample, undefined);
    assert.ok(explore(MISCOUNTING_RUN, { rules }).counterexample);
  });
});
