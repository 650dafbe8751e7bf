/** Applicants who are replaced under an id: a grant counts for the person whom the id named on its arrival. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  refusalOf,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { lateRefusal } from '../support/share-scenarios.ts';

let harness: Harness;

before(async () => {
  harness = await startHarness();
});

after(() => harness?.close());

const SHARE = { shareId: 'S1', endUserCode: 'EU999' };
const FIRST = applicant('1A');
const OTHER = { ...applicant('1A'), names: [{ first: 'Robin', last: 'Other' }], dob: '1961-01-02' };

/** Starts a journey that waits at the gate before PREAPP, with a grant by the first person. */
async function grantedAtGate(rest: Partial<LendingJourneyInput> = {}): Promise<JourneyHandle> {
  const input = journeyInput({
    stages: ['PREQUAL', 'PREAPP'],
    applicants: [FIRST],
    shares: [{ ...SHARE, awaitConsentFor: 'PT20S' }],
    ...rest,
  });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  await update(handle, 'recordConsent', consentMessage(input.journeyId, { applicantId: '1A' }));
  return handle;
}

function idOf({ workflowId }: JourneyHandle): string {
  return workflowId.replace('journey-', '');
}

describe('an advance that names another person under an applicantId', () => {
  test('requires the other person’s own grant to share that person’s report', async () => {
    const handle = await grantedAtGate();
    const journeyId = idOf(handle);
    await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [OTHER] });
    const { shares, refusedMessages } = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    assert.deepEqual(shares[0]?.waitingFor, ['1A']);
    assert.match(refusedMessages[0]?.reason ?? '', /named another person when the grant came/);
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A', consentId: 'C-OTHER' }));
    const result = await handle.result();
    assert.equal(result.shares[0]?.state, 'posted');
  });

  test('refuses the earlier grant sent again, with the reason and what to send, also after the end', async () => {
    const handle = await grantedAtGate({ shares: [{ ...SHARE, awaitConsentFor: 'PT3S' }] });
    const journeyId = idOf(handle);
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    await update(handle, 'recordConsent', grant);
    assert.equal((await update(handle, 'recordConsent', grant)).duplicate, true, 'until then it counts');
    await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [OTHER] });
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    const why =
      /\/consentId names a grant that does not count: \/applicantId named another person .* send a new grant under a new consentId/;
    assert.match(await refusalOf(update(handle, 'recordConsent', grant)), why);
    assert.equal((await handle.result()).shares[0]?.state, 'expired');
    assert.match(await lateRefusal(harness, grant), why);
  });

  test('leaves an earlier report to be shared only by the earlier grant', async () => {
    const share = { ...SHARE, reportOf: 'PREQUAL' as const, awaitConsentFor: 'PT5S' };
    const handle = await harness.start(
      journeyInput({
        stages: ['PREQUAL', 'PREAPP'],
        applicants: [FIRST],
        shares: [share, { ...share, shareId: 'S2' }],
      }),
    );
    const journeyId = idOf(handle);
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
    await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [OTHER] });
    await untilStatus(handle, ({ stages }) => stages[1]?.state !== 'pending');
    const late = consentMessage(journeyId, { applicantId: '1A', shareId: 'S2', consentId: 'C2' });
    assert.match(await refusalOf(update(handle, 'recordConsent', late)), /names another person than in the report/);
    const { shares } = await handle.result();
    assert.deepEqual(
      shares.map(({ state }) => state),
      ['posted', 'expired'],
    );
  });

  test('keeps an applicant’s grant if it only corrects an address and adds another applicant', async () => {
    const handle = await grantedAtGate();
    const journeyId = idOf(handle);
    const moved = { ...FIRST, emailAddress: 'moved@example.com' };
    await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [moved, applicant('2A')] });
    const { shares } = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    assert.deepEqual(shares[0]?.waitingFor, ['2A']);
    await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '2A', consentId: 'C2' }));
    assert.equal((await handle.result()).shares[0]?.state, 'posted');
  });
});

test('a repeat for another person under an applicantId needs the grant of that person', async () => {
  const handle = await grantedAtGate();
  const journeyId = idOf(handle);
  const repeat = { journeyId, repeat: 'PREQUAL', occurrence: 2, by: 'loan officer', reason: 'wrong person' };
  await update(handle, 'advance', { ...repeat, applicants: [OTHER] });
  await untilStatus(handle, ({ stages, state }) => stages[1]?.state === 'record' && state === 'waitingAtGate');
  await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  const { shares } = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  assert.deepEqual(shares[0]?.waitingFor, ['1A']);
  await handle.terminate();
});

test('a grant that comes before an amendment or an advance names another person does not count for that person', async () => {
  const input = journeyInput({
    stages: ['PREQUAL', 'PREAPP'],
    gates: { PREAPP: { pass: 'auto' } },
    applicants: [applicant('1A', newSsn('1422'))],
    shares: [{ ...SHARE, reportOf: 'PREQUAL' }],
  });
  const { journeyId } = input;
  const handle = await harness.start(input);
  const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
  await update(handle, 'recordConsent', consentMessage(journeyId, { applicantId: '1A' }));
  await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [OTHER] });
  const early = consentMessage(journeyId, { applicantId: '1A', consentId: 'C2' });
  assert.match(await refusalOf(update(handle, 'recordConsent', early)), /about to name another person/);
  await update(handle, 'resolveInquiry', {
    ...{ journeyId, decisionId: 'D1', customerTraceNumber: holds[0]?.customerTraceNumber, attempt: 1, action: 'amend' },
    ...{ by: 'operator', reason: 'corrected', providerSaid: 'notPosted', applicants: [FIRST] },
  });
  const { shares } = await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
  assert.deepEqual(shares[0]?.waitingFor, ['1A']);
  await handle.terminate();
});
