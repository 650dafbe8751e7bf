/**
 * The requests of the further attempts of an inquiry. The activity runs with a real ledger, a real gateway client and a
 * gateway with scripted answers.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { SubmitInquiryArgs } from '../../src/activities/contract.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { InquirySlots } from '../../src/activities/inquiry-slots.ts';
import { createSubmitInquiry } from '../../src/activities/submit-inquiry.ts';
import { GatewayClient } from '../../src/gateway/gateway-client.ts';
import { computeProfileFingerprint, type GatewayProfile } from '../../src/gateway/profile.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { applicant, profileFor, recordBody } from '../gateway/fixtures.ts';
import { httpAnswer, startServer } from '../gateway/scripted-server.ts';
import { consentOf, decisionOf, INQUIRY, keyRing, SHARE, TRACE } from '../ledger/fixtures.ts';

type Reply = (socket: Socket) => void;

const LOST: Reply = (socket) => socket.destroy();
const THROTTLED: Reply = (socket) => socket.write(httpAnswer(429, '{}'));
const answer =
  (body: string): Reply =>
  (socket) =>
    socket.write(httpAnswer(200, body));

/** One attempt after the other, each with the gateway's next reply. */
async function attemptsWith(t: TestContext, replies: readonly Reply[], changes: Partial<GatewayProfile> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-resent-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const url = `file:${join(directory, 'ledger.db')}`;
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true });
  const server = await startServer(t, { onRequest: (socket, _request, index) => replies[index]?.(socket) });
  const profile = profileFor(server.url, { timeZone: 'UTC', ...changes });
  const gateway = new GatewayClient(profile);
  t.after(async () => {
    await gateway.close();
    await ledger.close();
  });
  const refused = new Set<string>();
  const invalidate = (_profile: GatewayProfile, accessToken: string) => void refused.add(accessToken);
  const dependencies = {
    config: { environment: 'sandbox', profiles: new Map([[profile.name, profile]]) },
    ...{ ledger, tokens: { get: async () => ({ accessToken: `token${refused.size}` }), invalidate } },
    gateways: new Map([[profile.name, gateway]]),
    slots: new Map([[profile.name, new InquirySlots(1, 1)]]),
  } as unknown as ActivityDependencies;
  const submit = async (attempt: number, content: Partial<SubmitInquiryArgs> = {}) => {
    const args = {
      run: {
        ...{ environment: 'sandbox', profile: profile.name, customerId: profile.customerId },
        ...{ profileFingerprint: computeProfileFingerprint(profile), ledgerId: ledger.identity.ledgerId },
      },
      applicants: [applicant()],
      ...{ attempt, consents: [] },
      settings: { sendByMs: 5_000, submitTimeoutMs: 20_000, heartbeatTimeoutMs: 10_000, resendAfterMs: 0 },
      ...content,
      inquiry: { ...INQUIRY, ...content.inquiry, profile: profile.name, customerId: profile.customerId },
    } as unknown as SubmitInquiryArgs;
    const environment = new MockActivityEnvironment(
      { startToCloseTimeoutMs: 20_000 },
      { logger: new DefaultLogger('ERROR') },
    );
    const activity = createSubmitInquiry(dependencies) as (given: unknown) => Promise<unknown>;
    return environment.run(activity, args).then(
      (result) => (result as { kind: string }).kind,
      ({ type }: { type?: string }) => type,
    );
  };
  const sent = () => server.requests.map(({ body }) => JSON.parse(body) as Record<string, string>);
  return { ledger, submit, sent, requests: server.requests };
}

for (const [resendTraceNumber, numbers] of [
  ['same', [TRACE, TRACE, TRACE]],
  ['new', [TRACE, `${TRACE}02`, `${TRACE}02`]],
] as const) {
  test(`2.3, 2.6: a resend has the ${resendTraceNumber} trace number, and the automatic attempts after it keep that number`, async (t) => {
    const body = recordBody();
    const { ledger, submit, sent } = await attemptsWith(t, [LOST, THROTTLED, answer(body)], { resendTraceNumber });
    assert.equal(await submit(1), 'OutcomeUnknown');
    assert.equal(await submit(2), 'latest', 'nothing is sent without a decision');
    const { ledgerId } = ledger.identity;
    assert.deepEqual(await ledger.recordDecision(ledgerId, INQUIRY, decisionOf({})), { kind: 'recorded' });
    assert.equal(await submit(2), 'Throttled');
    // A reset sends it again, and the decision is spent.
    assert.equal(await submit(2), 'latest');
    assert.equal(await submit(3), 'answered');
    assert.equal(await submit(4), 'latest');
    assert.deepEqual(
      sent().map(({ customerTraceNumber }) => customerTraceNumber),
      numbers,
    );
    const [inquiry] = await ledger.inquiriesOf(INQUIRY.runKey);
    assert.equal(inquiry?.customerTraceNumber, TRACE, 'the inquiry keeps its own number');
    assert.deepEqual(
      inquiry.attempts.map(({ sentTraceNumber }) => sentTraceNumber ?? TRACE),
      numbers,
    );
    const audited: (string | undefined)[] = [];
    for await (const { sentTraceNumber } of ledger.inquiriesBetween({})) audited.push(sentTraceNumber ?? TRACE);
    assert.deepEqual(audited, numbers);
    // Another request under the inquiry's number is refused as before.
    const other = { applicants: [applicant({ emailAddress: 'other@example.com' })] };
    assert.equal(await submit(4, other), 'RequestDiffers');
  });
}

test('a token that the gateway refused is not used again, also where 401 does not mean "not processed"', async (t) => {
  const unauthorized: Reply = (socket) => socket.write(httpAnswer(401, '{}'));
  const replies = [unauthorized, answer(recordBody())];
  const { ledger, submit, requests } = await attemptsWith(t, replies, { notProcessedStatuses: [429] });
  assert.equal(await submit(1), 'OutcomeUnknown');
  await ledger.recordDecision(ledger.identity.ledgerId, INQUIRY, decisionOf({}));
  assert.equal(await submit(2), 'answered');
  assert.deepEqual(
    requests.map(({ headers }) => headers.authorization),
    ['Bearer token0', 'Bearer token1'],
  );
});

test('an attempt is not sent if the machine was suspended between the claim and the first byte', async (t) => {
  const { ledger, submit, sent } = await attemptsWith(t, [answer(recordBody())]);
  const { claim } = ledger;
  const { now } = Date;
  // The monotonic clock stands still meanwhile.
  t.mock.method(ledger, 'claim', async (...args: Parameters<typeof claim>) => {
    const verdict = await claim.apply(ledger, args);
    t.mock.method(Date, 'now', () => now() + 3_600_000);
    return verdict;
  });
  assert.equal(await submit(1), 'GatewayUnreachable');
  assert.deepEqual(sent(), []);
  t.mock.restoreAll();
  assert.equal(await submit(2), 'answered');
});

test('2.6, rule 3: a share has the date of the attempt that was posted, not that of the first attempt', async (t) => {
  const confirmation = JSON.stringify({ returnCode: 'Record', reportReferenceNumber: 'SU-1' });
  const { ledger, submit, sent } = await attemptsWith(t, [THROTTLED, answer(confirmation)]);
  const share = {
    inquiry: { ...INQUIRY, ...SHARE },
    consents: [consentOf({ applicantId: '1A', secondaryUser: { endUserCode: 'EU2' } })],
    reference: {
      ...{ reportReferenceNumber: 'RRN-1', requestedAt: '2026-01-01T00:00:00Z' },
      applicants: [{ applicantId: '1A', consumerId: 'C1' }],
    },
  };
  await ledger.recordConsents(ledger.identity.ledgerId, share.consents);
  assert.equal(await submit(1, share), 'Throttled');
  await setTimeout(1_100);
  assert.equal(await submit(2, share), 'answered', 'the request is the same: its digest leaves the date out');
  const inquiry = (await ledger.inquiriesOf(INQUIRY.runKey)).find(({ productCode }) => productCode === 'SECONDUSE');
  const moments = inquiry?.attempts.map(({ claimedAt = '' }) => {
    const moment = new Date(Date.parse(claimedAt) - 5_000).toISOString();
    return moment.slice(0, 19).replace('T', ' ');
  });
  const dates = sent().map(({ originalInquiryDate }) => originalInquiryDate);
  assert.deepEqual(dates, moments);
  assert.notEqual(dates[0], dates[1]);
});
