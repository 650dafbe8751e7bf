/** Shares by themselves, end to end, with a real client, worker, gateway and ledger; one worker for all tests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { ShareHandle } from '../../src/client/runs/run-handle.ts';
import { type Content, type CreditJourneys, InvalidInputError, type ReportReference } from '../../src/client.ts';
import type { AuditedShare, SharesQuery } from '../../src/ledger/audit/audited.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { StoredReportInput } from '../../src/messages/inputs/share-report.ts';
import type { ShareReportStatus } from '../../src/messages/share/shapes.ts';
import { Caller } from '../sandbox/caller.ts';
import { applicant, type Harness, journeyInput, refusalOf, startHarness } from '../support/journey-harness.ts';
import { connectWithLedger } from '../support/ledger-access.ts';
import { reportPull } from '../support/pull-scenarios.ts';
import { newShareId, shareInput } from '../support/share-scenarios.ts';

let harness: Harness;
let journeys: CreditJourneys;
let ledger: Ledger;

before(async () => {
  harness = await startHarness();
  ({ journeys, ledger } = await connectWithLedger(harness));
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

interface Pulled {
  report: StoredReportInput & { pullId: string };
  reference: ReportReference;
  customerTraceNumber: string;
}

/** Pulls a report, of two applicants if `joint`. */
async function pulled({ joint = false, lastFour = '0001' } = {}): Promise<Pulled> {
  const input = reportPull(lastFour, joint ? { applicants: [applicant('1A'), applicant('2A')] } : {});
  const pull = await journeys.start(input);
  const { reference, customerTraceNumber } = await pull.result();
  assert.ok(reference);
  return { report: { pullId: input.pullId, productCode: 'CR' }, reference, customerTraceNumber };
}

type ShareConsent = Content<'share', 'recordConsent'>;

function consent(overrides: Partial<ShareConsent> = {}): ShareConsent {
  const { decision = 'granted' } = overrides;
  const capturedAt = new Date().toISOString();
  return {
    applicantId: '1A',
    consentId: `C-${randomUUID().slice(0, 8)}`,
    decision,
    decidedAt: new Date(Date.now() - 1_000).toISOString(),
    secondaryUser: { endUserCode: 'EU999' },
    ...(decision === 'granted'
      ? { evidence: { method: 'web', textVersion: 'v1', capturedAt, reference: 'doc-1' } }
      : {}),
    ...overrides,
  };
}

async function until(share: ShareHandle, state: ShareReportStatus['state']) {
  for await (const status of share.watch()) if (status.state === state) return status;
  throw new Error(`it was never ${state}`);
}

async function sharesIn(query: SharesQuery): Promise<AuditedShare[]> {
  const found: AuditedShare[] = [];
  for await (const one of ledger.sharesBetween(query)) found.push(one);
  return found;
}

interface Posted {
  customerTraceNumber: string;
  productCode: string;
  endUserCode?: string;
}

async function postedOf(...shareIds: string[]): Promise<Posted[]> {
  const rows = (await Promise.all(shareIds.map((shareId) => ledger.inquiriesOf(`share:${shareId}`)))).flat();
  const traces = new Set(rows.map(({ customerTraceNumber }) => customerTraceNumber));
  const all = (await (await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`)).json()) as Posted[];
  return all.filter(({ customerTraceNumber }) => traces.has(customerTraceNumber));
}

async function problemsOf(share: Promise<{ result(): Promise<unknown> }>): Promise<{ path: string; rule: string }[]> {
  try {
    await (await share).result();
  } catch (error) {
    if (error instanceof InvalidInputError) return [...error.problems];
    throw error;
  }
  throw new Error('it was not refused');
}

const pathsOf = async (share: Promise<{ result(): Promise<unknown> }>) =>
  (await problemsOf(share)).map(({ path }) => path);

/** Returns the reason of a refused update. */
async function unwrapRefusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new Error('it was not refused');
}

/** Pulls a report as a caller with another ledger. */
async function answeredElsewhere(): Promise<ReportReference> {
  const caller = await Caller.of({ url: harness.sandboxUrl, port: 0, close: async () => {} });
  const requestedAt = new Date().toISOString();
  const answer = await caller.post({
    ...{ customerId: 'SANDBOX0001', customerTraceNumber: `ELSEWHERE${randomUUID().slice(0, 8)}`, productCode: 'CR' },
    ...{ endUserCode: 'EU123', permissiblePurposeCode: '01', softwareProviderId: 'SBX1' },
    applicants: [applicant('1A')],
  });
  const { reportReferenceNumber, applicants } = JSON.parse(answer.text) as {
    reportReferenceNumber: string;
    applicants: { consumerId: string }[];
  };
  const consumerId = applicants[0]?.consumerId ?? assert.fail();
  return { reportReferenceNumber, requestedAt, applicants: [{ applicantId: '1A', consumerId }] };
}

describe('a share by itself', { concurrency: 6 }, () => {
  test('is posted once every applicant of a pull’s report consents', async () => {
    const { report, customerTraceNumber: source } = await pulled({ joint: true });
    const input = shareInput(report);
    const share = await journeys.start(input);
    const waiting = await until(share, 'waitingForConsent');
    assert.deepEqual(waiting.consentsMissing, ['1A', '2A']);
    assert.ok(Date.parse(waiting.until ?? '') > Date.now(), 'its status says until when it waits');
    assert.equal((await share.recordConsent(consent())).late, false);
    await share.recordConsent(consent({ applicantId: '2A' }));
    const result = await share.result();
    assert.equal(result.outcome, 'posted');
    assert.deepEqual(result.report, {
      kind: 'ledger',
      runKey: `pull:${report.pullId}`,
      productCode: 'CR',
      customerTraceNumber: source,
    });
    assert.match(result.reportReferenceNumber ?? '', /./);
    const [posted, ...more] = await postedOf(input.shareId);
    assert.deepEqual(more, []);
    assert.equal(posted?.productCode, 'SECONDUSE');
    assert.equal(posted?.endUserCode, 'EU999');
  });

  test('works without its journey’s history, for two secondary users with a consent each', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'] }));
    const { stages } = await journey.result();
    await harness.client.workflowService.deleteWorkflowExecution({
      namespace: harness.client.options.namespace,
      workflowExecution: { workflowId: journey.workflowId },
    });
    const report = { journeyId: journey.journeyId, productCode: 'PREQUAL' as const };
    const users = [{ endUserCode: 'EU999' }, { endUserCode: 'EU888', endUser: 'Example Bank' }];
    const shares = users.map((user) => shareInput(report, user));
    const results = await Promise.all(
      shares.map(async (input, index) => {
        const share = await journeys.start(input);
        await until(share, 'waitingForConsent');
        const other = consent({ secondaryUser: { endUserCode: users[1 - index]?.endUserCode ?? '' } });
        assert.match(await unwrapRefusal(share.recordConsent(other)), /must be that of the share/);
        await share.recordConsent(consent({ secondaryUser: { endUserCode: input.endUserCode ?? '' } }));
        return share.result();
      }),
    );
    for (const { outcome, report: source } of results) {
      assert.equal(outcome, 'posted');
      assert.equal(source.kind === 'ledger' && source.customerTraceNumber, stages[0]?.customerTraceNumber);
    }
    const posted = await postedOf(...shares.map(({ shareId }) => shareId));
    assert.deepEqual(posted.map(({ endUserCode }) => endUserCode).sort(), ['EU888', 'EU999']);
    const listed = await sharesIn({ runKey: journey.journeyId });
    assert.deepEqual(
      listed.map(({ runKey, sharedBy, report: of }) => [runKey, sharedBy, of?.customerTraceNumber]).sort(),
      shares.map(({ shareId }) => [`share:${shareId}`, 'EU123', stages[0]?.customerTraceNumber]).sort(),
    );
  });

  test('accepts a report given in full that the ledger does not know', async () => {
    const reference = await answeredElsewhere();
    const input = shareInput({ reference, endUserCode: 'EU123' });
    const share = await journeys.start(input);
    await share.recordConsent(consent());
    const result = await share.result();
    assert.deepEqual([result.outcome, result.report], ['posted', { kind: 'given' }]);
    const [listed] = await sharesIn({ report: reference.reportReferenceNumber });
    assert.deepEqual([listed?.report, listed?.sharedBy], [undefined, 'EU123']);
    assert.equal((await share.references()).report?.reportReferenceNumber, reference.reportReferenceNumber);
  });

  test('accepts a report given in full only as the ledger has it: same run, applicants and consumers', async () => {
    const { reference } = await pulled({ joint: true });
    const other = await pulled();
    const [first, second] = reference.applicants;
    assert.ok(first && second);
    const stranger = other.reference.applicants[0]?.consumerId ?? assert.fail();
    const given = (change: Partial<ReportReference>, endUserCode = 'EU123') =>
      pathsOf(journeys.start(shareInput({ reference: { ...reference, ...change }, endUserCode })));
    const at = '/report/reference/applicants';
    assert.deepEqual(await given({ applicants: [first, { ...second, consumerId: stranger }] }), [`${at}/1/consumerId`]);
    const swapped = [
      { ...first, consumerId: second.consumerId },
      { ...second, consumerId: first.consumerId },
    ];
    assert.deepEqual(await given({ applicants: swapped }), [`${at}/0/consumerId`, `${at}/1/consumerId`]);
    assert.deepEqual(await given({ applicants: [first] }), [at]);
    assert.deepEqual(await given({ applicants: [first, { ...second, applicantId: '9Z' }] }), [
      `${at}/1/applicantId`,
      at,
    ]);
    assert.deepEqual(await given({}, 'EU456'), ['/report/endUserCode']);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    assert.deepEqual(await given({ requestedAt: tomorrow }), ['/report/reference/requestedAt']);
    const whole = shareInput({ reference, endUserCode: 'EU123' });
    const share = await journeys.start(whole);
    assert.equal((await until(share, 'waitingForConsent')).report?.kind, 'ledger');
    await share.withdraw({ by: 'ops', reason: 'only a test' });
    assert.equal((await share.result()).outcome, 'withdrawn');
    assert.deepEqual(await postedOf(whole.shareId), []);
    const cancelled = await journeys.start(shareInput({ reference, endUserCode: 'EU123' }));
    await until(cancelled, 'waitingForConsent');
    await harness.client.workflow.getHandle(cancelled.workflowId).cancel();
    await assert.rejects(cancelled.result(), { code: 'runFailed' });
    const { state, waitingFor, consentsMissing } = await cancelled.status();
    assert.deepEqual([state, waitingFor, consentsMissing], ['cancelled', undefined, []]);
  });

  test('refuses a report without a record, unknown, of its own end user, disposed of or on legal hold', async () => {
    const { report, reference } = await pulled();
    const none = reportPull('0404');
    assert.equal((await (await journeys.start(none)).result()).outcome, 'noRecord');
    const refusal = async (input: Parameters<typeof shareInput>[0], change = {}) =>
      (await problemsOf(journeys.start(shareInput(input, change)))).map(({ path, rule }) => `${path} ${rule}`);
    assert.deepEqual(await refusal({ pullId: none.pullId, productCode: 'CR' }), [
      '/report has no record: nothing to share',
    ]);
    assert.deepEqual(await refusal({ ...report, productCode: 'PREQUAL' }), [
      '/report/pullId must name a run for which the ledger has an inquiry of PREQUAL',
    ]);
    assert.deepEqual(await refusal({ journeyId: report.pullId, productCode: 'CR' }), [
      '/report/journeyId must name a run for which the ledger has an inquiry of CR',
    ]);
    assert.deepEqual(await refusal({ ...report, customerTraceNumber: 'CRAAAA' }), [
      '/report/customerTraceNumber must be the trace number of an inquiry of CR of this run',
    ]);
    const own = '/endUserCode must not be the report’s own end user';
    assert.deepEqual(await refusal(report, { endUserCode: 'EU123' }), [own]);
    await assert.rejects(
      journeys.start(shareInput({ reference, endUserCode: 'EU123' }, { endUserCode: 'EU123' })),
      InvalidInputError,
    );
    const authorization = { by: 'legal', reason: 'a claim' };
    const runKey = `pull:${report.pullId}`;
    await ledger.retention.setLegalHold(runKey, { ...authorization, matter: '2026-17' });
    assert.deepEqual(await refusal(report), ['/report is under a legal hold']);
    await ledger.retention.releaseLegalHold(runKey, { ...authorization, matter: '2026-17' });
    await ledger.retention.begin(runKey, authorization);
    assert.deepEqual(await refusal(report), ['/report was disposed of']);
    await ledger.retention.dispose(runKey, authorization, 0);
    assert.deepEqual(await refusal({ reference, endUserCode: 'EU123' }), ['/report/reference was disposed of']);
  });

  test('counts grants from before its start, to itself or to the journey’s share of the same id', async () => {
    const { report } = await pulled();
    const first = shareInput(report);
    assert.equal((await journeys.run(`share:${first.shareId}`).recordConsent(consent())).late, true);
    assert.equal((await (await journeys.start(first)).result()).outcome, 'posted');

    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'] }));
    await journey.result();
    const shareId = newShareId();
    const unmatchedHere = async () =>
      (await Array.fromAsync(ledger.unmatchedBetween())).filter((one) => one.runKey === journey.journeyId);
    const early = await journey.recordConsent({ ...consent(), shareId });
    assert.equal(early.late && early.recorded && early.unmatched, 'share');
    assert.equal((await unmatchedHere()).length, 1);
    const ofJourney = { journeyId: journey.journeyId, productCode: 'PREQUAL' as const };
    // The grant does not count for another secondary user.
    const other = await journeys.start(shareInput(ofJourney, { endUserCode: 'EU888' }));
    await until(other, 'waitingForConsent');
    const share = await journeys.start(shareInput(ofJourney, { shareId }));
    assert.equal((await share.result()).outcome, 'posted');
    const [listed] = await sharesIn({ runKey: `share:${shareId}` });
    assert.deepEqual(
      listed?.consents.map(({ runKey, applicantId }) => [runKey, applicantId]),
      [[journey.journeyId, '1A']],
    );
    // Revoked at the journey where it was given, the grant flags the share that was posted with it.
    const revoked = { consentId: listed?.consents[0]?.consentId ?? '', decision: 'revoked' as const };
    const answer = await journey.recordConsent({ ...consent(revoked), shareId });
    assert.equal(answer.late && answer.recorded && answer.postedSharesFlagged, 1);
    assert.equal(answer.late && answer.recorded && answer.unmatched, undefined);
    assert.deepEqual(await unmatchedHere(), []);
    await other.withdraw({ by: 'ops', reason: 'only a test' });
  });

  test('receives at once the consents that its report’s ended journey gets while it waits', async () => {
    const applicants = [applicant('1A'), applicant('2A')];
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'], applicants }));
    await journey.result();
    const report = { journeyId: journey.journeyId, productCode: 'PREQUAL' as const };
    const [posted, denied] = [await journeys.start(shareInput(report)), await journeys.start(shareInput(report))];
    const say = async ({ shareId }: ShareHandle, message: Partial<ShareConsent>) => {
      const answer = await journey.recordConsent({ ...consent(message), shareId });
      assert.ok(answer.late && answer.recorded && !('unmatched' in answer), JSON.stringify(answer));
    };
    for (const share of [posted, denied]) await until(share, 'waitingForConsent');
    await say(posted, {});
    for await (const { consentsMissing } of posted.watch()) if (consentsMissing.join() === '2A') break;
    await say(posted, { applicantId: '2A' });
    // A denial refuses all shares with the same secondary user that were not claimed before it.
    assert.equal((await posted.result()).outcome, 'posted');
    await say(denied, { decision: 'denied' });
    const { outcome, attempts } = await denied.result();
    assert.deepEqual([outcome, attempts], ['denied', 0]);
    assert.equal((await ledger.inquiriesOf(posted.runKey)).length, 1);
  });

  test('receives at once the consent that its report’s open journey gets while it waits', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'], sharesOpenFor: 'P1D' }));
    for await (const { stages } of journey.watch()) if (stages[0]?.state === 'record') break;
    const share = await journeys.start(shareInput({ journeyId: journey.journeyId, productCode: 'PREQUAL' }));
    await until(share, 'waitingForConsent');
    const answer = await journey.recordConsent({ ...consent(), shareId: share.shareId });
    assert.equal('unmatched' in answer && answer.unmatched, 'share');
    assert.equal((await share.result()).outcome, 'posted');
    await journey.withdraw({ by: 'ops', reason: 'only a test' });
  });

  test('asks the ledger before it expires: a signal about a consent may have been lost', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'], sharesOpenFor: 'P1D' }));
    const { journeyId } = journey;
    for await (const { stages } of journey.watch()) if (stages[0]?.state === 'record') break;
    const share = await journeys.start(shareInput({ journeyId, productCode: 'PREQUAL' }, { awaitConsentFor: 'PT3S' }));
    await until(share, 'waitingForConsent');
    const granted = { ...consent(), journeyId, shareId: share.shareId, receivedAt: new Date().toISOString() };
    await ledger.consents.keep(ledger.identity.ledgerId, granted);
    assert.equal((await share.result()).outcome, 'posted');
    await journey.withdraw({ by: 'ops', reason: 'only a test' });
  });

  test('ends at once if the consumer has denied that secondary user before, without a later grant', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'] }));
    await journey.result();
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const denial = consent({ decision: 'denied', decidedAt: minutesAgo(10) });
    await journey.recordConsent({ ...denial, shareId: 'ANOTHER' });
    const report = { journeyId: journey.journeyId, productCode: 'PREQUAL' as const };
    const [refused, granted, older] = [shareInput(report), shareInput(report), shareInput(report)];
    assert.equal((await (await journeys.start(refused)).result()).outcome, 'denied');
    await journeys.run(`share:${older.shareId}`).recordConsent(consent({ decidedAt: minutesAgo(20) }));
    assert.equal((await (await journeys.start(older)).result()).outcome, 'denied');
    await journeys.run(`share:${granted.shareId}`).recordConsent(consent());
    assert.equal((await (await journeys.start(granted)).result()).outcome, 'posted');
    assert.deepEqual(await postedOf(refused.shareId, older.shareId), []);
    // The consumer has not denied another secondary user.
    const share = await journeys.start(shareInput(report, { endUserCode: 'EU888' }));
    await until(share, 'waitingForConsent');
    await share.withdraw({ by: 'ops', reason: 'only a test' });
  });

  test('learns before its attempt of denials to other shares', async () => {
    const { report } = await pulled({ joint: true });
    const [share, other] = [await journeys.start(shareInput(report)), shareInput(report)];
    await until(share, 'waitingForConsent');
    await share.recordConsent(consent({ decidedAt: new Date(Date.now() - 60_000).toISOString() }));
    await until(await journeys.start(other), 'waitingForConsent');
    const denied = await journeys.run(`share:${other.shareId}`).recordConsent(consent({ decision: 'denied' }));
    assert.equal(denied.late, false);
    assert.equal((await journeys.run(`share:${other.shareId}`).result()).outcome, 'denied');
    await share.recordConsent(consent({ applicantId: '2A' }));
    assert.equal((await share.result()).outcome, 'denied');
    assert.deepEqual(await postedOf(share.shareId), []);
  });

  test('ends if its report is disposed of while it waits', async () => {
    const { report } = await pulled();
    const share = await journeys.start(shareInput(report));
    await until(share, 'waitingForConsent');
    const [runKey, authorization] = [`pull:${report.pullId}`, { by: 'records', reason: 'kept long enough' }];
    await ledger.retention.begin(runKey, authorization);
    await ledger.retention.dispose(runKey, authorization, 0);
    await share.recordConsent(consent());
    assert.equal((await share.result()).outcome, 'reportGone');
    assert.deepEqual(await postedOf(share.shareId), []);
  });

  test('expires without a consent, and ends at a revocation before the posting', async () => {
    const { report } = await pulled({ joint: true });
    const silent = await journeys.start(shareInput(report, { endUserCode: 'EU888', awaitConsentFor: 'PT1S' }));
    const revoked = await journeys.start(shareInput(report));
    await until(revoked, 'waitingForConsent');
    const grant = consent();
    await revoked.recordConsent(grant);
    await revoked.recordConsent(consent({ consentId: grant.consentId, decision: 'revoked' }));
    assert.equal((await revoked.result()).outcome, 'revoked');
    assert.equal((await silent.result()).outcome, 'expired');
    assert.deepEqual(await postedOf(silent.shareId, revoked.shareId), []);
    const { stored: rows } = await ledger.shareFacts({ runKey: revoked.runKey, shareId: revoked.shareId });
    assert.deepEqual(
      rows.map(({ consent: { decision } }) => decision),
      ['granted', 'revoked'],
    );
    // The ledger also records consents that arrive after the end.
    assert.equal((await revoked.recordConsent(consent({ applicantId: '2A' }))).late, true);
  });

  test('is posted once, also if it is started again, reset, or reset and revoked', async () => {
    const { report } = await pulled();
    const input = shareInput(report);
    const share = await journeys.start(input);
    await until(share, 'waitingForConsent');
    const grant = consent();
    await share.recordConsent(grant);
    const first = await share.result();
    assert.deepEqual(await (await journeys.start(input)).result(), first);
    await assert.rejects(journeys.start({ ...input, endUserCode: 'EU888' }), { code: 'differs' });
    const late = await share.recordConsent(consent({ consentId: grant.consentId, decision: 'revoked' }));
    assert.equal(late.late && late.recorded && late.postedSharesFlagged, 1);
    const { workflowId } = share;
    await harness.client.workflowService.resetWorkflowExecution({
      namespace: harness.client.options.namespace,
      workflowExecution: { workflowId, runId: '' },
      reason: 'test',
      requestId: randomUUID(),
      // Resets the run to its beginning. The SDK's type is a Long, but it encodes a number as well.
      ...({ workflowTaskFinishEventId: 4 } as object),
    });
    const { outcome, customerTraceNumber, reportReferenceNumber, attention } = await share.result();
    assert.deepEqual(
      [outcome, customerTraceNumber, reportReferenceNumber, attention],
      ['posted', first.customerTraceNumber, first.reportReferenceNumber, 'revokedAfterPosting'],
    );
    assert.equal((await postedOf(input.shareId)).length, 1);
  });

  test('is refused under the id of a terminated share of another report', async () => {
    const [one, other] = [await pulled(), await pulled()];
    const input = shareInput(one.report);
    const share = await journeys.start(input);
    await until(share, 'waitingForConsent');
    await harness.client.workflow.getHandle(share.workflowId).terminate();
    assert.deepEqual(await pathsOf(journeys.start({ ...input, report: other.report })), ['/report']);
    const again = await journeys.start(input);
    await again.recordConsent(consent());
    assert.equal((await again.result()).outcome, 'posted');
  });

  test('waits for a decision if its answer is lost', async () => {
    const input = reportPull('9001');
    await (await journeys.start(input)).result();
    const share = await journeys.start(shareInput({ pullId: input.pullId, productCode: 'CR' }));
    await share.recordConsent(consent());
    const { holds } = await until(share, 'held');
    const [hold] = holds;
    assert.ok(hold);
    assert.deepEqual(hold.allowedActions, ['resend', 'accept', 'abandon']);
    assert.equal(hold.shareId, share.shareId);
    const { customerTraceNumber, attempts: attempt } = hold;
    const decision = { decisionId: 'D-1', customerTraceNumber, attempt, by: 'ops', reason: 'they never saw it' };
    await share.resolveInquiry({ ...decision, action: 'resend', providerSaid: 'notPosted' });
    const result = await share.result();
    assert.deepEqual([result.outcome, result.attempts], ['posted', 2]);
    assert.equal((await postedOf(share.shareId)).length, 1);
  });

  test('refuses messages that name another share', async () => {
    const { report } = await pulled();
    const share = await journeys.start(shareInput(report));
    await until(share, 'waitingForConsent');
    const handle = harness.client.workflow.getHandle(share.workflowId);
    const tell = (name: string, message: object) => refusalOf(handle.executeUpdate(name, { args: [message] }));
    const message = { ...consent(), shareId: share.shareId };
    assert.match(
      await tell('recordConsent', { ...message, journeyId: 'share:OTHER', shareId: 'OTHER' }),
      /names another share/,
    );
    assert.match(
      await tell('recordConsent', { ...message, journeyId: share.runKey, applicantId: '9Z' }),
      /no applicant/,
    );
    assert.match(await tell('withdraw', { shareId: 'OTHER', by: 'ops', reason: 'x' }), /names another share/);
    await handle.signal('consent', { ...message, journeyId: 'J-1' });
    await share.withdraw({ by: 'ops', reason: 'only a test' });
    await share.result();
    assert.equal((await handle.query<{ refusedMessagesTotal: number }>('status')).refusedMessagesTotal, 1);
  });
});
