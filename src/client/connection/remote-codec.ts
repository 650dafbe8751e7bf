/** The payload codec of a client that holds no key: the codec server encrypts and decrypts for it. */
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { jsonValueOf, payloadJson, readPayloads } from '../../http/payload-json.ts';
import { isUndecodable } from '../../model/undecodable.ts';
import { UndecodablePayloadError } from '../../protection/errors.ts';
import { FAILURE_CONVERTER_PATH } from '../../protection/payloads/data-converter.ts';
import { wasEncrypted } from '../../protection/payloads/payload-codec.ts';
import { bytesOf } from '../../protection/payloads/payload-envelope.ts';
import { hasBullets } from '../../protection/redaction/redaction.ts';
import type { CodecServerConnection } from './codec-server-connection.ts';
import { CodecServerError } from './codec-server-error.ts';

/** In one request: a tenth of what the server takes. */
const MAX_PAYLOADS = 1_000;
/** Half of what it takes by default; a single payload may be longer. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Failures are encoded too, as with keys of one's own. */
export function createRemoteDataConverter(connection: CodecServerConnection): DataConverter {
  return { payloadCodecs: [createRemoteCodec(connection)], failureConverterPath: FAILURE_CONVERTER_PATH };
}

/** `CodecServerError` of both; `UndecodablePayloadError` of `decode`, as the codec with keys throws it. */
export function createRemoteCodec(connection: CodecServerConnection): PayloadCodec {
  return {
    async encode(payloads) {
      if (payloads.some(({ data }) => hasBullets(bytesOf(data).toString('utf8')))) throw new CodecServerError('masked');
      const encoded = await converted(connection, '/encode', payloads);
      // A proxy or another server may have answered: nothing goes to Temporal in the clear.
      if (!encoded.every(wasEncrypted)) throw new CodecServerError('unexpected');
      return encoded;
    },
    async decode(payloads) {
      // What is not encrypted is not sent to the codec server.
      const decoded = (await converted(connection, '/decode', payloads.filter(wasEncrypted))).values();
      return payloads.map((payload) => (wasEncrypted(payload) ? readable(decoded.next().value) : payload));
    },
  };
}

async function converted(
  connection: CodecServerConnection,
  route: '/encode' | '/decode',
  payloads: readonly Payload[],
): Promise<Payload[]> {
  const result: Payload[] = [];
  // One after the other: the server has other callers.
  for (const batch of batchesOf(payloads)) result.push(...(await convertedBatch(connection, route, batch)));
  return result;
}

/** As JSON, in parts that the server takes. */
function batchesOf(payloads: readonly Payload[]): string[][] {
  const batches: string[][] = [];
  let bytes = 0;
  for (const payload of payloads) {
    const text = JSON.stringify(payloadJson(payload));
    const batch = batches.at(-1);
    if (!batch || batch.length === MAX_PAYLOADS || bytes + text.length > MAX_BODY_BYTES) {
      batches.push([text]);
      bytes = text.length;
    } else {
      batch.push(text);
      bytes += text.length;
    }
  }
  return batches;
}

/** Halved for as long as the server finds it too large: its limits are its own, and so is what payloads inflate to. */
async function convertedBatch(
  connection: CodecServerConnection,
  route: '/encode' | '/decode',
  batch: readonly string[],
): Promise<Payload[]> {
  try {
    const text = await connection.ask(route, `{"payloads":[${batch.join(',')}]}`);
    return payloadsIn(text, batch.length);
  } catch (error) {
    const isTooLarge = error instanceof CodecServerError && error.code === 'tooLarge';
    if (!isTooLarge || batch.length === 1) throw error;
    const half = Math.ceil(batch.length / 2);
    return [
      ...(await convertedBatch(connection, route, batch.slice(0, half))),
      ...(await convertedBatch(connection, route, batch.slice(half))),
    ];
  }
}

function payloadsIn(text: string | null, count: number): Payload[] {
  try {
    const payloads = readPayloads(text, count).map(({ payload }) => payload);
    if (payloads.length === count) return payloads;
  } catch {
    // Its message blames a request, and here the answer is wrong.
  }
  throw new CodecServerError('unexpected');
}

/** Throws where the server shows a marker in place of a payload that it could not decode: it is not what was sent. */
function readable(payload: Payload | undefined): Payload {
  if (!payload || wasEncrypted(payload)) throw new CodecServerError('unexpected');
  const [value] = markerIn(payload) ?? [];
  if (isUndecodable(value)) throw new UndecodablePayloadError(value.undecodable.reason);
  if (isUnknownKey(value)) throw new CodecServerError('keyUnknown');
  return payload;
}

const MARKER = Buffer.from('{"undecodable":');

/** Parsed only where it begins as the marker does: most payloads are long, and none of ours do. */
function markerIn({ data }: Payload): [unknown] | null {
  const bytes = bytesOf(data);
  return bytes.subarray(0, MARKER.length).equals(MARKER) ? jsonValueOf(bytes) : null;
}

/** As people are shown it, who have no use for an error. */
function isUnknownKey(value: unknown): boolean {
  const { undecodable } = (value ?? {}) as { undecodable?: { reason?: unknown } };
  return undecodable?.reason === 'unknownKey';
}
