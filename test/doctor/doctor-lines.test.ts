import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';
import { doctorLines } from '../../src/cli/commands/programs/doctor-command.ts';
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
  { check: 'holds', status: 'unchecked', detail: 'z '.repeat(60).trim(), toDo: 'put that right first' },
];

test('the lines of `doctor` fit into 80 columns, and say the same without colours', () => {
  const examination = toExamination(CHECKS);
  const plain = doctorLines(examination, { width: 80, colors: pc.createColors(false) });
  const coloured = doctorLines(examination, { width: 80, colors: pc.createColors(true) });
  for (const line of plain) assert.ok(line.length <= 80, line);
  assert.deepEqual(coloured.map(stripVTControlCharacters), plain);
  assert.equal(plain[0], 'pass  configuration: sandbox, task queue credit-journeys-sandbox, 1 profile');
  assert.deepEqual(plain.slice(1, 3), [
    'warn  ledger-durability: no synchronous standby: a failover may forget what was',
    '      sent, and send it again',
  ]);
  assert.equal(plain[3], '      → set synchronous_standby_names before you fail over to another server');
  assert.ok(plain.some((line) => line.startsWith('not checked  holds: z z')));
  assert.equal(plain.at(-1), '1 pass, 1 warn, 1 fail, 1 not checked');
  const { counts } = examination;
  assert.equal(counts.pass + counts.warn + counts.fail + counts.unchecked, CHECKS.length);
});
