/** What is said to a report's ended journey, for a share by itself that waits: client, worker and ledger for real. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ShareHandle } from '../../src/client/runs/run-handle.ts';
import type { CreditJourneys } from '../../src/client.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { ShareReportStatus } from '../../src/messages/share/shapes.ts';
import { applicant, consentMessage, type Harness, journeyInput, startHarness } from '../support/journey-harness.ts';
import { connectWithLedger } from '../support/ledger-access.ts';
import { newShareId } from '../support/share-scenarios.ts';

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

async function until(share: ShareHandle, isWanted: (status: ShareReportStatus) => boolean): Promise<ShareReportStatus> {
  for await (const status of share.watch()) if (isWanted(status)) return status;
  throw new Error('it ended before');
}

interface Waiting {
  journeyId: string;
  shareId: string;
  share: ShareHandle;
}

/** A share by itself of an ended journey's report, which is of two applicants. */
async function findWaitingShare(): Promise<Waiting> {
  const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A'), applicant('2A')] });
  const { journeyId } = input;
  await (await harness.start(input)).result();
  const shareId = newShareId();
  const report = { journeyId, productCode: 'PREQUAL' } as const;
  const share = await journeys.start({ shareId, report, endUserCode: 'EU999', permissiblePurposeCode: '02' });
  await until(share, ({ state }) => state === 'waitingForConsent');
  return { journeyId, shareId, share };
}

async function say(
  { journeyId, shareId }: Waiting,
  said: Pick<ConsentMessage, 'applicantId'> & Partial<ConsentMessage>,
) {
  const { journeyId: _, ...message } = consentMessage(journeyId, { shareId, ...said });
  const answer = await journeys.get(journeyId).recordConsent(message);
  assert.deepEqual([answer.accepted, answer.late, answer.recorded], [true, true, true]);
  assert.ok(!('unmatched' in answer), JSON.stringify(answer));
}

describe('said to the ended journey, for a share by itself that waits', { concurrency: 3 }, () => {
  test('the grants reach the share at once, one after the other, and it is posted', async () => {
    const waiting = await findWaitingShare();
    const { share, shareId, journeyId } = waiting;
    await say(waiting, { applicantId: '1A' });
    const { consentsMissing } = await until(share, (status) => status.consentsMissing.length < 2);
    assert.deepEqual(consentsMissing, ['2A']);
    await say(waiting, { applicantId: '2A' });
    assert.equal((await share.result()).outcome, 'posted');
    assert.equal((await ledger.inquiriesOf(`share:${shareId}`)).length, 1);
    const listed = await ledger.consents.unmatched({ limit: 100 });
    assert.deepEqual(
      listed.filter((one) => one.runKey === journeyId),
      [],
    );
  });

  test('a denial ends the share at once, although another applicant has said nothing', async () => {
    const waiting = await findWaitingShare();
    await say(waiting, { applicantId: '1A', decision: 'denied' });
    const { outcome, attempts } = await waiting.share.result();
    assert.deepEqual([outcome, attempts], ['denied', 0]);
  });
});
