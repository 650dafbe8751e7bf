/** Tests that a worker does not start with invalid or unsafe webhook endpoints. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { EnvironmentReader } from '../../src/config/environment.ts';
import { type DeclaredWebhooks, readWebhookEndpoints } from '../../src/config/gateway-profiles.ts';
import type { Environment } from '../../src/model/products.ts';
import { newWebhookSecret } from '../support/webhook-receiver.ts';

const SECRETS = [newWebhookSecret(), newWebhookSecret()] as const;
let directory: string;
const file = (name: string) => join(directory, name);

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credit-journey-webhooks-'));
  await writeFile(file('one'), `${SECRETS[0]}\n`, { mode: 0o600 });
  await writeFile(file('two'), SECRETS[1], { mode: 0o600 });
  await writeFile(file('open'), SECRETS[0]);
  await chmod(file('open'), 0o644);
  await writeFile(file('short'), 'whsec_c2hvcnQ=');
  await writeFile(file('plain'), Buffer.alloc(32, 1).toString('base64'));
});
after(() => rm(directory, { recursive: true, force: true }));

function rulesOf(change: Partial<DeclaredWebhooks[number]>, environment: Environment = 'sandbox'): string[] {
  const reader = new EnvironmentReader({ GATEWAY_ENVIRONMENT: environment });
  const declared = { name: 'ops', url: 'https://hooks.example.com/in', secretFiles: [file('one')], ...change };
  readWebhookEndpoints(reader, [declared], '/w');
  return reader.problems.map(({ rule }) => rule);
}

describe('webhook endpoints', () => {
  it('belong only to their own profile', async () => {
    const first = { name: 'inside', url: 'http://127.0.0.1:9999/hook', secretFiles: [file('one')] };
    const endpoint = { name: 'ops', url: 'https://hooks.example.com/in', secretFiles: [file('one'), file('two')] };
    const profiles = {
      default: { webhooks: [{ ...first, allowPrivateAddresses: true }, endpoint] },
      east: { environment: 'sandbox', customerId: 'EAST1', webhooks: [{ ...endpoint, events: ['inquiry.held'] }] },
      west: { environment: 'sandbox', customerId: 'WEST1' },
    };
    await writeFile(file('profiles.json'), JSON.stringify({ profiles }));
    const env = {
      GATEWAY_PROFILES_FILE: file('profiles.json'),
      WEBHOOK_GIVE_UP_AFTER: 'PT1H',
    };
    const config = loadConfig(env);
    const names = [...config.profiles].map(([name, { webhooks = [] }]) => [name, webhooks.map((one) => one.name)]);
    assert.deepEqual(names, [
      ['default', ['inside', 'ops']],
      ['east', ['ops']],
      ['west', []],
    ]);
    const [inside, second] = config.profiles.get('default')?.webhooks ?? [];
    assert.deepEqual([inside?.events, inside?.allowPrivateAddresses], [undefined, true]);
    assert.deepEqual([second?.events, second?.allowPrivateAddresses], [undefined, false]);
    assert.deepEqual(await second?.readSecrets(), SECRETS);
    assert.deepEqual(config.webhooks, { giveUpAfterMs: 3_600_000, keepFailedForMs: 30 * 86_400_000 });
    // Secrets are read at each use, so that a rotation needs no restart.
    await writeFile(file('two'), SECRETS[0]);
    assert.deepEqual(await second?.readSecrets(), [SECRETS[0], SECRETS[0]]);
  });

  it('need an https address outside the sandbox, without credentials', () => {
    assert.deepEqual(rulesOf({ url: 'http://hooks.example.com/in' }), []);
    assert.deepEqual(rulesOf({ url: 'http://127.0.0.1/in' }, 'uat'), ['/w/0/url must be https outside the sandbox']);
    for (const url of [
      'https://user:secret@hooks.example.com',
      'ftp://hooks.example.com',
      'https://a.example.com/#x',
      'x',
    ]) {
      assert.match(rulesOf({ url }).join(), /^\/w\/0\/url must/, url);
    }
  });

  it('need readable, well-formed secrets, and in production files that only the owner can read', () => {
    assert.deepEqual(rulesOf({ secretFiles: [file('open')] }, 'uat'), []);
    assert.match(
      rulesOf({ secretFiles: [file('open')] }, 'production').join(),
      /secretFiles must be in a file that is closed/,
    );
    for (const name of ['short', 'plain'])
      assert.match(rulesOf({ secretFiles: [file(name)] }).join(), /must be whsec_/, name);
    assert.match(rulesOf({ secretFiles: [file('missing')] }).join(), /must name a file that can be read \(ENOENT\)/);
  });
});
