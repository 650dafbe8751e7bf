/** TLS refused before anything was written is a configuration error, and nothing is sent. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { before, type TestContext, test } from 'node:test';
import { createServer, type TlsOptions } from 'node:tls';
import type { GatewayError } from '../../src/gateway/errors.ts';
import { type Certificate, createCertificate } from '../support/certificates.ts';
import { profileFor, recordBody } from './fixtures.ts';
import { clientFor, httpAnswer, type Script, startGateway, startServer } from './scripted-server.ts';

let own: Certificate;
let foreign: Certificate;

before(async () => {
  own = await createCertificate({ name: 'gateway', altName: { ip: '127.0.0.1' } });
  foreign = await createCertificate({ name: 'elsewhere', altName: { dns: 'elsewhere.example.com' } });
});

function tlsGateway(t: TestContext, options: TlsOptions, changes = {}) {
  const script = {
    createServer: (onConnection: (socket: Socket) => void) => createServer(options, onConnection),
    onRequest: (socket: Socket) => socket.write(httpAnswer(200, recordBody())),
  };
  return startGateway(t, script, changes);
}

async function assertUntrusted(fail: () => Promise<GatewayError>): Promise<void> {
  const { code, sent } = await fail();
  assert.deepEqual({ code, sent }, { code: 'GatewayUntrusted', sent: 'nothing' });
}

test('the client sends over TLS if the profile contains the certificate authority', async (t) => {
  const { server, submit } = await tlsGateway(t, own, { caCertificate: own.cert });
  assert.equal((await submit()).answer.kind, 'outcome');
  assert.equal(server.requests.length, 1);
});

test('the client does not offer HTTP/2, even to a gateway that prefers it', async (t) => {
  const modern = { ...own, ALPNProtocols: ['h2', 'http/1.1'] };
  const { submit } = await tlsGateway(t, modern, { caCertificate: own.cert });
  assert.equal((await submit()).answer.kind, 'outcome');
});

test('the client rejects a certificate of an authority that is not configured, and sends nothing', async (t) => {
  const { server, fail } = await tlsGateway(t, own);
  await assertUntrusted(fail);
  assert.equal(server.requests.length, 0);
});

test('the client rejects a certificate for another name, and sends nothing', async (t) => {
  const { server, fail } = await tlsGateway(t, foreign, { caCertificate: foreign.cert });
  await assertUntrusted(fail);
  assert.equal(server.requests.length, 0);
});

test('the client rejects TLS versions before 1.2, and sends nothing', async (t) => {
  const outdated = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const { server, fail } = await tlsGateway(t, { ...own, ...outdated }, { caCertificate: own.cert });
  await assertUntrusted(fail);
  assert.equal(server.requests.length, 0);
});

test('the client sends nothing if the gateway answers the TLS handshake in plain text', async (t) => {
  const server = await startServer(t, { onConnection: (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') });
  await assertUntrusted(clientFor(t, profileFor(`https://127.0.0.1:${server.port}`)).fail);
  assert.equal(server.requests.length, 0);
});

test('a reset below TLS is an unknown outcome and causes no uncaught error', async (t) => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on('uncaughtException', note);
  t.after(() => process.off('uncaughtException', note));
  const script: Script = {
    createServer: (onConnection) => createServer(own, onConnection),
    // Only the socket beneath TLS can be reset in Node.
    onRequest: (socket) => void (socket as Socket & { _parent: Socket })._parent.resetAndDestroy(),
  };
  const { submit } = await startGateway(t, script, { caCertificate: own.cert });
  for (let round = 0; round < 5; round++) {
    await assert.rejects(submit(), { code: 'OutcomeUnknown', sent: 'possibly' });
  }
  // The late error arrives in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(uncaught, []);
});
