/** The signals that wake runs whose consents another run has received. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Client, ServiceError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createConsentActivities } from '../../src/activities/consent-activities.ts';
import type { RecordConsentsArgs } from '../../src/activities/contract.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { keyRing } from '../ledger/fixtures.ts';
import { consentMessage } from '../support/journey-harness.ts';

test('the activity that records a consent is repeated until the overloaded server has taken the signal to a waiting share', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-signals-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const url = `file:${join(directory, 'ledger.db')}`;
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true });
  t.after(() => ledger.close());
  const { recordConsents } = createConsentActivities({ ledger } as unknown as ActivityDependencies);
  const args = {
    ...{ runKey: 'J-1', firstRunId: 'run-1', applicantIds: ['1A'], faultyGrants: [], shares: [] },
    consents: [{ ...consentMessage('J-1', { applicantId: '1A' }), receivedAt: new Date().toISOString() }],
  } satisfies RecordConsentsArgs;
  const record = (code: number) => {
    const cause = Object.assign(new Error('x'), { code, details: 'namespace rate limit exceeded', metadata: {} });
    const signal = () => Promise.reject(new ServiceError('x', { cause }));
    const withAbortSignal = (_: unknown, act: () => unknown) => act();
    const client = { workflow: { getHandle: () => ({ signal }) }, withAbortSignal } as unknown as Client;
    return new MockActivityEnvironment({}, { client }).run(recordConsents, args) as ReturnType<typeof recordConsents>;
  };
  for (const code of [4, 8, 10, 14]) await assert.rejects(record(code), `${code}`);
  // PERMISSION_DENIED would last.
  assert.equal((await record(7)).taken[0]?.kind, 'recorded');
});
