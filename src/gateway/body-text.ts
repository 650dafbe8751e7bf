import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { RefusalBody } from '../model/inquiry.ts';

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['br', promisify(brotliDecompress)],
  ['deflate', promisify(inflate)],
]);

type ContentEncoding = string | string[] | undefined;

/**
 * Returns the text of an answer's body. `null` if it is unreadable: in an unknown encoding, over `maxDecodedBytes`,
 * damaged, or not UTF-8.
 *
 * The client asks for `identity`, since compression is nowhere in the interface. A compressed answer still means that
 * the request was posted, so it is read rather than turned into a hold.
 */
export async function readBodyText(
  body: Buffer,
  contentEncoding: ContentEncoding,
  maxDecodedBytes: number,
): Promise<string | null> {
  try {
    const decode = DECODERS.get(normalizeEncoding(contentEncoding));
    if (!decode && !isPlain(contentEncoding)) return null;
    const bytes = decode ? await decode(body, { maxOutputLength: maxDecodedBytes }) : body;
    if (bytes.length > maxDecodedBytes) return null;
    // `fatal`: a replacement character would change a name or a number. Strips a BOM.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The messages of zlib and the decoder do not help an operator.
    return null;
  }
}

/**
 * Returns the body of a refusal for operators. It decides nothing. Never rejects. Plain text that broke off, or is not
 * UTF-8, is read as far as it goes. `undefined` if there is no readable body.
 */
export async function readRefusalBody(
  { body, headers, complete }: { body: Buffer; headers: Record<string, ContentEncoding>; complete: boolean },
  maxDecodedBytes: number,
): Promise<RefusalBody | undefined> {
  const encoding = headers['content-encoding'];
  const whole = complete ? await readBodyText(body, encoding, maxDecodedBytes) : null;
  const part = isPlain(encoding) ? new TextDecoder('utf-8').decode(body.subarray(0, maxDecodedBytes)) : '';
  const text = whole ?? part;
  return text.trim() === '' ? undefined : { text, isWhole: whole !== null };
}

function normalizeEncoding(contentEncoding: ContentEncoding): string {
  return String(contentEncoding ?? '')
    .trim()
    .toLowerCase();
}

function isPlain(contentEncoding: ContentEncoding): boolean {
  return ['', 'identity'].includes(normalizeEncoding(contentEncoding));
}
