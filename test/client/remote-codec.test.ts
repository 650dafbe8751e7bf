/** The client's side of the codec server, without Temporal: its requests, and how it handles each answer. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { CodecServer } from '../../src/client/connection/codec-server.ts';
import { CodecServerError, type CodecServerErrorCode } from '../../src/client/connection/errors.ts';
import { loadClientSettings } from '../../src/config/client.ts';
import type { CodecServerAccess } from '../../src/config/codec-server-access.ts';
import { UndecodablePayloadError } from '../../src/protection/errors.ts';
import { createPayloadCodec, wasEncrypted } from '../../src/protection/payloads/payload-codec.ts';
import { MASKED } from '../../src/protection/redaction/redaction.ts';
import { APPLICANT, NAMESPACE, type Server, startServer, token } from '../codec-server/fixtures.ts';
import { keyRing } from '../ledger/fixtures.ts';
import { decodedValue, payloadOf } from '../protection/codec-fixtures.ts';
import { createCertificate } from '../support/certificates.ts';

const directory = mkdtempSync(join(tmpdir(), 'remote-codec-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const SERVICE = ['encode', 'decode'];

function codecAt(t: TestContext, access: CodecServerAccess, namespace = NAMESPACE): PayloadCodec {
  const codec = new CodecServer(access, namespace);
  t.after(() => codec.close());
  return codec;
}

/** Creates the codec of a caller with these roles. */
async function codecOf(t: TestContext, server: Server, roles = SERVICE, parts = {}): Promise<PayloadCodec> {
  const bearer = await token({ roles, ...parts });
  return codecAt(t, { url: server.endpoint, readToken: async () => bearer });
}

/** Creates the codec that a worker of `namespace` uses. */
function workersCodec(keys = keyRing(), namespace = NAMESPACE): PayloadCodec {
  return createPayloadCodec({ keys, namespace, mode: 'client' });
}

/** Returns the error, after it has checked that the error contains no personal data and none of these secrets. */
async function refusal(
  promise: Promise<unknown>,
  code: CodecServerErrorCode,
  secrets: readonly string[] = [],
): Promise<CodecServerError> {
  let caught: unknown;
  await assert.rejects(promise, (error) => {
    caught = error;
    return true;
  });
  assert.ok(caught instanceof CodecServerError, inspect(caught));
  assert.equal(caught.code, code);
  const told = inspect(caught, { depth: 9, showHidden: true });
  for (const secret of [APPLICANT.ssn, 'Sentinel', ...secrets]) assert.ok(!told.includes(secret), secret);
  return caught;
}

/** Starts a server that is not a codec server. */
async function listening(t: TestContext, answer: RequestListener): Promise<{ url: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('the remote codec', { concurrency: 4 }, () => {
  test('encrypts payloads that a worker can decrypt, and decrypts payloads that a worker has encrypted', async (t) => {
    const server = await startServer(t);
    const remote = await codecOf(t, server);
    const workers = workersCodec(server.ring);
    const values = [APPLICANT, null, 'a text', [1, 2]];
    const encoded = await remote.encode(values.map(payloadOf));
    assert.ok(encoded.every(wasEncrypted));
    assert.deepEqual((await workers.decode(encoded)).map(decodedValue), values);
    const decoded = await remote.decode(await workers.encode(values.map(payloadOf)));
    assert.deepEqual(decoded.map(decodedValue), values);
    assert.deepEqual(
      server.audited().map(({ route, subject, count }) => [route, subject, count]),
      [
        ['/encode', 'operator-7', 4],
        ['/decode', 'operator-7', 4],
      ],
    );
  });

  test('sends no request if no payload is encrypted, and keeps the order of mixed payloads', async (t) => {
    const server = await startServer(t);
    const remote = await codecOf(t, server);
    const clear = [payloadOf('one'), payloadOf('two')];
    assert.deepEqual(await remote.decode(clear), clear);
    assert.deepEqual([await remote.decode([]), await remote.encode([])], [[], []]);
    assert.equal(server.lines.length, 0);
    const [secret] = await workersCodec(server.ring).encode([payloadOf('secret')]);
    const mixed = [clear[0] as Payload, secret as Payload, clear[1] as Payload];
    assert.deepEqual((await remote.decode(mixed)).map(decodedValue), ['one', 'secret', 'two']);
  });

  test('reports a payload that is larger than the server accepts', async (t) => {
    const server = await startServer(t, { limits: { bodyBytes: 8_192 } });
    const remote = await codecOf(t, server);
    await refusal(remote.encode([payloadOf('.'.repeat(9_000))]), 'tooLarge');
  });

  test('refuses to send a masked value, without a request to the server', async (t) => {
    const server = await startServer(t);
    const person = await codecOf(t, server, ['encode', 'decode-redacted']);
    const [shown] = await person.decode(await workersCodec(server.ring).encode([payloadOf(APPLICANT)]));
    assert.match(JSON.stringify(decodedValue(shown as Payload)), new RegExp(MASKED));
    const asked = server.lines.length;
    await refusal(person.encode([shown as Payload]), 'masked');
    assert.equal(server.lines.length, asked);
  });

  test('rejects a payload that could not be decoded', async (t) => {
    const server = await startServer(t);
    const [foreign] = await workersCodec(keyRing('other')).encode([payloadOf(APPLICANT)]);
    const [elsewhere] = await workersCodec(server.ring, 'cards').encode([payloadOf(APPLICANT)]);
    for (const roles of [['decode'], ['decode-redacted']]) {
      const remote = await codecOf(t, server, roles);
      await refusal(remote.decode([foreign as Payload]), 'keyUnknown');
      await assert.rejects(remote.decode([elsewhere as Payload]), UndecodablePayloadError);
    }
  });

  test('reports an error in the token, the role or the namespace', async (t) => {
    const server = await startServer(t);
    const expired = await codecOf(t, server, SERVICE, { expiresAt: 1_000 });
    assert.match((await refusal(expired.encode([payloadOf(1)]), 'tokenRefused')).message, /The token has expired/);
    const foreign = await codecOf(t, server, SERVICE, { isForeign: true });
    assert.match((await refusal(foreign.encode([payloadOf(1)]), 'tokenRefused')).message, /signature is not valid/);
    const none = codecAt(t, { url: server.endpoint });
    assert.match((await refusal(none.encode([payloadOf(1)]), 'tokenRefused')).message, /A token is needed/);
    const [encrypted] = await workersCodec(server.ring).encode([payloadOf(1)]);
    const reader = await codecOf(t, server, ['decode']);
    await refusal(reader.encode([payloadOf(APPLICANT)]), 'roleTooLow');
    const writer = await codecOf(t, server, ['encode']);
    await refusal(writer.decode([encrypted as Payload]), 'roleTooLow');
    const bearer = await token({ roles: SERVICE });
    const elsewhere = codecAt(t, { url: server.endpoint, readToken: async () => bearer }, 'cards');
    await refusal(elsewhere.encode([payloadOf(APPLICANT)]), 'namespaceRefused', [bearer]);
  });

  test('reads the token file for each call, so that the token can be renewed', async (t) => {
    const server = await startServer(t);
    const file = join(directory, 'token');
    writeFileSync(file, `${await token({ roles: SERVICE, expiresAt: 1_000 })}\n`);
    const { payloads } = loadClientSettings({ CODEC_SERVER_URL: server.endpoint, CODEC_SERVER_TOKEN_FILE: file });
    assert.ok(payloads.kind === 'codecServer');
    const remote = codecAt(t, payloads.access);
    await refusal(remote.encode([payloadOf(1)]), 'tokenRefused');
    writeFileSync(file, `${await token({ roles: SERVICE })}\n`);
    assert.ok((await remote.encode([payloadOf(1)])).every(wasEncrypted));
    rmSync(file);
    const error = await refusal(remote.encode([payloadOf(1)]), 'tokenMissing', [directory]);
    assert.match(error.message, /CODEC_SERVER_TOKEN_FILE/);
  });

  test('works with the secret path of the embedded server, which no error contains', async (t) => {
    const server = await startServer(t, { environment: 'sandbox', authentication: { kind: 'path' } });
    const remote = codecAt(t, { url: server.endpoint });
    assert.ok((await remote.encode([payloadOf(1)])).every(wasEncrypted));
    await server.close();
    await refusal(remote.encode([payloadOf(1)]), 'unreachable', [server.path.slice(1)]);
  });

  test('retries briefly if the server is busy or restarting', async (t) => {
    const server = await startServer(t);
    let calls = 0;
    const proxy = await listening(t, async (request, response) => {
      calls += 1;
      if (calls === 1) return request.socket.destroy();
      if (calls === 2) return response.writeHead(503, { 'retry-after': '0' }).end('{"error":{"code":"busy"}}');
      const { authorization = '' } = request.headers;
      const answer = await server.call('/encode', { token: authorization.slice(7), body: { payloads: [clear] } });
      return response.end(answer.text);
    });
    const clear = { metadata: { encoding: btoa('json/plain') }, data: btoa('1') };
    const bearer = await token({ roles: SERVICE });
    const remote = codecAt(t, { ...proxy, readToken: async () => bearer });
    assert.ok((await remote.encode([payloadOf(1)])).every(wasEncrypted));
    assert.equal(calls, 3);
  });

  const strangers: [string, RequestListener, CodecServerErrorCode][] = [
    ['an HTML page', (_, response) => response.end('<html>Sentinel</html>'), 'unexpected'],
    ['a 404', (_, response) => response.writeHead(404).end('Sentinel'), 'unexpected'],
    ['a redirect', (_, response) => response.writeHead(307, { location: '/x' }).end(), 'unexpected'],
    ['a 500', (_, response) => response.writeHead(500).end('Sentinel'), 'unexpected'],
    ['a list with fewer payloads', (_, response) => response.end('{"payloads":[]}'), 'unexpected'],
    ['an echo of the request in the clear', (request, response) => request.pipe(response), 'unexpected'],
  ];
  for (const [what, answer, code] of strangers) {
    test(`rejects an answer that is ${what}`, async (t) => {
      await refusal(codecAt(t, await listening(t, answer)).encode([payloadOf(APPLICANT)]), code);
    });
  }

  test('trusts the system’s certificate authorities and the configured one, regardless of process settings', async (t) => {
    const tls = await createCertificate({ name: 'codec', altName: { ip: '127.0.0.1' } });
    const server = await startServer(t, { tls });
    const bearer = await token({ roles: SERVICE });
    const access = { url: server.endpoint, readToken: async () => bearer };
    const trusting = codecAt(t, { ...access, caCertificate: tls.cert });
    assert.ok((await trusting.encode([payloadOf(1)])).every(wasEncrypted));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    await refusal(codecAt(t, access).encode([payloadOf(APPLICANT)]), 'unreachable', [bearer]);
    assert.equal(server.lines.length, 1);
  });
});
