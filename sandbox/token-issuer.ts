/**
 * Issues, checks and revokes the access tokens: JWTs (interface 2.2), signed with a key that lives as long as the
 * issuer.
 */
import { type CryptoKey, generateSecret, jwtVerify, SignJWT } from 'jose';
import { JWTExpired } from 'jose/errors';

/** Space-separated, as in the interface's sample (2.2). */
export const SCOPE = 'grs key-management';
const ISSUER = 'credit-journey-sandbox';
const ALGORITHM = 'HS256';

/** An issued token, as `GET /_sandbox/tokens` lists it; the token itself is not stored. */
export interface IssuedToken {
  tokenId: string;
  issuedAt: string;
  expiresAt: string;
  revoked: boolean;
}

export type TokenCheck =
  | { ok: true; tokenId: string }
  | { ok: false; why: 'missing' | 'invalid' | 'expired' | 'revoked' };

export class TokenIssuer {
  readonly #audience: string;
  readonly #lifetimeSeconds: number;
  readonly #key: CryptoKey | Uint8Array;
  #issued: IssuedToken[] = [];

  private constructor(audience: string, lifetimeSeconds: number, key: CryptoKey | Uint8Array) {
    this.#audience = audience;
    this.#lifetimeSeconds = lifetimeSeconds;
    this.#key = key;
  }

  static async create(audience: string, lifetimeSeconds: number): Promise<TokenIssuer> {
    return new TokenIssuer(audience, lifetimeSeconds, await generateSecret(ALGORITHM));
  }

  get issued(): readonly IssuedToken[] {
    return this.#issued;
  }

  /**
   * A token response (interface 2.2). One with `alreadyExpired` shows the usual `expires_in`, but the gateway refuses
   * it.
   */
  async issue(clientId: string, alreadyExpired = false): Promise<Record<string, string | number>> {
    const tokenId = `T${this.#issued.length + 1}`;
    const issuedAt = Math.floor(Date.now() / 1000) - (alreadyExpired ? this.#lifetimeSeconds + 60 : 0);
    const expiresAt = issuedAt + this.#lifetimeSeconds;
    this.#issued.push({
      tokenId,
      issuedAt: new Date(issuedAt * 1000).toISOString(),
      expiresAt: new Date(expiresAt * 1000).toISOString(),
      revoked: false,
    });
    const token = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setIssuer(ISSUER)
      .setSubject(clientId)
      .setAudience(this.#audience)
      .setJti(tokenId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#key);
    return { access_token: token, scope: SCOPE, expires_in: this.#lifetimeSeconds, token_type: 'Bearer' };
  }

  /** Judges an `Authorization` header (interface 5, step 3). */
  async check(authorization: string | undefined): Promise<TokenCheck> {
    const token = /^Bearer ([\w.~+/=-]+)$/.exec(authorization ?? '')?.[1];
    if (token === undefined) return { ok: false, why: 'missing' };
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        issuer: ISSUER,
        audience: this.#audience,
        algorithms: [ALGORITHM],
      });
      const issued = this.#issued.find(({ tokenId }) => tokenId === payload.jti);
      if (!issued) return { ok: false, why: 'invalid' };
      return issued.revoked ? { ok: false, why: 'revoked' } : { ok: true, tokenId: issued.tokenId };
    } catch (error) {
      return { ok: false, why: error instanceof JWTExpired ? 'expired' : 'invalid' };
    }
  }

  /** Revokes one token, or every token issued so far. Returns how many were still valid. */
  revoke(tokenId?: string): number {
    const revoked = this.#issued.filter((token) => !token.revoked && (tokenId ?? token.tokenId) === token.tokenId);
    for (const token of revoked) token.revoked = true;
    return revoked.length;
  }
}
