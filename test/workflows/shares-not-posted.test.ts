/** A share that an operator accepts as not posted, in its run, its events and the ledger. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AuditedAttempt, InquiryTotals } from '../../src/ledger/audit/audited.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { readAttention } from '../support/open-inquiries.ts';
import { typesOf } from '../support/webhook-receiver.ts';
import { startWebhookStage, type WebhookStage } from '../support/webhook-scenarios.ts';

let stage: WebhookStage;
let ledger: Ledger;
before(async () => {
  stage = await startWebhookStage();
  ledger = await openLedgerOf(stage.harness);
});
after(async () => {
  await ledger?.close();
  await stage?.close();
});

const SAYINGS = [
  { outcome: 'noRecord', providerSaid: 'notPosted' },
  { outcome: 'noReport', providerSaid: 'notPosted' },
] as const;

/** Asserts that the audit lists the share's held attempt as not posted. */
async function assertNotPosted(runKey: string, customerTraceNumber: string): Promise<void> {
  const attempts: AuditedAttempt[] = [];
  for await (const one of ledger.inquiriesBetween({ productCode: 'SECONDUSE' })) {
    if (one.customerTraceNumber === customerTraceNumber) attempts.push(one);
  }
  assert.deepEqual(
    attempts.map(({ posted }) => posted),
    ['no'],
  );
  const totals = new InquiryTotals();
  for (const attempt of attempts) totals.add(attempt);
  const [total] = totals.list;
  assert.deepEqual([total?.sent, total?.posted, total?.notPosted, total?.unknown], [1, 0, 1, 0]);
  for await (const one of ledger.sharesBetween({ runKey })) assert.fail(`${one.customerTraceNumber} is listed`);
  const [inquiry] = (await ledger.inquiriesOf(runKey)).filter(({ productCode }) => productCode === 'SECONDUSE');
  assert.equal(inquiry?.attempts[0]?.state, 'accepted');
}

function accept(handle: JourneyHandle, owner: object, customerTraceNumber: string, saying: (typeof SAYINGS)[number]) {
  const decision = { decisionId: 'D1', customerTraceNumber, attempt: 1, action: 'accept', by: 'ops', reason: 'asked' };
  return update(handle, 'resolveInquiry', { ...owner, ...decision, ...saying });
}

describe('a share that is accepted as not posted', { concurrency: 4 }, () => {
  for (const saying of SAYINGS) {
    test(`ends in its journey with ${saying.outcome}`, async () => {
      const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
      // The gateway posts the share, and its answer is lost.
      const applicants = [applicant('1A', newSsn('9001'))];
      const input = journeyInput({ stages: ['PREQUAL'], applicants, shares, sharesOpenFor: 'PT1H' });
      const { journeyId } = input;
      const handle = await stage.harness.start(input);
      const grant = consentMessage(journeyId, { applicantId: '1A' });
      await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
      await handle.signal('consent', grant);
      const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
      const trace = holds[0]?.customerTraceNumber ?? '';
      await accept(handle, { journeyId }, trace, saying);
      const after = await untilStatus(handle, (status) => status.shares[0]?.state === 'notPosted');
      assert.deepEqual([after.shares[0]?.waitingFor, after.shares[0]?.reportReferenceNumber], [[], undefined]);
      // A revoked consent needs no attention for a share that was not posted.
      const { evidence: _, ...rest } = grant;
      await update(handle, 'recordConsent', { ...rest, decision: 'revoked' });
      await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
      const { shares: ended } = await handle.result();
      assert.deepEqual([ended[0]?.state, ended[0]?.attention], ['notPosted', undefined]);
      const told = typesOf(await stage.receiver.accepted('/all', journeyId, 6));
      assert.deepEqual(told, [
        'stage.answered',
        'consent.missing',
        'inquiry.held',
        'hold.resolved',
        'share.ended',
        'journey.ended',
      ]);
      await assertNotPosted(journeyId, trace);
      assert.deepEqual(await readAttention(ledger, trace), []);
    });
  }
});
