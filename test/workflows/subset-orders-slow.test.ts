/**
 * Shares for those who consented, in drawn orders of grants, refusals, withdrawals and outcomes, against real servers:
 * a share posts exactly the consumers whose grants stood in its claim, at most once, and never one that was withdrawn.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { ShareHandle } from '../../src/client/runs/share-handle.ts';
import type { CreditJourneys, ReportReference, ShareConsentMessage } from '../../src/client.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import type { AuditedConsent } from '../../src/ledger/record-audit.ts';
import type { InquiryView } from '../../src/ledger/records.ts';
import type { ShareReportInput } from '../../src/messages/share/shapes.ts';
import { drawFrom } from '../chaos/draw.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  startHarness,
  update,
} from '../support/journey-harness.ts';
import { connectWithLedger } from '../support/ledger-access.ts';
import { reportPull } from '../support/pull-scenarios.ts';
import { newShareId, shareInput } from '../support/share-scenarios.ts';

const SHARES = 60;
const TWO = ['1A', '2A'] as const;
/** What happens to each SECONDUSE that names the consumer: nothing, 429, posted and then reset, an answer late. */
const DIGITS = ['0001', '0001', '0001', '9430', '9002', '9011'];

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

interface Posted {
  customerTraceNumber: string;
  productCode: string;
  consumerIds: string[];
}

type Draw = ReturnType<typeof drawFrom>;

/** What is said and done, and after which wait in milliseconds. */
type Step = { waitMs: number } & (
  | { says: ShareConsentMessage['decision']; applicantId: (typeof TWO)[number] }
  | { does: 'withdraw' }
);

function stepsOf(draw: Draw): Step[] {
  const says = Array.from({ length: draw.between(1, 6) }, (): Step => {
    const applicantId = draw.of(TWO);
    return {
      waitMs: draw.of([0, 0, 50, 400]),
      applicantId,
      says: draw.of(['granted', 'granted', 'denied', 'revoked']),
    };
  });
  return draw.chance(0.2) ? [...says, { waitMs: draw.of([0, 100, 500]), does: 'withdraw' }] : says;
}

interface Played {
  ownerId: string;
  shareId: string;
  reference: ReportReference;
  outcome: string;
  postedFor: string[];
  /** When the withdrawal was answered as recorded. */
  withdrawnAt?: number;
}

const settled = async (promise: Promise<unknown>) => promise.catch(() => undefined);

let spoken = 0;
function said(step: Extract<Step, { says: unknown }>, { consentId }: { consentId: string }): ShareConsentMessage {
  const {
    journeyId: _,
    shareId: __,
    ...message
  } = consentMessage('', {
    applicantId: step.applicantId,
    ...{ consentId, decision: step.says },
    decidedAt: new Date(Date.now() - 600_000 + ++spoken).toISOString(),
  });
  return message;
}

/** A share by itself, whose holds a person gives up once everything was said. */
async function playedByItself(draw: Draw): Promise<Played> {
  const applicants = TWO.map((id) => applicant(id, newSsn(draw.of(DIGITS))));
  const pull = reportPull('0001', { applicants });
  const { reference } = await (await journeys.pull(pull)).result();
  assert.ok(reference);
  const report: ShareReportInput['report'] = { pullId: pull.pullId, productCode: 'CR' };
  const awaitConsentFor = draw.of(['PT1S', 'PT3S', 'PT8S']);
  const share = await journeys.shareReport(shareInput(report, { consumers: 'consented', awaitConsentFor }));
  let withdrawnAt: number | undefined;
  const lastGrant = new Map<string, string>();
  for (const step of stepsOf(draw)) {
    await setTimeout(step.waitMs);
    if ('does' in step) {
      const answer = share.withdraw({ by: 'platform', reason: 'another investor was meant' });
      const recorded = await answer.then(({ recorded }) => recorded === true).catch(() => false);
      if (recorded) withdrawnAt = Date.now();
      continue;
    }
    // A revocation takes the grant back that came last, where there is one.
    const own = step.says === 'revoked' ? lastGrant.get(step.applicantId) : undefined;
    const consentId = own ?? `C-${randomUUID().slice(0, 8)}`;
    if (step.says === 'granted') lastGrant.set(step.applicantId, consentId);
    await settled(share.recordConsent(said(step, { consentId })));
  }
  await decideUntilItEnds(share, draw);
  const { outcome, postedFor = [] } = await share.result();
  const { shareId } = share;
  return {
    ownerId: `share:${shareId}`,
    shareId,
    reference,
    outcome,
    postedFor,
    ...(withdrawnAt ? { withdrawnAt } : {}),
  };
}

/** One resend at the most; every later hold is given up, as is a share that retries for ever. */
async function decideUntilItEnds(share: ShareHandle, draw: Draw): Promise<void> {
  let resends = draw.of([0, 0, 1]);
  const givesUpAt = Date.now() + 12_000;
  for (let decided = 0; ; ) {
    const { state, holds } = await share.status();
    if (!['running', 'waitingForConsent', 'held'].includes(state)) return;
    const [hold] = holds;
    if (hold) {
      const action = resends-- > 0 && hold.allowedActions.includes('resend') ? 'resend' : 'abandon';
      await settled(
        share.resolve({
          ...{ decisionId: `D-${++decided}`, customerTraceNumber: hold.customerTraceNumber, attempt: hold.attempts },
          ...{ action, by: 'ops-7', reason: 'drawn' },
          // The provider's word that it was not posted would stand in the reports, although it is drawn.
          providerSaid: hold.failureType === 'OutcomeUnknown' ? 'unknown' : 'notPosted',
        }),
      );
    } else if (Date.now() > givesUpAt) {
      await settled(share.withdraw({ by: 'platform', reason: 'it took too long' }));
    }
    await setTimeout(200);
  }
}

/** What the rule asks of one share, by the sandbox's record of postings and the ledger's of claims and consents. */
async function violations({ ownerId, shareId, reference, outcome, postedFor, withdrawnAt }: Played, all: Posted[]) {
  const problems: string[] = [];
  const inquiries = (await ledger.inquiriesOf(ownerId)).filter((one) => one.shareId === shareId);
  const numbers = new Map(inquiries.map((one) => [one.customerTraceNumber, one]));
  const postings = all.filter(({ customerTraceNumber }) => numbers.has(customerTraceNumber));
  const idOf = new Map(reference.applicants.map(({ consumerId, applicantId }) => [consumerId, applicantId]));
  const claims = await claimsOf(ownerId);
  for (const { customerTraceNumber, consumerIds } of postings) {
    const named = consumerIds.map((id) => idOf.get(id) ?? '?').join();
    const grants = claims.filter((one) => one.customerTraceNumber === customerTraceNumber);
    if (grants.length === 0) problems.push(`posted without a claim`);
    for (const { consents, subset } of grants) {
      if (consents.map(({ applicantId }) => applicantId).join() !== named) problems.push(`posted for ${named} alone`);
      const leftOut = TWO.filter((id) => !named.split(',').includes(id));
      if ((subset?.leftOut ?? []).join() !== leftOut.join()) problems.push(`says that it left out ${subset?.leftOut}`);
    }
  }
  const permitted = inquiries.flatMap(({ decisions }) => decisions).filter(({ action }) => action === 'resend').length;
  if (postings.length > 1 + permitted) problems.push(`posted ${postings.length} times with ${permitted} decisions`);
  if (withdrawnAt !== undefined && inquiries.some((one) => wasSentAfter(one, withdrawnAt))) {
    problems.push('claimed after its withdrawal');
  }
  if (outcome === 'posted') {
    const last = postings
      .at(-1)
      ?.consumerIds.map((id) => idOf.get(id))
      .join();
    if (last !== postedFor.join()) problems.push(`says ${postedFor}, and was posted for ${last}`);
  }
  problems.push(...(await refusedByThen(ownerId, shareId)));
  return problems.map((problem) => `${ownerId} (${outcome}): ${problem}`);
}

async function claimsOf(ownerId: string) {
  const found = [];
  for await (const one of ledger.sharesBetween({ ownerId })) found.push(one);
  return found;
}

function wasSentAfter({ attempts }: InquiryView, atMs: number): boolean {
  return attempts.some(({ claimedAt }) => claimedAt !== undefined && Date.parse(claimedAt) > atMs);
}

/** Claims whose grant the ledger had a refusal of by then: of its own id, or a denial or a blanket revocation after it. */
async function refusedByThen(ownerId: string, shareId: string): Promise<string[]> {
  const own: AuditedConsent[] = [];
  for await (const one of ledger.consentsBetween({ ownerId })) if (one.shareId === shareId) own.push(one);
  const granted = new Set(own.filter(({ decision }) => decision === 'granted').map(({ consentId }) => consentId));
  const endsOnlyItsOwn = ({ decision, consentId }: AuditedConsent) => decision === 'revoked' && granted.has(consentId);
  const refusals = own.filter(({ decision }) => decision !== 'granted');
  return (await claimsOf(ownerId)).flatMap(({ consents, claimedAt }) =>
    consents.flatMap(({ applicantId, consentId, decidedAt }) => {
      const isAgainst = (one: AuditedConsent) =>
        one.consentId === consentId || (!endsOnlyItsOwn(one) && one.decidedAt >= decidedAt);
      const by = refusals.filter((one) => one.applicantId === applicantId && one.recordedAt < claimedAt);
      return by.some(isAgainst) ? [`claimed on the grant of ${applicantId}, which was refused`] : [];
    }),
  );
}

test('no order posts a share for others than those whose grants stood in its claim, twice, or withdrawn', async (t) => {
  const seed = Number(process.env.SUBSET_SEED ?? 1);
  const played = await Promise.all(
    Array.from({ length: SHARES }, (_, index) => playedByItself(drawFrom(seed, 'subsets', index))),
  );
  const all = (await (await fetch(`${harness.sandboxUrl}/_sandbox/inquiries`)).json()) as Posted[];
  const found = (await Promise.all(played.map((one) => violations(one, all)))).flat();
  const outcomes = Map.groupBy(played, ({ outcome, postedFor }) => `${outcome} ${postedFor}`);
  for (const [outcome, { length }] of outcomes) t.diagnostic(`${outcome}: ${length}`);
  assert.deepEqual(found, []);
  // The draw reaches what it is about.
  assert.ok(played.some(({ outcome, postedFor }) => outcome === 'posted' && postedFor.length === 1));
  assert.ok(played.some(({ outcome, postedFor }) => outcome === 'posted' && postedFor.length === 2));
});

test('a journey’s share that replaces another is posted for those who consented to it, and the other never', async () => {
  const applicants = TWO.map((id) => applicant(id));
  const first = { shareId: 'S1', endUserCode: 'EU998', consumers: 'consented' as const };
  const handle = (await harness.start(
    journeyInput({ applicants, stages: ['PREQUAL'], shares: [first], sharesOpenFor: 'PT20S' }),
  )) as JourneyHandle;
  const journeyId = handle.workflowId.slice('journey-'.length);
  const consent = (shareId: string, applicantId: string, decision: 'granted' | 'denied', endUserCode: string) =>
    update(
      handle,
      'recordConsent',
      consentMessage(journeyId, { shareId, applicantId, decision, secondaryUser: { endUserCode } }),
    );
  await consent('S1', '1A', 'granted', 'EU998');
  const share = { shareId: newShareId(), endUserCode: 'EU999', consumers: 'consented' as const };
  await update(handle, 'requestShare', {
    journeyId,
    share,
    replaces: 'S1',
    by: 'platform',
    reason: 'the wrong investor',
  });
  await consent(share.shareId, '1A', 'denied', 'EU999');
  await consent(share.shareId, '2A', 'granted', 'EU999');
  const { shares } = await handle.result();
  assert.deepEqual(
    shares.map(({ state, postedFor }) => ({ state, postedFor })),
    [
      { state: 'withdrawn', postedFor: undefined },
      { state: 'posted', postedFor: ['2A'] },
    ],
  );
  assert.equal((await harness.posted(handle)).filter(({ productCode }) => productCode === 'SECONDUSE').length, 1);
});
