/** Journeys with changes on their way: applicants who join or leave, reports that age, repeated stages. */
import type { ShareInput } from '../../src/messages/request-share.ts';
import {
  applicant,
  consentMessage,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from './journey-harness.ts';
import { playJourney } from './play-journey.ts';
import type { Scenario } from './scenarios.ts';

const MS_PER_DAY = 24 * 60 * 60 * 1000;
const auto = { pass: 'auto' } as const;
const who = { by: 'loan officer', reason: 'the closing was put off' };

function shareWith(number: number, more: Partial<ShareInput> = {}): ShareInput {
  return { shareId: `S${number}`, endUserCode: `EU90${number}`, ...more };
}

/** Sends the same decision of each applicant in `applicantIds` about one share. */
async function consents(
  handle: JourneyHandle,
  number: number,
  applicantIds: string[],
  decision: 'granted' | 'denied' | 'revoked' = 'granted',
): Promise<void> {
  const journeyId = handle.workflowId.replace('journey-', '');
  for (const applicantId of applicantIds) {
    const secondaryUser = { endUserCode: `EU90${number}` };
    const message = consentMessage(journeyId, { applicantId, shareId: `S${number}`, secondaryUser, decision });
    await update(handle, 'recordConsent', message);
  }
}

/** Decides about the only hold, and resolves once the hold has ended. */
async function decide(
  handle: JourneyHandle,
  decision: { decisionId: string } & Record<string, unknown>,
): Promise<void> {
  const { holds, journeyId } = await untilStatus(handle, ({ state }) => state === 'held');
  const { customerTraceNumber, attempts } = holds[0] ?? {};
  const word = { by: 'operator', reason: 'asked the provider', providerSaid: 'notPosted' };
  await update(handle, 'resolveInquiry', { journeyId, customerTraceNumber, attempt: attempts, ...word, ...decision });
  await untilStatus(handle, ({ holds: left }) =>
    left.every((hold) => hold.customerTraceNumber !== customerTraceNumber),
  );
}

function repeatOf(journeyId: string, repeat: string, occurrence: number, more: object = {}) {
  return { journeyId, repeat, occurrence, ...who, ...more };
}

/** 2A joins before PREAPP, and 1A leaves before PRECLOSE. Each stage's report has one share. */
const coApplicant: Scenario = {
  name: 'lendingJourney-coApplicant',
  async play(harness) {
    const shares = [shareWith(1, { reportOf: 'PREQUAL' }), shareWith(2, { reportOf: 'PREAPP' }), shareWith(3)];
    const [first, second] = [applicant('1A'), applicant('2A')];
    const input = journeyInput({ applicants: [first], shares });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await update(handle, 'advance', { journeyId, to: 'PREAPP', applicants: [first, second] });
    // These are the consents of an applicant who joined later.
    await consents(handle, 2, ['2A']);
    await consents(handle, 1, ['1A']);
    await untilStatus(handle, ({ waitingFor }) => waitingFor === 'PRECLOSE');
    await consents(handle, 2, ['1A']);
    await update(handle, 'advance', { journeyId, to: 'PRECLOSE', applicants: [second] });
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await consents(handle, 3, ['1A'], 'denied');
    await consents(handle, 3, ['2A']);
    await handle.result();
    return handle;
  },
};

/** The provider's report was requested long ago, so the gate that would open automatically waits. */
const reportTooOld = playJourney(
  'lendingJourney-reportTooOld',
  () =>
    journeyInput({
      stages: ['PREQUAL', 'PREAPP'],
      gates: { PREAPP: auto },
      applicants: [applicant('1A', newSsn('4002'))],
      maxReportAge: 'P30D',
    }),
  async (handle, { journeyId }) => {
    await update(handle, 'advance', { journeyId, to: 'PREAPP' });
    await decide(handle, {
      decisionId: 'D1',
      action: 'accept',
      providerSaid: 'posted',
      outcome: 'record',
      reference: {
        reportReferenceNumber: `RPT-${journeyId.slice(-12)}`,
        requestedAt: new Date(Date.now() - 40 * MS_PER_DAY).toISOString(),
        applicants: [{ applicantId: '1A', consumerId: `CN-${journeyId.slice(-12)}` }],
      },
    });
    await untilStatus(handle, (status) => status.reportTooOld === 'PREQUAL');
    await update(handle, 'advance', repeatOf(journeyId, 'PREQUAL', 2, { applicants: [applicant('1A')] }));
  },
);

/** The report becomes too old at the gate, and an operator accepts its age. */
const ageAccepted = playJourney(
  'lendingJourney-ageAccepted',
  () => journeyInput({ stages: ['PREQUAL', 'PREAPP'], maxReportAge: 'PT1S' }),
  async (handle, { journeyId }) => {
    await untilStatus(handle, (status) => status.reportTooOld === 'PREQUAL');
    await update(handle, 'advance', { journeyId, to: 'PREAPP', acceptAge: true, ...who });
  },
);

const startsAtPreapproval = playJourney(
  'lendingJourney-startsAtPreapproval',
  () =>
    journeyInput({
      stages: ['PREAPP', 'PRECLOSE'],
      permissiblePurposeCodes: { PREAPP: '01', PRECLOSE: '01', SECONDUSE: '02' },
      shares: [shareWith(1, { reportOf: 'PREAPP' })],
    }),
  async (handle, { journeyId }) => {
    await untilStatus(handle, ({ waitingFor }) => waitingFor === 'PRECLOSE');
    await consents(handle, 1, ['1A']);
    await update(handle, 'advance', { journeyId, to: 'PRECLOSE' });
  },
);

/** Two of four investors get the report, one is denied by one of two applicants, and one is revoked. */
const severalShares = playJourney(
  'lendingJourney-severalShares',
  () =>
    journeyInput({
      stages: ['PREAPP'],
      applicants: [applicant('1A'), applicant('2A')],
      shares: [1, 2, 3, 4].map((number) => shareWith(number)),
    }),
  async (handle) => {
    await Promise.all([
      consents(handle, 1, ['1A', '2A']),
      consents(handle, 2, ['1A']).then(() => consents(handle, 2, ['2A'], 'denied')),
      consents(handle, 3, ['2A', '1A']),
      consents(handle, 4, ['1A']).then(() => consents(handle, 4, ['1A'], 'revoked')),
    ]);
  },
);

/** The closing is delayed while an investor's share waits. Each pull is amended once. */
const repeatedPreclose: Scenario = {
  name: 'lendingJourney-repeatedPreclose',
  async play(harness) {
    const refused = [applicant('1A', newSsn('1422'))];
    const right = [applicant('1A')];
    const input = journeyInput({
      stages: ['PREAPP', 'PRECLOSE'],
      applicants: right,
      shares: [shareWith(1)],
      repeatsOpenFor: 'PT1S',
    });
    const { journeyId } = input;
    const handle = await harness.start(input);
    await update(handle, 'advance', { journeyId, to: 'PRECLOSE', applicants: refused });
    await decide(handle, { decisionId: 'D1', action: 'amend', applicants: right });
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await update(handle, 'advance', repeatOf(journeyId, 'PRECLOSE', 2, { applicants: refused }));
    await decide(handle, { decisionId: 'D2', action: 'amend', applicants: right });
    // A grant from before the amendment would not count, since the amendment corrects an SSN.
    await untilStatus(handle, ({ stages }) => stages[2]?.state === 'record');
    await consents(handle, 1, ['1A']);
    await handle.result();
    return handle;
  },
};

/** A share is posted. Then an operator abandons a repeat, and another repeat is made. */
const repeatGivenUp = playJourney(
  'lendingJourney-repeatGivenUp',
  () => journeyInput({ stages: ['PRECLOSE'], shares: [shareWith(1)], repeatsOpenFor: 'P1D' }),
  async (handle, { journeyId }) => {
    await consents(handle, 1, ['1A']);
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    const lost = [applicant('1A', newSsn('4002'))];
    await update(handle, 'advance', repeatOf(journeyId, 'PRECLOSE', 2, { applicants: lost }));
    await decide(handle, { decisionId: 'D1', action: 'abandon' });
    await update(handle, 'advance', repeatOf(journeyId, 'PRECLOSE', 3));
    await untilStatus(handle, ({ stages }) => stages[2]?.state === 'record');
    await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
  },
);

/** A repeat that arrives before its stage has ended, as after a reset, is kept. */
const repeatedEarly = playJourney(
  'lendingJourney-repeatedEarly',
  () => journeyInput({ stages: ['PREQUAL', 'PREAPP'] }),
  async (handle, { journeyId }) => {
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    await update(handle, 'advance', repeatOf(journeyId, 'PREQUAL', 2));
    await update(handle, 'advance', { journeyId, to: 'PREAPP' });
  },
);

/** A share is withdrawn after another was requested in its place, which is withdrawn, too. */
const sharesWithdrawn = playJourney(
  'lendingJourney-sharesWithdrawn',
  () => journeyInput({ stages: ['PREQUAL'], shares: [shareWith(1)] }),
  async (handle, { journeyId }) => {
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    const who = { by: 'platform', reason: 'another investor was meant' };
    const share = shareWith(2);
    await update(handle, 'requestShare', { journeyId, share });
    await update(handle, 'withdrawShare', { journeyId, shareId: shareWith(1).shareId, ...who });
    await untilStatus(handle, ({ shares }) => (shares[1]?.waitingFor.length ?? 0) > 0);
    await update(handle, 'withdrawShare', { journeyId, shareId: share.shareId, ...who });
  },
);

export const BENDING_SCENARIOS = {
  coApplicant,
  reportTooOld,
  ageAccepted,
  startsAtPreapproval,
  severalShares,
  repeatedPreclose,
  repeatGivenUp,
  repeatedEarly,
  sharesWithdrawn,
};
