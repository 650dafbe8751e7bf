/** The list of holds and a decision about a hold use one rule to find a run's owner. No worker runs. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { InquiryDescription } from '../../src/model/inquiry.ts';
import { parseRunKey, toWorkflowId } from '../../src/model/run-key.ts';
import { attempted, SHARE } from '../ledger/fixtures.ts';
import { connectTo } from '../support/harness-client.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { type Json, startTestApi, type TestApi, token, useApi } from './fixtures.ts';

const { harness, api } = useApi({}, { isWorkerStopped: true, begin: open, end: () => ledger.close() });
let ledger: Ledger;

async function open(): Promise<void> {
  ledger = await openLedgerOf(harness);
}
const newId = () => `R-${randomUUID().slice(0, 8)}`;

/** Records a run whose only inquiry was made for EU1 and whose answer was lost. */
async function held(runKey: string, inquiry: Partial<InquiryDescription> = {}): Promise<string> {
  const customerTraceNumber = randomUUID().replaceAll('-', '').slice(0, 28).toUpperCase();
  await attempted(ledger, { inquiry: { ...inquiry, runKey, customerTraceNumber } }, { state: 'unknown' });
  return customerTraceNumber;
}

async function started(runKey: string, input: object): Promise<void> {
  const run = { workflowId: toWorkflowId(runKey), taskQueue: 'nobody', args: [input] };
  await harness.client.workflow.start('lendingJourney', run);
}

async function isListed(at: TestApi, runKey: string, bearer: string): Promise<boolean> {
  const json = await at.expect(200, `/v1/holds?runKey=${runKey}`, { token: bearer });
  const { counts } = await at.expect(200, `/v1/holds/counts?runKey=${runKey}`, { token: bearer });
  const counted = json.data.map(({ kind, failureType, since }: Json) => ({
    kind,
    failureType,
    count: 1,
    oldest: since,
  }));
  assert.deepEqual(counts, counted, 'the counts are those of the list');
  return json.data.length > 0;
}

async function isDecided(runKey: string, customerTraceNumber: string, bearer: string): Promise<boolean> {
  const decision = { decisionId: newId(), customerTraceNumber, attempt: 1, action: 'abandon', reason: 'a test' };
  const path = `/v1/runs/${encodeURIComponent(runKey)}/decisions`;
  const { status, text } = await api.call(path, { token: bearer, body: { ...decision, providerSaid: 'posted' } });
  assert.ok([200, 404].includes(status), text);
  return status === 200;
}

test('a token that can list a hold can decide it, whether its run is open or lost', async () => {
  const narrow = await token({ endUsers: ['EU1', 'EU3'], profiles: ['default'] });
  const cases: [what: string, isTheirs: boolean, runKey: string, more?: Partial<InquiryDescription>][] = [
    ['a lost journey', true, newId()],
    ['a lost journey of another profile', false, newId(), { profile: 'east' }],
    ['a lost share of a report for EU3', true, `share:${newId()}`, SHARE],
    ['a lost share of a report for EU4', false, `share:${newId()}`, SHARE],
    ['an open journey that may pull for EU2', false, newId()],
  ];
  for (const [what, isTheirs, runKey, more] of cases) {
    const { kind, id } = parseRunKey(runKey);
    if (kind === 'share') {
      const report = { reportReferenceNumber: newId(), reportEndUserCode: isTheirs ? 'EU3' : 'EU4' };
      await ledger.recordShare(ledger.identity.ledgerId, { runKey, shareId: id, ...report });
    }
    const trace = await held(runKey, { ...more, ...(kind === 'share' ? { shareId: id } : {}) });
    if (what.startsWith('an open'))
      await started(runKey, { journeyId: id, endUserCode: 'EU1', endUserCodes: { PREAPP: 'EU2' } });
    const both = [await isListed(api, runKey, narrow), await isDecided(runKey, trace, narrow)];
    assert.deepEqual(both, [isTheirs, isTheirs], what);
  }
  assert.deepEqual(api.unexpected, []);
});

test('while Temporal is unreachable, the ledger alone determines which holds of a page a token reaches', async (t) => {
  const [host = '', port = ''] = harness.config.temporal.address.split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  t.after(() => proxy.close());
  const opening = { dataConverter: {}, openLedger: () => openLedgerOf(harness) };
  const journeys = await connectTo(harness, { ...opening, address: `127.0.0.1:${proxy.port}` });
  const cutOff = await startTestApi(harness, { journeys });
  t.after(async () => {
    await cutOff.close();
    await journeys.close();
  });
  const runKeys = Array.from({ length: 40 }, newId);
  for (const runKey of runKeys) await held(runKey);
  proxy.cut();
  const beganAt = performance.now();
  const json = await cutOff.expect(200, '/v1/holds?limit=200', {
    token: await token({ endUsers: ['EU1'] }),
  });
  assert.ok(performance.now() - beganAt < 5_000);
  const listed = new Set(json.data.map(({ runKey }: { runKey: string }) => runKey));
  assert.ok(runKeys.every((runKey) => listed.has(runKey)));
  assert.equal(await isListed(cutOff, runKeys[0] ?? '', await token({ endUsers: ['EU2'] })), false);
});
