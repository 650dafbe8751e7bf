/** Seals and opens one encrypted payload: its metadata, bytes and authenticated data. See docs/payload-format.md. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { decrypt, encrypt } from '../aead.ts';
import { SealBrokenError, UndecodablePayloadError } from '../errors.ts';
import { KEY_ID_FORM, type RingKey } from '../keys/key-ring.ts';

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
