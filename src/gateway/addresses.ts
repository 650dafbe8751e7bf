/** The two addresses of a gateway profile. */
import type { GatewayProfile } from './profile.ts';

/** `{auth_url}/oauth/token` (interface 4.1). */
export function tokenUrl(profile: Pick<GatewayProfile, 'authUrl'>): URL {
  return append(profile.authUrl, '/oauth/token');
}

/** `{base_url}/ServiceGateway/orest/<version>/request` (interface 4.2, 9). */
export function requestUrl(profile: Pick<GatewayProfile, 'baseUrl' | 'apiVersion'>): URL {
  return append(profile.baseUrl, `/ServiceGateway/orest/${encodeURIComponent(profile.apiVersion)}/request`);
}

function append(base: string, path: string): URL {
  return new URL(base.replace(/\/+$/, '') + path);
}

/** Where another kind of gateway answers than the profile's: the rule that its answer breaks, else `null`. */
export function foreignProblem({ environment, rehearsal = false }: GatewayProfile, isSandbox: boolean): string | null {
  if (environment === 'sandbox' || isSandbox === rehearsal) return null;
  return rehearsal
    ? '/ must be the answer of a sandbox: the profile is a rehearsal'
    : "/ is the sandbox's answer, and the profile is not the sandbox's";
}
