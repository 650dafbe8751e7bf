/** The payload codec (docs/protection.md): what Temporal stores is encrypted, and nothing it hands out stops a worker. */
import { isUtf8 } from 'node:buffer';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { type UndecodableReason, undecodable } from '../../model/undecodable.ts';
import { UndecodablePayloadError, UnknownKeyError } from '../errors.ts';
import type { PayloadKeys } from '../keys/key-ring.ts';
import { mayLeadToPosting } from './clear-messages.ts';
import {
  BrokenEnvelopeError,
  bytesOf,
  encodingOf,
  isEncrypted,
  openEnvelope,
  readEnvelope,
  sealPayload,
} from './payload-envelope.ts';

export interface PayloadCodecOptions {
  keys: PayloadKeys;
  /** Written into each payload as its origin. */
  namespace: string;
  /** Origins that are decoded; default: `namespace` alone. */
  allowedNamespaces?: readonly string[];
  /**
   * `worker` never throws for what a payload holds: a marker takes its place (model/undecodable.ts). `client` throws
   * `UndecodablePayloadError`. Both throw `UnknownKeyError` for a key that may be on its way.
   */
  mode: 'worker' | 'client';
  /** In the worker: a message in the clear that can lead to a posting is a marker too. Default false. */
  refusesClear?: boolean;
  /** Raises the alert: called each time that a payload waits for this key. */
  onUnknownKey?: (keyId: string) => void;
  /** In the worker: called each time that a marker takes a payload's place. */
  onUndecodable?: (reason: UndecodableReason) => void;
}

/** Far more than any message of ours; what nests deeper overflows the stack of whoever writes it out again. */
const MAX_JSON_DEPTH = 100;

export function createPayloadCodec(options: PayloadCodecOptions): PayloadCodec {
  const { keys, namespace, mode } = options;
  const allowed = new Set(options.allowedNamespaces ?? [namespace]);

  async function opened(payload: Payload): Promise<Payload> {
    const envelope = readEnvelope(payload);
    if (!allowed.has(envelope.namespace)) throw new BrokenEnvelopeError('foreignNamespace', envelope.keyId);
    const key = await keys.find('payload', envelope.keyId);
    if (key === 'refused') throw new BrokenEnvelopeError('keyRefused', envelope.keyId);
    if (key === 'unknown') {
      options.onUnknownKey?.(envelope.keyId);
      throw new UnknownKeyError(envelope.keyId, 'payload');
    }
    return openEnvelope(envelope, key);
  }

  async function decoded(payload: Payload): Promise<Payload> {
    try {
      const inner = isEncrypted(payload) ? await opened(payload) : payload;
      // What was encrypted is checked too: whoever has a key may still write an encoding that nobody here reads.
      requireReadable(inner);
      if (options.refusesClear && inner === payload) refuseClear(payload);
      return inner;
    } catch (error) {
      if (!(error instanceof BrokenEnvelopeError)) throw error;
      if (mode === 'client') throw new UndecodablePayloadError(error.reason, error.keyId);
      options.onUndecodable?.(error.reason);
      return markerOf(error.reason);
    }
  }

  return {
    encode: (payloads) => {
      const key = keys.current('payload');
      return Promise.all(payloads.map((payload) => sealPayload(payload, key, namespace)));
    },
    decode: (payloads) => Promise.all(payloads.map(decoded)),
  };
}

/**
 * Whether a payload, as the server has it, came encrypted. It says nothing of whether it can be opened: whoever needs
 * both also looks at what the codec made of it.
 */
export function wasEncrypted(payload: Payload | null | undefined): boolean {
  return isEncrypted(payload);
}

function markerOf(reason: UndecodableReason): Payload {
  return {
    metadata: { encoding: Buffer.from('json/plain') },
    data: Buffer.from(JSON.stringify(undecodable(reason))),
  };
}

/** @param payload that can be read */
function refuseClear(payload: Payload): void {
  if (encodingOf(payload) !== 'json/plain') return;
  if (mayLeadToPosting(JSON.parse(bytesOf(payload.data).toString('utf8')))) throw new BrokenEnvelopeError('inTheClear');
}

/** What the SDK's own converter, which runs in the workflow's sandbox and throws there, will turn into a value. */
function requireReadable(payload: Payload): void {
  switch (encodingOf(payload)) {
    case 'binary/null':
    case 'binary/plain':
      return;
    case 'json/plain':
      if (!isJson(bytesOf(payload.data))) throw new BrokenEnvelopeError('unparsable');
      return;
    default:
      throw new BrokenEnvelopeError('foreignEncoding');
  }
}

function isJson(data: Buffer): boolean {
  // The sandbox has a decoder of its own; of valid UTF-8 alone both make the same text.
  if (!isUtf8(data)) return false;
  try {
    return isShallow(JSON.parse(data.toString('utf8')), MAX_JSON_DEPTH);
  } catch {
    // Its message quotes the input.
    return false;
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const inner of Object.values(value)) if (!isShallow(inner, levels - 1)) return false;
  return true;
}
