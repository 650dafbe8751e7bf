/** Shares for those who consented, end to end: whom the gateway is asked for, and what says so. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ShareHandle } from '../../src/client/runs/share-handle.ts';
import {
  type CreditJourneys,
  InvalidInputError,
  type ReportReference,
  type ShareConsentMessage,
} from '../../src/client.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import type { AuditedShare } from '../../src/ledger/share-audit.ts';
import type { ShareReportInput, ShareReportState, ShareReportStatus } from '../../src/messages/share/shapes.ts';
import {
  applicant,
  type Harness,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  update,
} from '../support/journey-harness.ts';
import { connectWithLedger } from '../support/ledger-access.ts';
import { reportPull } from '../support/pull-scenarios.ts';
import { shareInput } from '../support/share-scenarios.ts';
import { untilQuery } from '../support/until-query.ts';

let harness: Harness;
let journeys: CreditJourneys;
let ledger: Ledger;

before(async () => {
  harness = await startHarness({ proving: true });
  ({ journeys, ledger } = await connectWithLedger(harness));
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

const TWO = ['1A', '2A'] as const;
type Id = (typeof TWO)[number];

interface Joint {
  report: ShareReportInput['report'];
  reference: ReportReference;
}

/** A report of two; the digits may select a fault, also for one of them alone. */
async function jointReport(digits: Partial<Record<Id, string>> = {}, profile?: string): Promise<Joint> {
  const applicants = TWO.map((id) => applicant(id, newSsn(digits[id])));
  const input = { ...reportPull('0001', { applicants }), ...(profile === undefined ? {} : { profile }) };
  const { reference } = await (await journeys.pull(input)).result();
  assert.ok(reference);
  return { report: { pullId: input.pullId, productCode: 'CR' }, reference };
}

function started(report: ShareReportInput['report'], overrides: Partial<ShareReportInput> = {}): Promise<ShareHandle> {
  return journeys.shareReport(shareInput(report, { consumers: 'consented', ...overrides }));
}

let spoken = 0;
function said(applicantId: Id, decision: ShareConsentMessage['decision'] = 'granted'): ShareConsentMessage {
  const capturedAt = new Date().toISOString();
  // Each is decided after the one before.
  const decidedAt = new Date(Date.now() - 100_000 + ++spoken).toISOString();
  return {
    ...{ applicantId, decision, decidedAt, consentId: `C-${randomUUID().slice(0, 8)}` },
    secondaryUser: { endUserCode: 'EU999' },
    ...(decision === 'granted'
      ? { evidence: { method: 'web', textVersion: 'v1', capturedAt, reference: 'doc-1' } }
      : {}),
  };
}

async function until(share: ShareHandle, state: ShareReportState): Promise<ShareReportStatus> {
  for await (const status of share.watch()) if (status.state === state) return status;
  throw new Error(`it was never ${state}`);
}

interface Posted {
  customerTraceNumber: string;
  productCode: string;
  consumerIds: string[];
}

/** Whom each posting of this report's shares named, by applicant. */
async function named({ reference }: Joint): Promise<Id[][]> {
  const answer = await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`);
  const all = (await answer.json()) as Posted[];
  const own = new Map(reference.applicants.map(({ consumerId, applicantId }) => [consumerId, applicantId as Id]));
  return all
    .filter(({ productCode, consumerIds }) => productCode === 'SECONDUSE' && consumerIds.some((id) => own.has(id)))
    .map(({ consumerIds }) => consumerIds.map((id) => own.get(id) ?? assert.fail('a stranger')));
}

async function audited(shareId: string): Promise<AuditedShare[]> {
  const found: AuditedShare[] = [];
  for await (const one of ledger.sharesBetween({ ownerId: `share:${shareId}` })) found.push(one);
  return found;
}

async function resetToBegin(workflowId: string): Promise<void> {
  await harness.client.workflowService.resetWorkflowExecution({
    namespace: harness.client.options.namespace,
    workflowExecution: { workflowId, runId: '' },
    reason: 'test',
    requestId: randomUUID(),
    // The SDK's type wants a Long; a number is encoded as well.
    ...({ workflowTaskFinishEventId: 4 } as object),
  });
}

test('a share for those who consented waits for every answer, and names those alone', async () => {
  const joint = await jointReport();
  const share = await started(joint.report);
  await until(share, 'waitingForConsent');
  await share.recordConsent(said('2A', 'denied'));
  const waiting = await share.status();
  assert.deepEqual(waiting.consentsMissing, ['1A']);
  assert.equal(waiting.consumers, 'consented');
  await share.recordConsent(said('1A'));
  const result = await share.result();
  assert.equal(result.outcome, 'posted');
  assert.deepEqual(result.postedFor, ['1A']);
  assert.deepEqual(await named(joint), [['1A']]);
  const [one, ...more] = await audited(share.shareId);
  assert.deepEqual(more, []);
  assert.deepEqual(one?.subset, { leftOut: ['2A'], confirmation: { reference: 'letter 88', at: '2026-01-02' } });
  assert.deepEqual(
    one?.consents.map(({ applicantId }) => applicantId),
    ['1A'],
  );
});

test('once its wait is over it names those who have consented by then', async () => {
  const joint = await jointReport();
  const share = await started(joint.report, { awaitConsentFor: 'PT2S' });
  await share.recordConsent(said('2A'));
  const { outcome, postedFor } = await share.result();
  assert.deepEqual({ outcome, postedFor }, { outcome: 'posted', postedFor: ['2A'] });
  assert.deepEqual(await named(joint), [['2A']]);
});

test('where all consent it is as any other share, under the same trace number', async () => {
  const joint = await jointReport();
  const share = await started(joint.report);
  for (const id of TWO) await share.recordConsent(said(id));
  const { postedFor, customerTraceNumber = '' } = await share.result();
  assert.deepEqual(postedFor, ['1A', '2A']);
  assert.match(customerTraceNumber, /00$/);
  assert.deepEqual(await named(joint), [['1A', '2A']]);
  assert.equal((await audited(share.shareId))[0]?.subset, undefined);
});

test('where nobody consents it ends as any other share', async () => {
  const joint = await jointReport();
  const [denied, expired] = await Promise.all([
    started(joint.report),
    started(joint.report, { awaitConsentFor: 'PT1S', endUserCode: 'EU998' }),
  ]);
  for (const id of TWO) await denied.recordConsent(said(id, 'denied'));
  assert.equal((await denied.result()).outcome, 'denied');
  assert.equal((await expired.result()).outcome, 'expired');
  assert.deepEqual(await named(joint), []);
});

/** What the share's status says is no news of the run's alone: it also changes while an attempt is retried. */
async function untilTried(share: ShareHandle): Promise<void> {
  for await (const { attempts } of share.watch()) if (attempts > 0) return;
}

test('who takes the consent back before anything is posted is left out, under another trace number', async () => {
  // Each SECONDUSE that names 2A is throttled: not processed, and tried again.
  const joint = await jointReport({ '2A': '9430' });
  const share = await started(joint.report);
  for (const id of TWO) await share.recordConsent(said(id));
  await untilTried(share);
  await share.recordConsent(said('2A', 'revoked'));
  const { outcome, postedFor, customerTraceNumber = '' } = await share.result();
  assert.deepEqual({ outcome, postedFor }, { outcome: 'posted', postedFor: ['1A'] });
  assert.match(customerTraceNumber, /02$/);
  assert.deepEqual(await named(joint), [['1A']]);
});

test('after an unknown outcome no other choice is posted without a decision by a person', async () => {
  // Posted, then the connection is reset: nobody knows.
  const joint = await jointReport({ '2A': '9002' });
  const share = await started(joint.report);
  for (const id of TWO) await share.recordConsent(said(id));
  const unknown = await until(share, 'held');
  const [first = assert.fail()] = unknown.holds;
  assert.equal(first.failureType, 'OutcomeUnknown');
  await share.recordConsent(said('2A', 'revoked'));
  const decide = (hold: typeof first, decisionId: string) =>
    share.resolve({
      ...{ decisionId, customerTraceNumber: hold.customerTraceNumber, attempt: hold.attempts },
      ...{ action: 'resend', by: 'ops-7', reason: 'the provider has none', providerSaid: 'notPosted' },
    });
  await decide(first, 'D1');
  let second = first;
  for await (const { holds } of share.watch()) {
    const other = holds.find(({ failureType }) => failureType === 'AnotherNumber');
    if (other) {
      second = other;
      break;
    }
  }
  assert.equal(second.otherTraceNumber, first.customerTraceNumber);
  assert.deepEqual(await named(joint), [['1A', '2A']]);
  await decide(second, 'D2');
  const { outcome, postedFor } = await share.result();
  assert.deepEqual({ outcome, postedFor }, { outcome: 'posted', postedFor: ['1A'] });
  assert.deepEqual(await named(joint), [['1A', '2A'], ['1A']]);
});

test('after a reset it is found as it was posted, also where others have consented since', async () => {
  const joint = await jointReport();
  const share = await started(joint.report);
  await share.recordConsent(said('2A', 'denied'));
  await share.recordConsent(said('1A'));
  const first = await share.result();
  assert.deepEqual(first.postedFor, ['1A']);
  await share.recordConsent(said('2A'));
  await resetToBegin(share.workflowId);
  const second = await share.result();
  assert.deepEqual(second, first);
  await share.recordConsent(said('1A', 'revoked'));
  await resetToBegin(share.workflowId);
  assert.deepEqual(await share.result(), { ...first, attention: 'revokedAfterPosting' });
  assert.deepEqual(await named(joint), [['1A']]);
});

test('where the confirmation is gone when it is to be sent, nothing is, and a person decides', async () => {
  const joint = await jointReport();
  const share = await started(joint.report);
  await share.recordConsent(said('1A'));
  const profile = harness.config.profiles.get('default') ?? assert.fail();
  const { subsetSharesConfirmed } = profile;
  assert.ok(subsetSharesConfirmed);
  // As on a worker that was started anew, with another file of profiles.
  delete profile.subsetSharesConfirmed;
  try {
    await share.recordConsent(said('2A', 'denied'));
    const { holds } = await until(share, 'held');
    const [hold = assert.fail()] = holds;
    assert.equal(hold.failureType, 'InvalidInput');
    assert.deepEqual(
      hold.problems?.map(({ path }) => path),
      ['/consumers'],
    );
    assert.deepEqual(await named(joint), []);
    profile.subsetSharesConfirmed = subsetSharesConfirmed;
    await share.resolve({
      ...{ decisionId: 'D1', customerTraceNumber: hold.customerTraceNumber, attempt: hold.attempts },
      ...{ action: 'resend', by: 'ops-7', reason: 'the file is back', providerSaid: 'notAsked' },
    });
    assert.deepEqual((await share.result()).postedFor, ['1A']);
  } finally {
    profile.subsetSharesConfirmed = subsetSharesConfirmed;
  }
});

test('of a refusal after the posting only that of one whom it names draws attention', async () => {
  const joint = await jointReport();
  const share = await started(joint.report);
  await share.recordConsent(said('2A', 'denied'));
  await share.recordConsent(said('1A'));
  assert.equal((await share.result()).outcome, 'posted');
  // Its run has ended: what is said now is recorded by a run of its own.
  const flagged = async (message: ShareConsentMessage) => {
    const answer = await share.recordConsent(message);
    if (!answer.late || !answer.recorded) assert.fail('the run is open, or the ledger is away');
    return answer.postedSharesFlagged;
  };
  assert.equal(await flagged(said('2A', 'denied')), 0);
  assert.equal(await flagged(said('1A', 'revoked')), 1);
});

test('without the provider’s confirmation it is refused at once, with path and rule', async () => {
  const joint = await jointReport({}, 'proving');
  const rule = { path: '/consumers', rule: 'must be all: the gateway profile has no subsetSharesConfirmed' };
  const share = await started(joint.report, { profile: 'proving' });
  const failure = await share.result().catch((error: unknown) => error);
  assert.ok(failure instanceof InvalidInputError);
  assert.deepEqual(failure.problems, [rule]);
  const shares = [{ shareId: 'S1', endUserCode: 'EU999', consumers: 'consented' as const }];
  const journey = await harness.start(journeyInput({ profile: 'proving', shares }));
  await journey.result().catch(() => undefined);
  assert.deepEqual((await untilQuery<{ problems?: object[] }>(journey, () => true)).problems, [
    { ...rule, path: '/shares/0/consumers' },
  ]);
  const open = await harness.start(journeyInput({ profile: 'proving', sharesOpenFor: 'P1D' }));
  const [share1 = assert.fail()] = shares;
  const journeyId = open.workflowId.slice('journey-'.length);
  const asked = update(open, 'requestShare', { journeyId, share: share1 });
  assert.match(
    await refusalOf(asked),
    /\/share\/consumers must be all: the gateway profile has no subsetSharesConfirmed/,
  );
  await open.terminate();
});
