import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { loadApiSettings } from '../../src/api/settings.ts';
import { loadCodecServerSettings } from '../../src/codec/settings.ts';
import { loadClientSettings } from '../../src/config/client.ts';
import { loadConfig } from '../../src/config/config.ts';
import { loadLedgerAccess } from '../../src/config/ledger.ts';
import { TEMPORAL_CLI } from '../../src/local/temporal/temporal-binaries.ts';
import { ENVIRONMENTS } from '../../src/model/products.ts';
import { toGatewayQueue } from '../../src/model/work-class.ts';
import { ROOT } from './checks.ts';
import { type MadeSecrets, makeSecrets } from './make-secrets.ts';
import { type ComposeService, compose, configuredVariables, mounted } from './manifests.ts';

const { services, secrets, volumes } = compose();
const all = Object.entries(services);
const ours = all.filter(([, { build }]) => build !== undefined);

function service(name: string): ComposeService {
  const found = services[name];
  assert.ok(found, name);
  return found;
}

/** Resolves `${NAME:-default}` as docker compose does if NAME is not set. */
function environment(name: string): Record<string, string> {
  const given = Object.entries(service(name).environment ?? {});
  return Object.fromEntries(given.map(([key, value]) => [key, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]));
}

async function withSecrets(t: TestContext, made: MadeSecrets, name: string): Promise<Record<string, string>> {
  const named = service(name).secrets ?? [];
  const files = await Promise.all(named.map(async (file) => [`/run/secrets/${file}`, await made.read(file)] as const));
  return mounted(t, environment(name), {
    ...Object.fromEntries(files),
    '/run/keys/keys.json': await made.read('keys/keys.json'),
  });
}

test('every file, secret, volume and service that the compose file names exists', () => {
  for (const [name, { volumes: mounts = [], secrets: named = [], depends_on = {}, image }] of all) {
    for (const mount of mounts) {
      const [from = ''] = mount.split(':');
      // Made by deploy/make-secrets.js.
      if (from.startsWith('./deploy/secrets')) continue;
      if (from.startsWith('./')) assert.ok(existsSync(join(ROOT, from)), `${name}: ${from}`);
      else assert.ok(from in volumes, `${name}: ${from}`);
    }
    for (const secret of named) assert.ok(secret in secrets, `${name}: ${secret}`);
    for (const other of Object.keys(depends_on)) assert.ok(other in services, `${name}: ${other}`);
    assert.match(image, /:[\w${][\w.${}:-]*$/, `${name} has a pinned tag`);
  }
});

test('a service that others wait for has a health check, or runs to its end', () => {
  for (const [name, { depends_on = {} }] of all) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const { healthcheck, restart } = service(other);
      if (condition === 'service_healthy') assert.ok(healthcheck?.test, `${name} waits for ${other}`);
      else assert.equal(restart, 'no', `${name} waits for the end of ${other}`);
    }
  }
});

test('each script of a service reads only variables and secrets that the service has', () => {
  const scripts = all.flatMap(([name, { entrypoint = [], volumes: mounts = [] }]) => {
    const inside = entrypoint.find((word) => word.startsWith('/deploy/'));
    const mount = mounts.find((one) => inside !== undefined && one.split(':')[1] === inside);
    return inside === undefined ? [] : [{ name, mount }];
  });
  assert.equal(scripts.length, 5);
  for (const { name, mount } of scripts) {
    assert.ok(mount, `${name} mounts its script`);
    const script = join(ROOT, mount.split(':')[0] as string);
    const text = readFileSync(script, 'utf8');
    assert.ok((statSync(script).mode & 0o444) === 0o444, `${name}: other users may read ${script}`);
    const promised = /Reads ([\s\S]*?)\./.exec(text)?.[1] ?? '';
    for (const [variable] of promised.matchAll(/[A-Z_]{3,}/g)) assert.ok(variable in environment(name), variable);
    for (const [, secret = ''] of text.matchAll(/run\/secrets\}\/(\w+)/g)) {
      assert.ok(service(name).secrets?.includes(secret), `${name}: ${secret}`);
    }
  }
});

test('our own services set only variables that the configuration reads', () => {
  const known = configuredVariables();
  for (const [name] of ours) {
    for (const variable of Object.keys(environment(name))) assert.ok(known.has(variable), `${name}: ${variable}`);
  }
});

test('worker, setup, codec server, API and command line start with the settings and secrets of the compose file', async (t) => {
  const made = await makeSecrets(t);
  const config = loadConfig(await withSecrets(t, made, 'worker'));
  assert.equal(config.environment, 'sandbox');
  assert.match(config.ledger.url, /^postgres:\/\/ledger_worker:[0-9a-f]{48}@postgres:5432\/ledger$/);
  assert.deepEqual(config.telemetry.metricsAddress, { host: '0.0.0.0', port: 9464 });
  assert.equal(config.worker.deployment, undefined);
  const minutes = /^(\d+)m$/.exec(service('worker').stop_grace_period ?? '')?.[1];
  assert.ok(Number(minutes) * 60_000 > config.worker.shutdownGraceMs, 'the grace period outlives the shutdown');
  const setup = loadLedgerAccess(await withSecrets(t, made, 'setup'), { needsId: false });
  assert.match(setup?.ledger.url ?? '', /^postgres:\/\/ledger:[0-9a-f]{48}@postgres:5432\/ledger$/);
  const { options } = loadCodecServerSettings(await withSecrets(t, made, 'codec-server'));
  assert.equal(options.authentication.kind, 'jwt');
  const api = loadApiSettings(await withSecrets(t, made, 'api'));
  assert.deepEqual([api.options.host, api.options.port], ['0.0.0.0', 7282]);
  // Roles that change no table, and the owner's address is within reach of setup alone.
  const owning = ours.filter(([, { secrets }]) => secrets?.includes('owner_ledger_url')).map(([name]) => name);
  assert.deepEqual(owning, ['setup']);
  assert.match(api.ledgerAccess.ledger.url, /^postgres:\/\/ledger_api:[0-9a-f]{48}@postgres:5432\/ledger$/);
  assert.ok(!service('api').secrets?.includes('ledger_url'));
  const client = loadClientSettings(await withSecrets(t, made, 'cli'));
  assert.ok(client.payloads.kind === 'codecServer');
  assert.ok(client.payloads.access.readToken);
});

test('only the proxy passes a signed-in user’s token to the page, and never in Authorization', async (t) => {
  const made = await makeSecrets(t);
  const { options, ledgerAccess } = loadApiSettings(await withSecrets(t, made, 'page-api'));
  assert.match(ledgerAccess.ledger.url, /^postgres:\/\/ledger_api:/, 'the page can claim nothing either');
  assert.ok(!service('page-api').secrets?.includes('ledger_url'));
  assert.deepEqual([options.tokenHeader, options.signIn], ['x-forwarded-access-token', undefined]);
  assert.deepEqual(service('page-api').ports, undefined);
  const { networks } = service('oauth2-proxy');
  assert.deepEqual(options.trustedProxies, [(networks as { page: { ipv4_address: string } }).page.ipv4_address]);
  const proxy = environment('oauth2-proxy');
  assert.equal(proxy.OAUTH2_PROXY_PASS_ACCESS_TOKEN, 'true');
  assert.equal(proxy.OAUTH2_PROXY_PASS_AUTHORIZATION_HEADER, 'false');
  assert.equal(proxy.OAUTH2_PROXY_OIDC_ISSUER_URL, options.tokens.issuer);
  assert.equal(proxy.OAUTH2_PROXY_UPSTREAMS, 'http://page-api:7282');
  assert.match(await made.read('oauth2_cookie_secret'), /^[0-9a-f]{32}$/);
});

test('ports are published on this machine only, and our containers are read-only without capabilities', () => {
  for (const [name, { ports = [] }] of all) {
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/, name);
  }
  for (const [name, { read_only, cap_drop }] of ours) {
    assert.deepEqual([read_only, cap_drop], [true, ['ALL']], name);
  }
});

test('addresses name services and the ports on which they listen', () => {
  const listening: Record<string, number> = {
    temporal: 7233,
    sandbox: 7280,
    'codec-server': 7281,
    'temporal-ui': 8080,
  };
  const texts = [readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')];
  texts.push(readFileSync(join(ROOT, 'deploy/ui/nginx.conf'), 'utf8'));
  for (const [, host = '', port] of texts.join('\n').matchAll(/(?:http:\/\/|: )([a-z-]+):(\d{4})\b/g)) {
    if (host === 'localhost' || !(host in listening)) continue;
    assert.equal(Number(port), listening[host], host);
  }
  const collector = parse(readFileSync(join(ROOT, 'deploy/otel/collector.yaml'), 'utf8')) as {
    receivers: { otlp: { protocols: { http: { endpoint: string } } } };
  };
  assert.equal(collector.receivers.otlp.protocols.http.endpoint, '0.0.0.0:4318');
  assert.match(texts[0] as string, /http:\/\/otel-collector:4318/);
});

test('the server has the version of the tests, and the settings that priority and fairness need', () => {
  const server = service('temporal').image.split(':')[1] ?? '';
  assert.equal(service('temporal-schema').image, `temporalio/admin-tools:${server}`);
  assert.equal(service('temporal-namespace').image, `temporalio/admin-tools:${server}`);
  // The server that this version of the CLI has inside.
  assert.deepEqual([TEMPORAL_CLI.packageVersion, server.split('.').slice(0, 2).join('.')], ['1.9.1', '1.32']);
  const config = parse(readFileSync(join(ROOT, 'deploy/temporal/dynamicconfig.yaml'), 'utf8')) as Record<
    string,
    { value: unknown; constraints?: { taskQueueName?: string } }[]
  >;
  assert.deepEqual(config['matching.enableFairness'], [{ value: true }]);
  const queues = ENVIRONMENTS.map((one) => toGatewayQueue(`credit-journeys-${one}`, 'default'));
  for (const kind of ['Read', 'Write']) {
    const entries = config[`matching.numTaskqueue${kind}Partitions`] ?? [];
    assert.deepEqual(entries.map(({ constraints }) => constraints?.taskQueueName).toSorted(), queues.toSorted());
    for (const { value } of entries) assert.equal(value, 1);
  }
});
