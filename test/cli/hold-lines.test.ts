import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSince } from '../../src/cli/commands/command.ts';
import { formatRowTable, wrapCommand } from '../../src/cli/output/output.ts';
import type { OperatorTask } from '../../src/ledger/holds/holds.ts';
import { describeHold } from '../../src/operator/holds.ts';
import { resolveCommand } from '../../src/words/holds.ts';

const TRACE = 'PQABCDEFGHIJKLMNOPQRSTUVWX00';

const ROW: OperatorTask = {
  ...{ workId: 'W-1', kind: 'held', runKey: 'x'.repeat(64), profile: 'default', shareId: 'S-1' },
  ...{ reason: 'CredentialsRefused', since: '2026-01-02T03:04:05.678Z', attempt: 12 },
};
const INQUIRY = { customerTraceNumber: TRACE, productCode: 'SECONDUSE' } as const;

const HOLD = { ...describeHold({ ...ROW, ...INQUIRY }), ...INQUIRY };

describe('the list of holds on a terminal', () => {
  test('fits 80 columns, and its commands can be copied whole', () => {
    const { failureType, since, runKey } = HOLD;
    const lines = formatRowTable([{ failureType, since, runKey, command: resolveCommand(HOLD) }], 80);
    for (const line of lines) assert.ok(line.length <= 80, line);
    const text = lines.join('\n').replaceAll(/ \\\n\s*/g, ' ');
    assert.ok(text.includes(`credit-journey resolve ${HOLD.runKey} ${TRACE} --attempt 12`));
    assert.deepEqual(wrapCommand('a b', 80, '  '), ['  a b']);
    assert.deepEqual(wrapCommand('aaaa bbbb', 8, ''), ['aaaa \\', '    bbbb']);
    const command = 'seen --flag --by <name> --reason "ticket 4711: lost" J-1';
    assert.deepEqual(wrapCommand(command, 16, ''), [
      ...['seen --flag \\', '    --by <name> \\', '    --reason "ticket 4711: lost" \\', '    J-1'],
    ]);
  });

  test('names the command that decides, marks as seen, or reads the status until the cause is fixed', () => {
    const { attempt: _, customerTraceNumber: __, ...ofRun } = HOLD;
    const flagged = { ...HOLD, runKey: 'J-1', failureType: 'lateAnswer', allowedActions: ['seen' as const] };
    assert.equal(resolveCommand({ ...flagged }), `credit-journey seen inquiry ${TRACE} --by <name> --reason <why>`);
    const review = { ...ofRun, runKey: 'portfolio:R-1', failureType: 'ssnMismatch', allowedActions: ['seen' as const] };
    assert.match(resolveCommand(review), /^credit-journey seen run portfolio:R-1 --flag ssnMismatch --by/);
    const files = { ...review, failureType: 'PortfolioUnavailable', allowedActions: [] };
    assert.equal(resolveCommand(files), 'credit-journey status portfolio:R-1');
  });
});

test('--since accepts an instant or a duration before now', () => {
  assert.equal(parseSince('2026-01-02T03:04:05+01:00'), '2026-01-02T03:04:05+01:00');
  const since = Date.parse(parseSince('PT1H') ?? '');
  const ago = Date.now() - since;
  assert.ok(ago >= 3_600_000 && ago < 3_660_000);
  assert.equal(parseSince(undefined), undefined);
});
