/** A message with a used key is a duplicate if its content is the same, and is refused otherwise. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { hasCode } from '../../src/client/connection/errors.ts';
import { type Content, type CreditJourneys, InvalidInputError } from '../../src/client.ts';
import { connectTo } from '../support/harness-client.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  startHarness,
} from '../support/journey-harness.ts';
import { openLedgerOf } from '../support/ledger-access.ts';
import { reportPull } from '../support/pull-scenarios.ts';
import { shareInput } from '../support/share-scenarios.ts';

let harness: Harness;
let journeys: CreditJourneys;

before(async () => {
  harness = await startHarness();
  journeys = await connectTo(harness, {
    openLedger: () => openLedgerOf(harness),
  });
});

after(async () => {
  await journeys?.close();
  await harness?.close();
});

/** Returns the reason for which the message was refused. */
async function refusal(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
  } catch (error) {
    if (hasCode(error, 'updateRefused')) return error.reason;
    throw error;
  }
  throw new Error('it was not refused');
}

const who = { by: 'ops', reason: 'test' };

/** Waits for the hold about an attempt. */
async function heldAt(
  run: { watch(): AsyncIterable<{ holds: { customerTraceNumber: string; attempts: number }[] }> },
  attempt: number,
): Promise<string> {
  for await (const { holds } of run.watch()) {
    const hold = holds.find(({ attempts }) => attempts === attempt);
    if (hold) return hold.customerTraceNumber;
  }
  throw new Error('it was never held');
}

describe('messages under a business key that was used before', { concurrency: 6 }, () => {
  test('a corrected advance is accepted after the worker refused the first one', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL', 'PREAPP'] }));
    const three = ['1A', '2A', '3A'].map((applicantId) => applicant(applicantId));
    const wrong = { to: 'PREAPP', applicants: three } as const;
    assert.match(await refusal(journey.advance(wrong)), /^\/applicants must/);
    const messageId = randomUUID();
    assert.match(await refusal(journey.advance(wrong, { messageId })), /^\/applicants must/);
    const corrected = { ...wrong, applicants: three.slice(0, 1) };
    // The server keeps its answer to the refused message under that message id.
    assert.match(await refusal(journey.advance(corrected, { messageId })), /^\/applicants must/);
    assert.equal((await journey.advance(corrected)).duplicate, false);
    assert.equal((await journey.result()).stages[1]?.reference?.applicants.length, 1);
  });

  test('an advance with other applicants is refused, and the accepted applicants are used', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] }));
    const [first, other] = [applicant('1A'), applicant('1A')];
    const advance = { to: 'PRECLOSE' as const, applicants: [first] };
    assert.equal((await journey.advance(advance)).duplicate, false);
    assert.equal((await journey.advance(advance)).duplicate, true);
    const reason = await refusal(journey.advance({ ...advance, applicants: [other] }));
    assert.equal(reason, 'advance to PRECLOSE was accepted before with other content: /applicants/0/ssn differs');
    assert.match(await refusal(journey.advance({ to: 'PRECLOSE' })), /other content: \/applicants differs$/);
    const age = { to: 'PRECLOSE', acceptAge: true, ...who } as const;
    assert.match(await refusal(journey.advance({ ...age, applicants: [other] })), /\/applicants\/0\/ssn differs$/);
    assert.equal((await journey.advance(age)).duplicate, false, 'it adds to what was accepted');
    assert.equal((await journey.advance(age)).duplicate, true);
    assert.equal((await journey.advance(advance)).duplicate, true);
    assert.match(await refusal(journey.advance({ ...age, by: 'another' })), /other content: \/by differs$/);
    await journey.withdraw(who);
  });

  test('of two concurrent advances with different applicants, one is accepted and one is refused as different', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] }));
    const answers = await Promise.allSettled(
      [applicant('1A'), applicant('1A')].map((one) => journey.advance({ to: 'PRECLOSE', applicants: [one] })),
    );
    const refused = answers.filter((answer) => answer.status === 'rejected');
    assert.equal(refused.length, 1);
    assert.match(refused[0]?.reason.reason, /\/applicants\/0\/ssn differs$/);
    await journey.withdraw(who);
  });

  test('a share with another secondary user is refused, and a repeated withdrawal is a duplicate', async () => {
    const journey = await journeys.start(journeyInput({ stages: ['PREAPP'], gates: { PREAPP: { pass: 'manual' } } }));
    const share = { shareId: 'S1', endUserCode: 'EU999' };
    assert.equal((await journey.requestShare({ share })).duplicate, false);
    assert.equal((await journey.requestShare({ share })).duplicate, true);
    assert.equal(
      await refusal(journey.requestShare({ share: { ...share, endUserCode: 'EU998', consentValidFor: 'P1D' } })),
      '/share/shareId was used before with other content: /share/endUserCode, /share/consentValidFor differ',
    );
    assert.equal((await journey.withdraw(who)).duplicate, false);
    await journey.result();
    // After the run's end, too.
    assert.equal((await journey.withdraw(who)).duplicate, true);
    assert.match(await refusal(journey.withdraw({ ...who, by: 'another' })), /accepted before .*: \/by differs$/);
    assert.equal((await journey.requestShare({ share })).duplicate, true);
    const other = { ...share, endUserCode: 'EU998' };
    assert.match(await refusal(journey.requestShare({ share: other })), /: \/share\/endUserCode differs$/);
    await assert.rejects(journey.requestShare({ share: { ...share, shareId: 'S3' } }), { code: 'shareAfterEnd' });
    await assert.rejects(journey.advance({ to: 'PREAPP' }), { code: 'journeyFinished' });
  });

  test('a share is withdrawn once, and a repeat is a duplicate', async () => {
    const share = { shareId: 'S2', endUserCode: 'EU999' };
    const journey = await journeys.start(journeyInput({ stages: ['PREQUAL'], shares: [share], sharesOpenFor: 'P1D' }));
    const answer = await journey.withdrawShare({ shareId: 'S2', ...who });
    assert.deepEqual([answer.recorded, answer.duplicate], [true, false]);
    const again = await journey.withdrawShare({ shareId: 'S2', ...who });
    assert.deepEqual([again.recorded, again.duplicate], [true, true]);
    assert.match(await refusal(journey.withdrawShare({ shareId: 'S2', ...who, by: 'else' })), /\/by differs/);
    await journey.withdraw(who);
  });

  const { journeyId: _, ...grant } = consentMessage('', { applicantId: '1A' });

  test('a consent with other evidence is refused by the run, and by the ledger after the run’s end', async () => {
    const journey = await journeys.start(
      journeyInput({
        stages: ['PREQUAL'],
        applicants: [applicant('1A'), applicant('2A')],
        shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
      }),
    );
    const other = { ...grant, evidence: { ...grant.evidence, reference: 'doc-2' } } as typeof grant;
    const first = await journey.recordConsent(grant);
    assert.equal(first.late || first.duplicate, false);
    const again = await journey.recordConsent(grant);
    assert.equal(!again.late && again.duplicate, true);
    const differs =
      /^\/consentId with this \/decision was used before with other content: \/evidence\/reference differs$/;
    assert.match(await refusal(journey.recordConsent(other)), differs);
    await journey.withdraw(who);
    await journey.result();

    const late = await journey.recordConsent(grant);
    const { consentId, decidedAt: since } = grant;
    const stands = { decision: 'granted', since, consentId, changed: false };
    const told = { accepted: true, late: true, recorded: true, duplicate: true, postedSharesFlagged: 0 };
    assert.deepEqual(late, { ...told, stands });
    await assert.rejects(journey.recordConsent(other), (error) => {
      assert.ok(error instanceof InvalidInputError);
      const rule = 'must be what was recorded before under this consentId and decision';
      assert.deepEqual(error.problems, [{ path: '/evidence/reference', rule }]);
      return true;
    });
  });

  test('a decision id that was used with other content is refused by a journey and by a pull', async () => {
    const never = newSsn('1503');
    const runs = [
      await journeys.start(journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', never)] })),
      await journeys.start(reportPull('1503')),
    ];
    for (const run of runs) {
      const customerTraceNumber = await heldAt(run, 1);
      const decision: Content<'journey', 'resolveInquiry'> = {
        ...{ ...who, decisionId: 'D1', customerTraceNumber, attempt: 1 },
        ...{ action: 'resend', providerSaid: 'notPosted' },
      };
      assert.equal((await run.resolveInquiry(decision)).duplicate, false);
      await heldAt(run, 2);
      assert.equal((await run.resolveInquiry(decision)).duplicate, true);
      assert.equal(
        await refusal(run.resolveInquiry({ ...decision, attempt: 2, action: 'abandon' })),
        '/decisionId was used before with other content: /attempt, /action differ',
      );
      assert.match(
        await refusal(run.resolveInquiry({ ...decision, reason: 'another' })),
        /other content: \/reason differs$/,
      );
      await run.resolveInquiry({ ...decision, decisionId: 'D2', attempt: 2, action: 'abandon' });
      await run.result();
    }
  });

  test('a corrected amendment is accepted, and its concurrent repeat is a duplicate', async () => {
    const pull = await journeys.start(reportPull('1503'));
    const customerTraceNumber = await heldAt(pull, 1);
    const decision = { ...who, customerTraceNumber, attempt: 1, providerSaid: 'notPosted' } as const;
    await pull.resolveInquiry({ ...decision, decisionId: 'D1', action: 'abandon' });
    await pull.result();

    const journey = await journeys.start(
      journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('0407'))] }),
    );
    const held = await heldAt(journey, 1);
    const amend = { ...decision, customerTraceNumber: held, decisionId: 'D1', action: 'amend' } as const;
    const three = ['1A', '2A', '3A'].map((applicantId) => applicant(applicantId));
    assert.match(await refusal(journey.resolveInquiry({ ...amend, applicants: three })), /^\/applicants must/);
    const corrected = { ...amend, applicants: three.slice(0, 1) };
    const answers = await Promise.all([journey.resolveInquiry(corrected), journey.resolveInquiry(corrected)]);
    assert.deepEqual(answers.map(({ duplicate }) => duplicate).sort(), [false, true]);
    assert.equal((await journey.result()).stages[0]?.state, 'record');
  });

  test('a standalone share accepts a repeated consent as a duplicate and refuses one with other content', async () => {
    const pulled = reportPull();
    await (await journeys.start(pulled)).result();
    const share = await journeys.start(shareInput({ pullId: pulled.pullId, productCode: 'CR' }));
    const { shareId: _of, ...consent } = { ...grant, decision: 'denied' as const };
    const [denied, another] = [consent, { ...consent, secondaryUser: { endUserCode: 'EU998' } }];
    assert.equal((await share.recordConsent(denied)).accepted, true);
    await share.result();
    const again = await share.recordConsent(denied);
    assert.equal(again.late && again.recorded && again.duplicate, true);
    await assert.rejects(share.recordConsent(another), InvalidInputError);
  });
});
