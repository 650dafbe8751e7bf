/** The contenders: this journey beside a bare workflow that makes the same calls, or beside itself with one thing changed. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { LendingJourneyInput } from '../src/messages/inputs/lending-journey.ts';
import type { Applicant } from '../src/model/applicant.ts';
import type { BareInput } from './bare/contract.ts';

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
    applicants: people(id, applicants),
    ...(waits ? { waitsAfterFirst: true } : {}),
  };
}

function journeyInput(id: string, { waits, gates, shares, applicants }: StartOptions): LendingJourneyInput {
  const pass = waits || gates === 'manual' ? 'manual' : 'auto';
  return {
    journeyId: id,
    endUserCode: 'EU123',
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01', SECONDUSE: '02' },
    applicants: people(id, applicants),
    gates: { PREAPP: { pass }, PRECLOSE: { pass } },
    ...(shares ? { shares } : {}),
  };
}

/** Applicants with SSNs that were never issued; `0001` is a record. */
function people(id: string, count = 1): Applicant[] {
  return Array.from({ length: count }, (_, index) => ({
    applicantId: `${index + 1}A`,
    names: [{ first: 'Casey', last: `Sample-${index + 1}` }],
    ssn: `9${String(1_000 + (hash(id) % 8_000) + index)}0001`,
    dob: '1985-04-12',
    phones: [{ phoneNumber: '2025550123', phoneType: 'MOBL' }],
    emailAddress: 'casey@example.com',
    ipAddress: '192.0.2.17',
    addresses: [{ addressIdentifier: 'C', line1: '12 Example Street', city: 'Springfield', state: 'IL', zip: '62704' }],
  }));
}

function hash(text: string): number {
  let value = 0;
  for (const character of text) value = (value * 31 + character.charCodeAt(0)) % 1_000_003;
  return value;
}
