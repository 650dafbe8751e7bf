/** `profile approve-change` and `profile changes`, on a ledger of their own. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inspectConfig } from '../../src/config/config.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { profileFingerprint } from '../../src/gateway/profile-fingerprint.ts';
import { openLedger } from '../../src/ledger/sql/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { runCli } from './run-cli.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-profile-command-'));
after(() => rm(directory, { recursive: true, force: true }));

const env = {
  KEY_RING_FILE: join(directory, 'keys.json'),
  LEDGER_URL: `file:${join(directory, 'ledger.db')}`,
  GATEWAY_ENVIRONMENT: 'sandbox',
  GATEWAY_AUTH_URL: 'http://127.0.0.1:9',
  GATEWAY_BASE_URL: 'http://127.0.0.1:9',
};
const profile = inspectConfig(env).config.profiles.get('default') as GatewayProfile;
const before = (change: Partial<GatewayProfile>) => profileFingerprint({ ...profile, ...change });
const approve = (from: string, ...more: string[]) =>
  runCli(['profile', 'approve-change', '--from', from, '--by', 'ops-7', '--reason', 'ticket 4712', ...more], { env });

test('a change of address and version is approved once, and listed; another customer never is', async () => {
  const keyRing = await createKeyRing(env.KEY_RING_FILE);
  await (await openLedger({ url: env.LEDGER_URL, environment: 'sandbox', keyRing, create: true })).close();

  const from = before({ baseUrl: 'http://127.0.0.1:8', apiVersion: 'grs_v000' });
  const approved = await approve(from);
  assert.equal(approved.code, 0, approved.stderr);
  const { kind, approval } = JSON.parse(approved.stdout);
  assert.deepEqual([kind, approval.from, approval.to], ['approved', from, before({})]);
  assert.equal(JSON.parse((await approve(from, '--reason', 'again')).stdout).kind, 'duplicate');
  const { changes } = JSON.parse((await runCli(['profile', 'changes'], { env })).stdout);
  assert.deepEqual(changes, [approval]);
  assert.deepEqual([approval.by, approval.reason, approval.profile], ['ops-7', 'ticket 4712', 'default']);

  const REFUSED: [from: string, rule: RegExp][] = [
    [before({ customerId: 'ANOTHER' }), /--from is of another customer, environment or software provider/],
    [before({ softwareProviderId: 'OTHR' }), /nobody can approve that/],
    [before({ environment: 'uat' }), /nobody can approve that/],
    [before({}), /nothing has changed/],
    ['abc', /--from must be a fingerprint/],
  ];
  for (const [wrong, rule] of REFUSED) {
    const { code, stderr } = await approve(wrong);
    assert.equal(code, 2);
    assert.match(stderr, rule);
  }
  const unknown = await approve(from, '--profile', 'east');
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /--profile must be configured here, as for the workers: default/);
  assert.equal(JSON.parse((await runCli(['profile', 'changes'], { env })).stdout).changes.length, 1);
});
