/** An OpenID Connect provider for tests: one client, people who sign in by a click, tokens as the API wants them. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { SCOPES } from '../../src/operations/scopes.ts';

export interface OidcProvider {
  url: string;
  clientId: string;
  clientSecret: string;
  audience: string;
  /** The lifetime of the tokens that it issues from now on. */
  lifetimeSeconds: number;
  /** Issues an access token like those that the proxy gets. */
  accessToken(sub: string): Promise<string>;
}

const COOKIE = 'provider-session';

/** Starts the provider, which stops with the test. */
export async function startOidcProvider(t: TestContext, people: readonly string[]): Promise<OidcProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'provider-1', alg: 'RS256', use: 'sig' }];
  const codes = new Map<string, { sub: string; nonce: string | undefined; challenge: string | undefined }>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const provider: OidcProvider = {
    url: `http://127.0.0.1:${port}`,
    clientId: 'credit-journey',
    clientSecret: randomUUID(),
    audience: 'credit-journey-api',
    lifetimeSeconds: 300,
    accessToken: (sub) =>
      signed(provider.audience, {
        ...{ sub, scope: Object.keys(SCOPES).join(' ') },
        ...{ profiles: ['*'], end_users: ['*'] },
      }),
  };

  function signed(audience: string, claims: Record<string, unknown>): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'provider-1' })
      .setIssuer(provider.url)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + provider.lifetimeSeconds)
      .sign(privateKey);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', provider.url);
    const json = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return void json({
          issuer: provider.url,
          authorization_endpoint: `${provider.url}/authorize`,
          token_endpoint: `${provider.url}/token`,
          jwks_uri: `${provider.url}/keys`,
          end_session_endpoint: `${provider.url}/signed-out`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
        });
      case '/keys':
        return void json({ keys });
      case '/authorize':
        return authorize(request, response, searchParams);
      case '/token':
        return token(request, json);
      case '/signed-out':
        response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': `${COOKIE}=; Path=/; Max-Age=0` });
        return void response.end('<!doctype html><title>Signed out</title><h1>Signed out everywhere</h1>');
      default:
        return void json({ error: 'not_found' }, 404);
    }
  }

  /** Lets a signed-in person through, and asks anyone else who they are. */
  function authorize(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    const known = new RegExp(`${COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? '')?.[1];
    const sub = query.get('as') ?? known;
    if (query.get('client_id') !== provider.clientId) return void response.writeHead(400).end('client_id');
    if (!sub || !people.includes(sub)) {
      const links = people.map(
        (one) => `<a href="/authorize?${`${query}&as=${one}`.replaceAll('&', '&amp;')}">${one}</a>`,
      );
      response.writeHead(200, { 'content-type': 'text/html' });
      return void response.end(`<!doctype html><title>Who are you?</title><h1>Who are you?</h1>${links.join(' ')}`);
    }
    const code = randomUUID();
    const challenge = query.get('code_challenge') ?? undefined;
    codes.set(code, { sub, nonce: query.get('nonce') ?? undefined, challenge });
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: String(back), 'set-cookie': `${COOKIE}=${sub}; Path=/; HttpOnly` }).end();
  }

  async function token(request: IncomingMessage, json: (body: object, status?: number) => void): Promise<void> {
    const form = new URLSearchParams(await textOf(request));
    const basic = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString();
    const [id, secret] = basic ? basic.split(':') : [form.get('client_id'), form.get('client_secret')];
    const given = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isProven = given?.challenge === undefined || given.challenge === verifier;
    if (id !== provider.clientId || secret !== provider.clientSecret || !given || !isProven) {
      return json({ error: 'invalid_grant' }, 400);
    }
    const { sub, nonce } = given;
    json({
      token_type: 'Bearer',
      expires_in: provider.lifetimeSeconds,
      access_token: await provider.accessToken(sub),
      id_token: await signed(provider.clientId, {
        ...{ sub, email: `${sub}@example.com`, email_verified: true },
        ...(nonce === undefined ? {} : { nonce }),
      }),
    });
  }
  return provider;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
