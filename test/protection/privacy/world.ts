/**
 * Everything that may keep or tell what it was given: a Temporal server with a database file, a worker at its most
 * talkative, the codec server and the command line.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { startSandbox } from '../../../sandbox/server.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import type { OwnedChild } from '../../../src/local/child-process.ts';
import { freePorts } from '../../../src/local/free-ports.ts';
import { findTemporalBinary } from '../../../src/local/temporal/temporal-binaries.ts';
import { startTemporalServer, type TemporalServer } from '../../../src/local/temporal/temporal-server.ts';
import type { LendingJourneyInput } from '../../../src/messages/inputs/lending-journey.ts';
import { SCOPES } from '../../../src/operations/scopes.ts';
import { createKeyRing, type KeyRing } from '../../../src/protection/keys/key-ring.ts';
import { createDataConverter } from '../../../src/protection/payloads/data-converter.ts';
import { CONSENT_KEYS } from '../../support/consent-proofs.ts';
import type { JourneyHandle } from '../../support/journey-harness.ts';
import type { Stage } from '../../support/scenarios.ts';
import { inAnHour, newSigningKey } from '../../support/signing-keys.ts';
import { type HostileGateway, REFUSED_AUDIENCE, startHostileGateway } from './hostile-gateway.ts';
import { disguising, SeenSentinels } from './people.ts';
import { createProcesses, type Place, runProgram } from './processes.ts';

export const CLIENT_SECRET = 'Vellichor.93kq/Snordlepike+77==';

const TASK_QUEUE = 'privacy';
const BUGS = new URL('./bugs.ts', import.meta.url).href;

/** The environments of two workers: one that is killed, and one that takes over. */
export type Phase = 'first' | 'second';

export interface World extends Stage {
  server: TemporalServer;
  /** A client without a key: it sends in the clear, and reads payloads as they are stored. */
  plainClient: Client;
  /** As one of ours would send it. */
  gateway: HostileGateway;
  seen: SeenSentinels;
  /** The output of the processes so far. */
  said: readonly Place[];
  startWorker(phase: Phase): Promise<OwnedChild>;
  /** Resolves with its address. */
  startCodecServer(): Promise<string>;
  /** Its address, and a token for everything. */
  startApi(): Promise<{ url: string; token: string }>;
  /** A command of ours; its words are kept, and its exit code returned. */
  runCommand(args: string[], stdin?: string): Promise<number>;
  /** The Temporal CLI's words. */
  temporalCli(args: string[]): Promise<Uint8Array>;
  /** The references and ids in the sandbox's answers. */
  postedInquiries(): Promise<{ reportReferenceNumber: string; consumerIds: string[] }[]>;
  /** The metrics addresses of the worker, the codec server and the HTTP API. */
  metricsUrls: readonly string[];
  healthUrl: string;
  /** `hide` moves the ledger out of the worker's reach. */
  ledger: { file: string; hide(): Promise<void>; bringBack(): Promise<void> };
  file(name: string): string;
  close(): Promise<void>;
}

/** HTTP gives up soon; the rest is roomy, since everything runs at once. */
const TIMEOUTS = {
  // Above what an answer that is to come takes on a busy machine; those that never come are waited for as long.
  GATEWAY_HEADERS_TIMEOUT_MS: '6000',
  GATEWAY_BODY_TIMEOUT_MS: '3000',
  SEND_BY_MS: '4000',
  SUBMIT_TIMEOUT_MS: '20000',
  BACKOFF_INITIAL_MS: '200',
};

/** Short time-outs for requests that are in flight when their worker is killed. A run keeps its initial settings. */
const KILLED_TIMEOUTS = {
  GATEWAY_HEADERS_TIMEOUT_MS: '2000',
  GATEWAY_BODY_TIMEOUT_MS: '2000',
  SEND_BY_MS: '2000',
  SUBMIT_TIMEOUT_MS: '7000',
  HEARTBEAT_TIMEOUT_MS: '3000',
};

export async function startWorld(): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'credit-journey-privacy-'));
  const file = (name: string) => join(dataDir, name);
  const binaryPath = await findTemporalBinary();
  const [server, sandbox, [metricsPort, healthPort, codecPort, apiPort, deadPort = 1]] = await Promise.all([
    startTemporalServer({ headless: true, dataDir: file('temporal') }),
    startSandbox({ clientSecret: CLIENT_SECRET }),
    freePorts(5),
  ]);
  const seen = new SeenSentinels();
  const gateway = await startHostileGateway(sandbox.url, seen);
  const keys = await makeFiles(file);
  for (const { secret } of JSON.parse(await readFile(file('keys.json'), 'utf8')).keys) seen.add('key', secret);
  const connection = await Connection.connect({ address: server.address });
  const env = {
    ...settings({ server, gateway, file }),
    GATEWAY_BASE_URL: sandbox.url,
    METRICS_ADDRESS: String(metricsPort),
    HEALTH_ADDRESS: String(healthPort),
  };
  const processes = createProcesses(env);
  return {
    ...clientsOf(server, connection, { keys, seen }),
    server,
    gateway,
    seen,
    said: processes.said,
    metricsUrls: [metricsPort, codecPort, apiPort].map((port) => `http://127.0.0.1:${port}/metrics`),
    healthUrl: `http://127.0.0.1:${healthPort}/readyz`,
    async startWorker(phase) {
      await writeFile(file('profiles.json'), JSON.stringify({ profiles: profilesOf(gateway, deadPort, phase) }));
      const own = phase === 'first' ? KILLED_TIMEOUTS : {};
      return (await processes.start(`${phase} worker`, ['worker'], { env: own, load: BUGS })).child;
    },
    async startCodecServer() {
      const own = {
        CODEC_AUDIT_FILE: file('audit.log'),
        CODEC_PATH_ROLES: 'encode,decode-redacted,reveal',
        METRICS_ADDRESS: String(codecPort),
      };
      const { ready } = await processes.start('codec server', ['codec-server', '--port', '0'], { env: own });
      return String(ready.endpoint);
    },
    async startApi() {
      const key = await newSigningKey('api');
      await writeFile(file('api-keys.json'), JSON.stringify(key.keySet));
      const claims = { iss: 'https://issuer.example.com', aud: 'api', sub: 'platform', exp: inAnHour() };
      const reach = { scope: Object.keys(SCOPES), profiles: '*', end_users: '*' };
      const token = await key.sign({ ...claims, ...reach });
      seen.add('token', token);
      const own = {
        API_JWKS_FILE: file('api-keys.json'),
        API_JWT_ISSUER: claims.iss,
        API_JWT_AUDIENCE: claims.aud,
        API_AUDIT_FILE: file('api-audit.log'),
        METRICS_ADDRESS: String(apiPort),
      };
      const { ready } = await processes.start('HTTP API', ['api', '--port', '0'], { env: own });
      return { url: String(ready.url), token };
    },
    runCommand: processes.run,
    async temporalCli(args) {
      const given = [...args, '--address', server.address, '--namespace', server.namespace];
      const { code, stdout, stderr } = await runProgram(binaryPath, given, withoutSettings(process.env));
      if (code !== 0) throw new Error(`temporal ${args.join(' ')} failed: ${stderr}`);
      return stdout;
    },
    postedInquiries: async () => (await (await fetch(`${sandbox.url}/_sandbox/inquiries`)).json()) as never,
    ledger: {
      file: file('ledger/ledger.db'),
      hide: () => rename(file('ledger'), file('ledger-is-away')),
      bringBack: () => rename(file('ledger-is-away'), file('ledger')),
    },
    file,
    async close() {
      await processes.close();
      await connection.close();
      await Promise.all([gateway.close(), sandbox.close(), server.stop()]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

type FileName = (name: string) => string;

/** The key ring, the ledger, and the keys of the consent system. */
async function makeFiles(file: FileName): Promise<KeyRing> {
  const keyRing = await createKeyRing(file('keys.json'));
  const url = `file:${file('ledger/ledger.db')}`;
  await (await openLedger({ url, environment: 'sandbox', keyRing, create: true })).close();
  await writeFile(file('consent-keys.json'), JSON.stringify(CONSENT_KEYS));
  return keyRing;
}

function clientsOf(
  { namespace }: TemporalServer,
  connection: Connection,
  { keys, seen }: { keys: KeyRing; seen: SeenSentinels },
) {
  const client = new Client({
    connection,
    namespace,
    dataConverter: createDataConverter({ keys, namespace, mode: 'client' }),
    interceptors: { workflow: [disguising(seen)] },
  });
  return {
    client,
    plainClient: new Client({ connection, namespace }),
    config: { taskQueue: TASK_QUEUE },
    start: (input: LendingJourneyInput) =>
      client.workflow.start('lendingJourney', {
        workflowId: `journey-${input.journeyId}`,
        taskQueue: TASK_QUEUE,
        args: [input],
      }) as Promise<JourneyHandle>,
  };
}

function settings({ server, gateway, file }: { server: TemporalServer; gateway: HostileGateway; file: FileName }) {
  const bundle = process.env.TEST_WORKFLOW_BUNDLE;
  return {
    ...withoutSettings(process.env),
    ...TIMEOUTS,
    NODE_OPTIONS: '',
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    TASK_QUEUE,
    GATEWAY_AUTH_URL: gateway.url,
    GATEWAY_CLIENT_SECRET: CLIENT_SECRET,
    GATEWAY_PROFILES_FILE: file('profiles.json'),
    LEDGER_URL: `file:${file('ledger/ledger.db')}`,
    KEY_RING_FILE: file('keys.json'),
    CONSENT_JWKS_FILE: file('consent-keys.json'),
    LOG_LEVEL: 'DEBUG',
    METRICS_REFRESH_SECONDS: '1',
    ...(bundle === undefined ? {} : { WORKFLOW_BUNDLE_FILE: bundle }),
  };
}

/** Beside the default, which is the sandbox. `moved` is another customer's once the first worker is gone. */
function profilesOf(gateway: HostileGateway, deadPort: number, phase: Phase) {
  const environment = 'sandbox';
  return {
    proving: { environment, customerId: 'SANDBOX0001', consentTrust: 'proof' },
    hostile: { environment, customerId: 'HOSTILE0001', baseUrl: gateway.url, audience: 'hostile' },
    refused: { environment, customerId: 'REFUSED0001', baseUrl: gateway.url, audience: REFUSED_AUDIENCE },
    unreachable: { environment, customerId: 'UNREACH0001', baseUrl: `http://127.0.0.1:${deadPort}` },
    // The server there does not speak TLS.
    untrusted: { environment, customerId: 'UNTRUST0001', baseUrl: `https://127.0.0.1:${gateway.port}` },
    moved: { environment, customerId: `MOVED-${phase}` },
  };
}

/** The environment without the settings of the person who runs the tests. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours =
    /^(TEMPORAL_|GATEWAY_|LEDGER_|KEY_RING|TASK_QUEUE|WORKER_|WORKFLOW_|CODEC_|CONSENT_|PAYLOAD_|OTEL_|NODE_TEST|NODE_V8)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)));
}

/** Reads a file. Empty if it does not exist. */
export function fileIfThere(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.of();
    throw error;
  }
}
