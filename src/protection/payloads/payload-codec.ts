/**
 * The payload codec (docs/protection.md). Encrypts what Temporal stores, and keeps any payload that Temporal returns
 * from stopping a worker.
 */
import { isUtf8 } from 'node:buffer';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { isRecord } from '../../base/is-record.ts';
import { parseJson } from '../../base/json-safety.ts';
import { MESSAGES } from '../../messages/all-messages.ts';
import type { Message } from '../../messages/message.ts';
import { createUndecodable, type UndecodableReason } from '../../model/undecodable.ts';
import { UndecodablePayloadError, UnknownKeyError } from '../errors.ts';
import type { PayloadKeys } from '../keys/key-ring.ts';
import {
  openEnvelope,
  readEncoding,
  readPayloadEnvelope,
  sealPayload,
  toBytes,
  wasEncrypted,
} from './payload-envelope.ts';

/** Members of a trace context, which every sender's SDK may add as a header. */
const TRACE = ['traceparent', 'tracestate', 'baggage'];

/**
 * Returns true if a value in the clear can lead to a posting, outside the sandbox: `advance`, `resolveInquiry`,
 * `requestShare`, a grant, a start. Anyone with write access to Temporal could send it without a key. A message that
 * only stops something counts, as its definition says.
 *
 * @param value as it was sent; its shape is not checked yet
 */
export function mayLeadToPosting(value: unknown): boolean {
  if (!isRecord(value) || hasOnly(value, TRACE)) return false;
  // `recordLateConsent` wraps its message.
  const wrapped = 'consent' in value && hasOnly(value, ['consent']);
  const message = wrapped ? value.consent : value;
  const known = wrapped ? [MESSAGES.consent] : Object.values<Message>(MESSAGES);
  return !known.some(({ countsInTheClear }) => isRecord(message) && countsInTheClear(message));
}

function hasOnly(value: object, members: readonly string[]): boolean {
  return Object.keys(value).every((name) => members.includes(name));
}

export interface PayloadCodecOptions {
  keys: PayloadKeys;
  /** Written into each payload as its origin. */
  namespace: string;
  /** Origins whose payloads are decoded; default: `namespace` alone. */
  allowedNamespaces?: readonly string[];
  /**
   * `worker` never throws for a payload's content: a marker replaces it (model/undecodable.ts). The marker also
   * replaces a clear message that can lead to a posting. `client` throws `UndecodablePayloadError`, and reads clear
   * payloads. Both throw `UnknownKeyError` for a key that may still arrive.
   */
  mode: 'worker' | 'client';
  /**
   * `false` sends payloads unencrypted and accepts clear ones. Encrypted payloads are decoded all the same. Default
   * true.
   */
  encrypts?: boolean;
  /** Raises the alert. Called each time that a payload waits for this key. */
  onUnknownKey?: (keyId: string) => void;
  /** In the worker: called each time that a marker replaces a payload. */
  onUndecodable?: (reason: UndecodableReason) => void;
}

/** Far more than any message of ours. Deeper nesting overflows the stack of code that serializes it again. */
const MAX_JSON_DEPTH = 100;

/**
 * No message of ours has more than one payload. The SDK passes all payloads of a message to its handler as arguments, and
 * a hundred thousand arguments overflow the stack. A worker drops the rest.
 */
const MAX_PAYLOADS = 10;

export function createPayloadCodec(options: PayloadCodecOptions): PayloadCodec {
  const { keys, namespace, mode } = options;
  const allowed = new Set(options.allowedNamespaces ?? [namespace]);

  async function openPayload(payload: Payload): Promise<Payload> {
    const envelope = readPayloadEnvelope(payload);
    if (!allowed.has(envelope.namespace)) throw new UndecodablePayloadError('foreignNamespace', envelope.keyId);
    const key = await keys.find('payload', envelope.keyId);
    if (key === 'refused') throw new UndecodablePayloadError('keyRefused', envelope.keyId);
    if (key === 'unknown') {
      options.onUnknownKey?.(envelope.keyId);
      throw new UnknownKeyError(envelope.keyId, 'payload');
    }
    return openEnvelope(envelope, key);
  }

  async function decodePayload(payload: Payload): Promise<Payload> {
    try {
      const inner = wasEncrypted(payload) ? await openPayload(payload) : payload;
      // Encrypted payloads are checked too: a sender with a key may still use an encoding that no reader here knows.
      requireReadable(inner);
      if (mode === 'worker' && options.encrypts !== false && inner === payload) refuseClear(payload);
      return inner;
    } catch (error) {
      if (mode === 'client' || !(error instanceof UndecodablePayloadError)) throw error;
      options.onUndecodable?.(error.reason);
      return buildMarker(error.reason);
    }
  }

  return {
    encode: async (payloads) => {
      if (options.encrypts === false) return payloads;
      const key = keys.current('payload');
      return Promise.all(payloads.map((payload) => sealPayload(payload, key, namespace)));
    },
    decode: (payloads) =>
      Promise.all((mode === 'worker' ? payloads.slice(0, MAX_PAYLOADS) : payloads).map(decodePayload)),
  };
}

function buildMarker(reason: UndecodableReason): Payload {
  return {
    metadata: { encoding: Buffer.from('json/plain') },
    data: Buffer.from(JSON.stringify(createUndecodable(reason))),
  };
}

/** @param payload one that can be read */
function refuseClear(payload: Payload): void {
  if (readEncoding(payload) !== 'json/plain') return;
  if (mayLeadToPosting(JSON.parse(toBytes(payload.data).toString('utf8'))))
    throw new UndecodablePayloadError('inTheClear');
}

/**
 * Checks the payload that the SDK's own converter will turn into a value. That converter runs in the workflow's sandbox
 * and throws there.
 */
function requireReadable(payload: Payload): void {
  switch (readEncoding(payload)) {
    case 'binary/null':
    case 'binary/plain':
      return;
    case 'json/plain':
      if (!isJson(toBytes(payload.data))) throw new UndecodablePayloadError('unparsable');
      return;
    default:
      throw new UndecodablePayloadError('foreignEncoding');
  }
}

function isJson(data: Buffer): boolean {
  // The sandbox has a decoder of its own. For valid UTF-8 alone both decoders return the same text.
  const parsed = isUtf8(data) ? parseJson(data.toString('utf8')) : null;
  return parsed !== null && isShallow(parsed[0], MAX_JSON_DEPTH);
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const inner of Object.values(value)) if (!isShallow(inner, levels - 1)) return false;
  return true;
}
