/** A browser's requests to the API: the page, the sign-in, and requests that other pages must not make. No worker runs. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApi } from '../../../src/api/server.ts';
import { ConfigError } from '../../../src/model/problems.ts';
import { type HttpAnswer, httpCall } from '../../support/http-call.ts';
import { type Harness, startHarness } from '../../support/journey-harness.ts';
import { startTestApi, type TestApi, token } from '../fixtures.ts';

const ASSET = 'main-0123abcd.js';
const HEADER = 'x-forwarded-access-token';

let harness: Harness;
let directory: string;
/** `signing` lets operators sign in by a token, as `dev` does. `behind` has a proxy on this machine sign them in. */
let signing: TestApi;
let behind: TestApi;

before(async () => {
  harness = await startHarness({ withoutWorker: true });
  // The worker creates the ledger.
  await harness.startWorker();
  await harness.stopWorker();
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-page-'));
  await mkdir(join(directory, 'assets'));
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>page</title>');
  await writeFile(join(directory, 'assets', ASSET), 'export {};');
  await writeFile(join(directory, 'assets', 'notes.txt'), 'not served');
  await writeFile(join(directory, 'secret.js'), 'not served');
  const temporalUi = 'https://ui.example.com';
  const runbookUrl = 'https://wiki.example.com/runbook';
  signing = await startTestApi(harness, { pageDirectory: directory, signIn: 'token', temporalUi, runbookUrl });
  behind = await startTestApi(harness, {
    ...{ pageDirectory: join(directory, 'none'), tokenHeader: HEADER, trustedProxies: ['127.0.0.1'] },
  });
});
after(async () => {
  await signing.close();
  await behind.close();
  await harness.close();
  await rm(directory, { recursive: true, force: true });
});

const SAME = { 'sec-fetch-site': 'same-origin' };

function call(api: TestApi, path: string, more: Parameters<typeof httpCall>[1] = {}): Promise<HttpAnswer> {
  return httpCall(api.url + path, more);
}

describe('the page', () => {
  test('is a document that runs only its own scripts and that no frame may show', async () => {
    const { status, text, headers } = await call(signing, '/');
    assert.deepEqual([status, text], [200, '<!doctype html><title>page</title>']);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of [
      ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'"],
      ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ]) {
      assert.ok(policy.split('; ').includes(part), part);
    }
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  test('has assets that browsers may cache forever, and serves no other file of its folder', async () => {
    const { status, headers } = await call(signing, `/assets/${ASSET}`);
    assert.deepEqual(
      [status, headers.get('cache-control'), headers.get('content-type')],
      [200, 'public, max-age=31536000, immutable', 'text/javascript; charset=utf-8'],
    );
    for (const path of ['notes.txt', '..%2fsecret.js', '%2e%2e/secret.js', 'constructor', '']) {
      assert.equal((await call(signing, `/assets/${path}`)).status, 404, path);
    }
  });

  test('explains how to build it if it is not built', async () => {
    const { status, text, headers } = await call(behind, '/');
    assert.equal(status, 503);
    assert.match(text, /npm run build/);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  test('comes, like every other answer, with headers that forbid frames and caches', async () => {
    const bearer = await token();
    for (const path of ['/', '/v1/session', '/v1/holds', '/v1/nothing', '/v1/reference', '/healthz']) {
      const { headers } = await call(signing, path, { token: bearer });
      const given = ['x-frame-options', 'cross-origin-opener-policy', 'referrer-policy', 'cache-control'];
      assert.deepEqual(
        given.map((name) => headers.get(name)),
        ['DENY', 'same-origin', 'no-referrer', 'no-store'],
        path,
      );
      assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path);
    }
  });
});

/** Signs in and returns the cookie that a browser would keep. */
async function signedIn(bearer: string): Promise<{ answer: HttpAnswer; cookie: string }> {
  const answer = await call(signing, '/session', { body: { token: bearer }, headers: SAME });
  return { answer, cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
}

describe('the sign-in on this machine', () => {
  test('exchanges a token for a cookie that no script can read and no other site can send', async () => {
    const { answer, cookie } = await signedIn(await token());
    assert.equal(answer.status, 204);
    const rules = (answer.headers.get('set-cookie') ?? '').split('; ').slice(1);
    const [age = ''] = rules.filter((rule) => rule.startsWith('Max-Age='));
    assert.deepEqual(rules.toSorted(), ['HttpOnly', age, 'Path=/', 'SameSite=Strict'].toSorted());
    // The cookie expires with the token, which is valid for 300 s.
    assert.ok(Number(age.slice(8)) > 200 && Number(age.slice(8)) <= 300, age);
    const session = await call(signing, '/v1/session', { headers: { cookie } });
    assert.equal(session.status, 200);
    assert.deepEqual(
      { ...session.json, scopes: session.json.scopes.length > 10 },
      {
        ...{ by: 'platform-7', scopes: true, profiles: '*', endUsers: '*', environment: 'sandbox' },
        ...{ temporalUi: 'https://ui.example.com', runbookUrl: 'https://wiki.example.com/runbook', signOut: true },
      },
    );
  });

  test('lasts at most 12 hours, and ends with DELETE', async () => {
    const { answer } = await signedIn(await token({ expiresAt: Math.floor(Date.now() / 1000) + 30 * 86_400 }));
    assert.match(answer.headers.get('set-cookie') ?? '', /; Max-Age=43200;/);
    const gone = await call(signing, '/session', { method: 'DELETE', headers: SAME });
    assert.deepEqual([gone.status, gone.headers.get('set-cookie')?.includes('Max-Age=0')], [204, true]);
  });

  test('sets no cookie for an invalid token, and records the refusal in the audit log without the token', async () => {
    const from = signing.lines.length;
    const bearer = await token({ isForeign: true });
    const { answer } = await signedIn(bearer);
    assert.deepEqual([answer.status, answer.json.code, answer.headers.get('set-cookie')], [401, 'signature', null]);
    const lines = signing.lines.slice(from).join('');
    assert.match(lines, /"route":"POST \/session".*"refused":"signature"/);
    assert.ok(!lines.includes(bearer));
  });

  test('refuses a sign-in and a sign-out from another site', async () => {
    const body = { token: await token() };
    const sites: Record<string, string>[] = [{}, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }];
    for (const headers of sites) {
      const { status, json } = await call(signing, '/session', { body, headers });
      assert.deepEqual([status, json.code], [403, 'crossSite']);
      assert.equal((await call(signing, '/session', { method: 'DELETE', headers })).status, 403);
    }
  });

  test('does not exist if a proxy signs in, and its cookie is then ignored', async () => {
    const bearer = await token();
    assert.equal((await call(behind, '/session', { body: { token: bearer }, headers: SAME })).status, 404);
    const { json } = await call(behind, '/v1/session', { headers: { cookie: `credit-journey-session=${bearer}` } });
    assert.equal(json.code, 'noToken');
  });

  test('refuses a cookie whose token has expired', async () => {
    const bearer = await token({ expiresAt: Math.floor(Date.now() / 1000) - 60 });
    const { status, json } = await call(signing, '/v1/session', {
      headers: { cookie: `credit-journey-session=${bearer}` },
    });
    assert.deepEqual([status, json.code], [401, 'expired']);
  });

  test('cannot be configured for an API that listens beyond this machine', async () => {
    const wrong = startApi({ signIn: 'token', host: '0.0.0.0' } as Parameters<typeof startApi>[0]);
    await assert.rejects(wrong, (error) => error instanceof ConfigError && error.message.includes('API_HOST'));
  });
});

const DECISION = { decisionId: 'D-1', action: 'abandon', providerSaid: 'unknown', reason: 'a test', inquiries: [] };

describe('a request that writes', () => {
  const sites: [site: string | undefined, may: boolean][] = [
    ['same-origin', true],
    ['same-site', false],
    ['cross-site', false],
    ['none', false],
    [undefined, false],
  ];
  for (const [site, may] of sites) {
    test(`is ${may ? 'accepted' : 'refused'} by cookie or proxy header if Sec-Fetch-Site is ${site ?? 'missing'}`, async () => {
      const bearer = await token();
      const ways: [TestApi, Record<string, string>][] = [
        [signing, { cookie: (await signedIn(bearer)).cookie }],
        [behind, { [HEADER]: bearer }],
      ];
      for (const [api, signed] of ways) {
        const headers = { ...signed, ...(site === undefined ? {} : { 'sec-fetch-site': site }) };
        const { status, json } = await call(api, '/v1/decisions', { body: DECISION, headers });
        // An accepted request gets as far as the validation of its body.
        assert.deepEqual([status, json.code], may ? [422, 'invalidInput'] : [403, 'crossSite']);
      }
    });
  }

  test('is refused by cookie if its content type is one that a form can send', async () => {
    const { cookie } = await signedIn(await token());
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const headers = { cookie, ...SAME, 'content-type': type };
      const { status } = await call(signing, '/v1/decisions', { body: JSON.stringify(DECISION), headers });
      assert.equal(status, 415, type);
    }
  });

  test('is accepted from a program with its own token, without a cookie and without Sec-Fetch-Site', async () => {
    const { status, json } = await call(signing, '/v1/decisions', { body: DECISION, token: await token() });
    assert.deepEqual([status, json.code], [422, 'invalidInput']);
  });

  test('is refused from another site’s page even with a token in Authorization', async () => {
    const headers = { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' };
    const { status, json } = await call(signing, '/v1/decisions', { body: DECISION, token: await token(), headers });
    assert.deepEqual([status, json.code], [403, 'origin']);
  });

  test('is accepted from the API’s own page, which sends its origin', async () => {
    const { cookie } = await signedIn(await token());
    const headers = { cookie, ...SAME, origin: signing.url };
    assert.equal((await call(signing, '/v1/decisions', { body: DECISION, headers })).status, 422);
  });
});

test('a read by cookie is refused if another site makes the browser send it', async () => {
  const { cookie } = await signedIn(await token());
  const read = async (site: string) =>
    (await call(signing, '/v1/holds', { headers: { cookie, 'sec-fetch-site': site } })).status;
  assert.deepEqual(
    [await read('cross-site'), await read('same-site'), await read('none'), await read('same-origin')],
    [403, 403, 200, 200],
  );
});

/** Sends the headers as they are, since `fetch` would join two headers of one name. */
function rawCall(api: TestApi, headers: [name: string, value: string][]): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${api.url}/v1/session`, { headers: ['Host', 'api', ...headers.flat()] }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const { code = '' } = JSON.parse(Buffer.concat(parts).toString('utf8'));
        resolve({ status: response.statusCode ?? 0, code });
      });
    });
    sent.on('error', reject).end();
  });
}

describe('the token header of a proxy', () => {
  test('signs in with a token that passes the same checks as any other token', async () => {
    const good = await call(behind, '/v1/session', { headers: { [HEADER]: await token({ claims: { sub: 'ann' } }) } });
    assert.deepEqual([good.status, good.json.by, good.json.signOut], [200, 'ann', false]);
    const bad: [string, string][] = [
      ['signature', await token({ isForeign: true })],
      ['audience', await token({ claims: { aud: 'other' } })],
      ['tokenMalformed', 'ann'],
      ['tokenMalformed', `Bearer ${await token()}`],
    ];
    for (const [code, value] of bad) {
      const { status, json } = await call(behind, '/v1/session', { headers: { [HEADER]: value } });
      assert.deepEqual([status, json.code], [401, code]);
    }
  });

  test('is refused if it is repeated, contains a list, or comes with another token', async () => {
    const [mine, other] = [await token(), await token({ claims: { sub: 'eve' } })];
    assert.deepEqual(await rawCall(behind, [[HEADER, mine]]), { status: 200, code: '' });
    const twice: [string, string][] = [
      [HEADER, mine],
      ['X-Forwarded-Access-TOKEN', other],
    ];
    assert.deepEqual(await rawCall(behind, twice), { status: 401, code: 'twoTokens' });
    assert.deepEqual(await rawCall(behind, [[HEADER, `${mine}, ${other}`]]), { status: 401, code: 'tokenMalformed' });
    const beside: [string, string][] = [
      [HEADER, mine],
      ['Authorization', `Bearer ${other}`],
    ];
    assert.deepEqual(await rawCall(behind, beside), { status: 401, code: 'twoTokens' });
    const two: [string, string][] = [
      ['Authorization', `Bearer ${mine}`],
      ['Authorization', `Bearer ${other}`],
    ];
    assert.deepEqual(await rawCall(behind, two), { status: 401, code: 'twoTokens' });
  });

  test('is ignored under a similar name', async () => {
    const bearer = await token();
    for (const name of ['x_forwarded_access_token', 'x-forwarded-access-token-2', 'x-auth-request-access-token']) {
      assert.deepEqual(await rawCall(behind, [[name, bearer]]), { status: 401, code: 'noToken' }, name);
    }
  });

  test('cannot be replaced by an unsigned user name in another header', async () => {
    const names = ['x-forwarded-user', 'x-forwarded-email', 'x-auth-request-user', 'x-remote-user', 'remote-user'];
    const headers = Object.fromEntries(names.map((name) => [name, 'admin']));
    for (const api of [signing, behind]) {
      assert.equal((await call(api, '/v1/session', { headers })).json.code, 'noToken');
      // Such a header does not change the subject of a token either.
      const { json } = await call(api, '/v1/session', { headers, token: await token() });
      assert.equal(json.by, 'platform-7');
    }
  });

  test('is accepted only if it is configured, and only from the proxy', async () => {
    const headers = { [HEADER]: await token() };
    assert.equal((await call(signing, '/v1/session', { headers })).json.code, 'noToken');
    const elsewhere = await startTestApi(harness, { tokenHeader: HEADER, trustedProxies: ['192.0.2.1'] });
    try {
      const { status, json } = await call(elsewhere, '/v1/session', { headers });
      assert.deepEqual([status, json.code], [403, 'proxy']);
      const said = { ...headers, 'x-forwarded-for': '192.0.2.1' };
      assert.equal((await call(elsewhere, '/v1/session', { headers: said })).status, 403);
    } finally {
      await elsewhere.close();
    }
  });

  test('cannot be configured without the addresses of its proxy', async () => {
    const wrong = startApi({ tokenHeader: HEADER } as Parameters<typeof startApi>[0]);
    await assert.rejects(wrong, (error) => error instanceof ConfigError && /API_TRUSTED_PROXIES/.test(error.message));
  });
});
