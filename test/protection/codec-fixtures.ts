/** Fixtures of the codec's tests. */
import { createSecretKey, randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { isUndecodable, type UndecodableReason } from '../../src/model/undecodable.ts';
import { KeyRing, type RingKey } from '../../src/protection/keys/key-ring.ts';

export function ringKey(id: string, status: RingKey['status'] = 'current', use: RingKey['use'] = 'payload'): RingKey {
  return { id, use, createdAt: '2026-01-01T00:00:00Z', status, secret: createSecretKey(randomBytes(32)) };
}

export function payloadRing(id = 'payload-a', refused: readonly string[] = []): KeyRing {
  return new KeyRing([ringKey(id)], refused);
}

export function payloadOf(value: unknown): Payload {
  return defaultPayloadConverter.toPayload(value);
}

export function rawPayload(encoding: string | undefined, data?: string | Uint8Array): Payload {
  return {
    metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
    ...(data === undefined ? {} : { data: Buffer.from(data) }),
  };
}

export function decodedValue(payload: Payload | undefined): unknown {
  if (!payload) throw new Error('no payload');
  return defaultPayloadConverter.fromPayload(payload);
}

/** The reason, where the payload is the marker. */
export function markerReason(payload: Payload | undefined): UndecodableReason | null {
  const value = decodedValue(payload);
  return isUndecodable(value) ? value.undecodable.reason : null;
}
