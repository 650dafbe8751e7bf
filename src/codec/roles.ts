/** Who may do what (docs/protection.md): roles per namespace, and how much of a value each may see. */
import { forbidden } from '../http/refusal.ts';
import { type Identity, wordsIn } from '../http/token-verifier.ts';

/**
 * - `encode`: have payloads encrypted
 * - `decode-redacted`: people; see decoded payloads with what is personal masked
 * - `decode`: services; see everything
 * - `reveal`: people; as `decode-redacted`, and everything where they ask for it
 */
export const ROLES = ['encode', 'decode-redacted', 'decode', 'reveal'] as const;
export type Role = (typeof ROLES)[number];

/** The subject of a caller that knows the unguessable path. */
export const PATH_CALLER = 'path';

/** `subject` is `sub` of the token, or `PATH_CALLER`. */
export interface Caller extends Identity {
  /** Namespaces without a role are not in it. */
  roles: ReadonlyMap<string, ReadonlySet<Role>>;
}

export type RouteAction = 'encode' | 'decode';

/** How much is shown. */
export type View = 'whole' | 'redacted';

export interface Permission {
  namespace: string;
  view: View;
  /** A service cannot do without a payload that may be readable later; a person is shown that it is not. */
  isService: boolean;
}

interface PermissionRequest {
  caller: Caller;
  action: RouteAction;
  /** `X-Namespace`; absent where the caller did not say. */
  namespace: string;
  wantsReveal: boolean;
}

/**
 * The roles of a claim: `["default:decode-redacted", …]`, or the same with spaces between. Words of others' are passed
 * over.
 */
export function rolesIn(claim: unknown): Map<string, Set<Role>> {
  const roles = new Map<string, Set<Role>>();
  for (const word of wordsIn(claim)) {
    const at = word.lastIndexOf(':');
    const role = ROLES.find((one) => one === word.slice(at + 1));
    if (at <= 0 || role === undefined) continue;
    const namespace = word.slice(0, at);
    roles.set(namespace, (roles.get(namespace) ?? new Set()).add(role));
  }
  return roles;
}

/** @throws Refusal where the caller has no role for it there */
export function permit({ caller, action, namespace, wantsReveal }: PermissionRequest): Permission {
  const roles = caller.roles.get(namespace) ?? new Set<Role>();
  const may =
    action === 'decode'
      ? roles.has('decode') || roles.has('decode-redacted') || roles.has('reveal')
      : roles.has(action);
  if (!may) throw forbidden('role', `this takes the role ${action} in the namespace`);
  const isService = roles.has('decode');
  if (wantsReveal && action !== 'encode' && !isService && !roles.has('reveal')) {
    throw forbidden('role', 'revealing takes the role reveal in the namespace');
  }
  const isWhole = isService || (wantsReveal && roles.has('reveal'));
  return { namespace, view: isWhole ? 'whole' : 'redacted', isService };
}
