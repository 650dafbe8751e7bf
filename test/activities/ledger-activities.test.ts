import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLedgerActivities } from '../../src/activities/ledger-activities.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import { toCanonicalRequest } from '../../src/model/canonical-request.ts';
import type { InquiryContent } from '../../src/model/inquiry.ts';
import { applicant } from '../gateway/fixtures.ts';
import { claimOf, INQUIRY, keyRing } from '../ledger/fixtures.ts';

async function onTheWire(t: TestContext, content: InquiryContent) {
  const directory = await mkdtemp(join(tmpdir(), 'look-ups-'));
  const ledger = await openLedger({
    url: `file:${join(directory, 'ledger.db')}`,
    environment: 'sandbox',
    keyRing: keyRing(),
    create: true,
  });
  t.after(async () => {
    await ledger.close();
    await rm(directory, { recursive: true });
  });
  await ledger.claim(claimOf(ledger, { digest: ledger.digest(toCanonicalRequest(content)) }));
  return { activities: createLedgerActivities({ ledger }), run: ledger.identity };
}

test('a look-up returns an attempt in flight, also if its request would be invalid by now', async (t) => {
  // A look-up checks neither the number of applicants nor their fields.
  const odd: Applicant = { ...applicant(), ssn: 'none', addresses: [] };
  const content = { inquiry: INQUIRY, applicants: Array.from({ length: 50 }, () => odd) };
  const { activities, run } = await onTheWire(t, content);
  assert.equal((await activities.lookUpInquiry({ run, ...content }))?.state, 'sending');
});

test('a look-up with other content fails without a retry, and returns nothing', async (t) => {
  const content = { inquiry: INQUIRY, applicants: [applicant()] };
  const { activities, run } = await onTheWire(t, content);
  const other = { inquiry: INQUIRY, applicants: [{ ...applicant(), ssn: '900000009' }] };
  await assert.rejects(activities.lookUpInquiry({ run, ...other }), { type: 'RequestDiffers', nonRetryable: true });
});
