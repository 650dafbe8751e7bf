const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the text, or `null` if it is not UTF-8. A byte-order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return DECODER.decode(bytes);
  } catch {
    return null;
  }
}
