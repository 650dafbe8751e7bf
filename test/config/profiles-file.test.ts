import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/model/problems.ts';
import { problemsOf } from './problems.ts';

async function withFile(t: TestContext, content: unknown, env: Record<string, string> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-profiles-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'profiles.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return { ...env, GATEWAY_PROFILES_FILE: file };
}

async function rulesOf(t: TestContext, content: unknown, env: Record<string, string> = {}): Promise<string[]> {
  const variables = await withFile(t, content, env);
  return problemsOf(() => loadConfig(variables)).map(({ rule }) => rule);
}

describe('GATEWAY_PROFILES_FILE', () => {
  it('adds profiles that inherit missing settings from the default profile', async (t) => {
    const allowed = { SECONDUSE: { permissiblePurposeCodes: ['05'] } };
    const env = await withFile(t, {
      profiles: {
        default: { allowed, returnCodes: { CR: { Suppress: 'noReport' } } },
        east: { environment: 'sandbox', customerId: 'EAST1', timeZone: 'America/New_York', limits: { connections: 9 } },
      },
    });
    const { profiles } = loadConfig(env);
    assert.deepEqual([...profiles.keys()], ['default', 'east']);
    const [base, east] = [profiles.get('default'), profiles.get('east')];
    assert.deepEqual(base?.allowed, allowed);
    assert.equal(east?.customerId, 'EAST1');
    assert.equal(east?.timeZone, 'America/New_York');
    assert.equal(east?.baseUrl, base?.baseUrl);
    assert.equal(east?.limits.connections, 9);
    assert.equal(east?.limits.bodyTimeoutMs, base?.limits.bodyTimeoutMs);
    assert.deepEqual(east?.returnCodes, base?.returnCodes);
    assert.deepEqual(east?.allowed, {}, 'what one customer may ask for says nothing about another');
    assert.equal(east?.credentials, base?.credentials, 'credentials belong to a user, and may be shared');
  });

  it('lists former addresses, which other profiles inherit from the default profile', async (t) => {
    const way = { baseUrl: 'https://old.example.com', audience: 'gateway', apiVersion: 'grs_v001' };
    const former = { authUrl: 'https://auth.example.com', ...way };
    const east = { environment: 'sandbox', customerId: 'EAST1' };
    const { profiles } = loadConfig(
      await withFile(t, { profiles: { default: { formerly: [former] }, east, west: { ...east, formerly: [] } } }),
    );
    const found = ['default', 'east', 'west'].map((name) => profiles.get(name)?.formerly);
    assert.deepEqual(found, [[former], [former], []]);
    const rules = (change: object) => rulesOf(t, { profiles: { default: { formerly: [{ ...former, ...change }] } } });
    const path = '/profiles/default/formerly/0';
    assert.deepEqual(await rules({ baseUrl: 'old.example.com' }), [`${path}/baseUrl must be an http or https address`]);
    assert.equal((await rules({ authUrl: undefined })).length, 1);
    assert.equal((await rules({ apiVersion: 'a/b' })).length, 1);
    assert.equal((await rules({ customerId: 'OTHER' })).length, 1, 'the customer never differs');
  });

  it('gives profiles their own credentials, which profiles can share by name', async (t) => {
    const east = { environment: 'sandbox', customerId: 'EAST1', credentials: 'other' };
    const directory = await mkdtemp(join(tmpdir(), 'credit-journey-credentials-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const other = { clientIdFile: join(directory, 'id'), clientSecretFile: join(directory, 'secret') };
    await writeFile(other.clientIdFile, 'an-id');
    await writeFile(other.clientSecretFile, 'a-secret\n');
    const profilesOf = { east, west: { ...east, customerId: 'WEST1' } };
    const { profiles } = loadConfig(await withFile(t, { credentials: { other }, profiles: profilesOf }));
    const read = await profiles.get('east')?.credentials.read();
    assert.deepEqual(read, { clientId: 'an-id', clientSecret: 'a-secret' });
    assert.equal(profiles.get('east')?.credentials, profiles.get('west')?.credentials);
  });

  it('does not load the profiles of other environments', async (t) => {
    const other = { environment: 'uat', customerId: 'U1', baseUrl: 'https://uat.example.com', credentials: 'unknown' };
    const env = await withFile(t, { profiles: { other } });
    assert.deepEqual([...loadConfig(env).profiles.keys()], ['default']);
  });

  it('sets for each profile how names and addresses with accents are sent', async (t) => {
    const east = { environment: 'sandbox', customerId: 'EAST1', accents: 'pass' };
    const { profiles } = loadConfig(await withFile(t, { profiles: { east } }, { GATEWAY_ACCENTS: 'transliterate' }));
    assert.equal(profiles.get('default')?.accents, 'transliterate');
    assert.equal(profiles.get('east')?.accents, 'pass');
    assert.equal(loadConfig({}).profiles.get('default')?.accents, 'refuse');
    assert.match(
      (await rulesOf(t, { profiles: { east: { ...east, accents: 'drop' } } })).join(),
      /accents must be one of/,
    );
  });

  it('sends SSNs that start with 9 only if a profile allows it, and in production only ITINs', async (t) => {
    const east = { environment: 'sandbox', customerId: 'EAST1', ssnsWithNine: 'itinOnly' };
    const { profiles } = loadConfig(await withFile(t, { profiles: { east } }, { GATEWAY_SSNS_WITH_9: 'send' }));
    assert.equal(profiles.get('default')?.ssnsWithNine, 'send');
    assert.equal(profiles.get('east')?.ssnsWithNine, 'itinOnly');
    assert.equal(loadConfig({}).profiles.get('default')?.ssnsWithNine, 'refuse');
    const live = { environment: 'production', customerId: 'P1', ssnsWithNine: 'send' };
    assert.deepEqual(await rulesOf(t, { profiles: { live } }), [
      '/profiles/live/ssnsWithNine must be refuse or itinOnly in production',
    ]);
  });

  it('is refused if two environments share a host', async (t) => {
    const uat = { environment: 'uat', customerId: 'U1', baseUrl: 'https://gateway.example.com/uat' };
    const production = { environment: 'production', customerId: 'P1', baseUrl: 'https://gateway.example.com/live' };
    assert.deepEqual(await rulesOf(t, { profiles: { uat, production } }), [
      '/profiles/production/baseUrl must not share its host with a profile of uat',
    ]);
    const mine = { ...uat, baseUrl: 'http://127.0.0.1:7280' };
    assert.deepEqual(await rulesOf(t, { profiles: { mine } }), [
      '/profiles/mine/baseUrl must not share its host with a profile of sandbox',
    ]);
  });

  it('is refused with every problem at once', async (t) => {
    const rules = await rulesOf(t, {
      surprise: 1,
      profiles: {},
    });
    assert.equal(rules.length, 1);
    const more = await rulesOf(t, {
      profiles: {
        default: { allowed: { CR: {} } },
        Wrong: {},
        east: { environment: 'sandbox', surprise: 1, limits: { connections: 0 }, customerId: null },
        west: { environment: 'sandbox', customerId: 'W1', credentials: 'unknown', authUrl: 'x' },
      },
    });
    for (const part of [
      '/profiles must have names',
      '/profiles/east has an unknown field',
      '/profiles/east/limits/connections must be at least 1',
      '/profiles/east/customerId must be text',
      '/profiles/west/credentials must be a name under /credentials',
      '/profiles/west/authUrl must be an http or https address',
    ]) {
      assert.ok(
        more.some((rule) => rule.startsWith(part)),
        `${part} in ${more.join(' | ')}`,
      );
    }
  });

  it('sets thresholds for changes, each inherited from the default profile if missing', async (t) => {
    const threshold = { amount: '250', percent: '5' };
    const east = { environment: 'sandbox', customerId: 'E1', changes: { creditLimit: { percent: '1.5' } } };
    const env = await withFile(t, {
      profiles: { default: { changes: { balance: threshold, closedStatusCodes: ['C'] } }, east },
    });
    const { profiles } = loadConfig(env);
    const none = { amount: '0', percent: '0' };
    const expected = { balance: threshold, creditLimit: none, closedStatusCodes: ['C'] };
    assert.deepEqual(profiles.get('default')?.changes, expected);
    const creditLimit = { amount: '0', percent: '1.5' };
    assert.deepEqual(profiles.get('east')?.changes, { ...expected, creditLimit });
    const wrong = { ...east, changes: { balance: { amount: '1,000' } } };
    const rules = await rulesOf(t, { profiles: { wrong } });
    assert.deepEqual(rules, ['/profiles/wrong/changes/balance/amount must be a decimal string, not negative']);
  });

  it('is refused if it gives SECONDUSE another meaning of a return code', async (t) => {
    const rules = await rulesOf(t, {
      profiles: { default: { returnCodes: { SECONDUSE: { 'No Record': 'record' } } } },
    });
    assert.equal(rules.length, 1);
  });

  it('is refused without a quote if it is not JSON', async (t) => {
    assert.deepEqual(await rulesOf(t, '{ sentinel'), ['must name a file that holds JSON']);
  });

  it('requires a SUBMIT_TIMEOUT_MS that is enough for the slowest profile', async (t) => {
    const slow = { environment: 'sandbox', customerId: 'S1', limits: { headersTimeoutMs: 400_000 } };
    const env = await withFile(t, { profiles: { slow } });
    assert.ok(loadConfig(env).protocol.submitTimeoutMs > 400_000);
    assert.throws(() => loadConfig({ ...env, SUBMIT_TIMEOUT_MS: '200000' }), ConfigError);
  });
});
