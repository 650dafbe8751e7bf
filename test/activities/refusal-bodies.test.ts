/** The body of a refusal never endangers the outcome. The activity runs with a real gateway client and ledger. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { SubmitFailureDetails, SubmitInquiryArgs } from '../../src/activities/contract.ts';
import type { ActivityDependencies } from '../../src/activities/dependencies.ts';
import { InquirySlots } from '../../src/activities/inquiry-slots.ts';
import { createLedgerActivities } from '../../src/activities/ledger-activities.ts';
import { createSubmitInquiry } from '../../src/activities/submit-inquiry.ts';
import { GatewayClient } from '../../src/gateway/gateway-client.ts';
import { computeProfileFingerprint } from '../../src/gateway/profile.ts';
import { LedgerUnavailableError } from '../../src/ledger/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { mayBeCarried, type SealedRefusal } from '../../src/ledger/reports/reports.ts';
import { applicant, profileFor } from '../gateway/fixtures.ts';
import { httpAnswer, startServer } from '../gateway/scripted-server.ts';
import { INQUIRY, keyRing, TRACE } from '../ledger/fixtures.ts';

const SECRET = `no such person: ${applicant().ssn}`;

/** One refused attempt; `seal` takes the place of the ledger's own. `isAway`: the ledger takes no outcome. */
async function refused(t: TestContext, { seal, isAway }: { seal?: () => Promise<SealedRefusal>; isAway?: true } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-refusal-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const url = `file:${join(directory, 'ledger.db')}`;
  const ledger = await openLedger({ url, environment: 'sandbox', keyRing: keyRing(), create: true });
  const server = await startServer(t, { onRequest: (socket) => socket.write(httpAnswer(422, SECRET)) });
  const profile = profileFor(server.url);
  const gateway = new GatewayClient(profile);
  t.after(async () => {
    await gateway.close();
    await ledger.close();
  });
  const away = () => Promise.reject(new LedgerUnavailableError('away'));
  const failing = new Proxy(ledger, {
    get: (target, name) => {
      if (name === 'sealRefusal' && seal) return seal;
      return name === 'recordOutcome' && isAway ? away : bound(target, name);
    },
  });
  const dependencies = {
    config: { environment: 'sandbox', profiles: new Map([[profile.name, profile]]) },
    ledger: failing,
    tokens: { get: async () => ({ accessToken: 'token' }), invalidate: () => {} },
    gateways: new Map([[profile.name, gateway]]),
    slots: new Map([[profile.name, new InquirySlots(1, 1)]]),
  } as unknown as ActivityDependencies;
  const args = {
    run: {
      ...{ environment: 'sandbox', profile: profile.name, customerId: profile.customerId },
      ...{ profileFingerprint: computeProfileFingerprint(profile), ledgerId: ledger.identity.ledgerId },
    },
    inquiry: { ...INQUIRY, profile: profile.name, customerId: profile.customerId },
    applicants: [applicant()],
    attempt: 1,
    settings: { sendByMs: 5_000, submitTimeoutMs: 20_000, heartbeatTimeoutMs: 10_000, resendAfterMs: 0 },
    consents: [],
  } as unknown as SubmitInquiryArgs;
  const environment = new MockActivityEnvironment(
    // An outcome that cannot be recorded is tried until the activity ends.
    { startToCloseTimeoutMs: isAway ? 4_000 : 20_000 },
    { logger: new DefaultLogger('ERROR') },
  );
  const failure = await environment
    .run(createSubmitInquiry(dependencies) as (given: unknown) => Promise<unknown>, args)
    .then(
      () => assert.fail('it must fail'),
      (error: { type?: string; details?: SubmitFailureDetails[] }) => error,
    );
  assert.equal(failure.type, 'RequestRefused');
  assert.doesNotMatch(JSON.stringify(failure), /no such person/);
  return { ledger, details: failure.details?.[0] };
}

function bound(target: Ledger, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name, target);
  return typeof member === 'function' ? member.bind(target) : member;
}

const kept = (ledger: Ledger) =>
  ledger.readRefusal({ customerTraceNumber: TRACE, attempt: 1 }, { by: 'ops', via: 'ledger' });

test('a refusal is recorded with the body that the gateway sent', async (t) => {
  const { ledger, details } = await refused(t);
  assert.deepEqual([details?.recorded, details?.refusalKept], [true, true]);
  assert.equal((await kept(ledger))?.body, SECRET);
});

test('a refusal is recorded without its body if the body cannot be sealed', async (t) => {
  const { ledger, details } = await refused(t, { seal: () => Promise.reject(new Error('the key service fails')) });
  assert.deepEqual([details?.recorded, details?.refusalKept], [true, undefined]);
  assert.equal((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.state, 'refused');
  assert.equal(await kept(ledger), null);
});

test('a refusal is recorded without its body if a key service does not answer', async (t) => {
  const { ledger, details } = await refused(t, { seal: () => new Promise(() => {}) });
  assert.deepEqual([details?.recorded, details?.refusalKept], [true, undefined]);
  assert.equal((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.httpStatus, 422);
});

test('a refusal that the ledger cannot record is handed to recordOutcome with its sealed body, which is kept then', async (t) => {
  const { ledger, details } = await refused(t, { isAway: true });
  assert.deepEqual([details?.recorded, details?.refusalKept], [false, undefined]);
  const { attempt, httpStatus, refusal } = details ?? assert.fail();
  assert.ok(refusal && attempt === 1);
  assert.doesNotMatch(Buffer.from(refusal.body, 'base64').toString('latin1'), /no such person/);
  const record = {
    ...{ ledgerId: ledger.identity.ledgerId, customerTraceNumber: TRACE, attempt, state: 'refused' as const },
    ...{
      failureType: 'RequestRefused' as const,
      httpStatus: httpStatus ?? 0,
      refusal: JSON.parse(JSON.stringify(refusal)),
    },
  };
  const activities = createLedgerActivities({ ledger });
  assert.equal(await activities.recordOutcome(record), 'recorded');
  assert.equal(await activities.recordOutcome(record), 'already');
  assert.equal((await kept(ledger))?.body, SECRET);
  assert.equal((await ledger.lookUp(ledger.identity.ledgerId, TRACE))?.refusalKept, true);
});

test('a body that is too long for Temporal is dropped, and the failure is kept', () => {
  const sealed = { wrappedKey: 'AA==', keyId: 'k', algorithm: 'A256GCM', isWhole: true };
  assert.deepEqual(
    [1, 400_000, 400_001].map((length) => mayBeCarried({ ...sealed, body: 'A'.repeat(length) })),
    [true, true, false],
  );
});
