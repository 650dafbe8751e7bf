import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
} as const;

const deflate = promisify(inflate);
const rawDeflate = promisify(inflateRaw);

/**
 * The text of an answer's body. `null` where it is unreadable: in an unknown encoding, over `maxDecodedBytes`, damaged,
 * or not UTF-8.
 *
 * The client asks for `identity`, since compression is nowhere in the interface. A compressed answer still means that
 * the request was posted: it is read rather than turned into a hold.
 */
export async function bodyText(
  body: Buffer,
  contentEncoding: string | string[] | undefined,
  maxDecodedBytes: number,
): Promise<string | null> {
  try {
    const bytes = await decoded(body, String(contentEncoding ?? '').trim(), maxDecodedBytes);
    if (bytes === null || bytes.length > maxDecodedBytes) return null;
    // `fatal`: a replacement character would change a name or a number. Strips a BOM.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The errors of zlib and the decoder say nothing that helps a person.
    return null;
  }
}

async function decoded(body: Buffer, encoding: string, maxOutputLength: number): Promise<Buffer | null> {
  const name = encoding.toLowerCase();
  if (name === '' || name === 'identity') return body;
  if (name === 'gzip' || name === 'x-gzip' || name === 'br') return decoders[name](body, { maxOutputLength });
  if (name !== 'deflate') return null;
  // "deflate" means zlib's format; some servers send the bare stream (RFC 9110, 8.4.1.2).
  const isZlib = ((body[0] ?? 0) & 0x0f) === 8;
  return isZlib ? deflate(body, { maxOutputLength }) : rawDeflate(body, { maxOutputLength });
}
