#!/usr/bin/env node
// Makes everything secret that docker-compose.yml needs, in deploy/secrets: passwords, the key ring, the key that signs
// tokens, and three tokens. It overwrites no file. Plain JavaScript that any Node from 20 runs, without packages.
//
//   deploy/make-secrets.js           all of it
//   deploy/make-secrets.js tokens    all tokens anew, for another 90 days
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const secrets = process.env.SECRETS_DIR || join(root, 'deploy/secrets');
const environment = process.env.COMPOSE_ENV_FILE || join(root, '.env');

const ISSUER = 'credit-journey-compose';
const KEY_ID = 'compose';
const TOKEN_SECONDS = 90 * 24 * 60 * 60;
/** The image's user. The containers cannot run as root, so root gives the files to this user. */
const IMAGE_USER = 1000;
const PASSWORDS = ['postgres', 'temporal_db', 'grafana', 'ledger_db', 'ledger_worker_db', 'ledger_api_db'];
/** Each file of a ledger's address, and the database role in it. */
const LEDGER_URLS = {
  owner_ledger_url: 'ledger',
  ledger_url: 'ledger_worker',
  api_ledger_url: 'ledger_api',
};
const TOKEN_FILES = ['ui_authorization', 'platform_token', 'api_token'];
/** For an origination platform, which starts, drives and reads journeys, and decides about no hold. */
const PLATFORM_SCOPES =
  'journeys:start journeys:read journeys:advance journeys:withdraw pulls:start pulls:read pulls:withdraw ' +
  'shares:request shares:withdraw shares:read consents:record holds:read inquiries:read reports:read';

process.umask(0o077);
const [command, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (command !== undefined && command !== 'tokens')) {
  fail('usage: deploy/make-secrets.js [tokens]');
}
if (command === 'tokens') renewTokens();
else makeAll();

function makeAll() {
  for (const path of [secrets, environment]) {
    if (existsSync(path)) fail(`${path} exists already, and is left as it is`);
  }
  mkdirSync(join(secrets, 'keys'), { recursive: true });
  for (const user of PASSWORDS) write(`${user}_password`, `${randomBytes(24).toString('hex')}\n`);
  for (const [file, role] of Object.entries(LEDGER_URLS)) {
    write(file, `postgres://${role}:${read(`${role}_db_password`).trim()}@postgres:5432/ledger\n`);
  }
  write(
    'keys/keys.json',
    `${JSON.stringify({ version: 1, keys: [createKey('payload'), createKey('ledger')] }, null, 2)}\n`,
  );
  writeSigningKey();
  write('oauth2_cookie_secret', randomBytes(16).toString('hex'));
  // The sign-on provider has the true secret. It belongs into this file before `docker compose --profile page up`.
  write('oidc_client_secret', 'not-set');
  writeTokens();
  giveToImageUser();
  const isRoot = process.getuid?.() === 0;
  const [owner, group] = isRoot ? [IMAGE_USER, IMAGE_USER] : [process.getuid?.(), process.getgid?.()];
  // Tells docker compose whose files the secrets are.
  writeFileSync(environment, `SECRETS_UID=${owner}\nSECRETS_GID=${group}\n`, { flag: 'wx' });
  console.log(`made ${secrets} and ${environment}`);
  console.log(
    `Keep a copy of ${join(secrets, 'keys/keys.json')} where the backups are not: what the ledger seals cannot be read without it.`,
  );
}

function renewTokens() {
  const key = join(secrets, 'token_signing_key');
  if (!existsSync(key)) fail(`there is no ${key}: run deploy/make-secrets.js first`);
  for (const file of TOKEN_FILES) rmSync(join(secrets, file), { force: true });
  writeTokens();
  giveToImageUser();
  console.log('made all tokens anew: restart the web service, docker compose restart web');
}

/** Creates a file. Fails if the file exists, even if another process creates it at this very moment. */
function write(file, content) {
  writeFileSync(join(secrets, file), content, { flag: 'wx', mode: 0o600 });
}

function read(file) {
  return readFileSync(join(secrets, file), 'utf8');
}

function createKey(use) {
  return {
    id: `${use}-${randomBytes(6).toString('hex')}`,
    use,
    createdAt: `${new Date().toISOString().slice(0, -5)}Z`,
    status: 'current',
    secret: randomBytes(32).toString('base64'),
  };
}

function writeSigningKey() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  write('token_signing_key', privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const key = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' };
  write('codec_jwks', `${JSON.stringify({ keys: [key] })}\n`);
}

function writeTokens() {
  const key = createPrivateKey(read('token_signing_key'));
  const codecToken = (subject, permissions) => createToken(key, { sub: subject, aud: 'codec-server', permissions });
  const uiToken = codecToken('ui', 'default:encode default:decode-redacted');
  write('ui_authorization', `proxy_set_header Authorization "Bearer ${uiToken}";\n`);
  write('platform_token', codecToken('platform', 'default:encode default:decode'));
  const reach = { scope: PLATFORM_SCOPES, profiles: '*', end_users: '*' };
  write('api_token', createToken(key, { sub: 'platform', aud: 'credit-journey-api', ...reach }));
}

/** A JSON Web Token (RFC 7519), signed by RS256. */
function createToken(key, claims) {
  const now = Math.floor(Date.now() / 1000);
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = part({ alg: 'RS256', kid: KEY_ID, typ: 'JWT' });
  const signed = `${header}.${part({ iss: ISSUER, iat: now, exp: now + TOKEN_SECONDS, ...claims })}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}

function giveToImageUser() {
  if (process.getuid?.() !== 0) return;
  chownSync(secrets, IMAGE_USER, IMAGE_USER);
  for (const entry of readdirSync(secrets, { recursive: true }))
    chownSync(join(secrets, entry), IMAGE_USER, IMAGE_USER);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
