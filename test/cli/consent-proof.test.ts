import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import { proved } from '../support/consent-proofs.ts';
import { aConsent } from '../validation/sample-messages.ts';
import { runCli } from './run-cli.ts';

test('a proof holds the whole message, for the journey that is named', async () => {
  const { proof = '' } = await proved(aConsent() as ConsentMessage);
  const consent = (stdin: string, ...args: string[]) => runCli(['consent', ...args, '--json'], { stdin: `${stdin}\n` });
  const errorOf = ({ stderr }: { stderr: string }) => JSON.parse(stderr).error;
  const [altered, elsewhere, noProof, twice, tooLong] = await Promise.all([
    consent(proof, 'J-1001', '--proof', '-', '--decision', 'revoked', '--consent-id', 'C-9'),
    consent(proof, 'J-1002', '--proof', '-'),
    consent('not a proof', 'J-1001', '--proof', '-'),
    consent(proof, 'J-1001', '--proof', '-', '--file', '-'),
    consent(`${proof}${'A'.repeat(9_000)}`, 'J-1001', '--proof', '-'),
  ]);
  // Each would be right by itself: a revocation and a grant’s proof are not one message.
  assert.deepEqual(
    errorOf(altered).problems.map(({ path }: { path: string }) => path),
    ['/consentId', '/decision'],
  );
  for (const { code } of [altered, elsewhere, noProof, twice, tooLong]) assert.equal(code, 2);
  assert.match(errorOf(elsewhere).message, /another journey/);
  assert.match(errorOf(noProof).message, /compact JWS/);
  assert.deepEqual(errorOf(tooLong).problems, [
    { path: '/proof', rule: 'must have at most 8192 characters', option: '--proof' },
  ]);
});
