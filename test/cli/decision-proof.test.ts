import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ProvableDecision } from '../../src/client.ts';
import { provenDecision, provenRepeat } from '../support/decision-proofs.ts';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'credit-journey-decision-proof-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const DECISION: ProvableDecision = {
  ...{ decisionId: 'D-1', customerTraceNumber: 'PQ1', attempt: 1, action: 'amend' },
  ...{ by: 'operator', reason: 'a wrong name', providerSaid: 'notAsked' },
};

const errorOf = ({ stderr }: { stderr: string }) => JSON.parse(stderr).error;
const pathsOf = (answer: { stderr: string }) => errorOf(answer).problems.map(({ path }: { path: string }) => path);

test('a proof holds the decision, and what is given beside it may not differ', async () => {
  const applicants = join(directory, 'applicants.json');
  writeFileSync(applicants, '{"applicants":[{}]}');
  const { proof } = await provenDecision({ ...DECISION, applicants: [] });
  const resolve = (stdin: string, ...args: string[]) => runCli(['resolve', ...args, '--json'], { stdin: `${stdin}\n` });
  const [altered, elsewhere, others, noProof, all] = await Promise.all([
    resolve(proof, 'J-1', '--proof', '-', '--attempt', '2', '--action', 'abandon', '--by', 'another'),
    resolve(proof, 'J-1', 'PQ2', '--proof', '-', '--file', applicants),
    resolve(proof, 'J-1', '--proof', '-', '--file', applicants),
    resolve('not a proof', 'J-1', '--proof', '-'),
    resolve(proof, '--all', '--type', 'InvalidInput', '--proof', '-'),
  ]);
  for (const { code } of [altered, elsewhere, others, noProof, all]) assert.equal(code, 2);
  assert.deepEqual(pathsOf(altered), ['/attempt', '/action', '/by', '/contentDigest']);
  assert.deepEqual(pathsOf(elsewhere), ['/customerTraceNumber', '/contentDigest']);
  assert.deepEqual(pathsOf(others), ['/contentDigest']);
  assert.match(errorOf(noProof).message, /compact JWS/);
  assert.match(errorOf(all).message, /--proof belongs to one inquiry/);
});

test('a proof of a repeat holds its message', async () => {
  const repeat = { journeyId: 'J-1', repeat: 'PREAPP', occurrence: 2, by: 'operator', reason: 'too old' } as const;
  const { proof } = await provenRepeat(repeat);
  const advance = (...args: string[]) => runCli(['advance', ...args, '--proof', '-', '--json'], { stdin: proof });
  const [elsewhere, altered, gate] = await Promise.all([
    advance('J-2'),
    advance('J-1', '--reason', 'another'),
    runCli(['advance', 'J-1', '--to', 'PREAPP', '--proof', join(directory, 'missing'), '--json']),
  ]);
  for (const { code } of [elsewhere, altered, gate]) assert.equal(code, 2);
  assert.deepEqual(pathsOf(elsewhere), ['/journeyId']);
  assert.deepEqual(pathsOf(altered), ['/reason']);
});
