import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explore } from './explorer.ts';
import { SMALL_SCOPES, tell } from './explorer-scopes.ts';

describe('the exhaustive explorer', () => {
  for (const each of SMALL_SCOPES) {
    test(`finds no violation in any state of: ${each.name}`, (t) => {
      const exploration = explore(each);
      tell(t, each, exploration);
      assert.equal(exploration.counterexample, undefined);
      assert.ok(exploration.states > 1_000, 'it has looked at next to nothing');
    });
  }
});
