/** The contenders: this journey beside a bare workflow that makes the same calls, or beside itself with one thing changed. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { LendingJourneyInput } from '../src/messages/inputs/lending-journey.ts';
import type { Applicant } from '../src/model/applicant.ts';
import type { BareInput } from './bare/contract.ts';
import { person } from './load/inputs.ts';

export interface StartOptions {
  /** Stops at the first gate, for good. */
  waits?: boolean;
  /** One share, which waits for consent. Only the journey has it. */
  shares?: LendingJourneyInput['shares'];
  gates?: 'manual' | 'auto';
  applicants?: number;
}

/**
 * The baseline of the journey: a bare workflow, or the journey with its payloads in the clear, with all inquiries on the
 * gateway queue, or with a versioned worker.
 */
export const BESIDE = ['bare', 'clear', 'gateway-queue', 'versioned'] as const;
export type Beside = (typeof BESIDE)[number];

export interface Contender {
  name: 'journey' | Beside;
  taskQueue: string;
  start(id: string, options?: StartOptions): Promise<WorkflowHandle>;
  /** The ids of running workflows that say that they need a person, as a person lists them. The bare one never does. */
  needAttention(): Promise<string[]>;
}

export function contender(name: Contender['name'], client: Client, taskQueue: string): Contender {
  if (name === 'bare') {
    return {
      name,
      taskQueue,
      start: (id, options = {}) =>
        client.workflow.start('bareJourney', { workflowId: `bare-${id}`, taskQueue, args: [bareInput(id, options)] }),
      needAttention: async () => [],
    };
  }
  return {
    name,
    taskQueue,
    start: (id, options = {}) =>
      client.workflow.start('lendingJourney', {
        workflowId: `journey-${id}`,
        taskQueue,
        args: [journeyInput(id, options)],
      }),
    async needAttention() {
      const query = `NeedsAttention IS NOT NULL AND ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`;
      const ids: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
      return ids;
    },
  };
}

function bareInput(id: string, { applicants, waits }: StartOptions): BareInput {
  return {
    id,
    endUserCode: 'EU123',
    permissiblePurposeCode: '01',
    applicants: people(applicants),
    ...(waits ? { waitsAfterFirst: true } : {}),
  };
}

function journeyInput(id: string, { waits, gates, shares, applicants }: StartOptions): LendingJourneyInput {
  const pass = waits || gates === 'manual' ? 'manual' : 'auto';
  return {
    journeyId: id,
    endUserCode: 'EU123',
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01', SECONDUSE: '02' },
    applicants: people(applicants),
    gates: { PREAPP: { pass }, PRECLOSE: { pass } },
    ...(shares ? { shares } : {}),
  };
}

function people(count = 1): Applicant[] {
  return Array.from({ length: count }, (_, index) => person(`${index + 1}A`));
}
