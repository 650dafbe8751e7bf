/** The failure in the world of each page, and the values of the page's placeholders. */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILURE_TYPES, type FailureType } from '../../src/model/failure-types.ts';
import { withLedger } from '../hazards/operator-hands.ts';
import { decisionOf, RECORD } from '../ledger/fixtures.ts';
import {
  applicant,
  consentMessage,
  type Harness,
  journeyInput,
  newSsn,
  untilStatus,
  update,
} from '../support/journey-harness.ts';
import type { HeldJourney } from './held-journeys.ts';
import { pageOf } from './pages.ts';

export interface World {
  /** Variables of the operators' environment. */
  env?: Record<string, string>;
  /** The failure of the world. It lasts during the page's checks, and is repaired before its remedies. */
  trouble?: Record<string, string>;
  /** The journeys of this page: the first is looked at, each of the others is decided about once. */
  journeys: Subject[];
}

/** A journey that a command may be about. */
export interface Subject {
  journeyId: string;
  customerTraceNumber: string;
  attempt: number;
  held?: HeldJourney;
}

export interface Surroundings {
  harness: Harness;
  held: ReadonlyMap<FailureType, HeldJourney[]>;
  /** No server listens there. */
  deadUrl: string;
  /** Something listens there that speaks no TLS. */
  plainUrl: string;
  directory: string;
}

type MakeWorld = (around: Surroundings, decided: number) => Promise<World> | World;

/** @param decided how many of the page's commands decide about a journey */
export async function worldOf(page: string, around: Surroundings, decided: number): Promise<World> {
  const make = WORLDS[page];
  if (make) return make(around, decided);
  const failureType = FAILURE_TYPES.find((type) => pageOf(type) === page);
  return { ...TROUBLES[page]?.(around), journeys: heldFor(around, failureType ?? 'OutcomeUnknown') };
}

/** A world with the held journeys of a failure type, in which something is wrong besides. */
const TROUBLES: Record<string, (around: Surroundings) => Omit<World, 'journeys'>> = {
  'credentials-refused': () => ({ trouble: { GATEWAY_CLIENT_SECRET: 'rotated' } }),
  'token-refused': () => ({ trouble: { GATEWAY_CLIENT_SECRET: 'rotated' } }),
  'token-unavailable': ({ deadUrl }) => ({ trouble: { GATEWAY_AUTH_URL: deadUrl } }),
  'gateway-unreachable': ({ deadUrl }) => ({ trouble: { GATEWAY_BASE_URL: deadUrl } }),
  'gateway-untrusted': ({ plainUrl }) => ({ trouble: { GATEWAY_BASE_URL: plainUrl.replace('http:', 'https:') } }),
  'ledger-unavailable': ({ deadUrl }) => ({ trouble: { LEDGER_URL: deadUrl.replace('http:', 'postgres:') } }),
  'ledger-down': ({ deadUrl }) => ({ trouble: { LEDGER_URL: deadUrl.replace('http:', 'postgres:') } }),
  'ledger-changed': () => ({ trouble: { LEDGER_ID: 'ledger-of-others' } }),
  'no-worker-polling': ({ harness }) => ({ trouble: { TASK_QUEUE: `${harness.config.taskQueue}-nobody` } }),
};

const WORLDS: Record<string, MakeWorld> = {
  'run-gone': withoutRuns,
  'consents-unmatched': consentForNothing,
  'late-answer': answeredLate,
  'answered-late': heldForItsAnswer,
  'revoked-after-posting': revokedAfterPosting,
  'ssn-mismatch': anotherSsn,
  'report-changed': changedReport,
  paused: whilePaused,
  'unknown-key': async ({ harness, held, directory }) => {
    const keyRingFile = join(directory, 'keys.json');
    await copyFile(harness.config.keyRingFile, keyRingFile);
    return { env: { KEY_RING_FILE: keyRingFile }, journeys: heldFor({ held }, 'OutcomeUnknown') };
  },
};

function heldFor({ held }: Pick<Surroundings, 'held'>, failureType: FailureType): Subject[] {
  return (held.get(failureType) ?? []).map((one) => ({
    journeyId: one.input.journeyId,
    customerTraceNumber: one.hold.customerTraceNumber,
    attempt: one.hold.attempts,
    held: one,
  }));
}

/** Journeys that were held for a lost answer and then terminated by an operator. */
async function withoutRuns({ harness }: Surroundings, decided: number): Promise<World> {
  const journeys: Subject[] = [];
  for (let count = 0; count < decided + 1; count++) {
    const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4002'))] });
    const handle = await harness.start(input);
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    await handle.terminate('by mistake');
    const { customerTraceNumber = '', attempts = 0 } = holds[0] ?? {};
    journeys.push({ journeyId: input.journeyId, customerTraceNumber, attempt: attempts });
  }
  return { journeys };
}

/** A denial for a journey that was never started. */
async function consentForNothing({ harness }: Surroundings): Promise<World> {
  const { journeyId } = journeyInput();
  const { evidence: _, ...message } = consentMessage(journeyId, { applicantId: '1A' });
  await harness.client.workflow.execute('recordLateConsent', {
    workflowId: `late-consent-${journeyId}-0123456789abcdef`,
    taskQueue: harness.config.taskQueue,
    args: [{ consent: { ...message, decision: 'denied' } }],
  });
  return { journeys: [{ journeyId, customerTraceNumber: '', attempt: 0 }] };
}

/** A late answer takes a worker that stood still. These are held for an answer in time, and take the same decisions. */
async function heldForItsAnswer({ harness }: Surroundings, decided: number): Promise<World> {
  const journeys: Subject[] = [];
  for (let count = 0; count < decided + 1; count++) {
    const input = journeyInput({ stages: ['PREQUAL'], applicants: [applicant('1A', newSsn('4020'))] });
    const handle = await harness.start(input);
    const { holds } = await untilStatus(handle, ({ state }) => state === 'held');
    const [hold] = holds;
    if (!hold) throw new Error('held for nothing');
    const { customerTraceNumber, attempts } = hold;
    const held = { handle, input, hold };
    journeys.push({ journeyId: input.journeyId, customerTraceNumber, attempt: attempts, held });
  }
  return { journeys };
}

/** Given up, and then answered. */
async function answeredLate(around: Surroundings, decided: number): Promise<World> {
  const { journeys } = await withoutRuns(around, decided);
  await withLedger(around.harness, async (ledger) => {
    const { ledgerId } = ledger.identity;
    for (const { customerTraceNumber, attempt } of journeys) {
      const inquiry = await ledger.inquiry(customerTraceNumber);
      if (!inquiry) throw new Error('the ledger lacks the inquiry');
      await ledger.recordDecision(ledgerId, inquiry, decisionOf({ customerTraceNumber, attempt, action: 'abandon' }));
      await ledger.recordOutcome({ ledgerId, customerTraceNumber, attempt, state: 'answered', answer: RECORD });
    }
  });
  return { journeys };
}

/** One of the page's commands ends it for all pages. */
async function whilePaused({ harness }: Surroundings): Promise<World> {
  const authorization = { by: 'ops', reason: 'a drill' };
  await withLedger(harness, (ledger) => ledger.pauses.begin(ledger.identity.ledgerId, {}, authorization));
  const input = journeyInput({ stages: ['PREQUAL'] });
  const handle = await harness.start(input);
  await untilStatus(handle, ({ waitingFor = '' }) => waitingFor.includes('paused'));
  return { journeys: [{ journeyId: input.journeyId, customerTraceNumber: '', attempt: 0 }] };
}

/** Its first report has a stranger's SSN; it waits at the next gate. */
async function anotherSsn({ harness }: Surroundings): Promise<World> {
  const applicants = [applicant('1A', newSsn('4027'))];
  const input = journeyInput({ profile: 'flagging', stages: ['PREQUAL', 'PREAPP'], applicants });
  const handle = await harness.start(input);
  const { stages } = await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const { attention, customerTraceNumber = '' } = stages[0] ?? {};
  if (!attention) throw new Error('it is not flagged');
  return { journeys: [{ journeyId: input.journeyId, customerTraceNumber, attempt: 1 }] };
}

async function changedReport({ harness }: Surroundings): Promise<World> {
  const applicants = [applicant('1A', newSsn('0020'))];
  const gates = { PRECLOSE: { pass: 'auto' } } as const;
  const input = journeyInput({
    ...{ stages: ['PREQUAL', 'PRECLOSE'], gates, applicants, sharesOpenFor: 'P1D' },
    attentionAbove: { newAccounts: 0 },
  });
  const handle = await harness.start(input);
  const { stages } = await untilStatus(handle, ({ stages: [, last] }) => last?.attention !== undefined);
  const { customerTraceNumber = '' } = stages[1] ?? {};
  return { journeys: [{ journeyId: input.journeyId, customerTraceNumber, attempt: 1 }] };
}

async function revokedAfterPosting({ harness }: Surroundings): Promise<World> {
  const shares = [{ shareId: 'S1', endUserCode: 'EU999' }];
  const input = journeyInput({ stages: ['PREQUAL'], shares, sharesOpenFor: 'P1D' });
  const { journeyId } = input;
  const handle = await harness.start(input);
  const grant = consentMessage(journeyId, { applicantId: '1A' });
  await update(handle, 'recordConsent', grant);
  const posted = await untilStatus(handle, ({ shares: [share] }) => share?.state === 'posted');
  const { evidence: _, ...rest } = grant;
  await update(handle, 'recordConsent', { ...rest, decision: 'revoked', decidedAt: new Date().toISOString() });
  await update(handle, 'withdraw', { journeyId, by: 'borrower', reason: 'bought elsewhere' });
  await handle.result();
  const subject = { journeyId, customerTraceNumber: posted.shares[0]?.customerTraceNumber ?? '', attempt: 1 };
  return { journeys: [subject, subject] };
}

/** The values of the placeholders (`<name>`). All persons are invented. */
export async function valuesFor(
  subject: Subject,
  { harness, directory }: Surroundings,
  { taskQueue, healthAddress }: { taskQueue: string; healthAddress: string },
): Promise<Record<string, string>> {
  const { journeyId, customerTraceNumber, attempt } = subject;
  const applicantsFile = join(directory, `${journeyId}.json`);
  await writeFile(applicantsFile, JSON.stringify({ applicants: [applicant('1A')] }));
  return {
    journeyId,
    customerTraceNumber,
    attempt: String(attempt),
    you: 'ops',
    why: 'a drill',
    applicantsFile,
    historyFile: join(directory, `${journeyId}-history.json`),
    productCode: subject.held?.hold.productCode ?? 'PREQUAL',
    // The ledger takes neither for two inquiries.
    reportReferenceNumber: `R-${customerTraceNumber}`,
    requestedAt: '2026-01-05T10:00:00Z',
    consumerId: `C${customerTraceNumber.slice(-12)}`,
    profile: [...harness.config.profiles.keys()][0] ?? '',
    keyId: 'payload-0123456789ab',
    taskQueue,
    healthAddress,
  };
}
