import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDocument } from '../../src/cli/output/output.ts';
import type { CheckResult } from '../../src/doctor/check.ts';
import { toExamination } from '../../src/doctor/examine-installation.ts';

const CHECKS: CheckResult[] = [
  { check: 'configuration', status: 'pass', detail: 'sandbox, task queue credit-journeys-sandbox, 1 profile' },
  {
    check: 'ledger-durability',
    status: 'warn',
    detail: 'no synchronous standby: a failover may forget what was sent, and send it again',
    toDo: 'set synchronous_standby_names before you fail over to another server',
  },
  { check: 'clock', status: 'fail', detail: 'x '.repeat(80).trim(), toDo: 'y '.repeat(60).trim() },
  { check: 'holds', status: 'unchecked', detail: 'z '.repeat(60).trim(), toDo: 'fix that first' },
];

test('the lines of `doctor` fit into 80 columns, with each check, its finding and what to do', () => {
  const examination = toExamination(CHECKS);
  const lines = formatDocument(examination, 80);
  for (const line of lines) assert.ok(line.length <= 80, line);
  const text = lines.join('\n');
  for (const count of ['pass', 'warn', 'fail', 'unchecked'])
    assert.match(text, new RegExp(`^counts ${count} +1$`, 'm'));
  const warning = [
    '  ledger-durability  warn',
    '      no synchronous standby: a failover may forget what was sent, and send it',
    '      again',
    '      set synchronous_standby_names before you fail over to another server',
  ];
  assert.ok(text.includes(warning.join('\n')), text);
  assert.deepEqual(examination.counts, { pass: 1, warn: 1, fail: 1, unchecked: 1 });
  assert.equal(toExamination(CHECKS.slice(0, 2)).healthy, true, 'a warning is no failure');
  for (const check of CHECKS.slice(2)) assert.equal(toExamination([check]).healthy, false);
});
