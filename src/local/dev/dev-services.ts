/** The HTTP API of a development environment, with a token for this session alone, and its codec server. */

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type RunningApi, startApi } from '../../api/server.ts';
import { omitUndefined } from '../../base/defined.ts';
import { errorCode } from '../../base/error-code.ts';
import { connectTo } from '../../client/connection/connect.ts';
import { startCodecServer } from '../../codec/server.ts';
import { DEFAULT_PORTS, GATEWAY_LIMITS } from '../../config/variables.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { SCOPES } from '../../operations/scopes.ts';
import { LedgerJourneys } from '../../operator/ledger-journeys.ts';
import { KeyRingError } from '../../protection/errors.ts';
import { openKeyRing, WatchedKeyRing } from '../../protection/keys/key-ring.ts';
import { createDataConverter } from '../../protection/payloads/data-converter.ts';

interface DevApiOptions {
  dataDir: string;
  temporalAddress: string;
  namespace: string;
  taskQueue: string;
  keyRingFile: string;
  ledgerUrl: string;
  /** The Temporal UI's address; absent without one. */
  uiUrl?: string;
  /** Called with sentences for the operator; never a value, a key or the token. */
  onEvent: (message: string) => void;
}

interface DevApi {
  url: string;
  port: number;
  /** The page, with the token in its fragment: no server and no log sees that. */
  pageUrl: string;
  /** Readable by its owner alone. A new key signs it at each start, so that no former token is valid. */
  tokenFile: string;
  close(): Promise<void>;
}

const ISSUER = 'credit-journey-dev';
const AUDIENCE = 'credit-journey';

/**
 * Listens on loopback, at its own port or a free one. `<dataDir>/api-token` has the token; the audit log is
 * `<dataDir>/api-audit.log`.
 */
export async function startDevApi(options: DevApiOptions): Promise<DevApi> {
  const { dataDir, temporalAddress, namespace, taskQueue, keyRingFile, ledgerUrl } = options;
  await using parts = new AsyncDisposableStack();
  const keys = await openKeyRing({ keyRingFile, keyRingMayBeMade: false });
  const address = temporalAddress;
  const connection = await connectTo({ connectionOptions: { address } }, { address });
  parts.defer(() => connection.close());
  const journeys = await LedgerJourneys.connect({
    ...{ connection, namespace, taskQueue, maxApplicants: GATEWAY_LIMITS.maxApplicants.max, besideLedger: true },
    dataConverter: createDataConverter({ keys, namespace, mode: 'client' }),
    openLedger: () => openLedger({ url: ledgerUrl, environment: 'sandbox', keyRing: keys, create: false }),
  });
  parts.defer(() => journeys.close());
  const [jwksFile, tokenFile] = [join(dataDir, 'api-jwks.json'), join(dataDir, 'api-token')];
  const token = await writeTokens(jwksFile, tokenFile);
  const api = await listen(options, journeys, jwksFile);
  parts.defer(() => api.close());
  parts.defer(async () => {
    for (const file of [jwksFile, tokenFile]) await rm(file, { force: true });
  });
  const pageUrl = `${api.url}/#token=${token}`;
  const open = parts.move();
  return { url: api.url, port: api.port, pageUrl, tokenFile, close: () => open.disposeAsync() };
}

async function writeTokens(jwksFile: string, tokenFile: string): Promise<string> {
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
  await rm(tokenFile, { force: true });
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  return token;
}

async function listen(options: DevApiOptions, journeys: LedgerJourneys, jwksFile: string): Promise<RunningApi> {
  const start = (port: number) =>
    startApi({
      environment: 'sandbox',
      tokens: { jwks: { file: jwksFile }, issuer: ISSUER, audience: AUDIENCE },
      journeys,
      maxApplicants: GATEWAY_LIMITS.maxApplicants.max,
      audit: { file: join(options.dataDir, 'api-audit.log') },
      host: '127.0.0.1',
      signIn: 'token',
      ...omitUndefined({ temporalUi: options.uiUrl, runbookUrl: process.env.RUNBOOK_URL }),
      port,
      onUnexpected: (error) => options.onEvent(`the HTTP API has failed: ${(error as Error).name}`),
    });
  try {
    return await start(DEFAULT_PORTS.api);
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    return start(0);
  }
}

// The codec server of a development environment, which makes its Temporal UI readable.

export interface DevCodecServerOptions {
  dataDir: string;
  namespace: string;
  /** The key ring must exist; the server follows its file. */
  keyRingFile: string;
  port: number;
  /** The UI, whose pages alone may call; `null` without one. */
  uiPort: number | null;
  /** Its former path, so that open tabs and copied addresses still work. */
  segment?: string | undefined;
  /** Called with sentences for the operator; never a value, a key or the path. */
  onEvent: (message: string) => void;
}

export interface DevCodecServer {
  /** The unguessable part of `endpoint`: a secret. */
  segment: string;
  /** For `--ui-codec-endpoint` of the Temporal server and `--codec-endpoint` of its CLI. */
  endpoint: string;
  close(): Promise<void>;
}

/**
 * Starts the codec server on loopback. The audit log is `<dataDir>/codec-audit.log`.
 *
 * @throws KeyRingError
 */
export async function startDevCodecServer(options: DevCodecServerOptions): Promise<DevCodecServer> {
  const { dataDir, namespace, port, segment, uiPort, onEvent } = options;
  await using parts = new AsyncDisposableStack();
  const keys = await WatchedKeyRing.open(options.keyRingFile, {
    onReloadFailed: (error) =>
      onEvent(`the key ring cannot be read again, the keys before stay: ${describeError(error)}`),
  });
  parts.defer(() => keys.close());
  const server = await startCodecServer({
    environment: 'sandbox',
    host: '127.0.0.1',
    port,
    keys,
    authentication: { kind: 'path', ...omitUndefined({ segment }) },
    namespaces: [namespace],
    uiOrigins: uiPort === null ? [] : ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${uiPort}`),
    audit: { file: join(dataDir, 'codec-audit.log') },
    onUnknownKey: (keyId) => onEvent(`the codec server lacks the key ${keyId}, which a payload was encrypted under`),
    onUnexpected: (error) => onEvent(`the codec server has failed: ${describeError(error)}`),
  });
  parts.defer(() => server.close());
  const open = parts.move();
  return {
    segment: (server.path as string).slice(1),
    endpoint: server.endpoint,
    close: () => open.disposeAsync(),
  };
}

/** Hides the texts of other errors, which may quote input. */
function describeError(error: unknown): string {
  if (error instanceof KeyRingError) return error.message;
  return error instanceof Error ? error.name : 'unknown error';
}
