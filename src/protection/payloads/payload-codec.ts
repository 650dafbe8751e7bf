/**
 * The payload codec (docs/protection.md). Encrypts what Temporal stores, and keeps any payload that Temporal returns
 * from stopping a worker.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { isRecord } from '../../base/is-record.ts';
import { parseJson } from '../../base/json-safety.ts';
import { MESSAGES } from '../../messages/all-messages.ts';
import type { Message } from '../../messages/message.ts';
import { createUndecodable, type UndecodableReason } from '../../model/undecodable.ts';
import { decrypt, encrypt } from '../aead.ts';
import { SealBrokenError, UndecodablePayloadError, UnknownKeyError } from '../errors.ts';
import { KEY_ID_FORM, type PayloadKeys, type RingKey } from '../keys/key-ring.ts';

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

// One encrypted payload: its metadata, bytes and authenticated data. See docs/payload-format.md.

/**
 * The start of each deflate window, so that a message of a hundred bytes shrinks too (docs/payload-format.md). It holds
 * the names and fixed words of this project's messages. The most frequent come last, where they cost the fewest bits.
 *
 * Part of the payload format: never changed once payloads were written with it. A new dictionary needs a new method
 * byte. A name that no message has any more, such as `refusalsAfterPosting`, only costs a few bytes of the window.
 */
export const PAYLOAD_DICTIONARY_1 = Buffer.from(
  [
    '{"problems":[{"path":"/applicants/0/","rule":"must be "}]}',
    '"message":"Activity task failed","stack_trace":"ApplicationFailure: Error: \\n    at "',
    '"open for further shares""checking the input""recording the decision""recording 2 consents""looking up the inquiry"',
    '"gate before PRECLOSE: waiting for advance, P30D at the most""gate before PREAPP: waiting for advance, P"',
    '"share S1: waiting for the consent of 1A, 2A""waiting for a decision on PREQUAL attempt 1"',
    '"SECONDUSE · share S1 · attempt 1""PRECLOSE · attempt 1""PREAPP · attempt 1""PREQUAL · amended 1 · attempt 1"',
    '"profile":"default","gates":{"PREAPP":{"pass":"manual","expiresAfter":"P30D"},"PRECLOSE":{"pass":"auto"}},',
    '"onNoRecord":"continue","sharesOpenFor":"P","awaitConsentFor":"P30D","consentValidFor":"P90D","reportOf":"',
    '"decision":"revoked","denied","postedSharesFlagged":0,"refusalsAfterPosting":[],"kind":"recorded"',
    '"decisionId":"","action":"resend","accept","amend","abandon","by":"operator","reason":"","providerSaid":"notPosted"',
    '"failureType":"OutcomeUnknown","httpStatus":50,"since":"2026-","allowedActions":["resend","accept","abandon"]',
    '"holds":[{"customerTraceNumber":"","productCode":"","failureType":"RequestRefused","attempts":1,"claimed":true,',
    '"amends":"","flagged":"ssnMismatch","retryAfterMs":1000,"waitMs":,"runId":"","tokenFetchedAfter":"2026-',
    '"kind":"latest","latest":{"attempt":1,"state":"unknown","claimedAt":"2026-',
    '{"accepted":true,"duplicate":false,"status":{"journeyId":"","environment":"production","state":"waitingAtGate",',
    '"waitingFor":"PREAPP","stages":[{"productCode":"PREQUAL","state":"record","attempts":1,"customerTraceNumber":"PQ',
    '","reportReferenceNumber":""},{"productCode":"PREAPP","state":"pending","attempts":0},{"productCode":"PRECLOSE",',
    '"state":"pending","attempts":0}],"shares":[{"shareId":"S1","state":"awaitingConsent","waitingFor":["1A","2A"]}],',
    '"holds":[],"refusedMessages":[],"refusedMessagesTotal":0}}',
    '{"environment":"production","profile":"default","customerId":"","profileFingerprint":"","ledgerId":"ledger-',
    '","settings":{"giveUpAfterMs":86400000,"backoffInitialMs":1000,"backoffMaxMs":300000,"retryAfterMaxMs":3600000,',
    '"sendByMs":5000,"submitTimeoutMs":15000,"heartbeatTimeoutMs":10000},"searchAttributes":["JourneyStage",',
    '"NeedsAttention","EndUserCode","CustomerTraceNumber"],"token":"ready"}',
    '"outcome":"completed","stages":[{"productCode":"PRECLOSE","state":"record","attempts":1,"customerTraceNumber":"PC',
    '{"input":{"journeyId":"","endUserCode":"","permissiblePurposeCodes":{"PREQUAL":"01","PREAPP":"01","PRECLOSE":"01",',
    '"SECONDUSE":"02"},"applicants":[{"applicantId":"1A","names":[{"first":"","middle":"","last":"","gen":""}],"ssn":"',
    '","dob":"19","phones":[{"phoneNumber":"","phoneType":"MOBL"}],"emailAddress":"@","ipAddress":"","addresses":[{',
    '"addressIdentifier":"C","line1":"","line2":"","city":"","state":"","zip":"","zip4":""}]}],"stages":["PREQUAL",',
    '"PREAPP","PRECLOSE"],"shares":[{"shareId":"S1","endUserCode":"","endUser":"","permissiblePurposeCode":"02"}]}}',
    '{"ledgerId":"ledger-","consents":[{"journeyId":"","shareId":"S1","consentId":"","decision":"granted","decidedAt":',
    '"2026-","secondaryUser":{"endUserCode":""},"evidence":{"method":"web","textVersion":"v1","capturedAt":"2026-',
    '","reference":""},"applicantId":"1A","receivedAt":"2026-',
    '{"inquiry":{"customerTraceNumber":"SU","environment":"sandbox","profile":"default","customerId":"","workflowType":',
    '"lendingJourney","callerId":"","productCode":"SECONDUSE","ordinal":0,"shareId":"S1","endUserCode":"',
    '","permissiblePurposeCode":"01"},"attempt":1,"consents":[],"applicants":[{"applicantId":"1A","names":[{"first":"',
    '"run":{"environment":"sandbox","profile":"default","customerId":"","profileFingerprint":"","ledgerId":"ledger-',
    '{"kind":"answered","attempt":1,"answer":{"kind":"outcome","outcome":"record","returnCode":"Record","reference":{',
    '"reportReferenceNumber":"","requestedAt":"2026-","applicants":[{"applicantId":"1A","consumerId":""},{"applicantId":',
    '"2A","consumerId":"","outcome":"noRecord","returnCode":"No Record"}]}},"recorded":true,"requestedAt":"2026-',
    '{"journeyId":"","to":"PRECLOSE"}"PREQUAL · attempt 1"',
    // A Payload as protobuf: its metadata, and the tag of its data.
    '\n\u0016\n\bencoding\u0012\njson/plain\u0012',
  ].join(''),
  'utf8',
);

/** The value of `encoding`: the kind of the payload and the version of the format. */
export const ENCRYPTED_ENCODING = 'binary/encrypted-cj1';

const KEY_ID = 'key-id';
const NAMESPACE = 'namespace';

const CHECK_BYTES = 4;
/** Check, nonce, method byte and tag, with an empty content. */
const SMALLEST_BYTES = CHECK_BYTES + 12 + 1 + 16;
/** Limits a payload before encryption. The server takes 2 MB on the wire; a larger inflated payload is an attack. */
const MAX_INNER_BYTES = 16 * 1024 * 1024;
/** Above this size compression runs outside the event loop, which it would block for more than a millisecond. */
const INLINE_BYTES = 64 * 1024;

/** How the inner payload is stored: the first encrypted byte. */
const METHOD = { plain: 0, deflateDictionary1: 1 } as const;

const inflateInPool = promisify(inflateRaw);
const deflateInPool = promisify(deflateRaw);
const WireFormat = proto.temporal.api.common.v1.Payload;

/** Temporal's own rules for namespaces are stricter. This one keeps NUL and line breaks out. */
const NAMESPACE_FORM = /^[!-~]{1,255}$/;

/** The clear part of an encrypted payload. It is authenticated only when the payload is opened. */
interface PayloadEnvelope {
  keyId: string;
  namespace: string;
  /** Nonce, ciphertext, tag. */
  sealed: Uint8Array;
}

/** Returns true if a payload came encrypted in our format, as the server has it. It may still be impossible to open. */
export function wasEncrypted(payload: Payload | null | undefined): boolean {
  return readEncoding(payload) === ENCRYPTED_ENCODING;
}

/** The value of `encoding`; the empty text where it is missing. */
export function readEncoding(payload: Payload | null | undefined): string {
  return toText(payload?.metadata?.encoding) ?? '';
}

/** Encrypts the whole payload, including its metadata. */
export async function sealPayload(payload: Payload, key: RingKey, namespace: string): Promise<Payload> {
  const { bound, check } = toAssociatedData(key.id, namespace);
  const sealed = encrypt(key.secret, await pack(WireFormat.encode(payload).finish()), bound);
  return {
    metadata: { encoding: utf8(ENCRYPTED_ENCODING), [KEY_ID]: utf8(key.id), [NAMESPACE]: utf8(namespace) },
    data: Buffer.concat([check, sealed]),
  };
}

/** Reads the envelope. Throws `UndecodablePayloadError` where it is incomplete or damaged. */
export function readPayloadEnvelope(payload: Payload): PayloadEnvelope {
  const keyId = toText(payload.metadata?.[KEY_ID]);
  const namespace = toText(payload.metadata?.[NAMESPACE]);
  const data = toBytes(payload.data);
  if (keyId === undefined || namespace === undefined || data.byteLength < SMALLEST_BYTES) {
    throw new UndecodablePayloadError('malformed');
  }
  // Tells a damaged key id from a key that may still come. Only the tag reveals a forgery.
  if (toAssociatedData(keyId, namespace).check.compare(data, 0, CHECK_BYTES) !== 0)
    throw new UndecodablePayloadError('tampered');
  // Parses after the check, so that a damaged payload is not reported as malformed.
  if (!KEY_ID_FORM.test(keyId) || !NAMESPACE_FORM.test(namespace)) throw new UndecodablePayloadError('malformed');
  return { keyId, namespace, sealed: data.subarray(CHECK_BYTES) };
}

/** Opens the encrypted payload. Throws `UndecodablePayloadError` if anything was changed. */
export async function openEnvelope({ keyId, namespace, sealed }: PayloadEnvelope, key: RingKey): Promise<Payload> {
  try {
    const inner = await unpack(decrypt(key.secret, sealed, toAssociatedData(keyId, namespace).bound));
    return WireFormat.decode(copyBytes(inner));
  } catch (error) {
    throw new UndecodablePayloadError(error instanceof SealBrokenError ? 'tampered' : 'malformed', keyId);
  }
}

interface Bound {
  text: string;
  /** The data that the tag authenticates beside the content. */
  bound: Buffer;
  check: Buffer;
}

/** Almost every payload of a process has the key and the namespace of the one before it. */
let latest: Bound | undefined;

/** Unambiguous, because none of the three can contain a NUL. */
function toAssociatedData(keyId: string, namespace: string): Bound {
  const text = `${ENCRYPTED_ENCODING}\0${keyId}\0${namespace}`;
  if (latest?.text === text) return latest;
  const bound = utf8(text);
  latest = { text, bound, check: createHash('sha256').update(bound).digest().subarray(0, CHECK_BYTES) };
  return latest;
}

async function pack(inner: Uint8Array): Promise<Buffer> {
  // One buffer of the needed size: with the default of 16 kB a small message takes almost twice as long.
  const options = { dictionary: PAYLOAD_DICTIONARY_1, chunkSize: inner.byteLength + 64 };
  const deflated =
    inner.byteLength <= INLINE_BYTES ? deflateRawSync(inner, options) : await deflateInPool(inner, options);
  // A payload over MAX_INNER_BYTES would not be inflated again. The server refuses it in any case.
  const pays = deflated.byteLength < inner.byteLength && inner.byteLength <= MAX_INNER_BYTES;
  return pays
    ? Buffer.concat([Buffer.of(METHOD.deflateDictionary1), deflated])
    : Buffer.concat([Buffer.of(METHOD.plain), inner]);
}

async function unpack(bytes: Uint8Array): Promise<Uint8Array> {
  const body = bytes.subarray(1);
  switch (bytes[0]) {
    case METHOD.plain:
      return body;
    case METHOD.deflateDictionary1: {
      const options = { dictionary: PAYLOAD_DICTIONARY_1, maxOutputLength: MAX_INNER_BYTES };
      return body.byteLength <= INLINE_BYTES / 8 ? inflateRawSync(body, options) : inflateInPool(body, options);
    }
    default:
      throw new UndecodablePayloadError('malformed');
  }
}

/**
 * Copies the bytes out of zlib's view into 16 kB or more. The SDK keeps the last decoded bytes of each cached run, and
 * the whole view would be kept along with them.
 */
function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

/** A view of the bytes. For an empty field the protobuf library returns `[]`, contrary to its types. */
export function toBytes(bytes: Uint8Array | null | undefined): Buffer {
  if (!(bytes instanceof Uint8Array)) return Buffer.alloc(0);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function toText(bytes: Uint8Array | null | undefined): string | undefined {
  return bytes ? toBytes(bytes).toString('utf8') : undefined;
}
