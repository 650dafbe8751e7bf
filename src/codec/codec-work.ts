/** `/encode` and `/decode`: between the protocol's JSON and the payload codec. */
import type { Payload, PayloadCodec } from '@temporalio/common';
import { surveyJson } from '../base/json-safety.ts';
import {
  encodeBase64,
  encodeJsonPayload,
  type PayloadJson,
  parseJsonValue,
  readPayloads,
  toPayloadJson,
} from '../http/payload-json.ts';
import { Refusal } from '../http/refusal.ts';
import type { Problem } from '../model/problems.ts';
import { createUndecodable, isUndecodable } from '../model/undecodable.ts';
import { UndecodablePayloadError, UnknownKeyError } from '../protection/errors.ts';
import { createPayloadCodec, readEncoding, toBytes, wasEncrypted } from '../protection/payloads/payload-codec.ts';
import { hasBullets, MASKED, readRedactedPointer, redact } from '../protection/redaction/redaction.ts';
import type { Permission } from './access.ts';
import type { CodecServerLimits, CodecServerOptions } from './settings.ts';

type CodecSettings = Required<Pick<CodecServerOptions, 'keys' | 'originNamespaces' | 'onUnknownKey'>> & {
  limits: CodecServerLimits;
};

/**
 * In the metadata of a payload that is given back as it came: it was never encrypted, and the codec server does not
 * read it.
 */
export const UNDECODABLE_METADATA = 'credit-journey-undecodable';

/** The payload codec has this limit, too. */
const MAX_JSON_DEPTH = 100;

export class CodecWork {
  readonly #settings: CodecSettings;
  readonly #codecs = new Map<string, PayloadCodec>();

  constructor(settings: CodecSettings) {
    this.#settings = settings;
  }

  /**
   * Every payload of the body encrypted, or none.
   *
   * @throws Refusal 400, 413 or 422 with JSON pointers
   */
  async encode(body: unknown, { namespace }: Permission): Promise<{ payloads: PayloadJson[] }> {
    const payloads = readPayloads(body, this.#settings.limits.payloads).map(({ payload }) => payload);
    const problems = payloads.flatMap((payload, index) => findEncodingProblems(payload, `/payloads/${index}`));
    if (problems.length > 0) {
      const [reason, message] = problems.some(({ rule }) => rule === NOT_MASKED)
        ? (['redacted', 'a masked value cannot be sent as input'] as const)
        : (['notEncodable', 'a payload could not be read again if it were encoded'] as const);
      throw new Refusal(reason, message, { problems: problems.slice(0, 20) });
    }
    return { payloads: (await this.#codec(namespace).encode(payloads)).map(toPayloadJson) };
  }

  /**
   * Each payload of the body decoded, and masked where the caller may not see all. What cannot be decoded is shown as
   * such: never dropped, never half.
   *
   * @throws Refusal 400 or 413, and 503 to a service whose payload waits for a key
   */
  async decode(body: unknown, permission: Permission) {
    const { limits } = this.#settings;
    const codec = this.#codec(permission.namespace);
    const payloads: PayloadJson[] = [];
    let undecodable = 0;
    let bytes = 0;
    // One after the other: what they inflate to is counted before the next.
    for (const { json, payload } of readPayloads(body, limits.payloads)) {
      const opened = await this.#open(codec, payload, json, permission);
      if ('shown' in opened) {
        undecodable += 1;
        payloads.push(opened.shown);
        continue;
      }
      bytes += toBytes(opened.inner.data).byteLength;
      if (bytes > limits.decodedBytes) {
        throw new Refusal('decoded', `decoded, this is more than ${limits.decodedBytes} bytes`);
      }
      payloads.push(toView(opened.inner, permission.view));
    }
    return { payloads, undecodable, revealed: permission.view === 'whole' };
  }

  async #open(
    codec: PayloadCodec,
    payload: Payload,
    json: PayloadJson,
    { isService }: Permission,
  ): Promise<{ inner: Payload } | { shown: PayloadJson }> {
    try {
      const [inner] = await codec.decode([payload]);
      return { inner: inner ?? {} };
    } catch (error) {
      if (error instanceof UnknownKeyError) {
        // A service would mistake the marker for the message, and the key may still arrive.
        if (isService) throw new Refusal('unknownKey', error.message, { retryAfterSeconds: 5 });
        return { shown: encodeJsonPayload({ undecodable: { reason: 'unknownKey', keyId: error.keyId } }) };
      }
      if (!(error instanceof UndecodablePayloadError)) throw error;
      if (wasEncrypted(payload)) return { shown: encodeJsonPayload(createUndecodable(error.reason)) };
      const mark = { [UNDECODABLE_METADATA]: encodeBase64(Buffer.from(error.reason)) };
      return { shown: { ...json, metadata: { ...json.metadata, ...mark } } };
    }
  }

  #codec(namespace: string): PayloadCodec {
    const { keys, originNamespaces, onUnknownKey } = this.#settings;
    let codec = this.#codecs.get(namespace);
    if (!codec) {
      const allowedNamespaces = [namespace, ...originNamespaces];
      codec = createPayloadCodec({ keys, namespace, allowedNamespaces, mode: 'client', onUnknownKey });
      this.#codecs.set(namespace, codec);
    }
    return codec;
  }
}

function toView(inner: Payload, view: Permission['view']): PayloadJson {
  if (view === 'whole') return toPayloadJson(inner);
  switch (readEncoding(inner)) {
    case 'binary/null':
      return toPayloadJson({ metadata: { encoding: Buffer.from('binary/null') } });
    case 'json/plain': {
      const parsed = parseJsonValue(inner.data);
      return encodeJsonPayload(parsed ? redact(parsed[0]) : MASKED);
    }
    default:
      return encodeJsonPayload(`${MASKED} (binary, ${toBytes(inner.data).byteLength} bytes)`);
  }
}

const NOT_MASKED = 'must not be a masked value: ask for the real one, or enter it again';

/** Finds payloads that no reader could decode once encrypted, and masked values that must not be sent. */
function findEncodingProblems(payload: Payload, path: string): Problem[] {
  const data = toBytes(payload.data);
  switch (readEncoding(payload)) {
    case 'binary/null':
      return [];
    case 'binary/plain':
      return hasBullets(data.toString('utf8')) ? [{ path: `${path}/data`, rule: NOT_MASKED }] : [];
    case 'json/plain':
      return findJsonProblems(data, `${path}/data`);
    default: {
      const rule = wasEncrypted(payload)
        ? 'must not be encrypted already'
        : 'must be json/plain, binary/plain or binary/null';
      return [{ path: `${path}/metadata/encoding`, rule }];
    }
  }
}

function findJsonProblems(data: Buffer, path: string): Problem[] {
  const parsed = parseJsonValue(data);
  if (!parsed) return [{ path, rule: 'must be JSON in UTF-8' }];
  const text = data.toString('utf8');
  if (surveyJson(text, new Set()).depth > MAX_JSON_DEPTH) {
    return [{ path, rule: `must nest at most ${MAX_JSON_DEPTH} levels` }];
  }
  if (isUndecodable(parsed[0])) return [{ path, rule: 'must not be the mark of a payload that cannot be decoded' }];
  const pointer = readRedactedPointer(parsed[0]);
  if (pointer !== null) return [{ path: `${path}${pointer}`, rule: NOT_MASKED }];
  // A member that is given twice, of which the parser kept the other one.
  return hasBullets(text) ? [{ path, rule: NOT_MASKED }] : [];
}
