/** The load of the topology: journeys of a platform with a token and no key, and an operator's decisions. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createSampleJourney } from '../../src/cli/demo/sample-runs.ts';
import { hasCode } from '../../src/client/connection/errors.ts';
import { CreditJourneys, type JourneyHandle } from '../../src/client.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { HoldStatus, JourneyStatus } from '../../src/messages/journey/shapes.ts';

interface Posted {
  customerTraceNumber: string;
  reportReferenceNumber: string;
  consumerIds: string[];
}

const JOURNEY_TIMEOUT_MS = 3 * 60_000;

export async function connect(env: Readonly<Record<string, string>>): Promise<CreditJourneys> {
  Object.assign(process.env, env);
  return CreditJourneys.connect();
}

/** Two stages of one applicant, the second directly after the first. */
function input(journeyId: string): LendingJourneyInput {
  const { shares: _none, applicants, ...sample } = createSampleJourney({ journeyId, auto: true });
  return {
    ...sample,
    stages: ['PREQUAL', 'PREAPP'],
    gates: { PREAPP: { pass: 'auto' } },
    applicants: applicants.slice(0, 1),
  };
}

export async function startMany(journeys: CreditJourneys, count: number): Promise<JourneyHandle[]> {
  return Promise.all(Array.from({ length: count }, () => journeys.start(input(`T-${randomUUID()}`))));
}

export async function postedAt(sandboxUrl: string): Promise<Posted[]> {
  return (await (await fetch(`${sandboxUrl}/_sandbox/inquiries`)).json()) as Posted[];
}

/**
 * Waits for every journey, and decides about each hold like a person who asks the provider: accepts posted inquiries,
 * and resends the others. Resolves with the number of decisions.
 */
export async function finishAll(handles: readonly JourneyHandle[], sandboxUrl: string): Promise<number> {
  const endsAt = performance.now() + JOURNEY_TIMEOUT_MS;
  let decisions = 0;
  const open = new Set(handles);
  while (open.size > 0) {
    if (performance.now() > endsAt) throw new Error(`${open.size} journeys did not end`);
    for (const handle of open) {
      const status = await statusOf(handle);
      if (!status) continue;
      const { state, holds } = status;
      if (state === 'completed') open.delete(handle);
      else if (!['running', 'held'].includes(state)) throw new Error(`a journey is ${state}`);
      for (const hold of holds) {
        await decide(handle, hold, await postedAt(sandboxUrl));
        decisions += 1;
      }
    }
    await delay(250);
  }
  return decisions;
}

/** Undefined while the server still asks the killed worker, which takes some seconds. */
async function statusOf(handle: JourneyHandle): Promise<JourneyStatus | undefined> {
  try {
    return await handle.status();
  } catch (error) {
    if (hasCode(error, 'workerUnavailable')) return undefined;
    throw error;
  }
}

async function decide(handle: JourneyHandle, hold: HoldStatus, posted: readonly Posted[]): Promise<void> {
  const { customerTraceNumber, attempts: attempt, since } = hold;
  const found = posted.find((one) => one.customerTraceNumber === customerTraceNumber);
  const decision = { decisionId: `D-${randomUUID()}`, customerTraceNumber, attempt, by: 'topology', reason: 'asked' };
  if (!found) {
    await handle.resolveInquiry({ ...decision, action: 'resend', providerSaid: 'notPosted' });
    return;
  }
  const applicants = found.consumerIds.map((consumerId) => ({ applicantId: '1A', consumerId }));
  const { reportReferenceNumber } = found;
  await handle.resolveInquiry({
    ...decision,
    action: 'accept',
    providerSaid: 'posted',
    outcome: 'record',
    reference: { reportReferenceNumber, requestedAt: since, applicants },
  });
}

/** Trace numbers that were posted more than once. */
export function postedTwice(posted: readonly Posted[]): string[] {
  const numbers = posted.map(({ customerTraceNumber }) => customerTraceNumber);
  return numbers.filter((number, index) => numbers.indexOf(number) < index);
}
