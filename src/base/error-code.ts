/** Reads the codes of errors of the system and of TLS. Their messages would contain a path, or a value. */

/** Returns `ENOENT` and the like; `otherwise` for an error without a code. */
export function getErrorCode(error: unknown, otherwise = 'unreadable'): string {
  return error instanceof Error && 'code' in error && error.code !== undefined ? String(error.code) : otherwise;
}

/** OpenSSL's names for problems of a certificate, and Node's for a handshake without agreement. */
const TLS_REFUSAL =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_CERT_|ERROR_IN_CRL_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|HOSTNAME_MISMATCH$)/;

/** Says whether the two sides could not agree on a trusted connection. It means something only if nothing was written. */
export function isTlsRefusal(error: unknown): boolean {
  return TLS_REFUSAL.test(getErrorCode(error, ''));
}
