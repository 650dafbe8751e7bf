/** One run for each outcome of a single pull. */
import { randomUUID } from 'node:crypto';
import type { CreditReportInput, FailsafeCheckInput, PullInput } from '../../src/messages/inputs/pull.ts';
import type { PullStatus } from '../../src/messages/pull/shapes.ts';
import { applicant, type JourneyHandle, newSsn } from './journey-harness.ts';
import type { Scenario, Stage } from './scenarios.ts';
import { untilQuery } from './until-query.ts';

const newId = () => `P-${randomUUID().slice(0, 13)}`;

/** Makes a pull of one applicant. The last four digits ask the sandbox for a fault. */
export function reportPull(lastFour = '0001', overrides: Partial<CreditReportInput> = {}): CreditReportInput {
  return {
    pullId: newId(),
    productCode: 'CR',
    endUserCode: 'EU123',
    permissiblePurposeCode: '01',
    applicants: [applicant('1A', newSsn(lastFour))],
    ...overrides,
  };
}

export function failsafeApplicant(applicantId: string, lastFour = '0001'): FailsafeCheckInput['applicants'][number] {
  const { emailAddress: _, ipAddress: __, ...rest } = applicant(applicantId, newSsn(lastFour));
  return rest;
}

export function failsafePull(applicants: FailsafeCheckInput['applicants']): FailsafeCheckInput {
  return { pullId: newId(), productCode: 'FAILSAFE', applicants };
}

export async function startPull({ client, config }: Stage, input: PullInput): Promise<JourneyHandle> {
  const handle = await client.workflow.start(input.productCode === 'FAILSAFE' ? 'failsafeCheck' : 'creditReport', {
    workflowId: `pull-${input.pullId}`,
    taskQueue: config.taskQueue,
    args: [input],
  });
  return handle as unknown as JourneyHandle;
}

function through(name: string, input: () => PullInput): Scenario {
  return {
    name,
    async play(harness) {
      const handle = await startPull(harness, input());
      await handle.result().catch(() => undefined);
      return handle;
    },
  };
}

/** Plays a pull that is held. The decision, if there is one, ends it. */
function held(name: string, input: () => PullInput, decision?: object): Scenario {
  return {
    name,
    async play(harness) {
      const pull = input();
      const handle = await startPull(harness, pull);
      if (!decision) {
        await firstHold(handle);
        return handle;
      }
      await decideFirstHold(handle, pull.pullId, decision);
      await handle.result();
      return handle;
    },
  };
}

export async function decideFirstHold(handle: JourneyHandle, pullId: string, decision: object): Promise<void> {
  const { customerTraceNumber, attempts: attempt } = await firstHold(handle);
  const message = {
    ...{ pullId, decisionId: 'D1', customerTraceNumber, attempt, providerSaid: 'notPosted' },
    ...{ by: 'operator', reason: 'asked the provider' },
    ...decision,
  };
  await handle.executeUpdate<unknown, [object]>('resolveInquiry', { args: [message] });
}

export async function firstHold(handle: JourneyHandle): Promise<PullStatus['holds'][number]> {
  const { holds } = await untilQuery<PullStatus>(handle, (status) => status.holds.length > 0);
  return holds[0] as PullStatus['holds'][number];
}

/** The retry waits for longer than the withdrawal takes. */
const withdrawn: Scenario = {
  name: 'creditReport-withdrawn',
  async play(harness) {
    const pull = reportPull('3429');
    const handle = await startPull(harness, pull);
    await handle.executeUpdate('withdraw', { args: [{ pullId: pull.pullId, by: 'ops', reason: 'by mistake' }] });
    await handle.result();
    return handle;
  },
};

export const PULL_SCENARIOS: readonly Scenario[] = [
  through('creditReport-answered', () => reportPull()),
  through('creditReport-noRecord', () => reportPull('0404', { productCode: 'ACCTRVW' })),
  through('creditReport-throttled', () => reportPull('3429', { productCode: 'REFUPD' })),
  through('creditReport-invalidInput', () => reportPull('0001', { endUserCode: ' ' })),
  withdrawn,
  held('creditReport-held', () => reportPull('4002')),
  held('creditReport-resent', () => reportPull('4001'), { action: 'resend' }),
  held('creditReport-abandoned', () => reportPull('4002'), { action: 'abandon' }),
  held('creditReport-amended', () => reportPull('1422'), { action: 'amend', applicants: [applicant('1A')] }),
  through('failsafeCheck-answered', () =>
    failsafePull([failsafeApplicant('1A', '0404'), failsafeApplicant('2A', '0404')]),
  ),
  held('failsafeCheck-amended', () => failsafePull([failsafeApplicant('1A', '1422')]), {
    action: 'amend',
    applicants: [failsafeApplicant('1A')],
  }),
];
