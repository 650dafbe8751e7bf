import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw } from 'node:zlib';
import type { RefusalBody } from '../model/inquiry.ts';

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
} as const;

const BR_FLUSH = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

const deflate = promisify(inflate);
const rawDeflate = promisify(inflateRaw);

/**
 * Returns the text of an answer's body. `null` if it is unreadable: in an unknown encoding, over `maxDecodedBytes`,
 * damaged, or not UTF-8.
 *
 * The client asks for `identity`, since compression is nowhere in the interface. A compressed answer still means that
 * the request was posted, so it is read rather than turned into a hold.
 */
export async function readBodyText(
  body: Buffer,
  contentEncoding: string | string[] | undefined,
  maxDecodedBytes: number,
): Promise<string | null> {
  try {
    const bytes = await decodeBody(body, String(contentEncoding ?? '').trim(), maxDecodedBytes);
    if (bytes === null || bytes.length > maxDecodedBytes) return null;
    // `fatal`: a replacement character would change a name or a number. Strips a BOM.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The messages of zlib and the decoder do not help an operator.
    return null;
  }
}

/** Makes zlib return the part that it has decoded when the input breaks off. */
const AS_FAR_AS_IT_GOES = { finishFlush: constants.Z_SYNC_FLUSH };

/**
 * Returns the body of a refusal for operators. It decides nothing. Never rejects.
 *
 * `undefined` if there is no readable body: none came, it is in an unknown encoding, or it is compressed and over
 * `maxDecodedBytes`.
 */
export async function readRefusalBody(
  { body, headers, complete }: { body: Buffer; headers: Record<string, unknown>; complete: boolean },
  maxDecodedBytes: number,
): Promise<RefusalBody | undefined> {
  if (body.length === 0) return undefined;
  const encoding = headers['content-encoding'];
  const whole = complete ? await readBodyText(body, String(encoding ?? ''), maxDecodedBytes) : null;
  const text = whole ?? (await decodeReadable(body, String(encoding ?? ''), maxDecodedBytes));
  return text.trim() === '' ? undefined : { text, isWhole: whole !== null };
}

/** Decodes with a replacement character in place of bytes that are not UTF-8. */
async function decodeReadable(body: Buffer, encoding: string, maxDecodedBytes: number): Promise<string> {
  try {
    const bytes = await decodeBody(body, encoding.trim(), maxDecodedBytes, AS_FAR_AS_IT_GOES);
    return new TextDecoder('utf-8').decode(bytes?.subarray(0, maxDecodedBytes) ?? new Uint8Array());
  } catch {
    return '';
  }
}

/** `null`: in an unknown encoding. `flush` reads what broke off as far as it goes. Rejects with the errors of zlib. */
async function decodeBody(
  body: Buffer,
  encoding: string,
  maxOutputLength: number,
  flush: { finishFlush?: number } = {},
): Promise<Buffer | null> {
  const name = encoding.toLowerCase();
  if (name === '' || name === 'identity') return body;
  if (name === 'br')
    return decoders.br(body, { maxOutputLength, ...(flush.finishFlush === undefined ? {} : BR_FLUSH) });
  if (name === 'gzip' || name === 'x-gzip') return decoders[name](body, { maxOutputLength, ...flush });
  if (name !== 'deflate') return null;
  // "deflate" means zlib's format; some servers send the bare stream (RFC 9110, 8.4.1.2).
  const isZlib = ((body[0] ?? 0) & 0x0f) === 8;
  return isZlib ? deflate(body, { maxOutputLength, ...flush }) : rawDeflate(body, { maxOutputLength, ...flush });
}
