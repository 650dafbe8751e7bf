/** Storms of many seeds: a line each, one exit code, each bounded. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSeeds, runSeeds, runStormProgram, type StormOutput } from './many-seeds.ts';

const NEVER = new AbortController().signal;

test('seeds are numbers and ranges, each once', () => {
  assert.deepEqual(parseSeeds('100..103'), [100, 101, 102, 103]);
  assert.deepEqual(parseSeeds('7'), [7]);
  assert.deepEqual(parseSeeds('7, 3..5,4'), [7, 3, 4, 5]);
  for (const wrong of ['', '..', '5..3', '1...2', 'one', '1..', '-1..3', '0..1000', '1,,2']) {
    assert.equal(parseSeeds(wrong), undefined, wrong);
  }
});

async function linesOf(
  outputs: Record<number, StormOutput>,
  signal = NEVER,
): Promise<{ lines: string[]; code: number }> {
  const lines: string[] = [];
  const run = async (seed: number) => outputs[seed] ?? { exitCode: null, text: '' };
  const code = await runSeeds(Object.keys(outputs).map(Number), { run, signal, print: (line) => lines.push(line) });
  return { lines: lines.map((line) => line.replace(/, \d+ s$/, '')), code };
}

test('each seed has one line, and the exit code is 1 where any has failed', async () => {
  const passed = { exitCode: 0, text: 'chaos seed 1\nwhat holds:\nchaos seed 1: 40 checks passed, 0 failed\n' };
  const failed = {
    exitCode: 1,
    text: '  ok    a rule: 3\n  FAILED another rule: 2\n           J-1: twice\nchaos seed 2: 4 checks passed, 1 failed\n',
  };
  assert.deepEqual(await linesOf({ 1: passed }), {
    lines: ['chaos seed 1: 40 checks passed, 0 failed', '1 of 1 seeds passed'],
    code: 0,
  });
  const { lines, code } = await linesOf({ 1: passed, 2: failed, 3: { exitCode: null, text: '' } });
  assert.deepEqual(lines, [
    'chaos seed 1: 40 checks passed, 0 failed',
    'chaos seed 2: 4 checks passed, 1 failed (exit code 1) FAILED another rule: 2: J-1: twice',
    'chaos seed 3: it ended without a result (exit code none)',
    '1 of 3 seeds passed; failed: 2, 3',
  ]);
  assert.equal(code, 1);
});

test('stopped, it runs no further seed', async () => {
  const { lines, code } = await linesOf({ 1: { exitCode: 0, text: '' } }, AbortSignal.abort());
  assert.deepEqual([lines, code], [['stopped: 1 seeds were not run'], 1]);
});

test('a storm that outlasts its limit is ended, and what it has printed is kept', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-seeds-'));
  try {
    const program = join(directory, 'hangs.mjs');
    await writeFile(program, "console.log('it begins'); setInterval(() => {}, 1_000);");
    const keepIn = join(directory, 'kept');
    const { exitCode, text } = await runStormProgram([program], { limitMs: 1_500, signal: NEVER, keepIn });
    assert.deepEqual([exitCode, text], [null, 'it begins\n']);
    assert.equal(await readFile(join(keepIn, 'output.txt'), 'utf8'), text);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
