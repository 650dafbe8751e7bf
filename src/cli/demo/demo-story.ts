/**
 * The demo's journey: two applicants through three stages and a consented share. The gateway throttles and loses an
 * answer, and a worker is killed on the way. The demo checks what it says against the gateway's own records.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { CreditJourneys } from '../../client/credit-journeys.ts';
import type { HoldStatus, JourneyHandle, JourneyResult, JourneyStatus, ReportReference } from '../../client.ts';
import type { DevEnvironment } from '../../local/dev/dev-environment.ts';
import { loadKeyRing } from '../../protection/keys/key-ring.ts';
import { createDataConverter } from '../../protection/payloads/data-converter.ts';
import { resolveCommand } from '../../words/holds.ts';
import { toListed } from '../output/hold-lines.ts';
import { rowTable } from '../output/output.ts';
import { statusLines } from '../output/status-lines.ts';
import type { Narrator } from './demo-narrator.ts';
import { sampleJourney } from './sample-runs.ts';

/** Long enough to kill a worker and see it come back before it is over. */
const RETRY_AFTER_SECONDS = 6;
/** How long the viewer sees that no worker runs. */
const WORKER_DOWN_MS = 1_500;
/** Far above what the story takes; a demo that hangs must end. */
const STORY_TIMEOUT_MS = 180_000;
/** Columns for a command's output, which the demo indents. */
const OUTPUT_WIDTH = 70;

/** @throws Error where anything is not as the story says; the process that tells it then ends with a failure. */
export async function tellDemo(environment: DevEnvironment, narrator: Narrator): Promise<void> {
  // A connection of its own: the user's environment may hold TLS or an API key, which loopback has no use for.
  const connection = await Connection.connect({ address: environment.temporalAddress });
  await using resources = new AsyncDisposableStack();
  resources.defer(() => connection.close());
  const { uiUrl, namespace } = environment;
  const keys = await loadKeyRing(environment.variables.KEY_RING_FILE ?? '');
  const journeys = await CreditJourneys.connect({
    connection,
    namespace,
    taskQueue: environment.taskQueue,
    environment: 'sandbox',
    dataConverter: createDataConverter({ keys, namespace, mode: 'client' }),
  });
  const input = sampleJourney({ journeyId: `DEMO-${randomUUID().slice(0, 8)}`, auto: false });
  narrator.chapter(`A joint application: journey ${input.journeyId}, applicants 1A and 2A`);
  await planTrouble(environment.sandboxUrl);
  const journey = await journeys.start(input);
  const runUrl = `${uiUrl}/namespaces/${namespace}/workflows/${journey.workflowId}`;
  if (uiUrl !== undefined) {
    narrator.plain(`          watch it at ${runUrl}`);
    narrator.plain('          its payloads come decoded, personal data masked, by the codec server beside it');
  }

  await followStory(journey, narrator, [
    [({ waitingFor }) => waitingFor === 'PREAPP', () => passGate(journey, 'PREAPP', narrator)],
    [({ waitingFor = '' }) => waitingFor.includes('HTTP 429'), () => killWorker(environment, narrator)],
    [({ waitingFor }) => waitingFor === 'PRECLOSE', () => passGate(journey, 'PRECLOSE', narrator)],
    [({ state }) => state === 'held', (held) => resolveLostAnswer(environment.sandboxUrl, journey, held, narrator)],
    [({ state }) => state === 'waitingForConsent', () => grantConsent(journey, '1A', narrator)],
    [
      ({ shares }) => !shares.some(({ waitingFor }) => waitingFor.includes('1A')),
      () => grantConsent(journey, '2A', narrator),
    ],
    [({ state }) => state === 'completed', async () => {}],
  ]);
  const result = await journey.result();
  await checkAndTell(environment.sandboxUrl, result, await journey.status(), narrator);
  if (uiUrl !== undefined) narrator.plain(`\nThe run: ${runUrl}`);
}

/** Faults of the first attempts: PREAPP is throttled and not posted, PRECLOSE is posted and its answer is lost. */
async function planTrouble(sandboxUrl: string): Promise<void> {
  const first = { attempt: 1, times: 1 };
  const rules = [
    { ...first, productCode: 'PREAPP', fault: 'status', status: 429, retryAfter: RETRY_AFTER_SECONDS },
    { ...first, productCode: 'PRECLOSE', fault: 'resetAfterPosting' },
  ];
  const answer = await fetch(`${sandboxUrl}/_sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules }),
  });
  if (!answer.ok) throw new Error(`the sandbox refused the demo's faults (HTTP ${answer.status})`);
}

/** A state of the journey that the story waits for, and the act that follows. */
type Step = [isReached: (status: JourneyStatus) => boolean, act: (status: JourneyStatus) => Promise<void>];

/** Narrates every change of the journey's status, and takes each step when the journey has come that far. */
async function followStory(journey: JourneyHandle, narrator: Narrator, steps: Step[]): Promise<void> {
  for await (const status of journey.watch({ signal: AbortSignal.timeout(STORY_TIMEOUT_MS) })) {
    narrator.status(status);
    const other = status.holds.find(({ failureType }) => failureType !== 'OutcomeUnknown');
    if (other) throw new Error(`the hold is ${other.failureType}`);
    for (let [step] = steps; step?.[0](status); [step] = steps) {
      steps.shift();
      await step[1](status);
    }
  }
  if (steps.length > 0) throw new Error(`the journey did not go on; ${steps.length} steps of the story are left`);
}

async function passGate(journey: JourneyHandle, to: 'PREAPP' | 'PRECLOSE', narrator: Narrator): Promise<void> {
  narrator.event(`advance   the platform passes the gate to ${to}`);
  await journey.advance({ to });
}

async function grantConsent(journey: JourneyHandle, applicantId: string, narrator: Narrator): Promise<void> {
  narrator.event(`consent   applicant ${applicantId} grants it`);
  await journey.recordConsent(grant(applicantId));
}

async function killWorker({ worker }: DevEnvironment, narrator: Narrator): Promise<void> {
  narrator.trouble(
    `gateway   429: throttled, Retry-After ${RETRY_AFTER_SECONDS} s; the journey waits on a durable timer`,
  );
  const pid = worker.pid();
  await worker.kill();
  narrator.trouble(`worker    process ${pid} killed (SIGKILL) while the journey waits`);
  await delay(WORKER_DOWN_MS);
  await worker.start();
  narrator.success(`worker    started again as process ${worker.pid()}; the journey continues where it was`);
  // The server offers the next task to the worker that had the journey in its cache before it gives it to another.
  narrator.event('timer     when it is over, the server looks for the dead process first, for up to 3 s');
}

/**
 * Resolves the lost answer. The run sends nothing again; an operator asks the provider, which here means the sandbox's
 * records.
 */
async function resolveLostAnswer(
  sandboxUrl: string,
  journey: JourneyHandle,
  { holds: [hold] }: JourneyStatus,
  narrator: Narrator,
): Promise<void> {
  if (!hold) throw new Error('the journey has no hold');
  narrator.trouble('gateway   the connection broke after the request: the outcome is unknown');
  narrator.trouble('hold      nothing is sent again without a decision; `credit-journey holds` shows');
  const listed = toListed(journey.journeyId, hold);
  const { runKey, reason, productCode, attempt } = listed;
  const row = { runKey, reason, productCode, attempt, command: resolveCommand(listed) };
  for (const line of rowTable([row], OUTPUT_WIDTH)) narrator.plain(`          ${line}`);
  const reference = await askProvider(sandboxUrl, hold);
  narrator.event(`provider  says that it was posted, reference ${reference.reportReferenceNumber}`);
  narrator.success('operator  accepts it with that reference; the journey continues as if the answer had come');
  await journey.resolve({
    decisionId: 'DEMO-1',
    customerTraceNumber: hold.customerTraceNumber,
    attempt: hold.attempts,
    action: 'accept',
    by: 'demo operator',
    reason: 'the provider has it in its books',
    providerSaid: 'posted',
    outcome: 'record',
    reference,
  });
}

/** Looks up what a provider would: the posting's reference, and when the request was made. */
async function askProvider(sandboxUrl: string, { customerTraceNumber }: HoldStatus): Promise<ReportReference> {
  const isIt = (row: SandboxRow) => row.customerTraceNumber === customerTraceNumber;
  const posted = (await rows(`${sandboxUrl}/_sandbox/inquiries`)).filter(isIt);
  const received = (await rows(`${sandboxUrl}/_sandbox/requests`)).filter(isIt);
  const [inquiry] = posted;
  const requestedAt = received[0]?.receivedAt;
  if (posted.length !== 1 || !inquiry || !requestedAt)
    throw new Error(`the gateway has posted it ${posted.length} times`);
  const [first = '', second = ''] = inquiry.consumerIds ?? [];
  return {
    reportReferenceNumber: inquiry.reportReferenceNumber ?? '',
    requestedAt,
    applicants: [
      { applicantId: '1A', consumerId: first },
      { applicantId: '2A', consumerId: second },
    ],
  };
}

function grant(applicantId: string): Parameters<JourneyHandle['recordConsent']>[0] {
  const now = new Date().toISOString();
  return {
    shareId: 'S-1',
    applicantId,
    consentId: `CONSENT-${applicantId}`,
    decision: 'granted',
    decidedAt: now,
    secondaryUser: { endUserCode: 'EU456' },
    evidence: { method: 'web', textVersion: '2026-01', capturedAt: now, reference: `DOC-${applicantId}` },
  };
}

interface SandboxRow {
  customerTraceNumber: string;
  productCode: string;
  /** Present for a request. */
  receivedAt?: string;
  /** Present for a posted inquiry. */
  reportReferenceNumber?: string;
  consumerIds?: string[];
}

/**
 * Checks that the gateway's records agree with the journey: each product once, also the lost answer, and no throttled
 * attempt.
 */
async function checkAndTell(
  sandboxUrl: string,
  result: JourneyResult,
  status: JourneyStatus,
  narrator: Narrator,
): Promise<void> {
  const steps = [...result.stages, ...result.shares];
  const traceNumbers = new Set(steps.map(({ customerTraceNumber }) => customerTraceNumber));
  const mine = (row: SandboxRow) => traceNumbers.has(row.customerTraceNumber);
  const posted = (await rows(`${sandboxUrl}/_sandbox/inquiries`)).filter(mine);
  const received = (await rows(`${sandboxUrl}/_sandbox/requests`)).filter(mine);
  const products = posted.map(({ productCode }) => productCode).join(', ');
  if (result.outcome !== 'completed') throw new Error(`the journey ended as ${result.outcome}`);
  if (products !== 'PREQUAL, PREAPP, PRECLOSE, SECONDUSE') throw new Error(`the gateway has posted ${products}`);
  if (received.length !== posted.length + 1) throw new Error(`the gateway has received ${received.length} requests`);
  const references = new Set(posted.map(({ reportReferenceNumber }) => reportReferenceNumber));
  const isKnown = steps.every(({ reportReferenceNumber = '' }) => references.has(reportReferenceNumber));
  if (!isKnown) throw new Error('a reference is not in the gateway’s books');
  narrator.chapter('The journey has completed. `credit-journey status` shows:');
  for (const line of statusLines(status, { colors: narrator.colors, width: OUTPUT_WIDTH })) narrator.plain(`  ${line}`);
  narrator.plain(
    `  The gateway received ${received.length} requests and posted ${posted.length} inquiries: ${products}.`,
  );
}

async function rows(url: string): Promise<SandboxRow[]> {
  return (await (await fetch(url)).json()) as SandboxRow[];
}
