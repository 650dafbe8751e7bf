import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { consequencesOf } from '../../src/cli/decisions/ask-decision.ts';
import { sinceOf } from '../../src/cli/decisions/holds-query.ts';
import { commandLines, holdTable, resolveCommand } from '../../src/cli/output/hold-lines.ts';
import type { OpenHold } from '../../src/client.ts';

const TRACE = 'PQABCDEFGHIJKLMNOPQRSTUVWX00';

const HOLD: OpenHold = {
  journeyId: 'x'.repeat(64),
  customerTraceNumber: TRACE,
  productCode: 'SECONDUSE',
  shareId: 'S-1',
  reason: 'CredentialsRefused',
  since: '2026-01-02T03:04:05.678Z',
  attempt: 12,
  heldBy: 'run',
  allowedActions: ['resend', 'abandon'],
};

describe('what needs a person, in lines', () => {
  test('keeps to 80 columns, and its command can be copied whole', () => {
    const lines = holdTable([HOLD, { ...HOLD, heldBy: 'ledger', journeyId: 'J-1' }], 80);
    for (const line of lines) assert.ok(line.length <= 80, line);
    const text = lines.join('\n').replaceAll(/ \\\n\s*/g, ' ');
    assert.ok(text.includes(`credit-journey resolve ${HOLD.journeyId} ${TRACE} --attempt 12`));
    assert.ok(text.includes(`credit-journey resolve --ledger ${TRACE} --attempt 12`));
    assert.ok(text.includes('J-1 (no run)'));
    const left = holdTable([{ ...HOLD, heldBy: 'ledger' }], 80).join('\n');
    assert.ok(left.includes(`${HOLD.journeyId} (no run)`), 'its command does not name the journey');
    assert.deepEqual(commandLines('a b', 80, '  '), ['  a b']);
    assert.deepEqual(commandLines('aaaa bbbb', 8, ''), ['aaaa \\', '    bbbb']);
  });

  test('points to what may be done: nothing but looking at a share that was revoked after posting', () => {
    const { attempt: _, ...flagged } = HOLD;
    assert.equal(
      resolveCommand({ ...flagged, journeyId: 'J-1', reason: 'revokedAfterPosting' }),
      'credit-journey status J-1',
    );
    const late: OpenHold = { ...flagged, reason: 'lateAnswer', heldBy: 'ledger', allowedActions: ['seen'] };
    assert.equal(resolveCommand(late), `credit-journey resolve --ledger ${TRACE} --action seen`);
  });
});

describe('what a decision will do, in words', () => {
  const words = (hold: Partial<OpenHold>, action: 'resend' | 'abandon' | 'accept') =>
    consequencesOf({ ...HOLD, ...hold }, { decisionId: 'D-1', action, outcome: 'noRecord' }).join(' ');

  test('warns of a second posting where the outcome is unknown, and leaves to the ledger what the run has not claimed', () => {
    assert.match(words({ reason: 'OutcomeUnknown' }, 'resend'), /as attempt 13 .* that is a second inquiry/);
    assert.doesNotMatch(words({ reason: 'NotEntitled' }, 'resend'), /second/);
    assert.match(words({ reason: 'LedgerUnavailable' }, 'resend'), /goes on with attempt 12; the ledger decides/);
  });

  test('tells a run from a row without one', () => {
    assert.match(words({}, 'accept'), /^The journey goes on .*: noRecord\. Nothing is sent\./);
    assert.match(words({ heldBy: 'ledger' }, 'accept'), /^A new start of the journey will go on/);
    const { shareId: _, ...stage } = HOLD;
    assert.match(consequencesOf(stage, { decisionId: 'D', action: 'abandon' }).join(' '), /The journey ends/);
    assert.match(words({}, 'abandon'), /The journey goes on without this share\./);
    assert.match(words({ journeyId: 'share:S-1' }, 'abandon'), /The share ends with it\./);
    assert.match(words({}, 'accept'), /The share ends as `notPosted`\.$/);
    assert.match(words({ reason: 'AnotherNumber' }, 'resend'), /posted under this number .* a second inquiry/);
  });
});

test('--since is an instant, or how long ago', () => {
  assert.equal(sinceOf('2026-01-02T03:04:05+01:00'), '2026-01-02T03:04:05+01:00');
  const since = Date.parse(sinceOf('PT1H') ?? '');
  const ago = Date.now() - since;
  assert.ok(ago >= 3_600_000 && ago < 3_660_000);
  assert.equal(sinceOf(undefined), undefined);
});
