/** Runs oauth2-proxy between a browser and the API, with the settings of the compose file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { findGoPrograms, oauth2Proxy } from '../../scripts/topology/go-programs.ts';
import { loadApiSettings } from '../../src/api/settings.ts';
import { freePorts } from '../../src/local/free-ports.ts';
import type { ApiOptions } from '../../src/operations/services.ts';
import { until } from '../api/until.ts';
import { makeSecrets } from '../deploy/make-secrets.ts';
import { compose, mounted } from '../deploy/manifests.ts';
import type { OidcProvider } from './oidc-provider.ts';

/** Returns the program that `OAUTH2_PROXY` names, or builds the version that the compose file pins. */
async function findProxy(): Promise<string> {
  if (process.env.OAUTH2_PROXY) return process.env.OAUTH2_PROXY;
  const { image } = compose().services['oauth2-proxy'] ?? { image: '' };
  const version = image.split(':v').at(-1) ?? '';
  return join(await findGoPrograms(oauth2Proxy(version)), 'oauth2-proxy');
}

/** Returns a service's variables as docker compose expands them with the given `.env`. */
function environmentOf(name: string, given: Readonly<Record<string, string>>): Record<string, string> {
  const { environment = {} } = compose().services[name] ?? {};
  return Object.fromEntries(
    Object.entries(environment).map(([key, value]) => [
      key,
      String(value).replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_, variable, otherwise) => given[variable] ?? otherwise),
    ]),
  );
}

export interface ComposedSignIn {
  /** The API's options from the compose file, but with the addresses of this machine. */
  apiOptions: Partial<ApiOptions>;
  /** Starts the proxy in front of an API at this address, and returns the proxy's address. */
  start(apiUrl: string): Promise<string>;
}

export async function composedSignIn(t: TestContext, provider: OidcProvider): Promise<ComposedSignIn> {
  const dotEnv = {
    OIDC_ISSUER_URL: provider.url,
    OIDC_JWKS_URL: `${provider.url}/keys`,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_AUDIENCE: provider.audience,
    OIDC_HOST: new URL(provider.url).host,
    SIGN_OUT_PATH: `/oauth2/sign_out?rd=${encodeURIComponent(`${provider.url}/signed-out`)}`,
  };
  const [made, program] = await Promise.all([makeSecrets(t), findProxy()]);
  const files = {
    '/run/secrets/api_ledger_url': await made.read('api_ledger_url'),
    '/run/secrets/oauth2_cookie_secret': await made.read('oauth2_cookie_secret'),
    '/run/secrets/oidc_client_secret': provider.clientSecret,
    '/run/keys/keys.json': await made.read('keys/keys.json'),
  };
  const { options } = loadApiSettings(await mounted(t, environmentOf('page-api', dotEnv), files));
  const { tokens, tokenHeader, signInPath, signOutPath, byClaim } = options;
  return {
    // In compose, the proxy has an address of its own.
    apiOptions: {
      ...{ tokens, tokenHeader, signInPath, signOutPath, byClaim },
      trustedProxies: ['127.0.0.1'],
    } as Partial<ApiOptions>,
    async start(apiUrl) {
      const [port = 0] = await freePorts(1);
      const env = await mounted(t, environmentOf('oauth2-proxy', dotEnv), files);
      const here = {
        OAUTH2_PROXY_HTTP_ADDRESS: `127.0.0.1:${port}`,
        OAUTH2_PROXY_REDIRECT_URL: (env.OAUTH2_PROXY_REDIRECT_URL ?? '').replace(':4180', `:${port}`),
        OAUTH2_PROXY_UPSTREAMS: apiUrl,
      };
      const proxy = spawn(program, [], {
        env: { PATH: process.env.PATH, ...env, ...here },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      for (const stream of [proxy.stdout, proxy.stderr]) stream.on('data', (text) => (said += text));
      t.after(async () => {
        if (proxy.exitCode !== null) return;
        proxy.kill();
        await once(proxy, 'exit');
      });
      const url = `http://127.0.0.1:${port}`;
      await until(async () => {
        if (proxy.exitCode !== null) throw new Error(said);
        return fetch(`${url}/ping`).then(
          ({ ok }) => ok || undefined,
          () => undefined,
        );
      });
      return url;
    },
  };
}
