import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { consentOf } from '../ledger/fixtures.ts';
import { runCli } from './run-cli.ts';

const directory = await mkdtemp(join(tmpdir(), 'credit-journey-audit-command-'));
after(() => rm(directory, { recursive: true, force: true }));

test('audit verify checks the chain, compares it with an earlier head, and reports where it is broken', async () => {
  const [file, database] = [join(directory, 'keys.json'), join(directory, 'ledger.db')];
  // No Temporal server listens at this address, so the state that a watch has seen of the ledger cannot be read.
  const env = { KEY_RING_FILE: file, LEDGER_URL: `file:${database}`, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const keyRing = await createKeyRing(file);
  const ledger = await openLedger({ url: env.LEDGER_URL, environment: 'sandbox', keyRing, create: true });
  for (const consentId of ['C-1', 'C-2']) {
    await ledger.recordConsents(ledger.identity.ledgerId, [consentOf({ consentId })]);
  }
  const { head } = await ledger.verifyChain();
  await ledger.close();
  const verify = (...args: string[]) => runCli(['audit', 'verify', ...args], { env });

  const whole = await verify('--expect-head', head.toUpperCase());
  assert.equal(whole.code, 0);
  assert.deepEqual(JSON.parse(whole.stdout), {
    ledgerId: ledger.identity.ledgerId,
    entries: 2,
    head,
    findings: [],
    watch: 'notAsked',
  });
  assert.equal((await verify('--expect-head', 'abc')).code, 2);

  const other = await verify('--expect-head', '0'.repeat(64));
  assert.deepEqual([other.code, JSON.parse(other.stdout).findings], [3, [{ kind: 'otherChain' }]]);

  const accept = ['ledger', 'accept-restore', '--by', 'ops-7', '--reason', 'the disk was lost'];
  assert.equal((await runCli(accept, { env })).code, 0);
  const [restore] = JSON.parse((await verify()).stdout).restores;
  assert.deepEqual([restore.kind, restore.by, restore.reason], ['restoreAccepted', 'ops-7', 'the disk was lost']);

  const opened = new DatabaseSync(database);
  opened.exec("DROP TRIGGER consents_no_update; UPDATE consents SET end_user = 'Sentinel' WHERE consent_id = 'C-2'");
  opened.close();
  const broken = await verify();
  assert.equal(broken.code, 3);
  const key = ['J-1', 'S1', '01', 'C-2', 'granted'];
  assert.deepEqual(JSON.parse(broken.stdout).findings, [{ kind: 'changed', position: 2, table: 'consents', key }]);
  assert.ok(!broken.stdout.includes('Sentinel'));
});
