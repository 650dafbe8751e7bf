import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type SandboxOptions, startSandbox } from '../../../sandbox/server.ts';
import { getErrorCode } from '../../base/error-code.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { DEFAULT_PORTS } from '../../config/variables.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { toPortfolioFolder } from '../../messages/portfolio/output-files.ts';
import { SCOPES } from '../../operations/scopes.ts';
import { tryFileLock } from '../../protection/keys/file-lock.ts';
import { openKeyRing } from '../../protection/keys/key-ring.ts';
import { freePorts, isPortFree } from '../free-ports.ts';
import { startTemporalServer } from '../temporal/temporal-server.ts';
import {
  createChildEnvironment,
  createReadyVariables,
  readReadyFile,
  resolveDataAddresses,
  toEnvFile,
  writeFiles,
} from './dev-variables.ts';
import { createProgramProcess } from './program-process.ts';

export interface DevEnvironmentOptions extends Partial<DevPorts>, Pick<SandboxOptions, 'fault'> {
  /** Created if missing, readable by its owner only. Contains all data that outlives a run. */
  dataDir: string;
  /** Without the Temporal UI. Default false. */
  headless?: boolean;
  /** Called with sentences for the operator. */
  onEvent?: (message: string) => void;
}

export type DevEnvironment = Awaited<ReturnType<typeof startDevEnvironment>>;

/** Thrown when another process runs an environment on this data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';
}

const NAMESPACE = 'default';

/**
 * Starts the codec server, the Temporal development server, the sandbox, a worker and the HTTP API, and waits until
 * journeys can run. Worker, API and codec server are the programs that run elsewhere, each in a process of its own.
 *
 * @throws DataDirectoryInUseError, PortTakenError, TemporalBinaryNotFoundError; Error where a part does not come up,
 *   with what it said. Nothing is left running.
 */
export async function startDevEnvironment(options: DevEnvironmentOptions) {
  const dataDir = resolve(options.dataDir);
  const { onEvent = () => {}, headless = false, fault } = options;
  await using parts = new AsyncDisposableStack();
  makeDirectory(dataDir);
  await lockDataDirectory(dataDir, parts);
  const ports = await choosePorts(options);
  const stateFile = join(dataDir, 'sandbox.jsonl');
  const sandbox = await startSandbox({ port: ports.sandboxPort, stateFile, fault });
  parts.defer(() => sandbox.close());
  const addresses = {
    temporalAddress: `127.0.0.1:${ports.temporalPort}`,
    namespace: NAMESPACE,
    taskQueue: 'credit-journeys-sandbox',
    sandboxUrl: sandbox.url,
    dataDir,
  };
  const env = createChildEnvironment(addresses, process.env);
  await prepareFiles(env, dataDir);
  await prepareLedger(dataDir, onEvent);
  const death = Promise.withResolvers<string>();
  const program = (name: 'worker' | 'api' | 'codec-server', variables: Record<string, string> = {}) => {
    const control = createProgramProcess({ name, env: { ...env, ...variables }, dataDir, onDeath: death.resolve });
    parts.defer(() => control.stop());
    return control;
  };
  // Before the Temporal server, whose UI needs its address.
  const codec = await program('codec-server', {
    METRICS_ADDRESS: '',
    CODEC_SERVER_PORT: '0',
    CODEC_SERVER_UI_ORIGINS: `http://127.0.0.1:${ports.uiPort},http://localhost:${ports.uiPort}`,
    CODEC_AUDIT_FILE: join(dataDir, 'codec-audit.log'),
  }).start();
  const server = await startTemporalServer({
    dataDir,
    headless,
    namespace: NAMESPACE,
    uiCodecEndpoint: codec.endpoint,
    port: ports.temporalPort,
    uiPort: ports.uiPort,
  });
  parts.defer(() => server.stop());
  const { variables, apiTokenFile, token } = await writeToken(dataDir, parts);
  const worker = program('worker');
  const [api] = await Promise.all([
    program('api', {
      ...variables,
      METRICS_ADDRESS: '',
      API_PORT: String(await chooseApiPort(ports)),
      API_SIGN_IN: 'token',
      API_AUDIT_FILE: join(dataDir, 'api-audit.log'),
      API_TEMPORAL_UI: server.uiUrl ?? '',
    }).start(),
    worker.start(),
  ]);
  const ready = createReadyVariables(addresses, process.env);
  const programs = { CODEC_SERVER_URL: codec.endpoint, API_URL: api.url, API_TOKEN_FILE: apiTokenFile };
  parts.defer(await writeFiles(dataDir, ready, programs));
  void server.ended.then((exitCode) =>
    death.resolve(`the Temporal server ended by itself (${exitCode ?? 'killed'}); its log: ${server.logFile}`),
  );
  const open = parts.move();
  return {
    ...addresses,
    uiUrl: server.uiUrl,
    /** The codec server's address with its unguessable path. Every caller that knows it may decode, masked. */
    codecEndpoint: codec.endpoint,
    apiUrl: api.url,
    /** A file with a token that is valid for this session, and for everything. */
    apiTokenFile,
    /** A file that a shell sources for programs of any language. Its owner alone may read it. */
    envFile: toEnvFile(dataDir),
    /** The operators' page with that token in the fragment, which signs in anyone who opens it. */
    pageUrl: `${api.url}/#token=${token}`,
    worker,
    /** Variables by which the CLI and the client find this environment from a shell. */
    variables: ready,
    /** Resolves, with a sentence, when one of its programs has ended: the environment is of no more use. */
    broken: death.promise,
    /** Ends everything in order, within seconds. The data stay. */
    stop: () => open.disposeAsync(),
  };
}

/** Two environments on one database and ledger would undo each other. */
async function lockDataDirectory(dataDir: string, parts: AsyncDisposableStack): Promise<void> {
  const lock = await tryFileLock(join(dataDir, 'dev.lock'));
  if (!lock) {
    const { pid } = readReadyFile(dataDir) ?? {};
    const holder = pid === undefined ? 'another process' : `process ${pid}`;
    throw new DataDirectoryInUseError(
      `${holder} runs a development environment on ${dataDir}: stop it, or use another --data-dir`,
    );
  }
  parts.defer(() => lock.release());
}

/** Migrates by itself: in `dev` no operator runs `setup` after an update, and no other worker is on this ledger. */
async function prepareLedger(dataDir: string, onProgress: (step: string) => void): Promise<void> {
  const { keyRingFile, ledgerUrl } = resolveDataAddresses(dataDir);
  const keyRing = await openKeyRing({ keyRingFile, keyRingMayBeMade: true });
  const prepare = { create: true, migrate: true, onProgress };
  await (await openLedger({ url: ledgerUrl, environment: 'sandbox', keyRing, ...prepare })).close();
}

/** Writes the Temporal profile file that the programs read, and a portfolio to try. */
async function prepareFiles(env: NodeJS.ProcessEnv, dataDir: string): Promise<void> {
  const { portfolioDir } = resolveDataAddresses(dataDir);
  const folder = join(portfolioDir, toPortfolioFolder({ endUserCode: 'EU123' }));
  makeDirectory(folder);
  await writeSamplePortfolio(folder);
  await writeFile(env.TEMPORAL_CONFIG_FILE as string, '# On purpose without settings.\n[profile.default]\n', {
    mode: 0o600,
  });
}

const ISSUER = 'credit-journey-dev';
const AUDIENCE = 'credit-journey';

/** Writes a token for the API. A new key signs it at each start, so that no former token is valid. */
async function writeToken(dataDir: string, parts: AsyncDisposableStack) {
  const [jwksFile, apiTokenFile] = [join(dataDir, 'api-jwks.json'), join(dataDir, 'api-token')];
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keySet = { keys: [{ ...(await exportJWK(publicKey)), kid: 'dev', alg: 'ES256', use: 'sig' }] };
  await writeFile(jwksFile, JSON.stringify(keySet), { mode: 0o600 });
  const claims = { scope: Object.keys(SCOPES).join(' '), profiles: ['*'], end_users: ['*'] };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: 'dev' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('dev')
    .setExpirationTime('30d')
    .sign(privateKey);
  await rm(apiTokenFile, { force: true });
  await writeFile(apiTokenFile, `${token}\n`, { mode: 0o600 });
  parts.defer(async () => {
    for (const file of [jwksFile, apiTokenFile]) await rm(file, { force: true });
  });
  const variables = { API_JWKS_FILE: jwksFile, API_JWT_ISSUER: ISSUER, API_JWT_AUDIENCE: AUDIENCE };
  return { variables, apiTokenFile, token };
}

const OWN_PORTS = { temporalPort: 7233, uiPort: 8233, sandboxPort: 7280 };
type DevPorts = typeof OWN_PORTS;

/** Thrown when a requested port is taken. The message gives the remedy. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

/**
 * Chooses each port: the one asked for, else the default where it is free, else a free one. 0 asks for a free one.
 *
 * @throws PortTakenError
 */
export async function choosePorts(asked: Partial<DevPorts>): Promise<DevPorts> {
  const chosen: DevPorts = { temporalPort: 0, uiPort: 0, sandboxPort: 0 };
  const free = await freePorts(3);
  for (const name of Object.keys(OWN_PORTS) as (keyof DevPorts)[]) {
    const port = asked[name] ?? OWN_PORTS[name];
    const isFree = port !== 0 && !Object.values(chosen).includes(port) && (await isPortFree(port));
    if (asked[name] && !isFree) {
      const flag = `--${name.replace('Port', '-port')}`;
      throw new PortTakenError(`port ${port} cannot be used: free it, or name another with ${flag}`);
    }
    chosen[name] = isFree ? port : (free.pop() as number);
  }
  return chosen;
}

/** The API uses its default port only if Temporal does: two environments may start at the same moment. */
async function chooseApiPort({ temporalPort }: DevPorts): Promise<number> {
  return temporalPort === OWN_PORTS.temporalPort && (await isPortFree(DEFAULT_PORTS.api)) ? DEFAULT_PORTS.api : 0;
}

// Made-up rows of a portfolio, and a file to try a review with.

export const SAMPLE_HEADER = 'accountId,first,last,ssn,dob,phoneNumber,emailAddress,ipAddress,line1,city,state,zip';

/** Never issued as SSNs. The sandbox has a record of each; the last one lacks a digit. */
const SSNS = ['900110001', '900120001', '900130001', '900140001', '90015001'];

/** The row has no line break. */
export function createSampleRow(row: number, ssn: string): string {
  const person = `Casey,Sample,${ssn},1985-04-12,202555010${row % 10},casey.${row}@example.com,192.0.2.17`;
  return `ACC-${row},${person},${row} Example Street,Springfield,IL,62704`;
}

/** Leaves an existing file unchanged. */
async function writeSamplePortfolio(directory: string): Promise<void> {
  const text = [SAMPLE_HEADER, ...SSNS.map((ssn, index) => createSampleRow(index + 1, ssn)), ''].join('\n');
  await writeFile(join(directory, 'sample.csv'), text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  });
}
