import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { CLAIM_RULES, SHARE_RULES } from '../../src/ledger/claim.ts';
import type { Walked } from './every-order.ts';
import { exploreShares } from './share-explorer.ts';

function tell(t: TestContext, { states, counterexample }: Walked): void {
  t.diagnostic(`${states} states`);
  if (counterexample) t.diagnostic(`${counterexample.violation}: ${counterexample.trace.join('; ')}`);
}

describe('the explorer of shares', () => {
  test('finds no order in which a share is claimed that its consumer, its grant or its report forbids', (t) => {
    const exploration = exploreShares();
    tell(t, exploration);
    assert.equal(exploration.counterexample, undefined);
    assert.ok(exploration.states > 100, 'it has looked at next to nothing');
    assert.equal(exploreShares({ bringsStrangersGrant: true }).counterexample, undefined);
  });

  const VIOLATIONS: Record<string, RegExp> = {
    shareWithdrawn: /it was withdrawn/,
    reportGone: /report was gone/,
    consentMissing: /nobody has granted/,
    consentRefused: /had refused/,
    consentTooOld: /too old/,
    consentSpent: /spent/,
  };
  for (const rule of SHARE_RULES) {
    test(`finds a violation without the rule ${rule.name}`, (t) => {
      const rules = CLAIM_RULES.filter((other) => other !== rule);
      const exploration = exploreShares({ rules, bringsStrangersGrant: rule.name === 'consentMissing' });
      tell(t, exploration);
      assert.match(exploration.counterexample?.violation ?? '', VIOLATIONS[rule.name] ?? /^$/);
    });
  }

  test('finds a violation when a withdrawal does not look for claims', (t) => {
    const exploration = exploreShares({ withdrawsWhatIsClaimed: true });
    tell(t, exploration);
    assert.equal(exploration.counterexample?.violation, 'withdrawn although it was claimed');
  });

  test('finds a violation when a claim reads before it takes the lock of those who write consents', (t) => {
    const exploration = exploreShares({ readsBeforeTheLock: true });
    tell(t, exploration);
    assert.match(exploration.counterexample?.violation ?? '', /^claimed although /);
  });
});
