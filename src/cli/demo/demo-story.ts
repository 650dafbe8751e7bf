/**
 * The demo's journey: two applicants through three stages and a consented share. The gateway throttles and loses an
 * answer, and a worker is killed on the way. The demo checks what it says against the gateway's own records.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CreditJourneys } from '../../client/credit-journeys.ts';
import type { JourneyHandle, JourneyStatus, ReportReference } from '../../client.ts';
import type { DevEnvironment } from '../../local/dev/dev-environment.ts';
import { createChildEnvironment } from '../../local/dev/dev-variables.ts';
import { describeParts, describeStanding, toRunView } from '../../words/runs.ts';
import { AS_TEXT } from '../../words/writer.ts';
import { formatHold, toListed } from '../output/status-lines.ts';
import { createSampleJourney } from './sample-runs.ts';

type Say = (text: string) => void;

/** Long enough to kill a worker and see it come back before it is over. */
const RETRY_AFTER_SECONDS = 6;
/** Faults of the first attempts: PREAPP is throttled and not posted, PRECLOSE is posted and its answer is lost. */
export const FAULTS = [
  { productCode: 'PREAPP', fault: 'status', status: 429, retryAfter: RETRY_AFTER_SECONDS },
  { productCode: 'PRECLOSE', fault: 'resetAfterPosting' },
].map((rule) => JSON.stringify({ attempt: 1, times: 1, ...rule }));
/** How long the viewer sees that no worker runs. */
const WORKER_DOWN_MS = 1_500;
/** Far above what the story takes; a demo that hangs must end. */
const STORY_TIMEOUT_MS = 180_000;
/** Columns for a hold, which the demo indents. */
const OUTPUT_WIDTH = 70;

/** A state of the journey that the story waits for, and the act that follows. */
type Step = [isReached: (status: JourneyStatus) => boolean, act: (status: JourneyStatus) => Promise<unknown>];

/** @throws Error where anything is not as the story says; the process that tells it then ends with a failure. */
export async function runDemo(environment: DevEnvironment, say: Say): Promise<void> {
  const { uiUrl, namespace, sandboxUrl } = environment;
  // The user's own variables may hold TLS or an API key, which loopback has no use for.
  process.env = createChildEnvironment(environment, process.env);
  await using journeys = await CreditJourneys.connect();
  const journey = await journeys.start(createSampleJourney());
  say(`\nA joint application: journey ${journey.runKey}, applicants 1A and 2A`);
  const beganAt = performance.now();
  const tell = (text: string) => say(`${((performance.now() - beganAt) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  const steps: Step[] = [
    [({ waitingFor }) => waitingFor === 'PREAPP', () => journey.advance({ to: 'PREAPP' })],
    [({ waitingFor = '' }) => waitingFor.includes('HTTP 429'), () => killWorker(environment, tell)],
    [({ waitingFor }) => waitingFor === 'PRECLOSE', () => journey.advance({ to: 'PRECLOSE' })],
    [({ state }) => state === 'held', (status) => resolveLostAnswer(sandboxUrl, journey, status, tell)],
    [({ state }) => state === 'waitingForConsent', () => journey.recordConsent(grant('1A'))],
    [
      ({ shares }) => !shares.some(({ waitingFor }) => waitingFor.includes('1A')),
      () => journey.recordConsent(grant('2A')),
    ],
    [({ state }) => state === 'completed', () => checkRecords(sandboxUrl, journey, tell)],
  ];
  const told = new Map<string, string>();
  for await (const status of journey.watch({ signal: AbortSignal.timeout(STORY_TIMEOUT_MS) })) {
    for (const [name, text] of describeChanges(status, told)) tell(`${name.padEnd(9)} ${text}`);
    const other = status.holds.find(({ failureType }) => failureType !== 'OutcomeUnknown');
    if (other) throw new Error(`the hold is ${other.failureType}`);
    for (let [step] = steps; step?.[0](status); [step] = steps) {
      steps.shift();
      await step[1](status);
    }
  }
  if (steps.length > 0) throw new Error(`the journey did not continue; ${steps.length} steps of the story are left`);
  if (uiUrl !== undefined) say(`\nThe run: ${uiUrl}/namespaces/${namespace}/workflows/${journey.workflowId}`);
}

/** Returns the changes since the last status: of each stage and share, and of the standing of the run. */
function describeChanges(status: JourneyStatus, told: Map<string, string>): [name: string, text: string][] {
  const view = toRunView(status);
  const rows = describeParts(view, AS_TEXT).flatMap((part) => part.rows);
  // A share waits from the start. The consumers are asked once there is a report to share.
  const untold = status.state === 'waitingForConsent' ? ['pending'] : ['pending', 'awaiting consent'];
  const parts = rows
    .filter(([, state = '']) => !untold.includes(state))
    .map(([name = '', ...cells]): [string, string] => [name, cells.filter(Boolean).join(', ')]);
  parts.push(['journey', describeStanding(view)]);
  const changes = parts.filter(([name, text]) => told.get(name) !== text);
  for (const [name, text] of changes) told.set(name, text);
  return changes;
}

async function killWorker({ worker }: DevEnvironment, tell: Say): Promise<void> {
  const pid = worker.pid();
  await worker.kill();
  tell(`worker    process ${pid} killed (SIGKILL) while the journey waits on a durable timer`);
  await delay(WORKER_DOWN_MS);
  await worker.start();
  tell(`worker    started again as process ${worker.pid()}; the journey continues where it was`);
}

/** The run sends nothing again; an operator asks the provider, which here means the sandbox's records. */
async function resolveLostAnswer(
  sandboxUrl: string,
  journey: JourneyHandle,
  { holds: [hold] }: JourneyStatus,
  tell: Say,
): Promise<void> {
  if (!hold) throw new Error('the journey has no hold');
  for (const line of formatHold(toListed(journey.runKey, hold), OUTPUT_WIDTH)) tell(`hold      ${line}`);
  const { customerTraceNumber, attempts: attempt } = hold;
  const posted = await readRecords(sandboxUrl, 'inquiries', [customerTraceNumber]);
  const [inquiry] = posted;
  if (posted.length !== 1 || !inquiry) throw new Error(`the gateway has posted it ${posted.length} times`);
  const reference: ReportReference = {
    reportReferenceNumber: inquiry.reportReferenceNumber ?? '',
    requestedAt: inquiry.postedAt ?? '',
    applicants: ['1A', '2A'].map((applicantId, index) => ({
      applicantId,
      consumerId: inquiry.consumerIds?.[index] ?? '',
    })),
  };
  tell(`operator  accepts what the provider has posted, reference ${reference.reportReferenceNumber}`);
  await journey.resolveInquiry({
    decisionId: 'DEMO-1',
    customerTraceNumber,
    attempt,
    action: 'accept',
    by: 'demo operator',
    reason: 'the provider has it in its books',
    providerSaid: 'posted',
    outcome: 'record',
    reference,
  });
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

/** Checks the gateway's records: it has posted each product once, also the lost answer, and no throttled attempt. */
async function checkRecords(sandboxUrl: string, journey: JourneyHandle, tell: Say): Promise<void> {
  const { stages, shares } = await journey.result();
  const traces = [...stages, ...shares].map(({ customerTraceNumber = '' }) => customerTraceNumber);
  const posted = await readRecords(sandboxUrl, 'inquiries', traces);
  const received = await readRecords(sandboxUrl, 'requests', traces);
  const products = posted.map(({ productCode }) => productCode).join(', ');
  if (products !== 'PREQUAL, PREAPP, PRECLOSE, SECONDUSE') throw new Error(`the gateway has posted ${products}`);
  if (received.length !== posted.length + 1) throw new Error(`the gateway has received ${received.length} requests`);
  tell(`gateway   received ${received.length} requests and posted ${posted.length} inquiries: ${products}`);
}

interface SandboxRow {
  customerTraceNumber: string;
  productCode: string;
  /** Present for a posted inquiry, as those that follow. */
  postedAt?: string;
  reportReferenceNumber?: string;
  consumerIds?: string[];
}

async function readRecords(sandboxUrl: string, name: string, traces: readonly string[]): Promise<SandboxRow[]> {
  const rows = (await (await fetch(`${sandboxUrl}/_sandbox/${name}`)).json()) as SandboxRow[];
  return rows.filter(({ customerTraceNumber }) => traces.includes(customerTraceNumber));
}
