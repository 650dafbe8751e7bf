/** Tests the codec and the codec server with payloads that any sender of signals can create. */
import assert from 'node:assert/strict';
import { defaultPayloadConverter, type Payload, ValueError } from '@temporalio/common';
import fc from 'fast-check';
import { CodecWork } from '../../src/codec/codec-work.ts';
import { DEFAULT_LIMITS } from '../../src/codec/settings.ts';
import { readPayloads, toPayloadJson } from '../../src/http/payload-json.ts';
import { Refusal } from '../../src/http/refusal.ts';
import { createUndecodable, isUndecodable } from '../../src/model/undecodable.ts';
import { encrypt } from '../../src/protection/aead.ts';
import { UndecodablePayloadError, UnknownKeyError } from '../../src/protection/errors.ts';
import {
  createPayloadCodec,
  ENCRYPTED_ENCODING,
  mayLeadToPosting,
  readEncoding,
  readPayloadEnvelope,
  wasEncrypted,
} from '../../src/protection/payloads/payload-codec.ts';
import { NAMESPACE } from '../codec-server/fixtures.ts';
import { keyRing } from '../ledger/fixtures.ts';
import {
  type ByteMutation,
  byteMutations,
  changedBytes,
  changedText,
  type TreeMutation,
  treeMutations,
} from './mutations.ts';
import { property } from './property.ts';
import { assertSafeError, SENTINEL } from './sentinel.ts';
import { usually } from './values.ts';

const RING = keyRing('fuzz');
const KEY = RING.current('payload');
const VALUE = { journeyId: 'J-1', by: SENTINEL, reason: 'a reason '.repeat(20), applicants: [{ ssn: '912345678' }] };

const ENCODINGS = [
  'json/plain',
  'binary/plain',
  'binary/null',
  ENCRYPTED_ENCODING,
  'json/protobuf',
  'binary/protobuf',
  'json/external-storage-reference',
  'temporal.io/reference',
  '',
  SENTINEL,
] as const;

interface PayloadCase {
  /** The content before encryption: the value, changed or not, or bytes that are not a payload. */
  inner:
    | { tree: TreeMutation[]; bytes: ByteMutation[]; encoding: (typeof ENCODINGS)[number] }
    | { garbage: Uint8Array };
  isEncrypted: boolean;
  keyId: string | null;
  namespace: string | null;
  /** Changes to the encrypted bytes or to the metadata. */
  damage: { field: 'data' | 'encoding' | 'key-id' | 'namespace'; bytes: ByteMutation[] }[];
  drop: ('data' | 'encoding' | 'key-id' | 'namespace' | 'metadata')[];
}

const payloadCases: fc.Arbitrary<PayloadCase> = fc.record({
  inner: fc.oneof(
    {
      arbitrary: fc.record({
        tree: usually([], 2, treeMutations(['journeyId', 'undecodable', 'reason'], 2)),
        bytes: usually([], 2, byteMutations(2)),
        encoding: usually('json/plain' as const, 4, fc.constantFrom(...ENCODINGS)),
      }),
      weight: 8,
    },
    { arbitrary: fc.record({ garbage: fc.uint8Array({ maxLength: 60 }) }), weight: 1 },
  ),
  isEncrypted: fc.oneof(fc.constant(true), fc.constant(true), fc.constant(false)),
  keyId: usually(null, 6, fc.constantFrom('other-key', '', '../x', `${SENTINEL} and more`, 'x'.repeat(65))),
  namespace: usually(null, 6, fc.constantFrom('elsewhere', '', '\n', SENTINEL)),
  damage: usually(
    [],
    2,
    fc.array(
      fc.record({ field: fc.constantFrom('data', 'data', 'encoding', 'key-id', 'namespace'), bytes: byteMutations(2) }),
      { minLength: 1, maxLength: 2 },
    ),
  ),
  drop: usually(
    [],
    8,
    fc.array(fc.constantFrom('data', 'encoding', 'key-id', 'namespace', 'metadata'), { minLength: 1, maxLength: 2 }),
  ),
});

async function payloadOf(value: PayloadCase): Promise<Payload> {
  const payload = value.isEncrypted ? await encryptedOf(value) : innerOf(value);
  const metadata: Record<string, Uint8Array> = { ...payload.metadata };
  let data = payload.data ?? Buffer.alloc(0);
  for (const { field, bytes } of value.damage) {
    if (field === 'data') data = changedBytes(data, bytes);
    else if (metadata[field]) metadata[field] = changedBytes(metadata[field], bytes);
  }
  for (const field of value.drop) if (field !== 'data' && field !== 'metadata') delete metadata[field];
  return {
    ...(value.drop.includes('metadata') ? {} : { metadata }),
    ...(value.drop.includes('data') ? {} : { data }),
  };
}

function innerOf({ inner }: PayloadCase): Payload {
  if ('garbage' in inner) return { metadata: { encoding: Buffer.from('json/plain') }, data: inner.garbage };
  const data = changedBytes(Buffer.from(changedText(VALUE, inner.tree)), inner.bytes);
  return { metadata: { encoding: Buffer.from(inner.encoding) }, data };
}

/** Encrypts as a holder of the key can, including content that `sealPayload` refuses. */
async function encryptedOf(value: PayloadCase): Promise<Payload> {
  const keys = { ...RING, current: () => ({ ...KEY, id: value.keyId ?? KEY.id }) };
  const namespace = value.namespace ?? NAMESPACE;
  const codec = createPayloadCodec({ keys: keys as never, namespace, mode: 'client' });
  const [sealed] = await codec.encode([innerOf(value)]);
  assert.ok(sealed);
  if (!('garbage' in value.inner)) return sealed;
  const bound = Buffer.from(`${ENCRYPTED_ENCODING}\0${value.keyId ?? KEY.id}\0${namespace}`);
  return {
    ...sealed,
    data: Buffer.concat([
      (sealed.data ?? Buffer.alloc(0)).subarray(0, 4),
      encrypt(KEY.secret, value.inner.garbage, bound),
    ]),
  };
}

const worker = createPayloadCodec({ keys: RING, namespace: NAMESPACE, mode: 'worker' });
const client = createPayloadCodec({ keys: RING, namespace: NAMESPACE, mode: 'client' });

property({
  name: 'damaged payloads are decoded unchanged, marked as undecodable or wait for their key',
  weight: 12,
  cases: payloadCases,
  check: async (value) => {
    const payload = await payloadOf(value);
    const inWorker = await decoded(worker, payload);
    const inClient = await decoded(client, payload);
    if (inWorker instanceof Error || inClient instanceof UnknownKeyError) {
      assert.ok(
        inWorker instanceof UnknownKeyError && inClient instanceof UnknownKeyError,
        `the worker throws ${inWorker}`,
      );
      // Only a payload that names another key without damage waits for that key.
      assert.notEqual(readPayloadEnvelope(payload).keyId, KEY.id);
      return;
    }
    const shown = inWorker.value;
    if (inClient instanceof UndecodablePayloadError)
      assert.ok(isUndecodable(shown), 'the worker reads what the client does not');
    else if (!wasEncrypted(payload) && readEncoding(payload) === 'json/plain' && mayLeadToPosting(shownTo(inClient)))
      assert.deepEqual(shown, createUndecodable('inTheClear'));
    else assert.deepEqual(shown, shownTo(inClient));
    // Encrypted content is decoded as a whole or not at all.
    if (
      value.isEncrypted &&
      !isUndecodable(shown) &&
      !('garbage' in value.inner) &&
      payload.metadata?.encoding?.length
    ) {
      const asEncrypted = innerOf(value);
      if (Buffer.from(payload.metadata.encoding).toString() === ENCRYPTED_ENCODING) {
        assert.deepEqual(shown, defaultPayloadConverter.fromPayload(asEncrypted), 'something else than was encrypted');
      }
    }
  },
});

function shownTo(reader: { value: unknown } | Error): unknown {
  return reader instanceof Error ? null : reader.value;
}

async function decoded(
  codec: ReturnType<typeof createPayloadCodec>,
  payload: Payload,
): Promise<{ value: unknown } | Error> {
  let inner: Payload | undefined;
  try {
    [inner] = await codec.decode([payload]);
  } catch (error) {
    assertKnown(error);
    return error as Error;
  }
  assert.ok(inner);
  // The SDK's converter runs in the workflow's sandbox and must not throw.
  return { value: defaultPayloadConverter.fromPayload(inner) };
}

function assertKnown(error: unknown): void {
  assert.ok(!(error instanceof ValueError));
  assert.ok(error instanceof UnknownKeyError || error instanceof UndecodablePayloadError, `${error}`);
  assertSafeError(error, 'the codec');
}

const bodies = fc.record({
  payloads: fc.array(payloadCases, { maxLength: 3 }),
  tree: usually(
    [],
    1,
    treeMutations(['payloads', 'metadata', 'data', 'encoding', 'externalPayloads', 'key-id', 'namespace'], 2),
  ),
  bytes: usually([], 3, byteMutations(2)),
});

type BodyCase = typeof bodies extends fc.Arbitrary<infer T> ? T : never;

async function bodyOf({ payloads, tree, bytes }: BodyCase): Promise<string> {
  const json = await Promise.all(payloads.map(async (one) => toPayloadJson(await payloadOf(one))));
  return changedBytes(Buffer.from(changedText({ payloads: json }, tree)), bytes).toString('utf8');
}

const work = new CodecWork({
  keys: RING,
  originNamespaces: [],
  limits: { ...DEFAULT_LIMITS, payloads: 50 },
  onUnknownKey: () => {},
});

property({
  name: 'damaged bodies get an answer or a refusal from the codec server',
  weight: 4,
  cases: bodies,
  check: async (value) => {
    const body = await bodyOf(value);
    for (const view of ['redacted', 'whole'] as const) {
      const permission = { namespace: NAMESPACE, view, isService: view === 'whole' } as never;
      for (const act of ['decode', 'encode'] as const) {
        try {
          const result = await work[act](body, permission);
          const given = readPayloads(body, 50).length;
          assert.equal(result.payloads.length, given, 'a payload was dropped');
          if (act === 'encode') assert.ok(!JSON.stringify(result).includes(SENTINEL));
        } catch (error) {
          assert.ok(error instanceof Refusal, `not a refusal: ${error}`);
          assertSafeError(error, 'the codec server');
        }
      }
    }
  },
});
