import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { attempted, consentOf, RECORD, SHARE, TRACE } from '../ledger/fixtures.ts';
import { runCli } from './run-cli.ts';

let directory: string;
let env: Record<string, string>;

/** A report, and one share of it. */
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-shares-'));
  env = { LEDGER_URL: `file:${join(directory, 'ledger.db')}`, KEY_RING_FILE: join(directory, 'keys.json') };
  const keyRing = await createKeyRing(join(directory, 'keys.json'));
  const ledger = await openLedger({ url: env.LEDGER_URL ?? '', environment: 'sandbox', keyRing, create: true });
  await attempted(ledger, {}, { state: 'answered', answer: RECORD });
  const evidence = { method: '=1+1', textVersion: 'v1', capturedAt: '2026-01-02T03:04:05Z', reference: '=2+2' };
  const shared = { inquiry: SHARE, consents: [consentOf({ evidence })], sharedReference: 'REF-1' };
  await attempted(ledger, shared, { state: 'answered', answer: RECORD });
  await ledger.close();
});
after(() => rm(directory, { recursive: true, force: true }));

const shares = (...args: string[]) => runCli(['shares', ...args], { env });

describe('who shared what with whom', { concurrency: 3 }, () => {
  test('is one JSON document, narrowed by report, owner and end user', async () => {
    const { code, stdout, stderr } = await shares('--report', 'REF-1', '--end-user', 'EU1', '--run-key', 'J-1');
    assert.equal(code, 0, stderr);
    const [one, ...others] = JSON.parse(stdout).data;
    assert.deepEqual(others, []);
    assert.deepEqual([one.runKey, one.sharedBy, one.endUserCode, one.posted], ['J-1', 'EU1', 'EU2', 'yes']);
    assert.deepEqual(one.report, {
      runKey: 'J-1',
      customerTraceNumber: TRACE,
      productCode: 'PREQUAL',
      endUserCode: 'EU1',
    });
    assert.equal(one.consents[0].consentId, 'C-1');
    assert.doesNotMatch(stdout, /SENTINEL|REF-1/);
    assert.deepEqual(JSON.parse((await shares('--end-user', 'EU7')).stdout), { data: [], hasMore: false });
  });

  test('is CSV that no spreadsheet takes for formulas', async () => {
    const { stdout } = await shares('--format', 'csv');
    const [head = '', row = ''] = stdout.split('\r\n');
    assert.match(head, /^claimedAt,/);
    assert.ok(row.includes(`,PREQUAL,${TRACE},EU1,01,C-1,`), row);
    assert.ok(row.includes("'=2+2"), row);
  });
});
