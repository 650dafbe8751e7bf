/** Calls that get no answer, and the inspection of clients, handles and errors. No worker runs. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { inspect } from 'node:util';
import { diagnoseUnreachable } from '../../src/client/connection/connect.ts';
import { hasCode, TEMPORAL_AWAY } from '../../src/client/connection/errors.ts';
import {
  type CallError,
  type CallErrorCode,
  CodecServerError,
  type ConnectOptions,
  CreditJourneyError,
  CreditJourneys,
  InvalidInputError,
  type JourneyHandle,
} from '../../src/client.ts';
import { ConfigError } from '../../src/model/problems.ts';
import { type Certificate, createCertificate } from '../support/certificates.ts';
import { journeyInput } from '../support/journey-harness.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type TestServer, testServer } from '../support/temporal.ts';

const taskQueue = `no-worker-${randomUUID()}`;
/** A timeout that is long enough for a server that answers, also on a busy machine. */
const LONG_MS = 20_000;

let server: TestServer;
let journeys: CreditJourneys;
const started: JourneyHandle[] = [];

before(async () => {
  server = await testServer();
  journeys = await connected();
});

after(async () => {
  const { workflow } = journeys.getSdkClient();
  for (const { workflowId } of started) await workflow.getHandle(workflowId).terminate();
  await journeys.close();
});

function connected(options: ConnectOptions = {}): Promise<CreditJourneys> {
  const { address, namespace } = server;
  return CreditJourneys.connect({ address, namespace, taskQueue, dataConverter: {}, ...options });
}

/** Connects a client through a proxy that the test controls, and starts a journey that no worker handles. */
async function onWire(t: TestContext): Promise<{ wire: TcpProxy; own: CreditJourneys; journey: JourneyHandle }> {
  const [host = '', port] = server.address.split(':');
  const wire = await startTcpProxy({ host, port: Number(port) });
  t.after(() => wire.close());
  const own = await connected({ address: `127.0.0.1:${wire.port}` });
  t.after(() => own.close());
  return { wire, own, journey: await begun(own) };
}

async function begun(on = journeys): Promise<JourneyHandle> {
  const journey = await on.start(journeyInput());
  started.push(journey);
  return journey;
}

async function firstOf(statuses: AsyncIterable<object>): Promise<object | undefined> {
  for await (const status of statuses) return status;
  return undefined;
}

async function errorOf(call: Promise<unknown>): Promise<CreditJourneyError> {
  const error = await call.then(
    () => assert.fail('it was expected to fail'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof CreditJourneyError, inspect(error));
  return error;
}

describe('a call that gets no answer', { concurrency: 4 }, () => {
  test('ends with a typed error when the client is closed, for a result, a watch and a status', async () => {
    const own = await connected();
    const journey = await begun(own);
    const pending = [
      journey.result(),
      firstOf(journey.watch()),
      journey.status({ timeoutMs: LONG_MS }),
      journey.advance({ to: 'PREAPP' }),
    ].map((call) => assert.rejects(call, { code: 'closed' }));
    // The watch waits for its first query.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await own.close();
    await Promise.all(pending);
    await assert.rejects(journey.status(), { code: 'closed' });
    await assert.rejects(own.start(journeyInput()), { code: 'closed' });
    await own.close();
  });

  test('ends with the same error while the server is unreachable, and throws nothing afterwards', async (t) => {
    const { wire, own, journey } = await onWire(t);
    const away = Promise.withResolvers<void>();
    wire.cut();
    const watched = firstOf(journey.watch({ onUnavailable: () => away.resolve(), timeoutMs: 200 }));
    const pending = [journey.result(), watched].map((call) => assert.rejects(call, { code: 'closed' }));
    await away.promise;
    await own.close();
    await Promise.all(pending);
    // The delay is longer than the interval between the first retries.
    await new Promise((resolve) => setTimeout(resolve, 500));
  });

  test('ends when the caller’s signal aborts, with the signal’s reason', async () => {
    const journey = await begun();
    const reason = new Error('the user went away');
    const ends = (call: (options: { signal: AbortSignal }) => Promise<unknown>) => {
      const controller = new AbortController();
      const ended = assert.rejects(
        call({ signal: controller.signal }),
        (error) => hasCode(error, 'aborted') && error.code === 'aborted' && error.cause === reason,
      );
      setTimeout(() => controller.abort(reason), 50);
      return ended;
    };
    await Promise.all([
      ends((options) => journey.result(options)),
      ends((options) => journey.status({ ...options, timeoutMs: LONG_MS })),
      ends((options) => journey.advance({ to: 'PREAPP' }, options)),
      ends((options) => journey.references({ ...options, timeoutMs: LONG_MS })),
    ]);
    const aborted = { signal: AbortSignal.abort(reason) };
    const input = journeyInput();
    await assert.rejects(journeys.start(input, aborted), { code: 'aborted' });
    await assert.rejects(connected(aborted), { code: 'aborted' });
    await assert.rejects(journeys.get(input.journeyId).status(), { code: 'notFound' });
    assert.equal(await firstOf(journey.watch(aborted)), undefined);
  });

  test('reports at its timeout that no worker answers or that the run continues', async () => {
    const journey = await begun();
    const limit = { timeoutMs: 2_000 };
    await Promise.all([
      assert.rejects(journey.status(limit), { code: 'workerUnavailable' }),
      assert.rejects(journey.advance({ to: 'PREAPP' }, limit), { code: 'workerUnavailable' }),
      assert.rejects(journey.result(limit), { code: 'resultNotReady' }),
    ]);
    for (const timeoutMs of [0, -1, Number.NaN, 3_000_000_000]) {
      await assert.rejects(journey.status({ timeoutMs }), (error) => {
        return error instanceof InvalidInputError && error.problems[0]?.path === '/timeoutMs';
      });
    }
  });

  for (const how of ['cut', 'fallSilent'] as const) {
    test(`reports at its timeout that the server is unreachable if the connection is ${how === 'cut' ? 'cut' : 'silent'}`, async (t) => {
      const { wire, own, journey } = await onWire(t);
      wire[how]();
      const limit = { timeoutMs: 1_500 };
      await Promise.all(
        [
          journey.status(limit),
          journey.advance({ to: 'PREAPP' }, limit),
          journey.result(limit),
          own.start(journeyInput(), limit),
        ].map((call) => assert.rejects(call, (error) => hasCode(error, ...TEMPORAL_AWAY))),
      );
    });
  }
});

test('a call that waits for the codec server reports this at its timeout', async (t) => {
  const { address, namespace } = server;
  const url = `http://${await listening(t, 'plain')}`;
  await using own = await CreditJourneys.connect({ address, namespace, taskQueue, codecServer: { url } });
  const error = await errorOf(own.start(journeyInput(), { timeoutMs: 500 }));
  assert.ok(error instanceof CodecServerError, inspect(error));
  assert.equal(error.code, 'unreachable');
});

/** Any certificate is sufficient, since no client gets as far as to accept it. */
async function listening(t: TestContext, kind: 'plain' | 'tls', options?: TlsOptions): Promise<string> {
  const listener =
    kind === 'tls'
      ? createTlsServer(options ?? (await createCertificate({ name: 'example.com' })))
      : createServer((socket) => socket.resume());
  const sockets = new Set<Socket>();
  // A client resets the connection of a request that it aborts.
  listener.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  listener.on('tlsClientError', () => undefined);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return `127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

async function unreachable(to: Parameters<typeof diagnoseUnreachable>[0]): Promise<CallError> {
  const error = await diagnoseUnreachable(to, 10_000);
  assert.ok(hasCode(error, ...TEMPORAL_AWAY), inspect(error));
  return error;
}

describe('a failed connection', () => {
  const cases: { name: string; code: CallErrorCode; tls?: true; at(t: TestContext): Promise<string> }[] = [
    { name: 'an unknown host', code: 'addressUnknown', at: async () => 'nowhere.invalid:7233' },
    { name: 'a port where nothing listens', code: 'connectionRefused', at: async () => '127.0.0.1:1' },
    { name: 'a server that expects TLS', code: 'tlsExpected', at: (t) => listening(t, 'tls') },
    { name: 'a certificate that is not trusted', code: 'tlsFailed', tls: true, at: (t) => listening(t, 'tls') },
    { name: 'a server without TLS', code: 'tlsFailed', tls: true, at: async () => server.address },
  ];
  for (const { name, code, tls = false, at } of cases) {
    test(`reports ${code} for ${name}`, async (t) => {
      const error = await unreachable({ address: await at(t), tls });
      assert.equal(error.code, code, error.message);
    });
  }

  test('does not show what may be a secret in the place of the address', async () => {
    for (const address of ['SECRET-4711', 'http://worker:SECRET-4711@127.0.0.1:1', 'two words SECRET-4711']) {
      const error = await diagnoseUnreachable({ address }, 10_000);
      assert.ok(error instanceof Error && !inspect(error).includes('SECRET'), inspect(error));
      assert.ok(hasCode(error, ...TEMPORAL_AWAY) || error instanceof ConfigError, inspect(error));
    }
  });

  test('reports how to correct a TLS failure', async (t) => {
    const authority = await createCertificate({ name: 'authority' });
    const good = await createCertificate({ name: 'good', authority, altName: { ip: '127.0.0.1' } });
    const stranger = await createCertificate({ name: 'stranger' });
    const asks = { ...good, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
    const by = (client: Certificate | null, trusts = authority) => ({
      serverRootCACertificate: Buffer.from(trusts.cert),
      ...(client && { clientCertPair: { crt: Buffer.from(client.cert), key: Buffer.from(client.key) } }),
    });
    const cases: [server: TlsOptions, tls: object, right: RegExp][] = [
      [good, by(null, stranger), /server_ca_cert_path .* must name its authority/],
      [
        await createCertificate({ name: 'other', authority, altName: { dns: 'other.example.com' } }),
        by(null),
        /name of the address/,
      ],
      [asks, by(null), /TLS fails at/],
      [asks, by(stranger), /TLS fails at/],
      [asks, by({ cert: good.cert, key: stranger.key }), /client_key_path must be the key/],
    ];
    for (const [server, tls, right] of cases) {
      const error = await unreachable({ address: await listening(t, 'tls', server), tls });
      assert.equal(error.code, 'tlsFailed', error.message);
      assert.match(error.message, /TLS fails at 127\.0\.0\.1:\d+/);
      assert.match(error.message, right);
      for (const name of ['authority', 'stranger', 'other', 'BEGIN']) assert.ok(!inspect(error).includes(`=${name}`));
    }
    const mute = await diagnoseUnreachable({ address: await listening(t, 'tls', asks), tls: by(good) }, 1_000);
    assert.ok(hasCode(mute, ...TEMPORAL_AWAY) && mute.code === 'timedOut', inspect(mute));
  });

  test('is reported within the timeout, and an invalid address is refused at once', async (t) => {
    const nowhere = await errorOf(connected({ address: '127.0.0.1:1', connectTimeoutMs: 400 }));
    assert.equal(nowhere.code, 'connectionRefused');
    const mute = await errorOf(connected({ address: await listening(t, 'plain'), connectTimeoutMs: 400 }));
    assert.ok(hasCode(mute, ...TEMPORAL_AWAY));
    for (const address of ['http://127.0.0.1:7233', '127.0.0.1:70000', '', 'a b']) {
      const error = await errorOf(connected({ address }));
      assert.ok(error instanceof InvalidInputError, address);
      assert.equal(error.problems[0]?.path, '/address');
    }
  });

  test('reports a namespace that the server does not have', async () => {
    await using elsewhere = await connected({ namespace: 'never-registered' });
    const error = await errorOf(elsewhere.start(journeyInput()));
    assert.equal(error.code, 'namespaceNotFound');
  });
});

test('inspecting clients, handles and errors shows ids, and never the API key or other metadata', async (t) => {
  const secret = `key-${randomUUID()}`;
  const set = (name: string, value: string) => {
    process.env[name] = value;
    t.after(() => void delete process.env[name]);
  };
  set('TEMPORAL_GRPC_META_SENTINEL', secret);
  // The SDK sends an API key this way, but accepts one only with TLS.
  set('TEMPORAL_GRPC_META_AUTHORIZATION', `Bearer ${secret}`);
  await using own = await connected();
  assert.ok(inspect(own.getSdkClient(), { depth: 20 }).includes(secret), 'the connection has the key');
  const journey = await begun(own);
  const handles = [own.run('pull:P-1'), own.run('share:S-1'), own.run('portfolio:R-1')];
  assert.equal(
    JSON.stringify(own.get('J-1')),
    JSON.stringify({ runKey: 'J-1', journeyId: 'J-1' }),
    'ids and nothing else',
  );
  const closed = await connected();
  await closed.close();
  set('TEMPORAL_API_KEY', secret);
  const byTls = await errorOf(connected({ connectTimeoutMs: 400 }));
  delete process.env.TEMPORAL_API_KEY;
  assert.equal(byTls.code, 'tlsFailed');
  const errors = await Promise.all([
    errorOf(connected({ address: '127.0.0.1:1', connectTimeoutMs: 400 })),
    errorOf(connected({ address: 'https://127.0.0.1' })),
    errorOf(own.get('J-1').result()),
    errorOf(journey.status({ timeoutMs: 500 })),
    errorOf(journey.result({ timeoutMs: 500 })),
    errorOf(journey.result({ signal: AbortSignal.timeout(100) })),
    errorOf(own.start({ ...journeyInput(), endUserCode: '' })),
    errorOf(closed.get('J-1').status()),
    connected({ namespace: 'never-registered' }).then(async (elsewhere) => {
      const error = await errorOf(elsewhere.get('J-1').status());
      await elsewhere.close();
      return error;
    }),
  ]);
  for (const shown of [own, journey, ...handles, byTls, ...errors]) {
    const everything = { depth: Infinity, showHidden: true, getters: true, customInspect: false } as const;
    const texts = [JSON.stringify(shown), inspect(shown), inspect(shown, everything)];
    if (shown instanceof Error) texts.push(`${shown.stack}`);
    for (const text of texts) assert.ok(!text.includes(secret), `${shown.constructor.name} shows the key`);
  }
});
