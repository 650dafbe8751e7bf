/**
 * `npm run topology`: runs the services of docker-compose.yml without a container engine: a real PostgreSQL, a real
 * Temporal server on it, the sandbox, two workers and a codec server. It uses the compose file's own scripts and
 * command lines, and the files that the image would hold. Journeys complete, one worker is killed in the middle of
 * others, all complete, and no trace number is posted twice. Bounded in time; ends every process that it started.
 */
import { randomInt } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, isPortFree } from '../src/local/free-ports.ts';
import { findTemporalBinary } from '../src/local/temporal/temporal-binaries.ts';
import { compose } from '../test/deploy/manifests.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { lastLine, runCommand } from './run-command.ts';
import { findGoPrograms, temporalServer } from './topology/go-programs.ts';
import { stageImage } from './topology/image.ts';
import { connect, finishAll, postedAt, postedTwice, startMany } from './topology/journeys.ts';
import { Services } from './topology/services.ts';

const ROOT = join(import.meta.dirname, '..');
/** For everything except the server's build. */
const TIMEOUT_MS = 8 * 60_000;
const JOURNEYS = 20;
/** The stand-in gateway's latency, so that a killed worker has attempts in flight. */
const LATENCY_MS = 700;
/**
 * Attempts in flight of a killed worker become holds within seconds, and not after the minutes that a real gateway
 * needs.
 */
const SHORT_TIMEOUTS = {
  GATEWAY_HEADERS_TIMEOUT_MS: '5000',
  GATEWAY_BODY_TIMEOUT_MS: '2000',
  SUBMIT_TIMEOUT_MS: '16000',
  HEARTBEAT_TIMEOUT_MS: '4000',
};

const startedAt = performance.now();
function say(text: string): void {
  console.log(`${String(Math.round((performance.now() - startedAt) / 1000)).padStart(4)} s  ${text}`);
}

const version = compose().services.temporal?.image.split(':')[1] ?? '';
const serverDir = await findGoPrograms(temporalServer(version));
setTimeout(() => {
  console.error('it took too long');
  process.exit(1);
}, TIMEOUT_MS).unref();
const scratch = await mkdtemp(join(tmpdir(), 'credit-journey-topology-'));
await using resources = new AsyncDisposableStack();
resources.defer(() => rm(scratch, { recursive: true, force: true }));
try {
  await runTopology();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  await showLogs();
  process.exitCode = 1;
}

async function runTopology(): Promise<void> {
  const logDir = join(scratch, 'logs');
  await mkdir(logDir);
  const [app, postgres, cli] = await Promise.all([
    stageImage(join(scratch, 'image')),
    startPostgres(),
    findTemporalBinary(),
  ]);
  resources.defer(() => postgres.stop());
  say('built the image’s files, and PostgreSQL runs');
  const database = new URL(await postgres.url('scratch'));
  const secretsDir = join(scratch, 'secrets');
  await makeSecrets(secretsDir, database);
  const ports = await freePorts(7);
  const [temporal = 0, sandbox = 0, codec = 0, health = 0, otherHealth = 0, metrics = 0, otherMetrics = 0] = ports;
  const at = (port: number) => `127.0.0.1:${port}`;
  const services = new Services({
    logDir,
    app,
    secretsDir,
    programs: [serverDir, join(cli, '..')],
    addresses: {
      'temporal:7233': at(temporal),
      'http://sandbox:7280': `http://${at(sandbox)}`,
      'http://codec-server:7281': `http://${at(codec)}`,
    },
  });
  resources.defer(() => services.stop());
  const databaseHere = { host: database.hostname, port: database.port };
  const sandboxUrl = `http://${at(sandbox)}`;

  await checkDynamicConfig(services);
  // Twice, to prove that each may be run again.
  for (const _time of ['first', 'again']) {
    await services.job('databases', { PGHOST: databaseHere.host, PGPORT: databaseHere.port });
    await services.job('temporal-schema', { SQL_HOST: databaseHere.host, SQL_PORT: databaseHere.port });
  }
  say('databases and schemas are made');
  await services.start(
    'temporal',
    { ...(await serverPorts(temporal)), POSTGRES_SEEDS: databaseHere.host, DB_PORT: databaseHere.port },
    ['temporal-server', 'start'],
  );
  await services.job('temporal-namespace');
  await services.job('temporal-namespace');
  say(`Temporal server ${version} runs, with its namespace`);
  const { ledger } = JSON.parse(await services.job('setup')) as { ledger: { ledgerId: string } };
  await services.job('ledger-roles', { PGHOST: databaseHere.host, PGPORT: databaseHere.port });
  say('setup has made the ledger and registered the search attributes, and its programs have their roles');

  const gateway = await services.start('sandbox', {}, [
    ...['sandbox', '--host', '127.0.0.1', '--port', String(sandbox)],
    ...['--state-file', join(scratch, 'sandbox.jsonl'), '--latency-ms', String(LATENCY_MS)],
  ]);
  await services.untilHealthy('the sandbox', `${sandboxUrl}/_sandbox/faults`, gateway);
  const codecServer = await services.start('codec-server', {
    CODEC_SERVER_HOST: '127.0.0.1',
    CODEC_SERVER_PORT: String(codec),
  });
  const startWorker = async (healthPort: number, metricsPort: number) => {
    const own = { ...SHORT_TIMEOUTS, HEALTH_ADDRESS: at(healthPort), METRICS_ADDRESS: at(metricsPort) };
    const child = await services.start('worker', { ...own, LEDGER_ID: ledger.ledgerId });
    await services.untilHealthy('the worker', `http://${at(healthPort)}/readyz`, child);
    return child;
  };
  const [first] = await Promise.all([startWorker(health, metrics), startWorker(otherHealth, otherMetrics)]);
  await services.untilHealthy('the codec server', `http://${at(codec)}/healthz`, codecServer);
  say('sandbox, codec server and two workers are ready');

  await oneJourney(services);
  say('a journey with a share completed, by the command line with a token and no key');

  await using journeys = await connect(services.environment('cli'));
  const handles = await startMany(journeys, JOURNEYS);
  await untilPosted(sandboxUrl, JOURNEYS / 2);
  first.process.kill('SIGKILL');
  await first.ended;
  say('killed one worker (-9) in the middle of others');
  const decisions = await finishAll(handles, sandboxUrl);
  const posted = await postedAt(sandboxUrl);
  const twice = postedTwice(posted);
  say(
    `${handles.length} journeys completed; decisions: ${decisions}; posted: ${posted.length}; twice: ${twice.length}`,
  );
  if (twice.length > 0) throw new Error(`posted twice: ${twice.join(', ')}`);
  // Four of the first journey, two of every other one.
  const expected = 4 + 2 * JOURNEYS;
  if (posted.length !== expected) throw new Error(`${posted.length} inquiries were posted, and not ${expected}`);
  await services.stop();
  say('all has been stopped');
}

/** As deploy/make-secrets.js makes them, except for the address and the administrator of this PostgreSQL. */
async function makeSecrets(secretsDir: string, database: URL): Promise<void> {
  const env = { ...process.env, SECRETS_DIR: secretsDir, COMPOSE_ENV_FILE: join(scratch, '.env') };
  const script = join(ROOT, 'deploy/make-secrets.js');
  const result = await runCommand(script, [], { env, timeoutMs: 60_000 });
  if (result.exitCode !== 0) throw new Error(`make-secrets.js: ${lastLine(result.stderr)}`);
  const atThisServer = async (file: string) =>
    (await readFile(join(secretsDir, file), 'utf8')).replace('@postgres:5432/', `@${database.host}/`);
  for (const [file, content] of [
    ['postgres_password', database.password],
    ['owner_ledger_url', await atThisServer('owner_ledger_url')],
    ['ledger_url', await atThisServer('ledger_url')],
  ] as const) {
    await chmod(join(secretsDir, file), 0o600);
    await writeFile(join(secretsDir, file), content);
  }
}

/** The tool prints errors but exits with 0 all the same. */
async function checkDynamicConfig(services: Services): Promise<void> {
  const file = join(ROOT, 'deploy/temporal/dynamicconfig.yaml');
  const { PATH } = services.environment('temporal');
  const { stdout } = await runCommand(join(serverDir, 'temporal-server'), ['validate-dynamic-config', file], {
    env: { PATH },
    timeoutMs: 60_000,
  });
  if (!stdout.includes(file) || /error|warning/.test(stdout)) throw new Error(`dynamic configuration: ${stdout}`);
}

/** Avoids the usual ports: a developer's own server may use them. */
async function serverPorts(frontend: number): Promise<Record<string, string>> {
  const calls = ['FRONTEND_HTTP', 'MATCHING_GRPC', 'HISTORY_GRPC', 'WORKER_GRPC'];
  const memberships = ['FRONTEND', 'MATCHING', 'HISTORY', 'WORKER'].map((name) => `${name}_MEMBERSHIP`);
  const [free, low] = [await freePorts(calls.length), await lowPorts(memberships.length)];
  const own = [
    ...calls.map((name, index) => [name, free[index]]),
    ...memberships.map((name, index) => [name, low[index]]),
  ];
  const named = own.map(([name, port]) => [`${name}_PORT`, String(port)] as const);
  return { ...Object.fromEntries(named), FRONTEND_GRPC_PORT: String(frontend), BIND_ON_IP: '127.0.0.1' };
}

/** The server keeps its membership ports in signed 16-bit numbers. */
async function lowPorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(20_000, 32_000);
    if (await isPortFree(port)) found.add(port);
  }
  return [...found];
}

/** The journey that docs/deploy.md suggests as a trial, and its share's consents. */
async function oneJourney(services: Services): Promise<void> {
  const cli = (...args: string[]) => services.job('cli', {}, args);
  await cli('start', '--sample', '--auto', '--journey-id', 'T-1');
  for (const applicant of ['1A', '2A']) {
    await cli(
      ...['consent', 'T-1', '--share-id', 'S-1', '--applicant-id', applicant, '--consent-id', `C-${applicant}`],
      ...['--decision', 'granted', '--end-user-code', 'EU456', '--method', 'web', '--text-version', 'v1'],
      ...['--reference', 'doc-1'],
    );
  }
  await cli('watch', 'T-1');
}

async function untilPosted(sandboxUrl: string, count: number): Promise<void> {
  const before = (await postedAt(sandboxUrl)).length;
  for (let tries = 0; (await postedAt(sandboxUrl)).length < before + count; tries++) {
    if (tries > 600) throw new Error('nothing is posted');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function showLogs(): Promise<void> {
  for (const name of ['temporal', 'sandbox', 'codec-server', 'worker']) {
    const text = await readFile(join(scratch, 'logs', `${name}.log`), 'utf8').catch(() => '');
    if (text) console.error(`--- ${name}\n${text.trim().slice(-1_500)}`);
  }
}
