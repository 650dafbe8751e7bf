/**
 * Issues, checks and revokes the access tokens: JWTs (interface 2.2), signed with a key that lives as long as the
 * issuer.
 */
import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';

/** Space-separated, as in the interface's sample (2.2). */
const SCOPE = 'grs key-management';
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
  readonly #key = randomBytes(32);
  readonly #issued = new Map<string, IssuedToken>();
  #count = 0;

  constructor(audience: string, lifetimeSeconds: number) {
    this.#audience = audience;
    this.#lifetimeSeconds = lifetimeSeconds;
  }

  get issued(): readonly IssuedToken[] {
    return [...this.#issued.values()];
  }

  /**
   * A token response (interface 2.2). One with `alreadyExpired` shows the usual `expires_in`, but the gateway refuses
   * it.
   */
  async issue(clientId: string, alreadyExpired = false): Promise<Record<string, string | number>> {
    // Counted before it is signed: two requests at once get tokens of their own.
    this.#count++;
    const tokenId = `T${this.#count}`;
    const issuedAt = Math.floor(Date.now() / 1000) - (alreadyExpired ? this.#lifetimeSeconds + 60 : 0);
    const expiresAt = issuedAt + this.#lifetimeSeconds;
    const token = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setIssuer(ISSUER)
      .setSubject(clientId)
      .setAudience(this.#audience)
      .setJti(tokenId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#key);
    this.#issued.set(token, {
      tokenId,
      issuedAt: new Date(issuedAt * 1000).toISOString(),
      expiresAt: new Date(expiresAt * 1000).toISOString(),
      revoked: false,
    });
    return { access_token: token, scope: SCOPE, expires_in: this.#lifetimeSeconds, token_type: 'Bearer' };
  }

  /** Judges an `Authorization` header (interface 5, step 3). */
  check(authorization: string | undefined): TokenCheck {
    const token = /^Bearer ([\w.~+/=-]+)$/.exec(authorization ?? '')?.[1];
    if (token === undefined) return { ok: false, why: 'missing' };
    const issued = this.#issued.get(token);
    if (!issued) return { ok: false, why: 'invalid' };
    if (issued.revoked) return { ok: false, why: 'revoked' };
    return Date.parse(issued.expiresAt) <= Date.now()
      ? { ok: false, why: 'expired' }
      : { ok: true, tokenId: issued.tokenId };
  }

  /** Revokes one token, or every token issued so far. Returns how many were still valid. */
  revoke(tokenId?: string): number {
    const revoked = this.issued.filter((token) => !token.revoked && (tokenId ?? token.tokenId) === token.tokenId);
    for (const token of revoked) token.revoked = true;
    return revoked.length;
  }
}
