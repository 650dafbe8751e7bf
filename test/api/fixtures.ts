/** Starts the API with its own key set, and sends requests to it. All persons are invented. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type RunningApi, startApi } from '../../src/api/server.ts';
import { LedgerUnavailableError } from '../../src/ledger/errors.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { SCOPES } from '../../src/operations/scopes.ts';
import type { ApiOptions } from '../../src/operations/services.ts';
import { openKeyRing } from '../../src/protection/keys/key-ring.ts';
import { connectTo } from '../support/harness-client.ts';
import { type HttpAnswer, httpCall } from '../support/http-call.ts';
import { type Harness, type HarnessOptions, startHarness } from '../support/journey-harness.ts';

export const ISSUER = 'https://issuer.example.com';
export const AUDIENCE = 'credit-journey-api';

const pair = await generateKeyPair('ES256');
const foreign = await generateKeyPair('ES256');
export const KEY_SET = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'ec', alg: 'ES256', use: 'sig' }] };

export interface TokenParts {
  /** Defaults to all scopes. */
  scopes?: readonly string[];
  profiles?: unknown;
  endUsers?: unknown;
  claims?: JWTPayload;
  isForeign?: boolean;
  /** Seconds since 1970. */
  expiresAt?: number;
}

/** Makes a token. By default it has every scope and reaches every run. */
export function token(parts: TokenParts = {}): Promise<string> {
  const { scopes = Object.keys(SCOPES), profiles = ['*'], endUsers = ['*'], claims = {}, isForeign = false } = parts;
  const { expiresAt = Math.floor(Date.now() / 1000) + 300 } = parts;
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'platform-7', scope: scopes.join(' '), exp: expiresAt };
  return new SignJWT({ ...payload, profiles, end_users: endUsers, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'ec' })
    .sign(isForeign ? foreign.privateKey : pair.privateKey);
}

export interface ApiCall {
  method?: string;
  /** The default is a token with every scope. `null` sends no token. */
  token?: string | null;
  headers?: Record<string, string>;
  /** A string is sent unchanged. */
  body?: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: JSON as an HTTP client sees it
export type Json = any;

export interface TestApi extends RunningApi {
  /** The lines of the audit log as text. */
  lines: string[];
  /** The content of each line. */
  audited(): Record<string, unknown>[];
  unexpected: unknown[];
  call(path: string, call?: ApiCall): Promise<HttpAnswer>;
  /** Sends the request, fails unless the answer has this status, and returns its JSON. */
  expect(status: number, path: string, call?: ApiCall): Promise<Json>;
  /** Reads the path repeatedly until `find` finds something. The test's own timeout is the limit. */
  until<T>(path: string, find: (json: Json) => T | undefined | false): Promise<T>;
}

/** Reads a run until its status has one of these states. */
export function untilState(api: TestApi, path: string, ...states: string[]): Promise<Json> {
  return api.until(path, (json) => states.includes(json.state) && json);
}

export interface World {
  harness: Harness;
  api: TestApi;
}

interface WorldOptions extends HarnessOptions {
  isWorkerStopped?: boolean;
  /** Prepares what all tests need. A `before` hook in the test file would run beside the hook that starts both. */
  begin?: () => Promise<unknown>;
  /** Cleans up before the harness and the API are closed. */
  end?: () => Promise<unknown>;
}

/** Starts a harness and an API before the tests of a file and closes them afterwards. Use them in tests and hooks only. */
export function useApi(
  options: Partial<ApiOptions> = {},
  { isWorkerStopped = false, begin, end, ...parts }: WorldOptions = {},
): World {
  let made: Partial<World> = {};
  before(async () => {
    const harness = await startHarness(parts);
    made = { harness };
    // The worker has created the ledger.
    if (isWorkerStopped) await harness.stopWorker();
    made.api = await startTestApi(harness, options);
    await begin?.();
  });
  after(async () => {
    try {
      await end?.();
      await made.api?.close();
    } finally {
      await made.harness?.close();
    }
  });
  const standIn = (name: keyof World) => new Proxy({}, { get: (_, member) => Reflect.get(made[name] ?? {}, member) });
  return { harness: standIn('harness') as Harness, api: standIn('api') as TestApi };
}

/** Starts an API on the ledger of a harness. `close` closes all that this opened. */
export async function startTestApi(
  harness: Pick<Harness, 'config' | 'client'>,
  options: Partial<ApiOptions> = {},
): Promise<TestApi> {
  const { config, client } = harness;
  const opening = async () =>
    openLedger({
      url: config.ledger.url,
      environment: config.environment,
      keyRing: await openKeyRing({ ...config, keyRingMayBeMade: false }),
      create: false,
    });
  const { dataConverter = {} } = client.options;
  const journeys = await connectTo(harness, { openLedger: opening, dataConverter, queryTimeoutMs: 20_000 });
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-api-'));
  const file = join(directory, 'jwks.json');
  await writeFile(file, JSON.stringify(KEY_SET));
  const lines: string[] = [];
  const unexpected: unknown[] = [];
  const api = await startApi({
    environment: config.environment,
    tokens: { jwks: { file }, issuer: ISSUER, audience: AUDIENCE },
    journeys,
    audit: { write: (line) => lines.push(line) },
    onUnexpected: (error) => unexpected.push(error),
    ...options,
  });
  const all = await token();
  const call: TestApi['call'] = (path, request) => httpCall(api.url + path, { token: all, ...request });
  return {
    ...api,
    lines,
    unexpected,
    call,
    audited: () => lines.map((line) => JSON.parse(line).audit),
    async expect(status, path, request) {
      const answer = await call(path, request);
      assert.equal(answer.status, status, `${path} ${answer.text}`);
      return answer.json;
    },
    async until(path, find) {
      for (;;) {
        const found = find((await call(path)).json);
        if (found !== undefined && found !== false) return found;
        await sleep(100);
      }
    },
    close: async () => {
      await api.close();
      await journeys.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts an API whose ledger does not answer. It is closed at the test's end. */
export async function startCutOffApi(t: TestContext, harness: Pick<Harness, 'config' | 'client'>): Promise<TestApi> {
  const journeys = await connectTo(harness, {
    dataConverter: {},
    openLedger: () => Promise.reject(new LedgerUnavailableError('away')),
  });
  const api = await startTestApi(harness, { journeys });
  t.after(async () => {
    await api.close();
    await journeys.close();
  });
  return api;
}
