/** Platforms, a consent system and an operator: the calls that they make to a region, and those that it acknowledged. */
import { setTimeout as delay } from 'node:timers/promises';
import { CreditJourneyError, type CreditJourneys, type LendingJourneyInput } from '../../src/client.ts';
import type { JourneyStatus } from '../../src/messages/journey/shapes.ts';
import { applicant, type consentMessage, journeyInput, newSsn } from '../support/journey-harness.ts';

/** A message that was answered as taken. */
export type Taken =
  | { kind: 'start'; input: LendingJourneyInput }
  | { kind: 'advance'; journeyId: string; to: 'PREAPP' | 'PRECLOSE' }
  | { kind: 'consent'; journeyId: string; message: ReturnType<typeof consentMessage> }
  | { kind: 'decision'; journeyId: string; decision: Decision };

export interface Decision {
  decisionId: string;
  customerTraceNumber: string;
  attempt: number;
  action: 'resend' | 'abandon';
  by: string;
  reason: string;
  providerSaid: 'notPosted' | 'unknown';
}

export class Callers {
  /** In the order of their answers. */
  readonly taken: (Taken & { at: number })[] = [];
  #journeys: CreditJourneys;

  constructor(journeys: CreditJourneys) {
    this.#journeys = journeys;
  }

  /** Makes all further calls go to that region. */
  moveTo(journeys: CreditJourneys): void {
    this.#journeys = journeys;
  }

  async start(input: LendingJourneyInput): Promise<string> {
    await this.#journeys.start(input);
    this.#note({ kind: 'start', input });
    return input.journeyId;
  }

  async advance(journeyId: string, to: 'PREAPP' | 'PRECLOSE'): Promise<void> {
    await this.#journeys.get(journeyId).advance({ to });
    this.#note({ kind: 'advance', journeyId, to });
  }

  async consent(journeyId: string, message: ReturnType<typeof consentMessage>): Promise<void> {
    const { journeyId: _, ...own } = message;
    const answer = await this.#journeys.get(journeyId).recordConsent(own);
    if (answer.recorded === true) this.#note({ kind: 'consent', journeyId, message });
  }

  async decide(journeyId: string, decision: Decision): Promise<void> {
    const answer = await this.#journeys.get(journeyId).resolveInquiry(decision);
    if (answer.recorded !== false) this.#note({ kind: 'decision', journeyId, decision });
  }

  status(journeyId: string): Promise<JourneyStatus> {
    return this.#journeys.get(journeyId).status();
  }

  async until(
    journeyId: string,
    isWanted: (status: JourneyStatus) => boolean,
    limitMs = 60_000,
  ): Promise<JourneyStatus> {
    const endsAt = performance.now() + limitMs;
    for (;;) {
      const status = await this.status(journeyId).catch((error: unknown) => {
        if (error instanceof CreditJourneyError) return undefined;
        throw error;
      });
      if (status && isWanted(status)) return status;
      if (performance.now() > endsAt) {
        throw new Error(`waited in vain: ${journeyId} is ${JSON.stringify(status)?.slice(0, 600)}`);
      }
      await delay(100);
    }
  }

  untilState(journeyId: string, state: JourneyStatus['state']): Promise<JourneyStatus> {
    return this.until(journeyId, (status) => status.state === state);
  }

  #note(one: Taken): void {
    this.taken.push({ ...one, at: Date.now() });
  }
}

/** PREQUAL for one applicant, whose SSN ends so: it completes by itself, or holds. */
export function oneStage(lastFour = '0001'): LendingJourneyInput {
  return journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn(lastFour))] });
}

/** PREQUAL, then a gate that waits for `advance`. */
export function withGate(): LendingJourneyInput {
  return journeyInput({ stages: ['PREQUAL', 'PREAPP'] });
}

/** PREQUAL, and a share that waits for everybody's consent. */
export function withShare(applicants = 1): LendingJourneyInput {
  return journeyInput({
    stages: ['PREQUAL'],
    applicants: Array.from({ length: applicants }, (_, index) => applicant(`${index + 1}A`)),
    shares: [{ shareId: 'S1', endUserCode: 'EU999' }],
  });
}

/** Makes a decision about the only hold of this status. */
export function decisionAboutHold({ holds }: JourneyStatus, action: Decision['action'], decisionId: string): Decision {
  const [hold] = holds;
  if (!hold) throw new Error('nothing is on hold');
  const { customerTraceNumber, attempts: attempt } = hold;
  const providerSaid = action === 'resend' ? 'notPosted' : 'unknown';
  return { decisionId, customerTraceNumber, attempt, action, by: 'ops', reason: 'asked the provider', providerSaid };
}
