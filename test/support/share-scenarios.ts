/** Helpers for tests of shares by themselves, and one run for each outcome of such a share. */
import { randomUUID } from 'node:crypto';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { ShareReportInput } from '../../src/messages/inputs/share-report.ts';
import type { LateConsentResult } from '../../src/messages/journey/shapes.ts';
import type { ShareReportStatus } from '../../src/messages/share/shapes.ts';
import { consentMessage, type Harness, type JourneyHandle } from './journey-harness.ts';
import { reportPull } from './pull-scenarios.ts';
import type { Scenario, Stage } from './scenarios.ts';
import { untilQuery } from './until-query.ts';

export const newShareId = () => `S-${randomUUID().slice(0, 13)}`;

/** Makes a share with `EU999`. */
export function shareInput(
  report: ShareReportInput['report'],
  overrides: Partial<ShareReportInput> = {},
): ShareReportInput {
  return { shareId: newShareId(), report, endUserCode: 'EU999', permissiblePurposeCode: '02', ...overrides };
}

/** Counts the journey's shares that the sandbox has posted. */
export async function sharesPosted(harness: Pick<Harness, 'posted'>, handle: JourneyHandle): Promise<number> {
  return (await harness.posted(handle)).filter(({ productCode }) => productCode === 'SECONDUSE').length;
}

/** Pulls a report of an applicant whose SSN has these last four digits. */
async function pulledBy({ client, config }: Stage, lastFour = '0001'): Promise<ShareReportInput['report']> {
  const input = reportPull(lastFour);
  const workflowId = `pull-${input.pullId}`;
  const handle = await client.workflow.start('creditReport', {
    workflowId,
    taskQueue: config.taskQueue,
    args: [input],
  });
  await handle.result();
  return { pullId: input.pullId, productCode: 'CR' };
}

export async function startShare({ client, config }: Stage, input: ShareReportInput): Promise<JourneyHandle> {
  const handle = await client.workflow.start('shareReport', {
    workflowId: `share-${input.shareId}`,
    taskQueue: config.taskQueue,
    args: [input],
  });
  return handle as unknown as JourneyHandle;
}

export function untilShareIs(handle: JourneyHandle, state: ShareReportStatus['state']): Promise<ShareReportStatus> {
  return untilQuery<ShareReportStatus>(handle, (status) => status.state === state);
}

/** Returns the refusal of a consent that is sent without a look for an open run; '' if it is accepted. */
export async function lateRefusal({ client, config }: Stage, consent: ConsentMessage): Promise<string> {
  const answer = await client.workflow.execute<(input: object) => Promise<LateConsentResult>>('recordLateConsent', {
    workflowId: `late-${randomUUID()}`,
    taskQueue: config.taskQueue,
    args: [{ consent }],
  });
  return 'problems' in answer ? answer.problems.map(({ path, rule }) => `${path} ${rule}`).join() : '';
}

export const consentToShare = (shareId: string, decision: 'granted' | 'denied') =>
  consentMessage(`share:${shareId}`, { shareId, applicantId: '1A', decision });

/** Plays a share that the consent decision ends. */
function decided(name: string, decision: 'granted' | 'denied'): Scenario {
  return {
    name,
    async play(stage) {
      const input = shareInput(await pulledBy(stage));
      const handle = await startShare(stage, input);
      await untilShareIs(handle, 'waitingForConsent');
      await handle.executeUpdate<unknown, [object]>('recordConsent', {
        args: [consentToShare(input.shareId, decision)],
      });
      await handle.result();
      return handle;
    },
  };
}

/** Plays a share whose answer is lost after all grants, and that an operator decides. */
function lost(name: string, decided: object): Scenario {
  return {
    name,
    async play(stage) {
      const input = shareInput(await pulledBy(stage, '9001'));
      const handle = await startShare(stage, input);
      await handle.signal('consent', consentToShare(input.shareId, 'granted'));
      const { holds } = await untilShareIs(handle, 'held');
      const [{ customerTraceNumber, attempts: attempt } = { customerTraceNumber: '', attempts: 0 }] = holds;
      const decision = { decisionId: 'D1', customerTraceNumber, attempt, providerSaid: 'notPosted', ...decided };
      const message = { ...decision, shareId: input.shareId, by: 'operator', reason: 'asked the provider' };
      await handle.executeUpdate<unknown, [object]>('resolveInquiry', { args: [message] });
      await handle.result();
      return handle;
    },
  };
}

export const SHARE_SCENARIOS: readonly Scenario[] = [
  decided('shareReport-posted', 'granted'),
  decided('shareReport-denied', 'denied'),
  lost('shareReport-resent', { action: 'resend' }),
  lost('shareReport-notPosted', { action: 'accept', outcome: 'noRecord' }),
  {
    name: 'shareReport-awaited',
    async play(stage) {
      const handle = await startShare(stage, shareInput(await pulledBy(stage)));
      await untilShareIs(handle, 'waitingForConsent');
      return handle;
    },
  },
  {
    name: 'shareReport-withdrawn',
    async play(stage) {
      const input = shareInput(await pulledBy(stage));
      const handle = await startShare(stage, input);
      await untilShareIs(handle, 'waitingForConsent');
      const message = { shareId: input.shareId, by: 'platform', reason: 'another investor was meant' };
      await handle.executeUpdate<unknown, [object]>('withdraw', { args: [message] });
      await handle.result();
      return handle;
    },
  },
  {
    name: 'shareReport-expired',
    async play(stage) {
      const handle = await startShare(stage, shareInput(await pulledBy(stage), { awaitConsentFor: 'PT1S' }));
      await handle.result();
      return handle;
    },
  },
  {
    name: 'shareReport-refused',
    async play(stage) {
      const handle = await startShare(stage, shareInput(await pulledBy(stage), { endUserCode: 'EU123' }));
      await handle.result().catch(() => undefined);
      return handle;
    },
  },
];
