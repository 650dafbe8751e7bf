import assert from 'node:assert/strict';
import { test } from 'node:test';
import pc from 'picocolors';
import { planLines, resultLines } from '../../src/cli/output/disposal-words.ts';
import type { Output } from '../../src/cli/output/output.ts';

const output = { width: 80, colors: pc.createColors(false) } as Output;
const one = { runKey: 'LOAN-1', inquiries: 1, reports: 1, runs: 1, shares: ['share:S-1', 'share:S-2'] };
const nothing = { planned: [], refused: [], more: false, unfinished: [] };

test('shares by themselves are named before and after a disposal, with the command that disposes of each', () => {
  const told = [
    planLines({ ...nothing, planned: [one] }, output),
    resultLines({ disposed: [one], refused: [], scrubbed: true, more: false }, output),
    planLines({ ...nothing, disposedAt: '2026-01-02T03:04:05.000Z', shares: one.shares }, output),
  ];
  for (const lines of told) {
    const text = lines.join('\n');
    assert.match(text, /made by themselves stay/);
    assert.match(text, /^ {2}credit-journey dispose share:S-1\n {2}credit-journey dispose share:S-2$/m);
    assert.ok(lines.every(({ length }) => length <= 80));
  }
  assert.doesNotMatch(planLines({ ...nothing, planned: [{ ...one, shares: [] }] }, output).join(), /themselves/);
});
