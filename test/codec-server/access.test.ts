import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { startCodecServer } from '../../src/codec/server.ts';
import { DEFAULT_LIMITS } from '../../src/codec/settings.ts';
import { openAuditLog } from '../../src/http/audit.ts';
import { ConfigError } from '../../src/model/problems.ts';
import type { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { keyRing } from '../ledger/fixtures.ts';
import { untilTaken } from '../support/patiently.ts';
import {
  APPLICANT,
  AUDIENCE,
  call,
  clear,
  decodedOf,
  directory,
  ISSUER,
  KEY_SET,
  keySet,
  NAMESPACE,
  PUBLIC_PEM,
  SENTINELS,
  startServer,
  token,
  UI,
} from './fixtures.ts';

const server = await startServer({ after });
const BODY = { payloads: [clear({ applicants: [APPLICANT] })] };

describe('the codec server', () => {
  const cases: [string, () => Promise<string | undefined>, string][] = [
    ['without a token', async () => undefined, 'noToken'],
    ['with text that is not a token', async () => 'Annabel', 'tokenMalformed'],
    ['with three parts that are not a token', async () => 'a.b.c', 'tokenMalformed'],
    ['with a token that has expired', () => token({ expiresAt: 1_700_000_000 }), 'expired'],
    ['with a token that is not valid yet', () => token({ claims: { nbf: 4_000_000_000 } }), 'notYetValid'],
    ['with a token for another audience', () => token({ claims: { aud: 'others' } }), 'audience'],
    ['with a token of another issuer', () => token({ claims: { iss: 'https://other.example.com' } }), 'issuer'],
    ['with a token that is signed by another key', () => token({ isForeign: true }), 'signature'],
    ['with an unsigned token', async () => unsigned({ alg: 'none' }, ''), 'algorithm'],
    [
      'with a token whose HMAC secret is the public key',
      async () => unsigned({ alg: 'HS256', kid: 'rsa' }, PUBLIC_PEM),
      'algorithm',
    ],
    ['with a token that never expires', () => token({ expiresAt: null }), 'claims'],
    ['with a token without a subject', () => token({ claims: { sub: '' } }), 'claims'],
    ['with a token whose content was altered', async () => altered(await token()), 'signature'],
  ];
  for (const [title, make, reason] of cases) {
    test(`refuses a caller ${title}`, async () => {
      const { status, json, headers, text } = await server.call('/decode', { token: await make(), body: BODY });
      assert.equal(status, 401);
      assert.equal(json.error.code, reason);
      assert.equal(headers.get('www-authenticate'), 'Bearer');
      assert.ok(!text.includes('Annabel'));
      const line = server.audited().at(-1);
      assert.equal(line?.refused, reason);
      assert.equal(line?.subject, undefined);
    });
  }
});

describe('a role', () => {
  const cases: [string, string[], string, number][] = [
    ['named encode does not permit decoding', ['encode'], '/decode', 403],
    ['named decode does not permit encoding', ['decode', 'decode-redacted', 'reveal'], '/encode', 403],
    ['named decode-redacted does not permit revealing', ['decode-redacted'], '/reveal/decode', 403],
    ['for another namespace does not count here', ['other:decode', 'other:encode'], '/decode', 403],
    ['unknown to the server is ignored', ['loans:read', 'system:admin', 'decode-redacted'], '/decode', 200],
    ['named reveal permits decoding', ['reveal'], '/decode', 200],
  ];
  for (const [title, roles, path, status] of cases) {
    test(title, async () => {
      const answer = await server.call(path, { token: await token({ roles }), body: BODY });
      assert.equal(answer.status, status);
      assert.equal(server.audited().at(-1)?.status, status);
    });
  }

  test('needs an X-Namespace that is served and that the token has a role in', async (t) => {
    const server = await startServer(t, { namespaces: [NAMESPACE, 'cards'] });
    const loans = await token({ roles: ['decode', 'absent:decode'] });
    const both = await token({ roles: ['decode', 'cards:decode'] });
    const status = async (caller: string, namespace: string | null) =>
      (await server.call('/decode', { token: caller, namespace, body: BODY })).status;
    assert.deepEqual(
      [
        await status(loans, NAMESPACE),
        await status(loans, 'cards'),
        await status(loans, 'absent'),
        await status(loans, null),
      ],
      [200, 403, 403, 200],
    );
    assert.deepEqual([await status(both, 'cards'), await status(both, null)], [200, 400]);
  });

  test('in this namespace does not decode a payload of another namespace', async (t) => {
    const server = await startServer(t, { namespaces: [NAMESPACE, 'cards'] });
    const body = { payloads: [await server.encrypted('for cards', 'cards')] };
    const { json } = await server.call('/decode', { token: await token({ roles: ['decode'] }), body });
    assert.equal(decodedOf(json.payloads[0]).undecodable.reason, 'foreignNamespace');
  });
});

describe('the key set for tokens', () => {
  test('is fetched, and every caller is refused without it', async (t) => {
    let isUp = true;
    const issuer = createServer((_request, response) => {
      response.writeHead(isUp ? 200 : 500).end(JSON.stringify(KEY_SET));
    });
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
    t.after(() => issuer.close());
    const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks.json`;
    const authentication = { kind: 'jwt', jwks: { url }, issuer: ISSUER, audience: AUDIENCE } as const;
    const good = await startServer(t, { authentication });
    for (const algorithm of ['RS256', 'ES256'] as const) {
      assert.equal((await good.call('/decode', { token: await token({ algorithm }), body: BODY })).status, 200);
    }
    isUp = false;
    const bad = await startServer(t, { authentication });
    const { status, json } = await bad.call('/decode', { token: await token(), body: BODY });
    assert.deepEqual([status, json.error.code], [503, 'keySet']);
  });

  test('is reloaded when its file changes', async (t) => {
    const file = join(directory, 'rotated.json');
    writeFileSync(file, JSON.stringify({ keys: KEY_SET.keys.slice(0, 1) }));
    const server = await startServer(t, {
      authentication: { kind: 'jwt', jwks: { file }, issuer: ISSUER, audience: AUDIENCE },
    });
    const elliptic = { token: await token({ algorithm: 'ES256' }), body: BODY };
    assert.equal((await server.call('/decode', elliptic)).status, 401);
    writeFileSync(file, JSON.stringify(KEY_SET));
    assert.equal((await server.call('/decode', elliptic)).status, 200);
  });

  test('can be limited to some algorithms', async (t) => {
    const authentication = { kind: 'jwt', jwks: { file: keySet }, issuer: ISSUER, audience: AUDIENCE } as const;
    const server = await startServer(t, { authentication: { ...authentication, algorithms: ['ES256'] } });
    const { json } = await server.call('/decode', { token: await token(), body: BODY });
    assert.equal(json.error.code, 'algorithm');
  });
});

describe('a browser page', () => {
  test('of the UI gets the CORS headers that it needs', async () => {
    const { status, headers } = await server.call('/decode', {
      method: 'OPTIONS',
      namespace: null,
      origin: UI,
      headers: {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-namespace',
        'access-control-request-private-network': 'true',
      },
    });
    assert.equal(status, 204);
    assert.equal(headers.get('access-control-allow-origin'), UI);
    assert.equal(headers.get('access-control-allow-credentials'), 'true');
    assert.equal(headers.get('access-control-allow-private-network'), 'true');
    assert.equal(headers.get('vary'), 'Origin');
    for (const name of ['authorization', 'content-type', 'x-namespace', 'authorization-extras']) {
      assert.match(headers.get('access-control-allow-headers') ?? '', new RegExp(`(^|, )${name}(,|$)`));
    }
  });

  for (const origin of ['https://evil.example.com', 'null', `${UI}.evil.example.com`, UI.replace('https', 'http')]) {
    test(`of ${origin} is refused, even with a valid token`, async () => {
      const good = await token();
      const asked = await server.call('/decode', {
        method: 'OPTIONS',
        origin,
        headers: { 'access-control-request-method': 'POST' },
      });
      const called = await server.call('/decode', { token: good, origin, body: BODY });
      for (const { status, headers } of [asked, called]) {
        assert.equal(status, 403);
        assert.equal(headers.get('access-control-allow-origin'), null);
      }
      assert.equal(server.audited().at(-1)?.refused, 'origin');
    });
  }

  test('of the UI can read the reason of a refusal', async () => {
    const { status, headers } = await server.call('/decode', { origin: UI, body: BODY });
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [401, UI]);
  });
});

describe('authentication by a secret path', () => {
  const path = { kind: 'path' } as const;

  test('encodes and decodes with redaction, and does not permit revealing', async (t) => {
    const server = await startServer(t, { environment: 'sandbox', authentication: path });
    assert.match(server.path, /^\/[\w-]{43}$/);
    const { status, json } = await server.call('/decode', { body: BODY, origin: UI });
    assert.equal(status, 200);
    assert.ok(!JSON.stringify(decodedOf(json.payloads[0])).includes('Annabel'));
    assert.equal((await server.call('/encode', { body: { payloads: [clear(1)] } })).status, 200);
    assert.equal((await server.call('/reveal/decode', { body: BODY })).status, 403);
    assert.ok(!server.lines.join('').includes(server.path));
    assert.equal(server.audited().at(-1)?.subject, 'path');
  });

  test('answers 404 under every other path', async (t) => {
    const server = await startServer(t, { environment: 'sandbox', authentication: path });
    for (const other of ['', '/wrong', `${server.path}x`, `/${'A'.repeat(43)}`]) {
      assert.equal((await call(`${server.url}${other}/decode`, { body: BODY })).status, 404);
    }
    for (const method of ['GET', 'HEAD']) assert.equal((await fetch(`${server.url}/healthz`, { method })).status, 200);
  });

  test('can be given the role reveal', async (t) => {
    const authentication = { kind: 'path', roles: ['reveal'] } as const;
    const server = await startServer(t, { environment: 'sandbox', authentication });
    const { json } = await server.call('/reveal/decode', { body: BODY });
    assert.deepEqual(decodedOf(json.payloads[0]).applicants, [APPLICANT]);
  });

  for (const [title, options] of [
    ['in production', { environment: 'production' }],
    ['on an address that other machines can reach', { environment: 'sandbox', host: '0.0.0.0' }],
  ] as const) {
    test(`is refused ${title}`, async () => {
      const start = startCodecServer({ keys: keyRing(), namespaces: [NAMESPACE], authentication: path, ...options });
      await assert.rejects(start, ConfigError);
    });
  }
});

describe('the audit log', () => {
  test('records caller, route, number of payloads and status, but no values', async () => {
    const sub = 'someone-9';
    const caller = await token({ roles: ['encode', 'reveal'], claims: { sub } });
    await server.call('/encode', { token: caller, body: BODY });
    await server.call('/reveal/decode', { token: caller, body: { payloads: [...BODY.payloads, clear(1)] } });
    await server.call('/decode', { token: caller, body: '{"Annabel": ' });
    const about = { subject: sub, issuer: ISSUER, address: '127.0.0.1', namespace: NAMESPACE };
    assert.deepEqual(server.audited().slice(-3), [
      { ...about, route: '/encode', count: 1, status: 200 },
      { ...about, route: '/decode', count: 2, undecodable: 0, revealed: true, status: 200 },
      { ...about, route: '/decode', status: 400, refused: 'notJson' },
    ]);
    for (const sentinel of [...SENTINELS, caller]) assert.ok(!server.lines.join('').includes(sentinel));
    assert.match(server.lines[0] ?? '', /"at":"20\d\d-/);
  });

  test('is a file that only its owner can read', async (t) => {
    const file = join(directory, 'audit.log');
    const server = await startServer(t, { audit: { file } });
    await server.call('/decode', { token: await token(), body: BODY });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).audit.status, 200);
  });

  test('has a line for each access that was let in, also after a disk was full in the midst of a line', () => {
    let text = '';
    let isFull = false;
    const write = (line: string) => {
      text += isFull ? line.slice(0, 20) : line;
      if (isFull) throw new Error('ENOSPC');
    };
    const log = openAuditLog({ write });
    const access = (requestId: string) =>
      log.record({ address: '127.0.0.1', route: '/decode', requestId, status: 200 });
    access('before');
    isFull = true;
    assert.throws(() => access('refused'));
    isFull = false;
    access('after');
    const ids = text.split('\n').flatMap((line) => /"requestId":"(\w+)"/.exec(line)?.[1] ?? []);
    assert.deepEqual(ids, ['before', 'after']);
    assert.doesNotThrow(() => JSON.parse(text.split('\n').at(-2) ?? ''));
  });

  test('makes every request fail if it cannot be written', async (t) => {
    const write = () => {
      throw new Error('ENOSPC');
    };
    const server = await startServer(t, { audit: { write } });
    const { status, text } = await server.call('/decode', { token: await token({ roles: ['decode'] }), body: BODY });
    assert.equal(status, 503);
    assert.ok(!text.includes('payloads'));
    assert.ok(server.unexpected.length > 0);
  });
});

describe('the codec server limits', () => {
  test('the size of a body, with and without a declared length', async () => {
    const caller = await token();
    const forms: Record<string, string>[] = [
      { 'content-length': String(100 * 1024 * 1024) },
      { 'transfer-encoding': 'chunked' },
    ];
    for (const headers of forms) {
      const { status, sentBytes } = await untilTaken(() => sendForever(`${server.url}/decode`, caller, headers), isCut);
      assert.equal(status, 413);
      // The buffers of both sockets are filled in any case.
      assert.ok(sentBytes < 50 * 1024 * 1024, String(sentBytes));
    }
    const length = { 'content-length': String(100 * 1024 * 1024) };
    const foreign = await untilTaken(() => sendForever(`${server.url}/decode`, 'a.b.c', length), isCut);
    assert.equal(foreign.status, 401, 'nothing of it is read');
    assert.deepEqual(server.unexpected, []);
    assert.equal((await server.call('/decode', { token: caller, body: BODY })).status, 200);
  });

  test('how many requests run at once, and still answers 200 concurrent requests', async (t) => {
    const keys = keyRing();
    let [working, most] = [0, 0];
    const find: KeyRing['find'] = async (use, id) => {
      working += 1;
      most = Math.max(most, working);
      await new Promise((resolve) => setImmediate(resolve));
      working -= 1;
      return keys.find(use, id);
    };
    const watched = { current: keys.current.bind(keys), find };
    const server = await startServer(t, {
      keys: watched,
      limits: { work: { ...DEFAULT_LIMITS.work, running: 4 } },
    });
    const caller = await token({ roles: ['encode', 'decode'] });
    const { json: body } = await server.call('/encode', { token: caller, body: BODY });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => server.call('/decode', { token: caller, body })),
    );
    assert.deepEqual(countOf(answers.map(({ status }) => status)), { 200: 200 });
    assert.ok(most >= 1 && most <= 4, String(most));
    assert.equal(server.lines.length, 201);
    assert.deepEqual(server.unexpected, []);
  });

  test('the request rate of each caller', async (t) => {
    const server = await startServer(t, { limits: { burst: 20, perSecond: 1 } });
    const [one, other] = await Promise.all([token(), token({ claims: { sub: 'other' } })]);
    const statuses: number[] = [];
    let retryAfter: string | null = null;
    for (let sent = 0; sent < 30; sent++) {
      const { status, headers } = await server.call('/decode', { token: one, body: BODY });
      statuses.push(status);
      retryAfter = headers.get('retry-after');
    }
    const { 200: served = 0, 429: refused = 0 } = countOf(statuses);
    assert.ok(served >= 20 && refused >= 1 && served + refused === 30, JSON.stringify(countOf(statuses)));
    assert.equal(retryAfter, '1');
    assert.equal((await server.call('/decode', { token: other, body: BODY })).status, 200);
    assert.equal((await server.call('/healthz')).status, 200);
    assert.ok(server.lines.length <= served + 1);
  });

  test('the rate of failed authentications of an address', async (t) => {
    const server = await startServer(t, { limits: { burst: 10, perSecond: 1 } });
    const statuses: number[] = [];
    for (let sent = 0; sent < 20; sent++) statuses.push((await server.call('/decode', { body: BODY })).status);
    const { 401: guesses = 0, 429: refused = 0 } = countOf(statuses);
    assert.ok(guesses >= 10 && refused >= 1 && guesses + refused === 20, JSON.stringify(countOf(statuses)));
  });

  test('how many requests wait, and frees the slot of a caller that disconnects', async (t) => {
    const limits = { bodies: { ...DEFAULT_LIMITS.bodies, running: 1, waiting: 0 }, requestTimeoutMs: 60_000 };
    const server = await startServer(t, { limits });
    const caller = await token();
    const slow = httpRequest(`${server.url}/decode`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller}`, 'content-type': 'application/json', 'content-length': '1000' },
    });
    slow.on('error', () => {});
    slow.write('{');
    await eventually(async () => (await server.call('/decode', { token: caller, body: BODY })).status === 503);
    slow.destroy();
    await eventually(async () => (await server.call('/decode', { token: caller, body: BODY })).status === 200);
  });
});

describe('a codec server with trusted proxies', () => {
  test('takes the address of the client from the proxy’s header', async (t) => {
    const server = await startServer(t, { trustedProxies: ['127.0.0.0/8'] });
    const headers = { 'x-forwarded-for': '198.51.100.9' };
    await server.call('/decode', { token: await token(), body: BODY, headers });
    assert.equal(server.audited().at(-1)?.address, '198.51.100.9');
  });

  test('serves other clients only the health check', async (t) => {
    const server = await startServer(t, { trustedProxies: ['192.0.2.1'] });
    const { status, json } = await server.call('/decode', { token: await token(), body: BODY });
    assert.deepEqual([status, json.error.code], [403, 'proxy']);
    assert.equal((await server.call('/healthz')).status, 200);
  });
});

test('a codec server without trusted proxies ignores forwarded addresses', async () => {
  await server.call('/decode', { token: await token(), body: BODY, headers: { 'x-forwarded-for': '198.51.100.9' } });
  assert.equal(server.audited().at(-1)?.address, '127.0.0.1');
});

test('an answer for an unknown or invalid path does not quote the path', async (t) => {
  const counted: unknown[] = [];
  const server = await startServer(t, { onAnswered: (operation, status) => counted.push([operation, status]) });
  for (const path of ['/Annabel', '/decode/Annabel', '/%zz-Annabel']) {
    const { status, text } = await server.call(path, { body: BODY });
    assert.ok(status === 404 || status === 400);
    assert.ok(!text.includes('Annabel'));
  }
  await server.call('/decode', { body: BODY });
  assert.deepEqual(counted, [...Array(2).fill(['other', 404]), ['/decode', 401]]);
});

/** Creates a token without a signature by a key of the key set. */
function unsigned(header: object, secret: string): string {
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'x', exp: 4_000_000_000, permissions: [`${NAMESPACE}:decode`] };
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${content}.${secret === '' ? '' : createHmac('sha256', secret).update(content).digest('base64url')}`;
}

function altered(good: string): string {
  const [header, payload = '', signature] = good.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  claims.permissions = [`${NAMESPACE}:decode`];
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}

/** The server closes while more is sent. Sometimes the system reports this before it delivers the answer. */
function isCut(error: unknown): boolean {
  return ['EPIPE', 'ECONNRESET'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function countOf(statuses: number[]): Record<number, number> {
  return Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [status, all.length]),
  );
}

/** Sends up to 100 MB until it is answered. Returns the status, and how much the socket took. */
function sendForever(url: string, caller: string, headers: Record<string, string>) {
  const chunk = Buffer.alloc(256 * 1024, ' ');
  return new Promise<{ status: number | undefined; sentBytes: number }>((resolve, reject) => {
    const all = { authorization: `Bearer ${caller}`, 'content-type': 'application/json', ...headers };
    const sender = httpRequest(url, { method: 'POST', headers: all });
    let left = 400;
    sender.once('response', (response) => {
      left = 0;
      resolve({ status: response.statusCode, sentBytes: sender.socket?.bytesWritten ?? 0 });
      response.resume();
      sender.destroy();
    });
    sender.on('error', reject);
    const more = (): void => {
      while (left-- > 0) if (!sender.write(chunk)) return void sender.once('drain', more);
    };
    more();
  });
}

async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('it never came to that');
}
