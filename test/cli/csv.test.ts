/** CSV that people open in a spreadsheet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCsvLine } from '../../src/cli/commands/listing-commands.ts';

test('no cell begins a formula, in whatever way a spreadsheet cuts the line', () => {
  for (const [cell, written] of [
    ['=1+1', "'=1+1"],
    ['  =1+1', "  '=1+1"],
    ['＝1+1', "'＝1+1"],
    ['a;=1+1', `"a;'=1+1"`],
    ['a; @SUM(A1)', `"a; '@SUM(A1)"`],
    ['a\t-1', `"a\t'-1"`],
    ['a\n+1', `"a\n'+1"`],
    ['a"=1', `"a""'=1"`],
    ['LOAN-1', 'LOAN-1'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
  ] as const) {
    assert.equal(formatCsvLine([cell, 7]), `${written},7\r\n`);
  }
});
