import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeConsequences } from '../../src/cli/decisions/ask-decision.ts';
import { parseSince } from '../../src/cli/decisions/decision-flags.ts';
import { formatRowTable, wrapCommand } from '../../src/cli/output/output.ts';
import type { WorkRow } from '../../src/ledger/holds/work.ts';
import { describeHold } from '../../src/operator/holds.ts';
import type { DecidableHold } from '../../src/operator/judge-decision.ts';
import { resolveCommand } from '../../src/words/holds.ts';

const TRACE = 'PQABCDEFGHIJKLMNOPQRSTUVWX00';

const ROW: WorkRow = {
  ...{ workId: 'W-1', kind: 'held', runKey: 'x'.repeat(64), profile: 'default', shareId: 'S-1' },
  ...{ reason: 'CredentialsRefused', since: '2026-01-02T03:04:05.678Z', attempt: 12 },
};
const INQUIRY = { customerTraceNumber: TRACE, productCode: 'SECONDUSE' } as const;

const HOLD: DecidableHold = { ...describeHold({ ...ROW, ...INQUIRY }), ...INQUIRY, heldBy: 'run' };

describe('what needs a person, in lines', () => {
  test('keeps to 80 columns, and its command can be copied whole', () => {
    const { reason, since, runKey } = HOLD;
    const lines = formatRowTable([{ reason, since, runKey, command: resolveCommand(HOLD) }], 80);
    for (const line of lines) assert.ok(line.length <= 80, line);
    const text = lines.join('\n').replaceAll(/ \\\n\s*/g, ' ');
    assert.ok(text.includes(`credit-journey resolve ${HOLD.runKey} ${TRACE} --attempt 12`));
    assert.deepEqual(wrapCommand('a b', 80, '  '), ['  a b']);
    assert.deepEqual(wrapCommand('aaaa bbbb', 8, ''), ['aaaa \\', '    bbbb']);
  });

  test('names the command to run: to decide, to mark as seen, or to read the status until the cause is mended', () => {
    const { attempt: _, customerTraceNumber: __, ...ofRun } = HOLD;
    const flagged = { ...HOLD, runKey: 'J-1', reason: 'lateAnswer', allowedActions: ['seen' as const] };
    assert.equal(resolveCommand({ ...flagged }), `credit-journey seen inquiry ${TRACE} --by <name> --reason <why>`);
    const review = { ...ofRun, runKey: 'portfolio:R-1', reason: 'ssnMismatch', allowedActions: ['seen' as const] };
    assert.match(resolveCommand(review), /^credit-journey seen run portfolio:R-1 --flag ssnMismatch --by/);
    const files = { ...review, reason: 'PortfolioUnavailable', allowedActions: [] };
    assert.equal(resolveCommand(files), 'credit-journey status portfolio:R-1');
  });
});

describe('what a decision will do, in words', () => {
  const words = (hold: Partial<DecidableHold>, action: 'resend' | 'abandon' | 'accept') =>
    describeConsequences({ ...HOLD, ...hold }, { decisionId: 'D-1', action, outcome: 'noRecord' }).join(' ');

  test('warns of a second posting where the outcome is unknown, and says that the ledger decides about an unclaimed attempt', () => {
    assert.match(words({ reason: 'OutcomeUnknown' }, 'resend'), /as attempt 13 .* that is a second inquiry/);
    assert.doesNotMatch(words({ reason: 'NotEntitled' }, 'resend'), /second/);
    assert.match(words({ reason: 'LedgerUnavailable' }, 'resend'), /continues with attempt 12; the ledger decides/);
  });

  test('says whether the run continues or a new start of it will', () => {
    assert.match(words({}, 'accept'), /^The journey continues .*: noRecord\. Nothing is sent\./);
    assert.match(words({ heldBy: 'ledger' }, 'accept'), /^A new start of the journey will continue/);
    const { shareId: _, ...stage } = HOLD;
    assert.match(describeConsequences(stage, { decisionId: 'D', action: 'abandon' }).join(' '), /The journey ends/);
    assert.match(words({}, 'abandon'), /The journey continues without this share\./);
    assert.match(words({ runKey: 'share:S-1' }, 'abandon'), /The share ends with it\./);
    assert.match(words({}, 'accept'), /The share ends as `notPosted`\.$/);
    assert.match(words({ reason: 'AnotherNumber' }, 'resend'), /posted under this number .* a second inquiry/);
  });
});

test('--since is an instant, or how long ago', () => {
  assert.equal(parseSince('2026-01-02T03:04:05+01:00'), '2026-01-02T03:04:05+01:00');
  const since = Date.parse(parseSince('PT1H') ?? '');
  const ago = Date.now() - since;
  assert.ok(ago >= 3_600_000 && ago < 3_660_000);
  assert.equal(parseSince(undefined), undefined);
});
