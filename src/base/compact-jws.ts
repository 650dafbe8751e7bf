/** The form of a compact JWS (RFC 7515, 7.1), as far as the shape of a message shows it. */

/** Limits everything. A message over seven ids with two signatures' worth of headers is far shorter. */
export const MAX_PROOF_LENGTH = 8_192;

export const COMPACT_JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
