/** One run for each outcome of a workflow, played to its end or to a wait. */
import { WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import { BENDING_SCENARIOS } from './bending-scenarios.ts';
import { proved } from './consent-proofs.ts';
import { CORNER_SCENARIOS } from './corner-scenarios.ts';
import { HAND_OVER_SCENARIOS } from './hand-over-scenarios.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  type JourneyHandle,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from './journey-harness.ts';
import { playJourney } from './play-journey.ts';
import { PULL_SCENARIOS } from './pull-scenarios.ts';
import { SHARE_SCENARIOS } from './share-scenarios.ts';
import { TIME_SCENARIOS } from './time-scenarios.ts';

/** The parts of a harness that a scenario needs to start journeys. */
export type Stage = Pick<Harness, 'client' | 'start'> & { config: Pick<Harness['config'], 'taskQueue'> };

export interface Scenario {
  /** `<workflow>-<what happens>`: the name of its recorded history. */
  name: string;
  /** Needs a harness with the profile `proving`. */
  play(harness: Stage): Promise<JourneyHandle>;
}

const share = { shareId: 'S1', endUserCode: 'EU999' };

function oneStage(lastFour = '0001', overrides: Parameters<typeof journeyInput>[0] = {}) {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))], ...overrides });
}

/** Plays a journey of one stage that needs no messages. */
function runsThrough(name: string, lastFour: string, overrides: Parameters<typeof journeyInput>[0] = {}): Scenario {
  return {
    name: `lendingJourney-${name}`,
    async play(harness) {
      const handle = await harness.start(oneStage(lastFour, overrides));
      await handle.result().catch(() => undefined);
      return handle;
    },
  };
}

/** Plays a journey that is held. The decision, if there is one, ends it. */
function held(name: string, lastFour: string, decide?: (journeyId: string) => object): Scenario {
  return {
    name: `lendingJourney-${name}`,
    async play(harness) {
      const input = oneStage(lastFour);
      const handle = await harness.start(input);
      const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
      if (!decide) return handle;
      await update(handle, 'resolveInquiry', {
        journeyId: input.journeyId,
        decisionId: 'D1',
        customerTraceNumber: holds[0]?.customerTraceNumber,
        attempt: holds[0]?.attempts,
        by: 'operator',
        reason: 'asked the provider',
        providerSaid: 'notPosted',
        ...decide(input.journeyId),
      });
      await handle.result();
      return handle;
    },
  };
}

/** Plays a joint journey with a share, whose outcome the messages decide. */
function shared(
  name: string,
  messages: (
    journeyId: string,
  ) => { applicantId: string; decision?: 'granted' | 'denied' | 'revoked'; consentId?: string }[],
): Scenario {
  return {
    name: `lendingJourney-${name}`,
    async play(harness) {
      const input = oneStage('0001', { applicants: [applicant('1A'), applicant('2A')], shares: [share] });
      const handle = await harness.start(input);
      for (const message of messages(input.journeyId)) {
        await handle.signal('consent', consentMessage(input.journeyId, message)).catch((error: unknown) => {
          // On a slow machine an earlier message may have ended the run.
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
      }
      await handle.result();
      return handle;
    },
  };
}

const fullJourney = playJourney(
  'lendingJourney-completed',
  () => journeyInput({ applicants: [applicant('1A'), applicant('2A')], shares: [share] }),
  async (handle, { journeyId }) => {
    for (const to of ['PREAPP', 'PRECLOSE']) {
      await untilStatus(handle, ({ waitingFor }) => waitingFor === to);
      await update(handle, 'advance', { journeyId, to });
    }
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    for (const applicantId of ['1A', '2A']) {
      await handle.signal('consent', consentMessage(journeyId, { applicantId }));
    }
  },
);

const changesFound = playJourney('lendingJourney-changesFound', () =>
  journeyInput({
    stages: ['PREAPP', 'PRECLOSE'],
    gates: { PRECLOSE: { pass: 'auto' } },
    applicants: [applicant('1A', newSsn('0020')), applicant('2A')],
  }),
);

const atGate: Scenario = {
  name: 'lendingJourney-waitingAtGate',
  async play(harness) {
    const handle = await harness.start(journeyInput());
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    return handle;
  },
};

const withdrawn = playJourney(
  'lendingJourney-withdrawn',
  () => journeyInput({ shares: [share] }),
  async (handle, { journeyId }) => {
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    await update(handle, 'withdraw', { journeyId, by: 'borrower', reason: 'bought elsewhere' });
  },
);

const cancelled: Scenario = {
  name: 'lendingJourney-cancelled',
  async play(harness) {
    const handle = await harness.start(journeyInput());
    await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
    await handle.cancel();
    await handle.result().catch(() => undefined);
    return handle;
  },
};

const advancedWithApplicants = playJourney(
  'lendingJourney-advancedWithApplicants',
  () => journeyInput({ stages: ['PREQUAL', 'PREAPP'] }),
  async (handle, { journeyId }) => {
    await update(handle, 'advance', {
      journeyId,
      to: 'PREAPP',
      applicants: [applicant('1A'), applicant('2A')],
    });
  },
);

const revokedAfterPosting = playJourney(
  'lendingJourney-revokedAfterPosting',
  () => oneStage('0001', { shares: [share], sharesOpenFor: 'P1D' }),
  async (handle, { journeyId }) => {
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    await update(handle, 'recordConsent', grant);
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    const { evidence: _, ...rest } = grant;
    await handle.signal('consent', { ...rest, decision: 'revoked' });
    await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
  },
);

const requestedShare = playJourney(
  'lendingJourney-requestedShare',
  () => oneStage('0001', { sharesOpenFor: 'PT3S' }),
  async (handle, { journeyId }) => {
    await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A' }));
    await handle.signal('consent', consentMessage('another', { applicantId: '1A' }));
    await update(handle, 'requestShare', { journeyId, share });
  },
);

const consentAwaited: Scenario = {
  name: 'lendingJourney-consentAwaited',
  async play(harness) {
    const input = journeyInput({ gates: { PREAPP: { pass: 'auto' }, PRECLOSE: { pass: 'auto' } }, shares: [share] });
    const handle = await harness.start({ ...input, sharesOpenFor: 'PT1S' });
    await untilStatus(handle, ({ state }) => state === 'waitingForConsent');
    await update(handle, 'recordConsent', consentMessage(input.journeyId, { applicantId: '1A' }));
    await handle.result();
    return handle;
  },
};

const lateConsent: Scenario = {
  name: 'recordLateConsent-recorded',
  async play(harness) {
    const handle = await harness.start(oneStage());
    await handle.result();
    const journeyId = handle.workflowId.replace('journey-', '');
    const late = await harness.client.workflow.start('recordLateConsent', {
      workflowId: `late-consent-${journeyId}`,
      taskQueue: harness.config.taskQueue,
      args: [{ consent: consentMessage(journeyId, { applicantId: '1A', decision: 'denied' }) }],
    });
    await late.result();
    return late as unknown as JourneyHandle;
  },
};

const consentProved = playJourney(
  'lendingJourney-consentProved',
  () => oneStage('0001', { profile: 'proving', shares: [share] }),
  async (handle, { journeyId }) => {
    await handle.signal('consent', await proved(consentMessage(journeyId, { applicantId: '1A' })));
  },
);

/** An early grant without a proof, a grant with a wrong one, the right one, and a revocation with a wrong one. */
const proofRefused: Scenario = {
  name: 'lendingJourney-proofRefused',
  async play(harness) {
    const input = oneStage('0001', { profile: 'proving', shares: [share], sharesOpenFor: 'P1D' });
    const { journeyId } = input;
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    const handle = (await harness.client.workflow.signalWithStart('lendingJourney', {
      workflowId: `journey-${journeyId}`,
      taskQueue: harness.config.taskQueue,
      args: [input],
      signal: 'consent',
      signalArgs: [grant],
    })) as unknown as JourneyHandle;
    const untilRefused = (total: number) =>
      untilStatus(handle, ({ refusedMessagesTotal }) => refusedMessagesTotal >= total);
    await untilRefused(1);
    await handle.signal('consent', await proved(grant, { consent: { ...grant, journeyId: 'another' } }));
    await untilRefused(2);
    await update(handle, 'recordConsent', await proved(grant));
    await untilStatus(handle, ({ shares }) => shares[0]?.state === 'posted');
    const { evidence: _, ...rest } = grant;
    await handle.signal('consent', await proved({ ...rest, decision: 'revoked' }, { consent: grant }));
    await untilRefused(3);
    await update(handle, 'withdraw', { journeyId, by: 'test', reason: 'done' });
    await handle.result();
    return handle;
  },
};

/** A grant whose evidence looks personal, which an older run would have accepted. */
const evidenceRefused = playJourney(
  'lendingJourney-evidenceRefused',
  () => oneStage('0001', { shares: [{ ...share, awaitConsentFor: 'PT2S' }] }),
  async (handle, { journeyId }) => {
    const grant = consentMessage(journeyId, { applicantId: '1A' });
    await handle.signal('consent', { ...grant, evidence: { ...grant.evidence, reference: 'ada@example.com' } });
  },
);

/** An update that arrives with the start waits until the run knows whether a grant needs a proof. */
const earlyGrant: Scenario = {
  name: 'lendingJourney-earlyGrant',
  async play(harness) {
    const input = oneStage('0001', { shares: [share] });
    await harness.client.workflow.executeUpdateWithStart('recordConsent', {
      args: [consentMessage(input.journeyId, { applicantId: '1A' })],
      startWorkflowOperation: new WithStartWorkflowOperation('lendingJourney', {
        workflowId: `journey-${input.journeyId}`,
        taskQueue: harness.config.taskQueue,
        args: [input],
        workflowIdConflictPolicy: 'FAIL',
      }),
    });
    const handle = harness.client.workflow.getHandle(`journey-${input.journeyId}`) as JourneyHandle;
    await handle.result();
    return handle;
  },
};

const lateGrantRefused: Scenario = {
  name: 'recordLateConsent-refused',
  async play(harness) {
    const input = oneStage('0001', { profile: 'proving' });
    const handle = await harness.start(input);
    await handle.result();
    const late = await harness.client.workflow.start('recordLateConsent', {
      workflowId: `late-consent-${input.journeyId}`,
      taskQueue: harness.config.taskQueue,
      args: [{ consent: consentMessage(input.journeyId, { applicantId: '1A' }) }],
    });
    await late.result();
    return late as unknown as JourneyHandle;
  },
};

/** The gateway's answer about the share is lost. An operator accepts that the share was not posted. */
const shareNotPosted = playJourney(
  'lendingJourney-shareNotPosted',
  () => oneStage('9001', { shares: [share] }),
  async (handle, { journeyId }) => {
    await handle.signal('consent', consentMessage(journeyId, { applicantId: '1A' }));
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    await update(handle, 'resolveInquiry', {
      ...{ journeyId, decisionId: 'D1', customerTraceNumber: holds[0]?.customerTraceNumber },
      ...{ attempt: holds[0]?.attempts, action: 'accept', outcome: 'noRecord', providerSaid: 'notPosted' },
      ...{ by: 'operator', reason: 'asked the provider' },
    });
  },
);

export const SCENARIOS: readonly Scenario[] = [
  ...PULL_SCENARIOS,
  BENDING_SCENARIOS.repeatedPreclose,
  ...SHARE_SCENARIOS,
  fullJourney,
  changesFound,
  atGate,
  withdrawn,
  cancelled,
  advancedWithApplicants,
  revokedAfterPosting,
  requestedShare,
  shareNotPosted,
  consentAwaited,
  lateConsent,
  consentProved,
  proofRefused,
  evidenceRefused,
  earlyGrant,
  lateGrantRefused,
  runsThrough('stopped', '0404'),
  runsThrough('nothingToShare', '0404', { onNoRecord: 'continue', shares: [share] }),
  runsThrough('throttled', '3429'),
  // This run is in a version that does not count its waits in the gateway queue.
  runsThrough('throttledInTurn', '3429'),
  runsThrough('tokenRejected', '3401'),
  runsThrough('gateExpired', '0001', { stages: ['PREQUAL', 'PREAPP'], gates: { PREAPP: { expiresAfter: 'PT1S' } } }),
  runsThrough('gateAuto', '0001', { stages: ['PREQUAL', 'PREAPP'], gates: { PREAPP: { pass: 'auto' } } }),
  runsThrough('consentExpired', '0001', { shares: [{ ...share, awaitConsentFor: 'PT1S' }] }),
  runsThrough('invalidInput', '0001', { endUserCode: ' ' }),
  held('held', '4002'),
  held('resent', '4001', () => ({ action: 'resend' })),
  held('amended', '1422', () => ({ action: 'amend', applicants: [applicant('1A')] })),
  held('abandoned', '4002', () => ({ action: 'abandon' })),
  held('noReport', '0405', () => ({ action: 'accept', outcome: 'noReport', providerSaid: 'posted' })),
  held('unexpectedResponse', '4020', () => ({ action: 'accept', outcome: 'noRecord', providerSaid: 'posted' })),
  held('accepted', '4002', (journeyId) => ({
    action: 'accept',
    providerSaid: 'posted',
    outcome: 'record',
    reference: {
      reportReferenceNumber: `RPT-${journeyId.slice(-12)}`,
      requestedAt: '2026-01-05T10:00:00Z',
      applicants: [{ applicantId: '1A', consumerId: `CN-${journeyId.slice(-12)}` }],
    },
  })),
  shared('shareDenied', () => [{ applicantId: '1A' }, { applicantId: '2A', decision: 'denied' }]),
  shared('grantTakenBack', () => [
    { applicantId: '1A', consentId: 'C1' },
    { applicantId: '1A', consentId: 'C1', decision: 'revoked' },
    { applicantId: '2A' },
  ]),
  shared('shareRevoked', () => [
    { applicantId: '1A', consentId: 'C1' },
    { applicantId: '1A', consentId: 'C1', decision: 'revoked' },
  ]),
];

/** All scenarios with a recorded history. */
export const RECORDED_SCENARIOS: readonly Scenario[] = [
  ...new Set([...SCENARIOS, ...Object.values(BENDING_SCENARIOS), ...HAND_OVER_SCENARIOS, ...CORNER_SCENARIOS]),
  ...Object.values(TIME_SCENARIOS),
];
