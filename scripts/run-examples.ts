/**
 * `npm run examples`: runs the Java example of docs/integrating.md against servers of its own, with the machine's Maven
 * and JDK 17. `npm test` runs the others.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { UpdateAnswer } from '../src/messages/answers.ts';
import type { JourneyResult } from '../src/messages/journey/shapes.ts';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';

/** The first run downloads some 50 MB of libraries and Maven's own plugins. */
const TIMEOUT_MS = 8 * 60_000;

const closers: (() => unknown)[] = [];
let isGood = false;
await globalSetup();
try {
  await runJava();
  isGood = true;
} catch (error) {
  console.error(error);
} finally {
  for (const close of closers) await close();
  await globalTeardown();
}
console.log(isGood ? 'the examples work' : 'an example failed');
process.exit(isGood ? 0 : 1);

async function runJava(): Promise<void> {
  // They read the server's address when they are loaded.
  const { example, sharedJourney, startKeylessWorld } = await import('../test/support/keyless-callers.ts');
  const world = await startKeylessWorld({ after: (close) => closers.unshift(close as () => unknown) });
  const { journey, journeyFile, consentFiles } = await sharedJourney(world);
  // Built in another directory, so that the tree stays unchanged.
  const directory = mkdtempSync(join(tmpdir(), 'credit-journey-java-'));
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(example('java'), directory, { recursive: true });
  const files = [journeyFile, ...consentFiles].join(' ');
  const { stdout } = await promisify(execFile)(
    'mvn',
    ['--quiet', '--batch-mode', '-Dstyle.color=never', 'compile', 'exec:java', `-Dexec.args=${files}`],
    { cwd: directory, env: { ...process.env, ...world.env }, timeout: TIMEOUT_MS },
  );
  // Maven writes colour codes even into output without colours.
  const answers = stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1);
  const { answer, result } = JSON.parse(answers) as { answer: UpdateAnswer; result: JourneyResult };
  assert.equal(answer.accepted, true);
  assert.equal(result.journeyId, journey.journeyId);
  assert.equal(result.outcome, 'completed');
  assert.equal(result.shares[0]?.state, 'posted');
  console.log(`Java: ${result.journeyId} completed, and its share was posted`);
}
