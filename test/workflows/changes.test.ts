import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyResult } from '../../src/messages/journey/shapes.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import {
  applicant,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import { readChanges } from '../support/ledger-readings.ts';

let harness: Harness;
let ledger: Ledger;

before(async () => {
  harness = await startHarness();
  const { url } = harness.config.ledger;
  ledger = await openLedger({ url, environment: 'sandbox', keyRing: await openKeyRing(harness.config) });
});
after(async () => {
  await ledger?.close();
  await harness?.close();
});

/** One applicant's credit file changes between PREAPP and PRECLOSE; the other's does not. */
function movingInput(overrides: Partial<LendingJourneyInput> = {}): LendingJourneyInput {
  return journeyInput({
    stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'],
    gates: { PREAPP: { pass: 'auto' }, PRECLOSE: { pass: 'auto' } },
    applicants: [applicant('1A', newSsn('0020')), applicant('2A')],
    ...overrides,
  });
}

function changesIn({ stages }: JourneyResult) {
  return stages.map(({ changes }) => changes);
}

test('the result counts what changed since PREAPP, and the ledger keeps the list encrypted', async () => {
  const input = movingInput();
  const handle = await harness.start(input);
  const result = await handle.result();
  const [ofPrequal, ofPreapp, changes] = changesIn(result);
  assert.deepEqual([ofPrequal, ofPreapp], [undefined, undefined]);
  assert.ok(changes && 'counts' in changes);
  assert.equal(changes.comparedWith, 'PREAPP');
  const { counts, totals } = changes;
  assert.equal(counts.applicantsCompared, 2);
  const found = [
    counts.newAccounts,
    counts.vanishedAccounts,
    counts.closedAccounts,
    counts.newNames,
    counts.newAddresses,
  ];
  assert.deepEqual(found, [1, 1, 1, 1, 1]);
  assert.deepEqual(totals.newAccounts, { balance: '18500', creditLimit: '20000' });

  const list = await readChanges(ledger, input.journeyId);
  assert.equal(list.customerTraceNumber, result.stages[2]?.customerTraceNumber);
  assert.deepEqual(list.changes.summary, { counts, totals });
  const [moved, same] = [...list.changes.applicants].sort((one, other) =>
    String(one.applicantId).localeCompare(String(other.applicantId)),
  );
  assert.deepEqual([moved?.applicantId, same?.applicantId], ['1A', '2A']);
  assert.equal(moved?.newAccounts[0]?.contributor, 'SAMPLE AUTO FINANCE');
  assert.equal(moved?.newAddresses[0]?.line1, '77 MOVING LANE');
  assert.deepEqual([same?.newAccounts, same?.changedAccounts, same?.newNames], [[], [], []]);

  // The harness does not encrypt payloads, so the test can read what the history has.
  const history = historyToJSON(await handle.fetchHistory()).replaceAll(/"data": "([^"]*)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
  assert.ok(history.includes('comparedWith'));
  for (const personal of ['SAMPLE AUTO', 'XXXX', 'MOVING LANE', '2026-01-15']) {
    assert.ok(!history.includes(personal), personal);
  }
});

test('a journey without a report before PRECLOSE compares nothing', async () => {
  const noRecord = applicant('1A', newSsn('0404'));
  const alone = await harness.start(movingInput({ stages: ['PRECLOSE'], gates: {} }));
  const without = await harness.start(movingInput({ applicants: [noRecord], onNoRecord: 'continue' }));
  for (const handle of [alone, without]) {
    assert.deepEqual(
      changesIn(await handle.result()).filter((changes) => changes !== undefined),
      [],
    );
  }
});

test('a journey needs attention if more has changed than its limit allows, and otherwise not', async () => {
  const flagged = journeyInput({
    ...{ stages: ['PREQUAL', 'PRECLOSE'], gates: { PRECLOSE: { pass: 'auto' } }, sharesOpenFor: 'P1D' },
    applicants: [applicant('1A', newSsn('0020'))],
    attentionAbove: { newAccounts: 0 },
  });
  const who = { by: 'underwriting', reason: 'the buyer asked for it' };
  const handle = await harness.start(flagged);
  const { stages } = await untilStatus(handle, (status) => status.stages[1]?.changes !== undefined);
  assert.equal(stages[1]?.attention, 'reportChanged');
  const { searchAttributes } = await handle.describe();
  assert.deepEqual(searchAttributes.NeedsAttention, ['reportChanged']);
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  assert.match(currentDetails, /differs from the one before by more than `attentionAbove`[\s\S]*report-changed\.md/);
  await update(handle, 'withdraw', { journeyId: flagged.journeyId, ...who });
  assert.equal((await handle.result()).stages[1]?.attention, 'reportChanged');

  const quiet = await harness.start({
    ...flagged,
    journeyId: `${flagged.journeyId}-Q`,
    attentionAbove: { newAccounts: 99 },
  });
  const calm = await untilStatus(quiet, (status) => status.stages[1]?.changes !== undefined);
  assert.equal(calm.stages[1]?.attention, undefined);
  await update(quiet, 'withdraw', { journeyId: `${flagged.journeyId}-Q`, ...who });
  await quiet.result();
});
