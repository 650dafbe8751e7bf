import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import {
  createUndecodable,
  isUndecodable,
  UNDECODABLE_REASONS,
  type UndecodableReason,
} from '../../src/model/undecodable.ts';
import { encrypt } from '../../src/protection/aead.ts';
import { UndecodablePayloadError, UnknownKeyError } from '../../src/protection/errors.ts';
import { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { createPayloadCodec, PAYLOAD_DICTIONARY_1, wasEncrypted } from '../../src/protection/payloads/payload-codec.ts';
import { decodedValue, markerReason, payloadOf, payloadRing, rawPayload, ringKey } from './codec-fixtures.ts';

const NAMESPACE = 'credit';
const keys = payloadRing();
const worker = createPayloadCodec({ keys, namespace: NAMESPACE, mode: 'worker' });
const client = createPayloadCodec({ keys, namespace: NAMESPACE, mode: 'client' });

async function encoded(value: unknown): Promise<Payload> {
  const [payload] = await client.encode([payloadOf(value)]);
  assert.ok(payload);
  return payload;
}

/** Checks that worker and client refuse the payload, each in its own way. */
async function assertRefused(payload: Payload, reason: UndecodableReason, what?: string): Promise<void> {
  assert.equal(markerReason((await worker.decode([payload]))[0]), reason, what);
  await assert.rejects(
    client.decode([payload]),
    (error) => error instanceof UndecodablePayloadError && error.reason === reason,
    what,
  );
}

/** The bits to flip in a byte: the lowest, the highest, and all. */
const FLIPS = [0x01, 0x80, 0xff];

function flipped(bytes: Uint8Array, index: number, flip: number): Uint8Array {
  return Uint8Array.from(bytes, (byte, at) => (at === index ? byte ^ flip : byte));
}

/** A payload that was encrypted with the right key, but with unexpected content. */
async function forged(plaintext: Uint8Array): Promise<Payload> {
  const payload = await encoded('x');
  const key = keys.current('payload');
  const bound = Buffer.from(`binary/encrypted-cj1\0${key.id}\0${NAMESPACE}`);
  const check = Buffer.from(payload.data ?? []).subarray(0, 4);
  return { ...payload, data: Buffer.concat([check, encrypt(key.secret, plaintext, bound)]) };
}

describe('an encoded payload', () => {
  test('decodes to the same value for every kind of content', async () => {
    const values = [
      { ssn: '900-00-0001', name: 'Zoë' },
      null,
      '',
      0,
      [],
      undefined,
      new Uint8Array([0, 255]),
      'x'.repeat(300_000),
    ];
    const payloads = values.map(payloadOf);
    for (const codec of [worker, client]) {
      const decoded = await codec.decode(await codec.encode(payloads));
      assert.deepEqual(decoded.map(decodedValue), values);
    }
    assert.deepEqual(await worker.encode([]), []);
  });

  test('holds no more memory than it has bytes once it is decoded', async () => {
    for (const value of ['short', 'credit '.repeat(200), randomBytes(200).toString('hex')]) {
      const [decoded] = await worker.decode([await encoded(value)]);
      const held = decoded?.data?.buffer.byteLength ?? Number.POSITIVE_INFINITY;
      assert.ok(held < (decoded?.data?.byteLength ?? 0) + 50, `${held} bytes are held`);
    }
  });

  test('keeps metadata that the caller added', async () => {
    const payload = { ...payloadOf(1), metadata: { ...payloadOf(1).metadata, type: Buffer.from('Keyword') } };
    const [decoded] = await client.decode(await client.encode([payload]));
    assert.equal(Buffer.from(decoded?.metadata?.type ?? []).toString(), 'Keyword');
  });

  test('shows its encoding, key id and namespace, and nothing of its content', async () => {
    const sentinel = 'SENTINEL-900000001';
    const payload = await encoded({ ssn: sentinel });
    const metadata = Object.entries(payload.metadata ?? {}).map(([name, bytes]) => [
      name,
      Buffer.from(bytes).toString(),
    ]);
    assert.deepEqual(Object.fromEntries(metadata), {
      encoding: 'binary/encrypted-cj1',
      'key-id': 'payload-a',
      namespace: NAMESPACE,
    });
    assert.ok(!Buffer.from(payload.data ?? []).includes(sentinel));
    assert.ok(wasEncrypted(payload));
  });

  test('has a new nonce each time', async () => {
    const nonces = new Set<string>();
    for (let times = 0; times < 200; times += 1) {
      nonces.add(
        Buffer.from((await encoded('same')).data ?? [])
          .subarray(4, 16)
          .toString('hex'),
      );
    }
    assert.equal(nonces.size, 200);
  });

  test('is compressed if that makes it shorter, and grows by the envelope at most', async () => {
    const long = await encoded({ text: 'credit '.repeat(2_000) });
    assert.ok((long.data?.byteLength ?? 0) < 500);
    const random = payloadOf(randomBytes(5_000));
    const [sealed] = await client.encode([random]);
    const inner = proto.temporal.api.common.v1.Payload.encode(random).finish().byteLength;
    assert.equal(sealed?.data?.byteLength, inner + 4 + 12 + 1 + 16);
  });
});

describe('a payload that was tampered with', () => {
  test('is refused for every byte of check, nonce, ciphertext and tag, and for every length', async () => {
    const payload = await encoded({ journeyId: 'J-1', decision: 'granted' });
    const data = payload.data ?? new Uint8Array();
    for (let index = 0; index < data.byteLength; index += 1) {
      for (const flip of FLIPS) {
        await assertRefused({ ...payload, data: flipped(data, index, flip) }, 'tampered', `byte ${index} ${flip}`);
      }
      const reason = index < 33 ? 'malformed' : 'tampered';
      await assertRefused({ ...payload, data: data.subarray(0, index) }, reason, `length ${index}`);
    }
    await assertRefused({ ...payload, data: Buffer.concat([data, Buffer.of(0)]) }, 'tampered');
  });

  test('is refused for every byte of its key id, namespace and encoding', async () => {
    const payload = await encoded({ journeyId: 'J-1' });
    const REASONS = { 'key-id': 'tampered', namespace: 'tampered', encoding: 'foreignEncoding' } as const;
    for (const [name, reason] of Object.entries(REASONS)) {
      const bytes = payload.metadata?.[name];
      assert.ok(bytes);
      for (let index = 0; index < bytes.byteLength; index += 1) {
        for (const flip of FLIPS) {
          const metadata = { ...payload.metadata, [name]: flipped(bytes, index, flip) };
          await assertRefused({ ...payload, metadata }, reason, `${name} ${index} ${flip}`);
        }
      }
    }
  });

  test('is refused if metadata is missing or another key has the same id', async () => {
    const payload = await encoded(1);
    const { encoding, namespace } = payload.metadata ?? {};
    assert.ok(encoding && namespace);
    await assertRefused({ ...payload, metadata: { encoding, namespace } }, 'malformed');
    await assertRefused({ metadata: { encoding } }, 'malformed');
    // Another key has the same id, as in two key rings that were made by hand.
    const others = createPayloadCodec({ keys: payloadRing(), namespace: NAMESPACE, mode: 'client' });
    const [other] = await others.encode([payloadOf(1)]);
    assert.ok(other);
    await assertRefused(other, 'tampered');
    await assert.rejects(
      client.decode([other]),
      /under the key "payload-a" cannot be decoded.*compare it with its copy/,
    );
  });

  test('is refused if its content is malformed, though it has the right key', async () => {
    const inner = proto.temporal.api.common.v1.Payload.encode(payloadOf({ a: 1 })).finish();
    assert.deepEqual(decodedValue((await client.decode([await forged(Buffer.concat([Buffer.of(0), inner]))]))[0]), {
      a: 1,
    });
    await assertRefused(await forged(Buffer.concat([Buffer.of(2), inner])), 'malformed', 'unknown method');
    await assertRefused(await forged(Buffer.concat([Buffer.of(1), inner])), 'malformed', 'not deflated');
    await assertRefused(
      await forged(Buffer.concat([Buffer.of(0), Buffer.alloc(9, 0xff)])),
      'malformed',
      'not protobuf',
    );
    const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024), { dictionary: PAYLOAD_DICTIONARY_1 });
    await assertRefused(await forged(Buffer.concat([Buffer.of(1), bomb])), 'malformed', 'inflates without end');
    const twice = await client.encode([await encoded(1)]);
    assert.ok(twice[0]);
    await assertRefused(twice[0], 'foreignEncoding', 'encrypted twice');
  });
});

describe('namespaces', () => {
  test('are decoded only if they are on the allow-list', async () => {
    const payload = await encoded('x');
    const allowing = { keys, namespace: 'other', mode: 'worker' } as const;
    assert.equal(markerReason((await createPayloadCodec(allowing).decode([payload]))[0]), 'foreignNamespace');
    const both = createPayloadCodec({ ...allowing, allowedNamespaces: ['other', NAMESPACE] });
    assert.equal(decodedValue((await both.decode([payload]))[0]), 'x');
  });
});

describe('the key of a payload', () => {
  test('is named in the error of worker and client if the ring lacks it, and raises the alert', async () => {
    const [payload] = await createPayloadCodec({
      keys: payloadRing('payload-new'),
      namespace: NAMESPACE,
      mode: 'client',
    }).encode([payloadOf('x')]);
    assert.ok(payload);
    for (const mode of ['worker', 'client'] as const) {
      const alerts: string[] = [];
      const codec = createPayloadCodec({ keys, namespace: NAMESPACE, mode, onUnknownKey: (id) => alerts.push(id) });
      await assert.rejects(codec.decode([payload]), (error) => {
        return (
          error instanceof UnknownKeyError &&
          error.keyId === 'payload-new' &&
          error.message.includes('credit-journey keys refuse payload-new')
        );
      });
      assert.deepEqual(alerts, ['payload-new']);
    }
  });

  test('causes a permanent refusal once an operator has refused it', async () => {
    const [payload] = await createPayloadCodec({
      keys: payloadRing('payload-new'),
      namespace: NAMESPACE,
      mode: 'client',
    }).encode([payloadOf('x')]);
    assert.ok(payload);
    const refusing = new KeyRing(keys.keys, ['payload-new']);
    const codec = createPayloadCodec({ keys: refusing, namespace: NAMESPACE, mode: 'worker' });
    assert.equal(markerReason((await codec.decode([payload]))[0]), 'keyRefused');
  });

  test('is not replaced by a ledger key with the same id, and no run waits for it: `keys refuse` refuses that id', async () => {
    const ring = new KeyRing([ringKey('payload-b'), { ...ringKey('payload-a'), use: 'ledger' }]);
    const codec = createPayloadCodec({ keys: ring, namespace: NAMESPACE, mode: 'worker' });
    assert.equal(markerReason((await codec.decode([await encoded(1)]))[0]), 'keyRefused');
  });

  test('still decodes if it was only retired', async () => {
    const payload = await encoded('old');
    const rotated = new KeyRing([{ ...keys.current('payload'), status: 'retired' }, ringKey('payload-b')]);
    const codec = createPayloadCodec({ keys: rotated, namespace: NAMESPACE, mode: 'worker' });
    assert.equal(decodedValue((await codec.decode([payload]))[0]), 'old');
    const [anew] = await codec.encode([payloadOf('new')]);
    assert.equal(Buffer.from(anew?.metadata?.['key-id'] ?? []).toString(), 'payload-b');
  });
});

describe('a payload in the clear', () => {
  test('passes unchanged if the SDK can read it', async () => {
    for (const value of [{ journeyId: 'J-1', decision: 'denied' }, undefined, new Uint8Array([1]), 'x', null]) {
      const payload = payloadOf(value);
      assert.equal(wasEncrypted(payload), false);
      for (const codec of [worker, client]) assert.deepEqual(await codec.decode([payload]), [payload]);
    }
    const grant = payloadOf({ journeyId: 'J-1', decision: 'granted' });
    assert.deepEqual(await client.decode([grant]), [grant]);
    assert.equal(wasEncrypted(undefined), false);
  });

  test('is accepted by a worker only if it cannot lead to a posting', async () => {
    const consent = { journeyId: 'J-1', shareId: 'S-1', consentId: 'C-1' };
    const [who, share] = [
      { by: 'ops', reason: 'asked' },
      { journeyId: 'J-1', shareId: 'S-1' },
    ];
    const refused = [
      { ...consent, decision: 'granted' },
      { ...consent, decision: 'GRANTED' },
      { ...consent, decision: undefined },
      { journeyId: 'J-1', to: 'PREAPP' },
      { ...who, journeyId: 'J-1', repeat: 'PREQUAL', occurrence: 2 },
      { ...who, journeyId: 'J-1', decisionId: 'D-1', action: 'abandon' },
      { ...who, pullId: 'P-1', decisionId: 'D-1', decision: 'denied' },
      { journeyId: 'J-1', share },
      { reviewId: 'R-1', file: 'a.csv' },
    ];
    for (const value of refused) {
      const [decoded] = await worker.decode([payloadOf(value)]);
      assert.equal(markerReason(decoded), 'inTheClear', JSON.stringify(value));
      const encrypted = await worker.encode([payloadOf(value)]);
      assert.deepEqual((await worker.decode(encrypted)).map(decodedValue), [JSON.parse(JSON.stringify(value))]);
    }
    const counted = [
      { ...consent, decision: 'denied' },
      { ...consent, decision: 'revoked' },
      ...['journeyId', 'pullId', 'shareId', 'reviewId'].map((name) => ({ [name]: 'X-1', ...who })),
      ...[{ traceparent: '00-1-2-01' }, 'x', null, undefined, 7, []],
    ];
    for (const value of counted) assert.deepEqual(await worker.decode([payloadOf(value)]), [payloadOf(value)]);
  });

  test('is refused if the SDK would throw in the middle of a workflow', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    const CASES: [Payload, UndecodableReason][] = [
      [rawPayload('json/plain', '{"ssn": 900'), 'unparsable'],
      [rawPayload('json/plain', ''), 'unparsable'],
      [rawPayload('json/plain'), 'unparsable'],
      [rawPayload('json/plain', '\uFEFF{}'), 'unparsable'],
      [rawPayload('json/plain', Buffer.from([0x22, 0xff, 0x22])), 'unparsable'],
      [rawPayload('json/plain', deep), 'unparsable'],
      [rawPayload('json/protobuf', '{}'), 'foreignEncoding'],
      [rawPayload('binary/encrypted', 'x'), 'foreignEncoding'],
      [rawPayload('', '1'), 'foreignEncoding'],
      [rawPayload(undefined, '1'), 'foreignEncoding'],
      [{}, 'foreignEncoding'],
      [{ metadata: null } as unknown as Payload, 'foreignEncoding'],
    ];
    for (const [payload, reason] of CASES) {
      await assertRefused(payload, reason, JSON.stringify(payload).slice(0, 80));
      const [sealed] = await client.encode([payload]);
      assert.ok(sealed);
      await assertRefused(sealed, reason, 'encrypted');
    }
  });

  test('is refused alone, and the other payloads of the same message are decoded', async () => {
    const payloads = [await encoded(1), rawPayload('json/plain', '{'), payloadOf(2)];
    const decoded = await worker.decode(payloads);
    assert.deepEqual(decoded.map(decodedValue), [1, createUndecodable('unparsable'), 2]);
  });

  test('is not quoted by the error', async () => {
    await assert.rejects(client.decode([rawPayload('json/plain', 'SENTINEL')]), (error: Error) => {
      return !`${error.stack}`.includes('SENTINEL');
    });
  });
});

describe('the marker of an undecodable payload', () => {
  test('is distinguished from all other values', () => {
    for (const reason of UNDECODABLE_REASONS)
      assert.ok(isUndecodable(JSON.parse(JSON.stringify(createUndecodable(reason)))));
    const OTHERS = [null, undefined, 1, 'x', [], {}, { undecodable: null }, { undecodable: {} }];
    for (const other of [...OTHERS, { undecodable: { reason: 'x' } }]) assert.ok(!isUndecodable(other));
  });
});
