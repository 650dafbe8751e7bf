/** Starts codec servers with their own key set, and sends requests to them. All persons are invented. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Payload } from '@temporalio/common';
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type RunningCodecServer, startCodecServer } from '../../src/codec/server.ts';
import type { CodecServerOptions } from '../../src/codec/settings.ts';
import { type PayloadJson, toPayloadJson } from '../../src/http/payload-json.ts';
import type { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { createPayloadCodec } from '../../src/protection/payloads/payload-codec.ts';
import { keyRing } from '../ledger/fixtures.ts';
import { payloadOf } from '../protection/codec-fixtures.ts';
import { type HttpAnswer, httpCall } from '../support/http-call.ts';

export const ISSUER = 'https://issuer.example.com';
export const AUDIENCE = 'codec-server';
export const UI = 'https://ui.example.com';
export const NAMESPACE = 'loans';

export const APPLICANT = {
  applicantId: '01',
  names: [{ first: 'Annabel', middle: 'Quill', last: 'Sentinel', gen: 'J' }],
  ssn: '912345678',
  dob: '1980-02-03',
  phones: [{ phoneNumber: '2025550123', phoneType: 'HOME' }],
  emailAddress: 'annabel@example.com',
  ipAddress: '203.0.113.7',
  addresses: [{ addressIdentifier: 'C', line1: '1 Sentinel Street', city: 'Springfield', state: 'VA', zip: '22150' }],
};

/** Personal values that no caller without `reveal` may read. */
export const SENTINELS = [
  ...['Annabel', 'Quill', 'Sentinel', '912345678', '1980-02-03', '2025550123', 'annabel@example.com'],
  ...['203.0.113.7', '1 Sentinel Street', 'SENTINEL', 'CONSUMER-SENTINEL'],
];

const pairs = { RS256: await generateKeyPair('RS256'), ES256: await generateKeyPair('ES256') };
const foreign = await generateKeyPair('RS256');

export const PUBLIC_PEM = await exportSPKI(pairs.RS256.publicKey);
export const KEY_SET = {
  keys: [
    { ...(await exportJWK(pairs.RS256.publicKey)), kid: 'rsa', alg: 'RS256', use: 'sig' },
    { ...(await exportJWK(pairs.ES256.publicKey)), kid: 'ec', alg: 'ES256', use: 'sig' },
  ],
};

/** The directory of the test file that imports this module. */
export const directory = mkdtempSync(join(tmpdir(), 'codec-server-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
export const keySet = join(directory, 'jwks.json');
writeFileSync(keySet, JSON.stringify(KEY_SET));

interface TokenParts {
  roles?: string[];
  claims?: JWTPayload;
  algorithm?: 'RS256' | 'ES256';
  isForeign?: boolean;
  /** In seconds. With `null` the token never expires. */
  expiresAt?: number | null;
}

/** Roles are in `NAMESPACE` unless they name another. */
export async function token(parts: TokenParts = {}): Promise<string> {
  const { roles = ['decode-redacted'], claims = {}, algorithm = 'RS256', isForeign = false } = parts;
  const permissions = roles.map((role) => (role.includes(':') ? role : `${NAMESPACE}:${role}`));
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'operator-7', permissions, ...claims };
  const { expiresAt = Math.floor(Date.now() / 1000) + 300 } = parts;
  return new SignJWT({ ...payload, ...(expiresAt === null ? {} : { exp: expiresAt }) })
    .setProtectedHeader({ alg: algorithm, kid: algorithm === 'RS256' ? 'rsa' : 'ec' })
    .sign(isForeign ? foreign.privateKey : pairs[algorithm].privateKey);
}

export interface Server extends RunningCodecServer {
  ring: KeyRing;
  /** The unguessable path, where that is what authenticates. */
  path: string;
  /** The lines of the audit log. */
  lines: string[];
  /** The parsed lines of the audit log. */
  audited(): Record<string, unknown>[];
  unexpected: unknown[];
  call(path: string, request?: CallOptions): Promise<HttpAnswer>;
  /** Encrypts as a worker of `NAMESPACE` does. */
  encrypted(value: unknown, namespace?: string): Promise<PayloadJson>;
}

export interface CallOptions {
  token?: string | undefined;
  /** With `null` the request has no such header. */
  namespace?: string | null;
  origin?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export async function startServer(
  t: { after(close: () => Promise<void>): void },
  options: Partial<CodecServerOptions> = {},
): Promise<Server> {
  const ring = keyRing();
  const lines: string[] = [];
  const unexpected: unknown[] = [];
  const server = await startCodecServer({
    environment: 'production',
    keys: ring,
    authentication: { kind: 'jwt', jwks: { file: keySet }, issuer: ISSUER, audience: AUDIENCE },
    namespaces: [NAMESPACE],
    uiOrigins: [UI],
    audit: { write: (line) => lines.push(line) },
    onUnexpected: (error) => unexpected.push(error),
    ...options,
  });
  t.after(() => server.close());
  return {
    ...server,
    ring,
    path: server.endpoint.slice(server.url.length),
    lines,
    unexpected,
    audited: () => lines.map((line) => JSON.parse(line).audit),
    call: (path, request) => call(server.endpoint + path, request),
    encrypted: async (value, namespace = NAMESPACE) => {
      const codec = createPayloadCodec({ keys: ring, namespace, mode: 'client' });
      const [payload] = await codec.encode([payloadOf(value)]);
      return toPayloadJson(payload as Payload);
    },
  };
}

export async function call(url: string, options: CallOptions = {}): Promise<HttpAnswer> {
  const { body, namespace = NAMESPACE, origin, headers = {} } = options;
  return httpCall(url, {
    ...{ method: options.method, token: options.token, body },
    headers: {
      ...(namespace === null ? {} : { 'x-namespace': namespace }),
      ...(origin === undefined ? {} : { origin }),
      ...headers,
    },
  });
}

/** Decodes the value of a JSON payload. */
// biome-ignore lint/suspicious/noExplicitAny: decoded values of every shape, which each test knows
export function decodedOf(payload: PayloadJson): any {
  return JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8'));
}

export function clear(value: unknown): PayloadJson {
  return toPayloadJson(payloadOf(value));
}
