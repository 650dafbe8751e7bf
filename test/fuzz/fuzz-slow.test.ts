import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { fuzzReport } from './fuzz.ts';
import { property } from './property.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** In a process of its own: the command line is run there with streams, directory and environment exchanged. */
async function run(args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await exit, stdout, stderr };
}

test('two thousand malformed inputs break nothing', async () => {
  const { code, stdout, stderr } = await run(['--seed', '1', '--cases', '2000']);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /^fuzz seed 1\n/, 'the seed comes first');
  const [, cases] = /fuzz seed 1: (\d+) cases, 0 failed\n$/.exec(stdout) ?? [];
  assert.ok(Number(cases) >= 2_000, stdout);
});

test('a failing case is printed with its seed, its smallest form and how to repeat it', async () => {
  const broken = property({
    name: 'broken',
    weight: 1,
    cases: fc.nat({ max: 10_000 }),
    check: (value) => assert.ok(value < 7),
  });
  const first = await fuzzReport('codec', [broken], { seed: 3, cases: 100 });
  assert.equal(first.failures.length, 1);
  assert.equal(first.failures[0]?.smallest, '7');
  const again = first.lines.find((line) => line.includes('again:')) ?? '';
  assert.match(again, /--seed 3 --only codec --property broken --path [\d:]+$/);
  const path = again.split(' ').at(-1) ?? '';
  const repeated = await fuzzReport('codec', [broken], { seed: 3, cases: 100, path });
  assert.equal(repeated.failures[0]?.smallest, '7');
});
