/**
 * The demo's journey: two applicants through three stages and a consented share, with a gateway that throttles and a
 * worker that is killed on the way. It checks what it tells, against the gateway's own books.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { CreditJourneys, type JourneyHandle, type JourneyResult, type JourneyStatus } from '../client.ts';
import type { DevEnvironment } from '../local/dev-environment.ts';
import type { Narrator } from './demo-narrator.ts';
import { sampleJourney } from './sample-journey.ts';

export interface DemoOutcome {
  result: JourneyResult;
  /** The run in the Temporal UI; absent when headless. */
  runUrl?: string;
}

/** Long enough to kill a worker and see it come back before it is over. */
const RETRY_AFTER_SECONDS = 6;
/** How long a person sees that nobody is there. */
const WORKER_DOWN_MS = 1_500;
/** Far above what any step takes; a demo that hangs must end. */
const STEP_TIMEOUT_MS = 120_000;
const POLL_INTERVAL_MS = 100;

/** @throws Error where anything is not as the story says; the process that tells it then ends with a failure. */
export async function tellDemo(environment: DevEnvironment, narrator: Narrator): Promise<DemoOutcome> {
  // A connection of its own: the user's environment may hold TLS or an API key, which loopback has no use for.
  const connection = await Connection.connect({ address: environment.temporalAddress });
  await using resources = new AsyncDisposableStack();
  resources.defer(() => connection.close());
  const journeys = await CreditJourneys.connect({
    connection,
    namespace: environment.namespace,
    taskQueue: environment.taskQueue,
    environment: 'sandbox',
  });
  const input = sampleJourney({ journeyId: `DEMO-${randomUUID().slice(0, 8)}`, auto: false });
  narrator.chapter(`A joint application: journey ${input.journeyId}, applicants 1A and 2A`);
  await throttleOnce(environment.sandboxUrl, 'PREAPP');
  const journey = await journeys.start(input);
  const runUrl = await runUrlOf(environment, journeys, journey);
  if (runUrl) narrator.plain(`          watch it at ${runUrl}`);

  const follower = follow(journey, narrator);
  try {
    await follower.until((status) => status.waitingFor === 'PREAPP');
    narrator.event('advance   the platform passes the gate to PREAPP');
    await journey.advance({ to: 'PREAPP' });
    await killWorkerInThrottleWait(environment, journeys, journey, narrator);
    await follower.until((status) => status.waitingFor === 'PRECLOSE');
    narrator.event('advance   the platform passes the gate to PRECLOSE');
    await journey.advance({ to: 'PRECLOSE' });
    await follower.until((status) => status.state === 'waitingForConsent');
    for (const applicantId of ['1A', '2A']) {
      narrator.event(`consent   applicant ${applicantId} grants it (signal)`);
      await journey.consent(grant(applicantId));
      await follower.until((status) => !status.shares.some((share) => share.waitingFor.includes(applicantId)));
    }
    await follower.until((status) => status.state === 'completed');
  } finally {
    await follower.stop();
  }
  const result = await journey.result();
  await checkAndTell(environment.sandboxUrl, result, narrator);
  return { result, ...(runUrl === undefined ? {} : { runUrl }) };
}

/** The first attempt of this product is refused with 429 and `Retry-After`; nothing is posted. */
async function throttleOnce(sandboxUrl: string, productCode: string): Promise<void> {
  const rule = { productCode, attempt: 1, times: 1, fault: 'status', status: 429, retryAfter: RETRY_AFTER_SECONDS };
  const answer = await fetch(`${sandboxUrl}/_sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [rule] }),
  });
  if (!answer.ok) throw new Error(`the sandbox refused the demo's fault (HTTP ${answer.status})`);
}

async function runUrlOf(
  { uiUrl, namespace }: DevEnvironment,
  { client }: CreditJourneys,
  { workflowId }: JourneyHandle,
): Promise<string | undefined> {
  if (uiUrl === undefined) return undefined;
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  return `${uiUrl}/namespaces/${namespace}/workflows/${workflowId}/${runId}/history`;
}

async function killWorkerInThrottleWait(
  { worker }: DevEnvironment,
  { client }: CreditJourneys,
  { workflowId }: JourneyHandle,
  narrator: Narrator,
): Promise<void> {
  await untilThrottleTimer(() => client.workflow.getHandle(workflowId).fetchHistory());
  narrator.trouble(
    `gateway   429: throttled, Retry-After ${RETRY_AFTER_SECONDS} s; the journey waits on a durable timer`,
  );
  const pid = worker.pid();
  await worker.kill();
  narrator.trouble(`worker    process ${pid} killed (SIGKILL) while the journey waits`);
  await delay(WORKER_DOWN_MS);
  await worker.start();
  narrator.success(`worker    started again as process ${worker.pid()}; the journey goes on where it was`);
  // The server offers the next task to the worker that had the journey in its cache before it gives it to another.
  narrator.event('timer     when it is over, the server looks for the dead process first, for up to 10 s');
}

type History = Awaited<ReturnType<ReturnType<CreditJourneys['client']['workflow']['getHandle']>['fetchHistory']>>;

/** The history itself says when the wait has begun: a timer after an attempt that failed as `Throttled`. */
async function untilThrottleTimer(fetchHistory: () => Promise<History>): Promise<void> {
  const endsAt = performance.now() + STEP_TIMEOUT_MS;
  while (performance.now() < endsAt) {
    const events = (await fetchHistory()).events ?? [];
    const failedAt = events.findIndex(
      ({ activityTaskFailedEventAttributes: failed }) => failed?.failure?.applicationFailureInfo?.type === 'Throttled',
    );
    if (failedAt >= 0 && events.slice(failedAt).some((event) => event.timerStartedEventAttributes)) return;
    await delay(POLL_INTERVAL_MS);
  }
  throw new Error('the throttled attempt never came');
}

interface Follower {
  until(isWanted: (status: JourneyStatus) => boolean): Promise<void>;
  stop(): Promise<void>;
}

/** Narrates every change of the journey's status and lets the story wait for one. */
function follow(journey: JourneyHandle, narrator: Narrator): Follower {
  const stop = new AbortController();
  let latest: JourneyStatus | undefined;
  let problem: unknown;
  const watching = (async () => {
    for await (const status of journey.watch({ signal: stop.signal })) {
      latest = status;
      narrator.status(status);
    }
  })().catch((error) => {
    problem = error;
  });
  return {
    until: async (isWanted) => {
      const endsAt = performance.now() + STEP_TIMEOUT_MS;
      while (!(latest && isWanted(latest))) {
        if (problem) throw problem;
        if (latest && latest.holds.length > 0) throw new Error(`the journey waits for ${latest.waitingFor}`);
        if (performance.now() > endsAt) throw new Error(`the journey did not go on; it is ${latest?.state}`);
        await delay(POLL_INTERVAL_MS / 4);
      }
    },
    stop: async () => {
      stop.abort();
      await watching;
    },
  };
}

function grant(applicantId: string): Parameters<JourneyHandle['consent']>[0] {
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
}

/** What the gateway has in its books must be what the journey says: each product once, the throttled attempt nowhere. */
async function checkAndTell(sandboxUrl: string, result: JourneyResult, narrator: Narrator): Promise<void> {
  const steps = [...result.stages, ...result.shares];
  const traceNumbers = new Set(steps.map(({ customerTraceNumber }) => customerTraceNumber));
  const mine = (row: SandboxRow) => traceNumbers.has(row.customerTraceNumber);
  const posted = (await rows(`${sandboxUrl}/_sandbox/inquiries`)).filter(mine);
  const received = (await rows(`${sandboxUrl}/_sandbox/requests`)).filter(mine);
  const products = posted.map(({ productCode }) => productCode).join(', ');
  if (result.outcome !== 'completed') throw new Error(`the journey ended as ${result.outcome}`);
  if (products !== 'PREQUAL, PREAPP, PRECLOSE, SECONDUSE') throw new Error(`the gateway has posted ${products}`);
  if (received.length !== posted.length + 1) throw new Error(`the gateway has received ${received.length} requests`);
  const missing = steps.filter(({ reportReferenceNumber }) => reportReferenceNumber === undefined);
  if (missing.length > 0) throw new Error('a reference is missing');

  narrator.chapter('The journey has completed. References to store:');
  for (const { productCode, reportReferenceNumber, attempts } of result.stages) {
    narrator.plain(
      `  ${productCode.padEnd(9)} ${reportReferenceNumber}  (${attempts} ${attempts === 1 ? 'attempt' : 'attempts'})`,
    );
  }
  for (const { reportReferenceNumber } of result.shares) narrator.plain(`  SECONDUSE ${reportReferenceNumber}`);
  narrator.plain(
    `  The gateway received ${received.length} requests and posted ${posted.length} inquiries: ${products}.`,
  );
}

async function rows(url: string): Promise<SandboxRow[]> {
  return (await (await fetch(url)).json()) as SandboxRow[];
}
