/** The caller of the API, by the claims of its token: what it may do, for which runs, and in whose name. */
import { HIDDEN_CHARACTER } from '../base/hidden-characters.ts';
import { Refusal } from '../http/refusal.ts';
import {
  createTokenVerifier,
  type Identity,
  readClaimWords,
  type TokenSettings,
  type TokenVerifier,
} from '../http/token-verifier.ts';
import { isScope, type Scope } from '../operations/scopes.ts';
import type { SignedInBy } from './session/credentials.ts';

/** All of them, or those that are listed. */
export type Reach = '*' | ReadonlySet<string>;

export interface ApiCaller extends Identity {
  scopes: ReadonlySet<Scope>;
  /** Names of gateway profiles. */
  profiles: Reach;
  /** Codes, or names, of end users. */
  endUsers: Reach;
  /** The person or program that acts. `undefined` if the claim cannot be used as a name. */
  by: string | undefined;
  /** A program that has direct access to the ledger calls operations in its own process, without a token. */
  isLocal?: true;
}

/** A caller, and how its request carried the token. */
export interface SignedInCaller extends ApiCaller {
  signedInBy: SignedInBy;
}

export const MAX_BY_CHARACTERS = 100;

/**
 * @param byClaim the claim that names who acts
 * @throws Error where a key set file cannot be used
 */
export function createApiTokenVerifier(settings: TokenSettings, byClaim: string): TokenVerifier<ApiCaller> {
  return createTokenVerifier(settings, (identity, claim) => ({
    ...identity,
    scopes: new Set(readClaimWords(claim('scope')).filter(isScope)),
    profiles: readReach(claim('profiles')),
    endUsers: readReach(claim('end_users')),
    by: readCallerName(claim(byClaim)),
  }));
}

/** Takes a list, or `*`. It splits no text at spaces, since an end user's name may hold one. No claim is no reach. */
function readReach(claim: unknown): Reach {
  const names = Array.isArray(claim) ? claim.filter((name) => typeof name === 'string') : claim === '*' ? ['*'] : [];
  return names.includes('*') ? '*' : new Set(names);
}

/** Returns the name for `by` of every message: 1 to 100 characters, none of them hidden. */
function readCallerName(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || claim.trim() === '' || claim.length > MAX_BY_CHARACTERS) return undefined;
  return HIDDEN_CHARACTER.test(claim) ? undefined : claim;
}

/** @throws Refusal 403 */
export function requireScope({ scopes }: ApiCaller, scope: Scope): void {
  if (!scopes.has(scope)) throw new Refusal('scope', `this takes the scope ${scope}`);
}

/** @throws Refusal 403 where the token names nobody in a form that a message takes */
export function requireActingName({ by }: ApiCaller): string {
  if (by === undefined) {
    throw new Refusal('by', `the token must say who acts, in 1 to ${MAX_BY_CHARACTERS} characters`);
  }
  return by;
}
