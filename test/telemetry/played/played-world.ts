/**
 * A small installation as processes, each with its metrics: a versioned worker, the API and the codec server, on one
 * ledger, and Prometheus with our rules over them. What Kubernetes would tell is told by a stand-in.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type OwnedChild, startOwnedChild } from '../../../src/local/child-process.ts';
import { freePorts } from '../../../src/local/free-ports.ts';
import { METRICS } from '../../../src/telemetry/metrics.ts';
import { AUDIENCE, ISSUER, KEY_SET, token } from '../../api/fixtures.ts';
import { type Ran, runCli } from '../../cli/run-cli.ts';
import { type HttpAnswer, httpCall } from '../../support/http-call.ts';
import { type ProcessWorld, startWorld } from '../../support/process-world.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { newWebhookSecret, startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import type { WorkerProcess } from '../../support/worker-process.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

/** A quarter of an hour is half a minute. Scrapes, every 15 s with our configuration, come every half second. */
export const FACTOR = 30;

export type PlayedWorker = 'worker' | 'muted' | 'later' | 'sealed';

export interface PlayedWorld {
  world: ProcessWorld;
  prometheus: RunningPrometheus;
  receiver: WebhookReceiver;
  /** Of the profile `refused`; wrong at first. */
  secretFile: string;
  kubernetes: { restarts: number };
  /** What a worker on PostgreSQL says of its ledger: this world has none. */
  onPostgres: { losesCommits: boolean };
  /** The wire from the first worker to Temporal. */
  toServer: TcpProxy;
  /** Starts the worker at the address that Prometheus scrapes for it. */
  startWorker(which: PlayedWorker, env?: Record<string, string>): Promise<WorkerProcess>;
  startCodecServer(): Promise<OwnedChild>;
  startApi(): Promise<OwnedChild>;
  askApi(path: string): Promise<HttpAnswer>;
  deploymentName: string;
  /** As an operator beside the ledger. */
  cli(...args: string[]): Promise<Ran>;
  queueOf(which: PlayedWorker): string;
  /** The address of a worker, as Prometheus names it. */
  instance(which: PlayedWorker): string;
}

const CLI = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
const preloaded = (file: string) => ({ NODE_OPTIONS: `--import ${new URL(file, import.meta.url).href}` });
/** More than any threshold of an age, in seconds. */
const LATER_MS = 2 * 60 * 60 * 1_000;

export async function startPlayedWorld(t: TestContext): Promise<PlayedWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-played-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const world = await startWorld(t);
  const webhookSecret = newWebhookSecret();
  const receiver = await startWebhookReceiver(webhookSecret);
  t.after(() => receiver.close());
  const [profilesFile, secretFile, webhookSecretFile] = ['profiles.json', 'secret', 'webhook-secret'].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  await writeFile(secretFile, 'rotated');
  await writeFile(webhookSecretFile, webhookSecret);
  const usual = { environment: 'sandbox', customerId: 'SANDBOX0001' };
  const endpoint = { name: 'platform', url: `${receiver.url}/platform`, secretFile: webhookSecretFile };
  const profiles = {
    default: {},
    busy: usual,
    told: { ...usual, webhooks: [{ ...endpoint, allowPrivateAddresses: true }] },
    // By another name of the host: a token is kept for each address and client.
    refused: { ...usual, credentials: 'rotated', authUrl: world.sandboxUrl.replace('127.0.0.1', 'localhost') },
  };
  const credentials = { rotated: { clientIdVariable: 'ROTATED_CLIENT_ID', clientSecretFile: secretFile } };
  await writeFile(profilesFile, JSON.stringify({ credentials, profiles }));
  const ports = await freePorts(6);
  const [worker, muted, later, sealed, api, codecServer] = ports.map((port) => `127.0.0.1:${port}`) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const addresses = { worker, muted, later, sealed };
  const [deployment, otherQueue] = [`played-${randomUUID().slice(0, 8)}`, `test-${randomUUID()}`];
  Object.assign(world.workerEnv, {
    GATEWAY_PROFILES_FILE: profilesFile,
    ROTATED_CLIENT_ID: 'sandbox-client',
    DEPLOYMENT_NAME: deployment,
    BUILD_ID: '1',
    METRICS_REFRESH_SECONDS: '1',
    LEDGER_WATCH_EVERY_MS: '1000',
    GATEWAY_MAX_INQUIRIES_PER_SECOND: '1',
    WEBHOOK_GIVE_UP_AFTER: 'PT4S',
  });
  const [host = '', port = ''] = (world.workerEnv.TEMPORAL_ADDRESS ?? '').split(':');
  const toServer = await startTcpProxy({ host, port: Number(port) });
  t.after(() => toServer.close());
  const own: Record<PlayedWorker, Record<string, string>> = {
    worker: { TEMPORAL_ADDRESS: `127.0.0.1:${toServer.port}` },
    muted: { ...preloaded('./muted-undici.ts'), TASK_QUEUE: `${otherQueue}-muted` },
    // It takes nobody's work: it looks at the ledger alone.
    later: { ...preloaded('./clock-ahead.ts'), CLOCK_AHEAD_MS: String(LATER_MS), TASK_QUEUE: `${otherQueue}-later` },
    // The others' client reads statuses without a key.
    sealed: { PAYLOAD_ENCRYPTION: 'on', TASK_QUEUE: `${otherQueue}-sealed` },
  };
  const kubernetes = await kubernetesStandIn(t);
  const onPostgres = await postgresStandIn(t);
  const prometheus = await startPrometheus({
    directory,
    factor: FACTOR,
    targets: {
      'credit-journey-worker': Object.values(addresses),
      'credit-journey-api': [api],
      'credit-journey-codec-server': [codecServer],
      'kube-state-metrics': [kubernetes.address],
      'worker-on-postgres': [onPostgres.address],
    },
  });
  t.after(() => prometheus.close());
  const { LEDGER_URL = '', KEY_RING_FILE = '' } = world.workerEnv;
  const startService = async (args: string[], env: Record<string, string>): Promise<OwnedChild> => {
    const child = await startOwnedChild(process.execPath, [CLI, ...args, '--port', '0'], {
      env: { ...process.env, NODE_OPTIONS: '', ...world.workerEnv, LEDGER_URL, KEY_RING_FILE, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => child.stop(5_000));
    return child;
  };
  let apiUrl = '';
  return {
    world,
    prometheus,
    receiver,
    secretFile,
    kubernetes,
    onPostgres,
    toServer,
    instance: (which) => addresses[which],
    queueOf: (which) => own[which].TASK_QUEUE ?? world.workerEnv.TASK_QUEUE ?? '',
    startWorker: (which, env = {}) => world.startWorker({ ...own[which], METRICS_ADDRESS: addresses[which], ...env }),
    async startCodecServer() {
      const child = await startService(['codec-server'], {
        METRICS_ADDRESS: codecServer,
        CODEC_AUDIT_FILE: join(directory, 'codec-audit.log'),
      });
      await firstLine(child);
      return child;
    },
    async startApi() {
      const keySet = join(directory, 'api-keys.json');
      await writeFile(keySet, JSON.stringify(KEY_SET));
      const child = await startService(['api'], {
        METRICS_ADDRESS: api,
        API_JWKS_FILE: keySet,
        API_JWT_ISSUER: ISSUER,
        API_JWT_AUDIENCE: AUDIENCE,
        API_AUDIT_FILE: join(directory, 'api-audit.log'),
      });
      apiUrl = JSON.parse(await firstLine(child)).url;
      return child;
    },
    deploymentName: deployment,
    askApi: async (path) => httpCall(apiUrl + path, { token: await token() }),
    async cli(...args) {
      const ran = await runCli(args, { env: { ...world.workerEnv, PAYLOAD_ENCRYPTION: 'off' }, cwd: directory });
      assert.ok([0, 3].includes(ran.code ?? -1), `${args.join(' ')}\n${ran.stdout}\n${ran.stderr}`);
      return ran;
    },
  };
}

async function firstLine({ process: { stdout }, ended }: OwnedChild): Promise<string> {
  assert.ok(stdout);
  const over = ended.then((code) => assert.fail(`it ended before it listened, with ${code}`));
  const [line] = await Promise.race([once(createInterface({ input: stdout }), 'line'), over]);
  return line;
}

/** Tells of one container's restarts as kube-state-metrics does (its documentation, `docs/metrics/workload/pod-metrics.md`). */
async function kubernetesStandIn(t: TestContext): Promise<{ restarts: number; address: string }> {
  const told = { restarts: 0, address: '' };
  const name = 'kube_pod_container_status_restarts_total';
  const labels = 'namespace="loans",pod="credit-journey-api-7d9f-x2x",uid="1b2c",container="api"';
  told.address = await serveText(t, () => `# TYPE ${name} counter\n${name}{${labels}} ${told.restarts}\n`);
  return told;
}

/** test/ledger/durability-slow.test.ts has the judgement, beside a real standby. */
async function postgresStandIn(t: TestContext): Promise<{ losesCommits: boolean; address: string }> {
  const told = { losesCommits: false, address: '' };
  const { name } = METRICS.ledgerLosesCommits;
  told.address = await serveText(t, () => `# TYPE ${name} gauge\n${name} ${told.losesCommits ? 1 : 0}\n`);
  return told;
}

/** Where Prometheus may read it. */
async function serveText(t: TestContext, text: () => string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(text());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
