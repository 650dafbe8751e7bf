/** TLS refused before anything was written is a configuration error, and nothing is sent. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { before, type TestContext, test } from 'node:test';
import { createServer, type TlsOptions } from 'node:tls';
import { GatewayError } from '../../src/gateway/errors.ts';
import { GatewayClient } from '../../src/gateway/gateway-client.ts';
import type { GatewayProfile } from '../../src/gateway/profile.ts';
import { type Certificate, createCertificate } from '../support/certificates.ts';
import { profileFor, recordBody, reportRequest } from './fixtures.ts';
import { httpAnswer, startServer } from './scripted-server.ts';

let own: Certificate;
let foreign: Certificate;

before(async () => {
  own = await createCertificate({ name: 'gateway', altName: { ip: '127.0.0.1' } });
  foreign = await createCertificate({ name: 'elsewhere', altName: { dns: 'elsewhere.example.com' } });
});

async function tlsGateway(t: TestContext, options: TlsOptions) {
  return startServer(t, {
    createServer: (onConnection) => createServer(options, onConnection),
    onRequest: (socket) => socket.write(httpAnswer(200, recordBody())),
  });
}

async function submit(t: TestContext, profile: GatewayProfile) {
  const client = new GatewayClient(profile);
  t.after(() => client.close());
  return client.submit({
    request: reportRequest(profile),
    accessToken: 'access-token-1',
    sendBy: performance.now() + 5_000,
  });
}

async function assertUntrusted(submitted: Promise<unknown>): Promise<void> {
  await assert.rejects(submitted, (error) => {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, 'GatewayUntrusted');
    assert.equal(error.sent, 'nothing');
    return true;
  });
}

test('sends over TLS where the profile brings the certificate authority', async (t) => {
  const server = await tlsGateway(t, own);
  const reply = await submit(t, profileFor(server.url, { caCertificate: own.cert }));
  assert.equal(reply.answer.kind, 'outcome');
  assert.equal(server.requests.length, 1);
});

test('offers no HTTP/2, even to a gateway that prefers it', async (t) => {
  const server = await tlsGateway(t, { ...own, ALPNProtocols: ['h2', 'http/1.1'] });
  assert.equal((await submit(t, profileFor(server.url, { caCertificate: own.cert }))).answer.kind, 'outcome');
});

test('trusts no certificate of an authority that is not configured', async (t) => {
  const server = await tlsGateway(t, own);
  await assertUntrusted(submit(t, profileFor(server.url)));
  assert.equal(server.requests.length, 0);
});

test('trusts no certificate for another name', async (t) => {
  const server = await tlsGateway(t, foreign);
  await assertUntrusted(submit(t, profileFor(server.url, { caCertificate: foreign.cert })));
  assert.equal(server.requests.length, 0);
});

test('agrees to no version of TLS before 1.2', async (t) => {
  const outdated = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const server = await tlsGateway(t, { ...own, ...outdated });
  await assertUntrusted(submit(t, profileFor(server.url, { caCertificate: own.cert })));
  assert.equal(server.requests.length, 0);
});

test('speaks no TLS to a gateway that answers in the clear', async (t) => {
  const server = await startServer(t, { onConnection: (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') });
  await assertUntrusted(submit(t, profileFor(`https://127.0.0.1:${server.port}`)));
  assert.equal(server.requests.length, 0);
});

test('a connection that the gateway resets below TLS is an unknown outcome, and no error that ends the worker', async (t) => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on('uncaughtException', note);
  t.after(() => process.off('uncaughtException', note));
  const server = await startServer(t, {
    createServer: (onConnection) => createServer(own, onConnection),
    // Node resets the socket beneath TLS alone.
    onRequest: (socket) => void (socket as Socket & { _parent: Socket })._parent.resetAndDestroy(),
  });
  const profile = profileFor(server.url, { caCertificate: own.cert });
  for (let round = 0; round < 5; round++) {
    await assert.rejects(submit(t, profile), { code: 'OutcomeUnknown', sent: 'possibly' });
  }
  // The late error comes with the turn after.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(uncaught, []);
});
