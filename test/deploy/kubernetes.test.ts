import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { loadApiSettings } from '../../src/api/settings.ts';
import { packageVersion } from '../../src/cli/output/version.ts';
import { loadCodecServerSettings } from '../../src/codec/settings.ts';
import { loadClientSettings, loadConfig, loadLedgerAccess } from '../../src/config/config.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { runCli } from '../cli/run-cli.ts';
import { CONSENT_KEYS } from '../support/consent-proofs.ts';
import { DECISION_KEYS } from '../support/decision-proofs.ts';
import { configurationBlocks } from './deploy-page.ts';
import {
  type Container,
  configuredVariables,
  environmentOf,
  type Manifest,
  manifests,
  mounted,
  type PodSpec,
} from './manifests.ts';

const all = manifests('config.yaml', 'worker.yaml', 'codec-server.yaml', 'api.yaml', 'setup-job.yaml');
const configMap = all.get('ConfigMap/credit-journey') as Manifest;

function pod(name: string): PodSpec {
  const spec = all.get(name)?.spec.template?.spec;
  assert.ok(spec, name);
  return spec;
}

function main(name: string): Container {
  return pod(name).containers[0] as Container;
}

const WORKER = 'Deployment/credit-journey-worker';
const CODEC_SERVER = 'Deployment/credit-journey-codec-server';
const API = 'Deployment/credit-journey-api';
const SETUP = 'Job/credit-journey-setup';

const LEDGER_URL =
  'postgres://ledger:example@ledger.example.com/ledger?sslmode=verify-full&sslrootcert=/run/secrets/credit-journey/ledger-ca.pem';

/** What docs/deploy.md says the secrets hold, and an environment that leads to it. */
async function environment(t: TestContext, name: string, temporal: string): Promise<Record<string, string>> {
  const env = await mounted(t, environmentOf(main(name), configMap), {
    '/run/secrets/credit-journey/temporal.toml': temporal,
    '/run/secrets/credit-journey/temporal-client.pem': 'example',
    '/run/secrets/credit-journey/temporal-client.key': 'example',
    '/run/secrets/credit-journey/gateway-client-id': 'example',
    '/run/secrets/credit-journey/gateway-client-secret': 'example',
    '/run/secrets/credit-journey/ledger-url': LEDGER_URL,
    '/run/secrets/credit-journey/api-ledger-url': LEDGER_URL.replace('//ledger:', '//ledger_api:'),
    '/run/secrets/credit-journey/ledger-ca.pem': '-----BEGIN CERTIFICATE-----',
    '/run/secrets/credit-journey/consent-jwks.json': JSON.stringify(CONSENT_KEYS),
    '/run/secrets/credit-journey/decision-jwks.json': JSON.stringify(DECISION_KEYS),
    '/run/secrets/tls/tls.crt': 'example',
    '/run/secrets/tls/tls.key': 'example',
    '/run/keys/placeholder': '',
  });
  await createKeyRing(env.KEY_RING_FILE as string);
  return env;
}

test('worker, codec server, API and setup start in production with what the manifests and the page give them', async (t) => {
  const [apiKey = '', mutualTls = ''] = configurationBlocks();
  const env = await environment(t, WORKER, apiKey);
  const config = loadConfig(env);
  assert.equal(config.environment, 'production');
  assert.ok(config.temporal.connectionOptions.apiKey);
  assert.ok(config.temporal.connectionOptions.tls);
  assert.equal(config.decisionKeysFile, env.DECISION_JWKS_FILE);
  const grace = pod(WORKER).terminationGracePeriodSeconds ?? 0;
  assert.ok(grace * 1000 > config.worker.shutdownGraceMs, 'the grace period outlives the shutdown');
  const byCertificate = loadConfig(await environment(t, WORKER, mutualTls));
  assert.ok(byCertificate.temporal.connectionOptions.tls);
  assert.equal(byCertificate.temporal.connectionOptions.apiKey, undefined);
  const { options } = loadCodecServerSettings(await environment(t, CODEC_SERVER, apiKey));
  assert.ok(options.tls);
  const api = loadApiSettings(await environment(t, API, apiKey));
  assert.ok(api.options.tls);
  assert.match(api.ledgerAccess.ledger.url, /^postgres:\/\/ledger_api:/);
  const setup = await environment(t, SETUP, apiKey);
  assert.ok(loadLedgerAccess(setup, { needsId: false }));
  assert.equal(loadClientSettings(setup, { besideLedger: true }).payloads.kind, 'keyRing');
});

test('the setup job gets as far as Temporal with the secrets of a worker', async (t) => {
  const here = '[profile.default]\naddress = "127.0.0.1:9"\n';
  // The test run's own setting is for the sandbox.
  const env = { ...(await environment(t, SETUP, here)), PAYLOAD_ENCRYPTION: 'on' };
  const { stderr } = await runCli(['setup'], { env });
  assert.match(stderr, /TemporalUnavailable/);
});

test('a forgotten LEDGER_ID or a plain connection to the ledger keeps the worker of the manifests from starting', async (t) => {
  const env = await environment(t, WORKER, configurationBlocks()[0] ?? '');
  assert.throws(() => loadConfig({ ...env, LEDGER_ID: '' }), /LEDGER_ID/);
  const plain = { ...env, LEDGER_URL_FILE: '', LEDGER_URL: 'postgres://ledger.example.com/ledger' };
  assert.throws(() => loadConfig(plain), /LEDGER_URL/);
});

test('the manifests set only variables that the configuration reads', () => {
  const known = configuredVariables();
  for (const name of [WORKER, CODEC_SERVER, API, SETUP]) {
    for (const variable of Object.keys(environmentOf(main(name), configMap))) assert.ok(known.has(variable), variable);
  }
});

test('pods are not root, write to nothing but their own volumes, and read secrets by their group', () => {
  for (const name of [WORKER, CODEC_SERVER, API, SETUP]) {
    const { securityContext, containers, initContainers = [], volumes } = pod(name);
    assert.deepEqual([securityContext?.runAsNonRoot, securityContext?.fsGroup], [true, 1000], name);
    for (const { securityContext: own, volumeMounts = [], image } of [...containers, ...initContainers]) {
      assert.deepEqual([own?.readOnlyRootFilesystem, own?.allowPrivilegeEscalation], [true, false], name);
      assert.equal(image, `credit-journey:${packageVersion()}`);
      for (const mount of volumeMounts)
        assert.ok(
          volumes.some((volume) => volume.name === mount.name),
          mount.name,
        );
    }
    for (const { secret } of volumes) if (secret) assert.equal(secret.defaultMode, 0o440, secret.secretName);
  }
});
