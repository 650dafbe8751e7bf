import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCodecTokenVerifier } from '../../src/codec/access.ts';
import { createApiTokenVerifier } from '../../src/operations/caller.ts';
import { SCOPES, type Scope } from '../../src/operations/scopes.ts';
import { loadKeyRing } from '../../src/protection/keys/key-ring.ts';
import { makeSecrets } from './make-secrets.ts';
import { compose } from './manifests.ts';

const { services, secrets } = compose();
const { API_JWT_AUDIENCE: apiAudience = '' } = services.api?.environment ?? {};
const { CODEC_JWT_ISSUER: issuer = '', CODEC_JWT_AUDIENCE: audience = '' } =
  services['codec-server']?.environment ?? {};

test('make-secrets makes every secret of the compose file, readable by its owner only, and overwrites none', async (t) => {
  const made = await makeSecrets(t);
  const named = Object.values(secrets).map(({ file }) => file.replace('./deploy/secrets/', ''));
  const files = (await readdir(made.directory, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(made.directory.length + 1));
  assert.deepEqual(paths.toSorted(), [...named, 'keys/keys.json', 'token_signing_key'].toSorted());
  for (const path of paths) {
    const { mode, size } = await stat(join(made.directory, path));
    assert.equal(mode & 0o777, 0o600, path);
    assert.ok(size > 0, path);
  }
  assert.match(await readFile(made.environmentFile, 'utf8'), /^SECRETS_UID=[1-9]\d*\nSECRETS_GID=[1-9]\d*\n$/);
  const before = await made.read('ledger_url');
  await assert.rejects(made.again(), { code: 1 });
  assert.equal(await made.read('ledger_url'), before);
});

test('make-secrets makes a key ring that opens, and tokens that codec server and API accept', async (t) => {
  const made = await makeSecrets(t);
  const ring = await loadKeyRing(join(made.directory, 'keys/keys.json'));
  assert.match(ring.current('ledger').id, /^ledger-[0-9a-f]{12}$/);
  const verify = createCodecTokenVerifier({ jwks: { file: join(made.directory, 'codec_jwks') }, issuer, audience });
  const platform = await verify(`Bearer ${await made.read('platform_token')}`);
  assert.deepEqual([...(platform.roles.get('default') ?? [])].toSorted(), ['decode', 'encode']);
  const header = /^proxy_set_header Authorization "(Bearer [\w.-]+)";\n$/.exec(await made.read('ui_authorization'));
  // The UI's token may encode, and may decode only with redaction.
  const ui = await verify(header?.[1]);
  assert.deepEqual([...(ui.roles.get('default') ?? [])].toSorted(), ['decode-redacted', 'encode']);
  const verifyForApi = createApiTokenVerifier(
    { jwks: { file: join(made.directory, 'codec_jwks') }, issuer, audience: apiAudience },
    'sub',
  );
  const apiToken = `Bearer ${await made.read('api_token')}`;
  const caller = await verifyForApi(apiToken);
  assert.deepEqual([caller.by, caller.profiles, caller.endUsers], ['platform', '*', '*']);
  assert.deepEqual(
    Object.keys(SCOPES).filter((scope) => !caller.scopes.has(scope as Scope)),
    [
      ...['portfolios:start', 'portfolios:read', 'portfolios:control', 'holds:decide'],
      ...['inquiries:pause', 'inquiries:keep', 'reports:reveal'],
    ],
  );
  await assert.rejects(verify(apiToken), { reason: 'audience' });
  await rm(join(made.directory, 'platform_token'));
  await made.again('tokens');
  assert.match(await made.read('platform_token'), /^[\w-]+\.[\w-]+\.[\w-]+$/);
});
