/** The payload format for other languages: fixed vectors, decoded here and in Python, and back. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Payload } from '@temporalio/common';
import { UndecodablePayloadError } from '../../src/protection/errors.ts';
import { KeyRing } from '../../src/protection/keys/key-ring.ts';
import { createPayloadCodec, PAYLOAD_DICTIONARY_1 } from '../../src/protection/payloads/payload-codec.ts';
import { pythonPackages } from '../support/python.ts';
import { decodedValue } from './codec-fixtures.ts';

const CRYPTOGRAPHY = 'cryptography==50.0.2';
const root = join(import.meta.dirname, '..', '..');

interface PrintedPayload {
  metadata: Record<string, string>;
  data?: string;
}

interface Vectors {
  keys: Record<string, string>;
  allowedNamespaces: string[];
  vectors: { name: string; encrypted: PrintedPayload; payload?: PrintedPayload; refused?: string }[];
}

const { keys, allowedNamespaces, vectors } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'payload-vectors.json'), 'utf8'),
) as Vectors;
const { dictionary } = JSON.parse(readFileSync(join(root, 'docs', 'payload-dictionary-1.json'), 'utf8')) as {
  dictionary: string;
};

const ring = new KeyRing(
  Object.entries(keys).map(([id, secret], index) => ({
    id,
    use: 'payload',
    createdAt: '2026-01-01T00:00:00Z',
    status: index === 0 ? 'current' : 'retired',
    secret: createSecretKey(Buffer.from(secret, 'base64')),
  })),
);
const codec = createPayloadCodec({ keys: ring, namespace: 'credit', allowedNamespaces, mode: 'client' });

function payloadFrom({ metadata, data }: PrintedPayload): Payload {
  const entries = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data ?? '', 'base64') };
}

function printed({ metadata, data }: Payload): PrintedPayload {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data ?? []).toString('base64') };
}

async function python(request: object): Promise<unknown> {
  const script = join(import.meta.dirname, 'payload_vectors.py');
  const child = spawn('python3', [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONPATH: await pythonPackages(CRYPTOGRAPHY) },
  });
  child.stdin.end(JSON.stringify({ keys, allowedNamespaces, dictionary, ...request }));
  return json(child.stdout);
}

test('the published dictionary is the dictionary in use, and has not changed', () => {
  assert.equal(dictionary, PAYLOAD_DICTIONARY_1.toString('utf8'));
  assert.equal(
    createHash('sha256').update(PAYLOAD_DICTIONARY_1).digest('hex'),
    '3504bf5c0e6e8f2887bbaf2f645810c2978094d49d0bba391c5259d374f79e25',
  );
});

test('every vector decodes to its payload, or is refused with its reason', async () => {
  for (const { name, encrypted, payload, refused } of vectors) {
    const outcome = await codec.decode([payloadFrom(encrypted)]).then(
      ([decoded]) => ({ payload: printed(decoded ?? {}) }),
      (error: unknown) => ({ refused: error instanceof UndecodablePayloadError ? error.reason : error }),
    );
    assert.deepEqual(outcome, payload ? { payload } : { refused }, name);
  }
});

test('Python decodes and refuses the same vectors with the same results', async () => {
  const answers = await python({ payloads: vectors.map(({ encrypted }) => encrypted) });
  const expected = vectors.map(({ payload, refused }) => (payload ? { payload } : { refused }));
  assert.deepEqual(answers, expected);
});

test('the codec decodes a payload that Python encoded', async () => {
  const value = { journeyId: 'J-1', decision: 'granted', note: 'Zoë' };
  const encrypted = (await python({ value, keyId: Object.keys(keys)[0], namespace: 'credit' })) as PrintedPayload;
  const [decoded] = await codec.decode([payloadFrom(encrypted)]);
  assert.deepEqual(decodedValue(decoded), value);
});
