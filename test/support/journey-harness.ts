/**
 * The real parts that a journey needs: a Temporal server, a worker with its own task queue in this process, the sandbox
 * over sockets and an SQLite ledger. One harness serves a file; each test uses ids of its own.
 */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { type SandboxOptions, startSandbox } from '../../sandbox/server.ts';
import { isTaskFailure } from '../../src/client/connection/errors.ts';
import { askRun } from '../../src/client/connection/run-messages.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { UpdateAnswer } from '../../src/messages/answers.ts';
import type { ConsentMessage } from '../../src/messages/consent.ts';
import type { LendingJourneyInput } from '../../src/messages/inputs/lending-journey.ts';
import type { JourneyResult, JourneyStatus } from '../../src/messages/journey/shapes.ts';
import type { Applicant } from '../../src/model/applicant.ts';
import { deriveTraceNumber } from '../../src/model/trace-number.ts';
import { createKeyRing, openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../src/protection/payloads/data-converter.ts';
import { createLogger, installLogger } from '../../src/telemetry/logging.ts';
import { runWorker } from '../../src/worker.ts';
import { CONSENT_KEYS } from './consent-proofs.ts';
import { DECISION_KEYS } from './decision-proofs.ts';
import { untilTaken } from './patiently.ts';
import { keptLines, rememberLedger } from './run-story.ts';
import { testServer } from './temporal.ts';
import { avoidLongPolls, untilQuery, WAIT_LIMIT_MS } from './until-query.ts';

export { WAIT_LIMIT_MS } from './until-query.ts';

// Runs before the SDK makes the process's runtime, so that failing attempts in tests do not fill the log.
installLogger(createLogger('INFO', keptLines), 'INFO');

export interface PostedInquiry {
  customerTraceNumber: string;
  productCode: string;
  endUserCode?: string;
  applicants: number;
  postedAt: string;
  reportReferenceNumber: string;
}

export interface ReceivedRequest {
  customerTraceNumber: string;
  productCode: string;
  posted: boolean;
}

export type JourneyHandle = WorkflowHandle<(input: LendingJourneyInput) => Promise<JourneyResult>>;

export interface Harness {
  client: Client;
  config: Config;
  sandboxUrl: string;
  dataDir: string;
  start(input: LendingJourneyInput): Promise<JourneyHandle>;
  /** Returns the inquiries that the gateway has posted and the requests that it has received for the journey. */
  posted(handle: JourneyHandle): Promise<PostedInquiry[]>;
  received(handle: JourneyHandle): Promise<ReceivedRequest[]>;
  addFaults(rules: object[]): Promise<void>;
  stopWorker(): Promise<void>;
  /** Starts the worker unless it runs. */
  startWorker(): Promise<void>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  /** Default: the test run's development server. */
  server?: { address: string; namespace: string; skipsTime?: boolean };
  env?: Record<string, string>;
  sandbox?: SandboxOptions;
  /** Adds the profiles `proving` (a grant needs a proof) and `deciding` (a decision needs a proof). */
  proving?: boolean;
  /** Starts no worker, since the test starts one. */
  withoutWorker?: boolean;
  /** Configures `uat`: encrypted payloads and a ledger that was set up. */
  isUat?: boolean;
}

const PROVING = {
  profiles: {
    proving: { environment: 'sandbox', customerId: 'SANDBOX0001', consentTrust: 'proof' },
    deciding: { environment: 'sandbox', customerId: 'SANDBOX0001', decisionTrust: 'proof' },
  },
};

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const server: NonNullable<HarnessOptions['server']> = options.server ?? (await testServer());
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-harness-'));
  const sandbox = await startSandbox(options.sandbox);
  const [consentKeys, profiles] = [join(dataDir, 'consent-keys.json'), join(dataDir, 'profiles.json')];
  const decisionKeys = join(dataDir, 'decision-keys.json');
  await writeFile(consentKeys, JSON.stringify(CONSENT_KEYS));
  await writeFile(decisionKeys, JSON.stringify(DECISION_KEYS));
  if (options.proving) await writeFile(profiles, JSON.stringify(PROVING));
  const loaded = loadConfig({
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    TASK_QUEUE: `test-${randomUUID()}`,
    GATEWAY_AUTH_URL: sandbox.url,
    GATEWAY_BASE_URL: sandbox.url,
    PAYLOAD_ENCRYPTION: 'off',
    LEDGER_URL: `file:${join(dataDir, 'ledger.db')}`,
    KEY_RING_FILE: join(dataDir, 'keys.json'),
    CONSENT_JWKS_FILE: consentKeys,
    DECISION_JWKS_FILE: decisionKeys,
    ...(options.proving ? { GATEWAY_PROFILES_FILE: profiles } : {}),
    ...(options.isUat ? await uatVariables(dataDir) : {}),
    ...options.env,
  });
  const bundle = process.env.TEST_WORKFLOW_BUNDLE;
  const config: Config = {
    ...loaded,
    keyRingMayBeMade: true,
    worker: { ...loaded.worker, ...(bundle ? { workflowBundlePath: bundle } : {}) },
  };
  const connection = await Connection.connect({ address: server.address });
  // The worker would make the key ring, but the client needs it earlier.
  const keys = await openKeyRing(config);
  const dataConverter = config.payloadsAreEncrypted
    ? createDataConverter({ keys, namespace: server.namespace, mode: 'client' })
    : {};
  const client = new Client({ connection, namespace: server.namespace, dataConverter });
  rememberLedger(client.workflow, config.ledger.url);
  if (server.skipsTime) avoidLongPolls(client.workflow);
  const rules: object[] = [];
  let worker: { stop: AbortController; done: Promise<void> } | undefined;

  const harness: Harness = {
    client,
    config,
    sandboxUrl: sandbox.url,
    dataDir,
    async start(input) {
      return client.workflow.start('lendingJourney', {
        workflowId: `journey-${input.journeyId}`,
        taskQueue: config.taskQueue,
        args: [input],
      }) as Promise<JourneyHandle>;
    },
    posted: async (handle) =>
      ofJourney(await getJson(`${sandbox.url}/_sandbox/inquiries`), await traces(handle, config)),
    received: async (handle) =>
      ofJourney(await getJson(`${sandbox.url}/_sandbox/requests`), await traces(handle, config)),
    async addFaults(more) {
      rules.push(...more);
      const answer = await fetch(`${sandbox.url}/_sandbox/faults`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ rules }),
      });
      if (!answer.ok) throw new Error(`the sandbox refused the faults: ${await answer.text()}`);
    },
    async startWorker() {
      if (worker) return;
      const stop = new AbortController();
      const ready = Promise.withResolvers<void>();
      const done = runWorker(config, { signal: stop.signal, onReady: ready.resolve });
      done.catch(ready.reject);
      worker = { stop, done };
      await ready.promise;
    },
    async stopWorker() {
      worker?.stop.abort();
      await worker?.done;
      worker = undefined;
    },
    async close() {
      await harness.stopWorker();
      await connection.close();
      await sandbox.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  if (!options.withoutWorker) await harness.startWorker();
  return harness;
}

/** Makes the variables that `uat` requires besides the sandbox's, and the ledger that `setup` would make. */
async function uatVariables(dataDir: string): Promise<Record<string, string>> {
  const keyRing = await createKeyRing(join(dataDir, 'keys.json'));
  const url = `file:${join(dataDir, 'ledger.db')}`;
  const ledger = await openLedger({ url, environment: 'uat', keyRing, create: true });
  const { ledgerId } = ledger.identity;
  await ledger.close();
  return {
    GATEWAY_ENVIRONMENT: 'uat',
    GATEWAY_CLIENT_ID: 'sandbox-client',
    GATEWAY_CLIENT_SECRET: 'sandbox-secret',
    GATEWAY_CUSTOMER_ID: 'SANDBOX0001',
    GATEWAY_SOFTWARE_PROVIDER_ID: 'CJ01',
    GATEWAY_TIME_ZONE: 'UTC',
    LEDGER_ID: ledgerId,
    PAYLOAD_ENCRYPTION: 'on',
  };
}

async function getJson(url: string): Promise<{ customerTraceNumber: string }[]> {
  return (await (await fetch(url)).json()) as { customerTraceNumber: string }[];
}

/**
 * Computes every trace number that the run has used: amendments differ only in the last two digits. A run does not know
 * the number of its first attempt before that attempt has ended.
 */
async function traces(handle: JourneyHandle, { environment, profiles }: Config): Promise<Set<string>> {
  const { journeyId: runKey, stages, shares } = await statusOf(handle);
  const customerId = profiles.get('default')?.customerId ?? '';
  const run = { environment, customerId, workflowType: 'lendingJourney' };
  const ofStages = stages.map(({ productCode }) => deriveTraceNumber({ ...run, runKey, productCode, ordinal: 0 }));
  const told = [...stages, ...shares].flatMap(({ customerTraceNumber }) => customerTraceNumber ?? []);
  return new Set([...ofStages, ...told].map((customerTraceNumber) => customerTraceNumber.slice(0, -2)));
}

function ofJourney<T>(rows: { customerTraceNumber: string }[], stems: Set<string>): T[] {
  return rows.filter(({ customerTraceNumber }) => stems.has(customerTraceNumber.slice(0, -2))) as T[];
}

export function statusOf(handle: JourneyHandle): Promise<JourneyStatus> {
  return askRun(handle, 'status');
}

/** Polls `status` until `isWanted` returns true. */
export function untilStatus(
  handle: JourneyHandle,
  isWanted: (status: JourneyStatus) => boolean,
  limitMs = WAIT_LIMIT_MS,
): Promise<JourneyStatus> {
  return untilQuery(handle, isWanted, { limitMs });
}

/** Sends an update, and again if the run's workflow task has failed meanwhile, as the product's client does. */
export function update(handle: JourneyHandle, name: string, message: object): Promise<UpdateAnswer> {
  const options = { updateId: randomUUID(), args: [message] as [object] };
  return untilTaken(() => handle.executeUpdate<UpdateAnswer, [object]>(name, options), isTaskFailure);
}

/** Returns the reason of a refused update. */
export async function refusalOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    const cause = (error as { cause?: { type?: string; details?: { reason: string }[] } }).cause;
    if (cause?.type === 'UpdateRefused') return cause.details?.[0]?.reason ?? '';
    throw error;
  }
  throw new Error('the update was not refused');
}

let count = 0;

/** Makes a new SSN that was never issued (it starts with 9). Its last four digits ask the sandbox for a fault. */
export function newSsn(lastFour = '0001'): string {
  count++;
  return `9${String(10_000 + ((process.pid * 37 + count) % 89_999))
    .padStart(5, '0')
    .slice(-4)}${lastFour}`;
}

export function applicant(applicantId: string, ssn = newSsn()): Applicant {
  return {
    applicantId,
    names: [{ first: 'Casey', last: `Sample-${applicantId}` }],
    ssn,
    dob: '1985-04-12',
    phones: [{ phoneNumber: '2025550123', phoneType: 'MOBL' }],
    emailAddress: `casey.${applicantId.toLowerCase()}@example.com`,
    ipAddress: '192.0.2.17',
    addresses: [{ addressIdentifier: 'C', line1: '12 Example Street', city: 'Springfield', state: 'IL', zip: '62704' }],
  };
}

/** Makes the input of a journey of one applicant, with the test's overrides. */
export function journeyInput(overrides: Partial<LendingJourneyInput> = {}): LendingJourneyInput {
  return {
    journeyId: `T-${randomUUID().slice(0, 13)}`,
    endUserCode: 'EU123',
    permissiblePurposeCodes: { PREQUAL: '01', PREAPP: '01', PRECLOSE: '01', SECONDUSE: '02' },
    applicants: [applicant('1A')],
    ...overrides,
  };
}

export function consentMessage(
  journeyId: string,
  overrides: Partial<ConsentMessage> & { applicantId: string },
): ConsentMessage {
  const decision = overrides.decision ?? 'granted';
  return {
    journeyId,
    shareId: 'S1',
    consentId: `C-${randomUUID().slice(0, 8)}`,
    decision,
    decidedAt: new Date(Date.now() - 1_000).toISOString(),
    secondaryUser: { endUserCode: 'EU999' },
    ...(decision === 'granted'
      ? { evidence: { method: 'web', textVersion: 'v1', capturedAt: new Date().toISOString(), reference: 'doc-1' } }
      : {}),
    ...overrides,
  };
}
