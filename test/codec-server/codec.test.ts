import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { CodecWork, UNDECODABLE_METADATA } from '../../src/codec/codec-work.ts';
import { DEFAULT_LIMITS } from '../../src/codec/settings.ts';
import { encodeJsonPayload, type PayloadJson, toPayloadJson } from '../../src/http/payload-json.ts';
import { createUndecodable, isUndecodable } from '../../src/model/undecodable.ts';
import { MASKED, redact } from '../../src/protection/redaction/redaction.ts';
import { keyRing } from '../ledger/fixtures.ts';
import { rawPayload } from '../protection/codec-fixtures.ts';
import { APPLICANT, clear, decodedOf, NAMESPACE, SENTINELS, startServer, token, UI } from './fixtures.ts';

const server = await startServer({ after });
const people = await token({ roles: ['encode', 'decode-redacted'] });
const service = await token({ roles: ['encode', 'decode'] });
const investigator = await token({ roles: ['reveal'] });

test('encoded payloads are encrypted, and a service decodes them unchanged', async () => {
  const value = { applicants: [APPLICANT] };
  const encoded = await server.call('/encode', {
    token: service,
    body: { payloads: [clear(value), clear(undefined)] },
  });
  assert.equal(encoded.status, 200);
  for (const sentinel of SENTINELS)
    assert.ok(!encoded.text.includes(Buffer.from(sentinel).toString('base64').slice(0, 8)));
  // The UI calls with a query that this server ignores, and with two slashes when its setting ends in one.
  const decoded = await server.call('//decode?preserveStorageRefs=true', {
    token: service,
    body: encoded.json,
    origin: UI,
  });
  assert.deepEqual(decoded.json, { payloads: [clear(value), toPayloadJson(rawPayload('binary/null'))] });
  assert.equal(decoded.headers.get('access-control-allow-origin'), UI);
  assert.equal(decoded.headers.get('cache-control'), 'no-store');
});

test('decoded payloads are masked, except on the reveal route with the role reveal', async () => {
  const body = { payloads: [await server.encrypted({ applicants: [APPLICANT] })] };
  for (const [path, caller] of [
    ['/decode', people],
    ['/decode', investigator],
  ] as const) {
    const { json } = await server.call(path, { token: caller, body });
    const shown = Buffer.from(json.payloads[0].data, 'base64').toString('utf8');
    for (const sentinel of SENTINELS) assert.ok(!shown.includes(sentinel), `${path} ${sentinel}`);
    assert.deepEqual(decodedOf(json.payloads[0]), redact({ applicants: [APPLICANT] }));
  }
  const { json: whole } = await server.call('/reveal/decode', { token: investigator, body });
  assert.deepEqual(decodedOf(whole.payloads[0]), { applicants: [APPLICANT] });
  assert.equal((await server.call('/reveal/decode', { token: people, body })).status, 403);
  assert.deepEqual(
    server
      .audited()
      .slice(-4)
      .map(({ status, revealed }) => [status, revealed]),
    [
      [200, false],
      [200, false],
      [200, true],
      [403, undefined],
    ],
  );
});

test('failures and binary payloads are masked too', async () => {
  const failure = await server.encrypted({ message: 'no 912-34-5678', stack_trace: '' });
  const bytes = await server.encrypted(new TextEncoder().encode('Annabel Sentinel'));
  const { json } = await server.call('/decode', { token: people, body: { payloads: [failure, bytes] } });
  assert.deepEqual(json.payloads.map(decodedOf), [
    { message: `no ${MASKED}`, stack_trace: '' },
    `${MASKED} (binary, 16 bytes)`,
  ]);
});

describe('decoding', () => {
  const cases: [string, (ok: PayloadJson) => PayloadJson, string][] = [
    ['marks a tampered payload and decodes the others', (ok) => ({ ...ok, data: flipped(ok.data) }), 'tampered'],
    ['marks a malformed payload and decodes the others', (ok) => ({ ...ok, data: '' }), 'malformed'],
  ];
  for (const [title, spoil, reason] of cases) {
    test(title, async () => {
      const ok = await server.encrypted('fine');
      for (const caller of [people, service]) {
        const { status, json } = await server.call('/decode', { token: caller, body: { payloads: [spoil(ok), ok] } });
        assert.equal(status, 200);
        assert.deepEqual(decodedOf(json.payloads[0]), createUndecodable(reason as 'tampered'));
        assert.ok(isUndecodable(decodedOf(json.payloads[0])));
        assert.equal(decodedOf(json.payloads[1]), 'fine');
      }
      assert.equal(server.audited().at(-1)?.undecodable, 1);
    });
  }

  test('marks a payload of another namespace', async () => {
    const body = { payloads: [await server.encrypted('theirs', 'elsewhere')] };
    const { json } = await server.call('/decode', { token: service, body });
    assert.deepEqual(decodedOf(json.payloads[0]), createUndecodable('foreignNamespace'));
  });

  test('accepts a payload of a configured origin namespace', async (t) => {
    const server = await startServer(t, { originNamespaces: ['elsewhere'] });
    const body = { payloads: [await server.encrypted('ours', 'elsewhere')] };
    const { json } = await server.call('/decode', { token: service, body });
    assert.equal(decodedOf(json.payloads[0]), 'ours');
  });

  test('returns a payload in a foreign encoding unchanged, with a mark', async () => {
    const theirs = { ...toPayloadJson(rawPayload('binary/protobuf', 'x')), externalPayloads: [{ sizeBytes: '7' }] };
    const { json } = await server.call('/decode', { token: people, body: { payloads: [theirs] } });
    const { metadata, ...rest } = json.payloads[0];
    assert.deepEqual(
      { ...rest, encoding: metadata.encoding },
      { data: theirs.data, externalPayloads: theirs.externalPayloads, encoding: theirs.metadata.encoding },
    );
    assert.equal(Buffer.from(metadata[UNDECODABLE_METADATA], 'base64').toString(), 'foreignEncoding');
  });

  test('names an unknown key to a person, and answers 503 to a service', async (t) => {
    const asked: string[] = [];
    const server = await startServer(t, { keys: keyRing('other'), onUnknownKey: (id) => asked.push(id) });
    const body = { payloads: [await server.encrypted('later'), clear('now')] };
    const shown = await server.call('/decode', { token: people, body });
    assert.deepEqual(shown.json.payloads.map(decodedOf), [
      { undecodable: { reason: 'unknownKey', keyId: 'k-payload' } },
      'now',
    ]);
    const refused = await server.call('/decode', { token: service, body });
    assert.equal(refused.status, 503);
    assert.equal(refused.json.error.code, 'unknownKey');
    assert.match(refused.json.error.message, /k-payload/);
    assert.deepEqual(asked, ['k-payload', 'k-payload']);
  });
});

describe('encode refuses', () => {
  const cases: [string, PayloadJson, string, string][] = [
    [
      'a masked value',
      clear(redact({ journeyId: 'J-1', applicants: [APPLICANT] })),
      'redacted',
      '/payloads/1/data/applicants/0/names/0/first',
    ],
    ['a masked value whose marks were taken off', clear({ line1: '••••••' }), 'redacted', '/payloads/1/data/line1'],
    [
      'a masked value that is given twice',
      rawJson('{"ssn":"\\u2022\\u2022","ssn":"912345678"}'),
      'redacted',
      '/payloads/1/data',
    ],
    ['masked bytes', toPayloadJson(rawPayload('binary/plain', MASKED)), 'redacted', '/payloads/1/data'],
    [
      'the marker of an undecodable payload',
      encodeJsonPayload(createUndecodable('tampered')),
      'notEncodable',
      '/payloads/1/data',
    ],
    ['a payload that is not JSON', rawJson('{"ssn": 912'), 'notEncodable', '/payloads/1/data'],
    [
      'JSON with excessive nesting',
      rawJson(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
      'notEncodable',
      '/payloads/1/data',
    ],
    [
      'another encoding',
      toPayloadJson(rawPayload('json/protobuf', '{}')),
      'notEncodable',
      '/payloads/1/metadata/encoding',
    ],
    ['no encoding', toPayloadJson(rawPayload(undefined, '{}')), 'notEncodable', '/payloads/1/metadata/encoding'],
  ];
  for (const [title, payload, reason, path] of cases) {
    test(title, async () => {
      const { status, json, text } = await server.call('/encode', {
        token: people,
        body: { payloads: [clear(1), payload] },
      });
      assert.equal(status, 422);
      assert.equal(json.error.code, reason);
      assert.equal(json.error.problems[0].path, path);
      assert.ok(!text.includes('912'));
    });
  }

  test('an encrypted payload', async () => {
    const { status } = await server.call('/encode', { token: people, body: { payloads: [await server.encrypted(1)] } });
    assert.equal(status, 422);
  });
});

describe('a body is refused if it', () => {
  const cases: [string, unknown, string][] = [
    ['is not JSON', '{"payloads": [{"data": "912345678"', 'notJson'],
    ['is a list', [], 'malformed'],
    ['has no payloads', {}, 'malformed'],
    ['has entries that are not payloads', { payloads: [7, null, []] }, 'malformed'],
    ['has data that is not base64', { payloads: [{ metadata: { encoding: '§' }, data: '912-34-5678' }] }, 'malformed'],
    [
      'has too many metadata entries',
      { payloads: [{ metadata: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m${i}`, ''])) }] },
      'malformed',
    ],
    ['has excessive nesting', `{"payloads":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'tooDeep'],
    ['repeats data', '{"payloads":[{"metadata":{},"data":"","data":""}]}', 'repeated'],
  ];
  for (const [title, body, reason] of cases) {
    test(title, async () => {
      const { status, json, text } = await server.call('/decode', { token: people, body });
      assert.equal(status, 400);
      assert.equal(json.error.code, reason);
      assert.ok(!text.includes('912'));
      assert.deepEqual(server.unexpected, []);
    });
  }

  test('has more payloads than a request allows', async (t) => {
    const server = await startServer(t, { limits: { payloads: 3 } });
    const { status } = await server.call('/decode', { token: people, body: { payloads: Array(4).fill(clear(1)) } });
    assert.equal(status, 413);
  });

  test('is not of type application/json', async () => {
    const headers = { 'content-type': 'text/plain' };
    const { status, json } = await server.call('/decode', { token: people, body: '{}', headers });
    assert.equal(status, 415);
    assert.equal(json.error.code, 'contentType');
  });
});

test('payloads that are too large after decompression are refused as a whole', async () => {
  const keys = keyRing();
  const limits = { ...DEFAULT_LIMITS, decodedBytes: 100_000 };
  const work = new CodecWork({ keys, originNamespaces: [], limits, onUnknownKey: () => {} });
  const permission = { namespace: NAMESPACE, view: 'whole', isService: true } as const;
  const { payloads } = await work.encode(
    JSON.stringify({ payloads: [clear('x'.repeat(60_000)), clear('y'.repeat(60_000))] }),
    permission,
  );
  assert.ok(JSON.stringify(payloads).length < 2_000);
  await assert.rejects(work.decode(JSON.stringify({ payloads }), permission), { status: 413, reason: 'decoded' });
});

function flipped(data: string): string {
  const bytes = Buffer.from(data, 'base64');
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  return bytes.toString('base64');
}

function rawJson(text: string): PayloadJson {
  return toPayloadJson(rawPayload('json/plain', text));
}
