import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import packageJson from '../../package.json' with { type: 'json' };
import { loadApiSettings } from '../../src/api/settings.ts';
import { loadCodecServerSettings } from '../../src/codec/settings.ts';
import { loadClientSettings } from '../../src/config/client.ts';
import { loadConfig } from '../../src/config/config.ts';
import { loadLedgerAccess } from '../../src/config/ledger.ts';
import { createKeyRing } from '../../src/protection/keys/key-ring.ts';
import { runCli } from '../cli/run-cli.ts';
import { CONSENT_KEYS } from '../support/consent-proofs.ts';
import { DECISION_KEYS } from '../support/decision-proofs.ts';
import { configurationBlocks } from './deploy-page.ts';
import { isDefinedElsewhere, kustomized, OVERLAYS, type Overlay, schemaOf } from './kustomized.ts';
import {
  type Container,
  configuredVariables,
  environmentOf,
  type Manifest,
  mounted,
  type PodSpec,
} from './manifests.ts';

const run = promisify(execFile);

/** The manifests that each overlay makes. */
const made = {} as Record<Overlay, Map<string, Manifest>>;
before(async () => {
  for (const overlay of OVERLAYS) {
    const t = { after: () => {} } as unknown as TestContext;
    made[overlay] = await kustomized(t, overlay);
  }
});

function manifest(name: string, overlay: Overlay = 'production'): Manifest {
  const found = made[overlay].get(name);
  assert.ok(found, `${overlay}: ${name}`);
  return found;
}

function pod(name: string, overlay?: Overlay): PodSpec {
  const spec = manifest(name, overlay).spec.template?.spec;
  assert.ok(spec, name);
  return spec;
}

function main(name: string, overlay?: Overlay): Container {
  return pod(name, overlay).containers[0] as Container;
}

/** The variables of a program, from the overlay's settings. */
function variablesOf(name: string, overlay: Overlay = 'production'): Record<string, string> {
  const settings = [...made[overlay].values()].filter(({ kind }) => kind === 'ConfigMap');
  return environmentOf(main(name, overlay), settings);
}

const { version: BUILD } = packageJson;
const WORKER = `Deployment/credit-journey-worker-${BUILD}`;
const CONTROLLED = 'WorkerDeployment/worker';
const CODEC_SERVER = 'Deployment/credit-journey-codec-server';
const API = 'Deployment/credit-journey-api';
const SETUP = `Job/credit-journey-setup-${BUILD}`;

/** Our programs, by overlay. */
const PROGRAMS: readonly (readonly [Overlay, string])[] = [
  ...[WORKER, CODEC_SERVER, API, SETUP].map((name) => ['production', name] as const),
  ...[CONTROLLED, CODEC_SERVER, API, SETUP].map((name) => ['production-controller', name] as const),
  ...[WORKER, CODEC_SERVER, API, SETUP, 'Deployment/credit-journey-sandbox'].map((name) => ['sandbox', name] as const),
];

const LEDGER_URL =
  'postgres://ledger:example@ledger.example.com/ledger?sslmode=verify-full&sslrootcert=/run/secrets/credit-journey/ledger-ca.pem';

/** Writes the secrets of docs/deploy.md, and returns an environment that names their files. */
async function environment(
  t: TestContext,
  name: string,
  temporal: string,
  overlay?: Overlay,
): Promise<Record<string, string>> {
  const env = await mounted(t, variablesOf(name, overlay), {
    '/run/secrets/credit-journey/temporal.toml': temporal,
    '/run/secrets/credit-journey/temporal-client.pem': 'example',
    '/run/secrets/credit-journey/temporal-client.key': 'example',
    '/run/secrets/credit-journey/gateway-client-id': 'example',
    '/run/secrets/credit-journey/gateway-client-secret': 'example',
    '/run/secrets/owner/ledger-url': LEDGER_URL,
    '/run/secrets/credit-journey/ledger-url': LEDGER_URL.replace('//ledger:', '//ledger_worker:'),
    '/run/secrets/credit-journey/api-ledger-url': LEDGER_URL.replace('//ledger:', '//ledger_api:'),
    '/run/secrets/credit-journey/ledger-ca.pem': '-----BEGIN CERTIFICATE-----',
    '/run/secrets/credit-journey/consent-jwks.json': JSON.stringify(CONSENT_KEYS),
    '/run/secrets/credit-journey/decision-jwks.json': JSON.stringify(DECISION_KEYS),
    '/run/secrets/tls/tls.crt': 'example',
    '/run/secrets/tls/tls.key': 'example',
    '/run/keys/placeholder': '',
    '/var/lib/portfolios/placeholder': '',
  });
  await createKeyRing(env.KEY_RING_FILE as string);
  return env;
}

test('worker, codec server, API and setup start in production with the settings of the manifests and the page', async (t) => {
  const [apiKey = '', mutualTls = ''] = configurationBlocks();
  const env = await environment(t, WORKER, apiKey);
  const config = loadConfig(env);
  assert.equal(config.environment, 'production');
  assert.deepEqual(config.worker.deployment, { deploymentName: 'loans', buildId: BUILD });
  assert.ok(config.portfolioDirectory);
  assert.ok(config.temporal.connectionOptions.apiKey);
  assert.ok(config.temporal.connectionOptions.tls);
  assert.equal(config.decisionKeysFile, env.DECISION_JWKS_FILE);
  const grace = pod(WORKER).terminationGracePeriodSeconds ?? 0;
  assert.ok(grace * 1000 > config.worker.shutdownGraceMs, 'the grace period outlives the shutdown');
  const byCertificate = loadConfig(await environment(t, WORKER, mutualTls));
  assert.ok(byCertificate.temporal.connectionOptions.tls);
  assert.equal(byCertificate.temporal.connectionOptions.apiKey, undefined);
  assert.match(config.ledger.url, /^postgres:\/\/ledger_worker:/);
  const codec = loadCodecServerSettings(await environment(t, CODEC_SERVER, apiKey));
  assert.ok(codec.options.tls);
  const api = loadApiSettings(await environment(t, API, apiKey));
  assert.ok(api.options.tls);
  assert.match(api.ledgerAccess.ledger.url, /^postgres:\/\/ledger_api:/);
  const setup = await environment(t, SETUP, apiKey);
  assert.match(loadLedgerAccess(setup, { needsId: false })?.ledger.url ?? '', /^postgres:\/\/ledger:/);
  // The owner may drop tables and triggers.
  for (const [overlay, name] of PROGRAMS) {
    const owners = pod(name, overlay).volumes.filter(({ secret }) => secret?.secretName === 'credit-journey-owner');
    assert.equal(owners.length, name === SETUP ? 1 : 0, `${overlay} ${name}`);
  }
  assert.equal(loadClientSettings(setup, { besideLedger: true }).payloads.kind, 'keyRing');
});

test('the setup job reads all its secrets and fails only on the unreachable Temporal server', async (t) => {
  const here = '[profile.default]\naddress = "127.0.0.1:9"\n';
  // The test run's own setting is for the sandbox.
  const env = { ...(await environment(t, SETUP, here)), PAYLOAD_ENCRYPTION: 'on' };
  const { stderr } = await runCli(['setup'], { env });
  assert.match(stderr, /Temporal cannot be reached/);
});

test('a missing LEDGER_ID or a plain connection to the ledger prevents the start of the worker', async (t) => {
  const env = await environment(t, WORKER, configurationBlocks()[0] ?? '');
  assert.throws(() => loadConfig({ ...env, LEDGER_ID: '' }), /LEDGER_ID/);
  const plain = { ...env, LEDGER_URL_FILE: '', LEDGER_URL: 'postgres://ledger.example.com/ledger' };
  assert.throws(() => loadConfig(plain), /LEDGER_URL/);
});

test('the sandbox overlay starts worker, setup and API against its own gateway', async (t) => {
  const here = '[profile.default]\naddress = "temporal.example.com:7233"\n';
  const config = loadConfig(await environment(t, WORKER, here, 'sandbox'));
  assert.equal(config.environment, 'sandbox');
  const { metadata, spec } = manifest('Service/credit-journey-sandbox', 'sandbox');
  const { ports } = spec as unknown as { ports: { port: number }[] };
  const address = `http://${metadata.name}:${ports[0]?.port}`;
  const { GATEWAY_AUTH_URL, GATEWAY_BASE_URL } = variablesOf(WORKER, 'sandbox');
  assert.deepEqual([GATEWAY_AUTH_URL, GATEWAY_BASE_URL], [address, address]);
  assert.ok(loadApiSettings(await environment(t, API, here, 'sandbox')));
  assert.ok(loadLedgerAccess(await environment(t, SETUP, here, 'sandbox'), { needsId: false }));
});

test('a worker of the controller takes its version from the controller, and no API key from a variable', async (t) => {
  const [apiKey = ''] = configurationBlocks();
  const own = await environment(t, CONTROLLED, apiKey, 'production-controller');
  // The controller adds these to every container: internal/k8s/deployments.go of its source.
  const added = {
    ...{ TEMPORAL_ADDRESS: 'us-east-1.aws.api.temporal.io:7233', TEMPORAL_NAMESPACE: 'loans.a1b2c' },
    ...{ TEMPORAL_DEPLOYMENT_NAME: 'credit-journey/worker', TEMPORAL_WORKER_BUILD_ID: `${BUILD}-3f2a` },
  };
  const TEMPORAL_API_KEY = 'the-key-of-the-controller';
  assert.throws(() => loadConfig({ ...own, ...added, TEMPORAL_API_KEY }), /TEMPORAL_API_KEY/);
  const { command = [] } = main(CONTROLLED, 'production-controller');
  const [env = '', ...rest] = command;
  const program = rest.indexOf('node');
  const { stdout } = await run(
    env,
    [...rest.slice(0, program), process.execPath, '-p', 'JSON.stringify(process.env)'],
    {
      env: { ...own, ...added, TEMPORAL_API_KEY },
    },
  );
  const { worker, temporal } = loadConfig(JSON.parse(stdout));
  assert.deepEqual(worker.deployment, { deploymentName: 'credit-journey/worker', buildId: `${BUILD}-3f2a` });
  assert.equal(temporal.address, added.TEMPORAL_ADDRESS);
  assert.deepEqual(rest.slice(program), ['node', '/app/bin/credit-journey.js']);
  assert.equal(made['production-controller'].has(WORKER), false);
});

test('a new build has its own worker, budget, autoscaler and setup job beside those of the former build', async (t) => {
  // Without quotes YAML would read 1.10 as the number 1.1.
  const next = await kustomized(t, 'production', '1.10');
  const names = (all: Map<string, Manifest>, other: Map<string, Manifest>) =>
    [...all.keys()].filter((name) => !other.has(name)).sort();
  const own = (build: string) => [
    `Deployment/credit-journey-worker-${build}`,
    `HorizontalPodAutoscaler/credit-journey-worker-${build}`,
    `Job/credit-journey-setup-${build}`,
    `PodDisruptionBudget/credit-journey-worker-${build}`,
  ];
  assert.deepEqual(names(next, made.production), own('1.10'));
  assert.deepEqual(names(made.production, next), own(BUILD));
  const deployment = next.get('Deployment/credit-journey-worker-1.10');
  const budget = next.get('PodDisruptionBudget/credit-journey-worker-1.10');
  const label = 'app.kubernetes.io/version';
  for (const labels of [
    deployment?.spec.selector?.matchLabels,
    deployment?.spec.template?.metadata.labels,
    budget?.spec.selector?.matchLabels,
  ]) {
    assert.equal(labels?.[label], '1.10');
  }
  const scaled = next.get('HorizontalPodAutoscaler/credit-journey-worker-1.10')?.spec.scaleTargetRef?.name;
  assert.equal(scaled, 'credit-journey-worker-1.10');
  assert.equal(deployment?.spec.replicas, undefined, 'the autoscaler says how many');
  const [worker] = deployment?.spec.template?.spec.containers ?? [];
  assert.equal(worker?.image, 'registry.example.com/credit-journey:1.10');
  assert.equal(worker?.env?.find(({ name }) => name === 'BUILD_ID')?.value, '1.10');
  const text = JSON.stringify([...next.values()]).replaceAll('BUILD_ID', '');
  assert.doesNotMatch(text, /BUILD/);
});

test('each program is scraped under the job of the alerts, and the policies allow scrapes and traces', () => {
  const services = ['credit-journey-worker', 'credit-journey-api', 'credit-journey-codec-server'];
  for (const name of services) {
    const { spec } = manifest(`Service/${name}`);
    const { ports } = spec as unknown as { ports: { name: string; port: number }[] };
    assert.equal(ports.find((port) => port.name === 'metrics')?.port, 9464, name);
  }
  const policy = JSON.stringify(manifest('NetworkPolicy/credit-journey').spec);
  assert.match(policy, /"port":4318/);
  assert.match(JSON.stringify(manifest('NetworkPolicy/credit-journey-metrics').spec), /"port":"metrics"/);
});

test('resources of other projects match their definitions, and a misspelt field is found', async () => {
  const ajv = addFormats.default(new Ajv.default({ strict: false, allErrors: true, validateFormats: false }));
  const others = OVERLAYS.flatMap((overlay) => [...made[overlay].values()]).filter(({ kind }) =>
    isDefinedElsewhere(kind),
  );
  const kinds = [...new Set(others.map(({ kind }) => kind))].sort();
  assert.deepEqual(kinds, ['Connection', 'ServiceMonitor', 'WorkerDeployment', 'WorkerResourceTemplate']);
  for (const kind of kinds) {
    const validate = ajv.compile(await schemaOf(kind));
    for (const one of others) {
      if (one.kind !== kind) continue;
      assert.ok(validate(one), `${kind} ${one.metadata.name}: ${ajv.errorsText(validate.errors)}`);
      const wrong = { ...one, spec: { ...one.spec, misspelt: 1 } };
      assert.equal(validate(wrong), false, kind);
    }
  }
});

test('the manifests set only variables that the configuration reads', () => {
  const known = configuredVariables();
  for (const [overlay, name] of PROGRAMS) {
    for (const variable of Object.keys(variablesOf(name, overlay))) assert.ok(known.has(variable), variable);
  }
});

test('pods are not root, write only to their own volumes, and read secrets by their group', () => {
  for (const [overlay, name] of PROGRAMS) {
    const { securityContext, containers, initContainers = [], volumes } = pod(name, overlay);
    assert.deepEqual([securityContext?.runAsNonRoot, securityContext?.fsGroup], [true, 1000], name);
    for (const { securityContext: own, volumeMounts = [], image } of [...containers, ...initContainers]) {
      assert.deepEqual([own?.readOnlyRootFilesystem, own?.allowPrivilegeEscalation], [true, false], name);
      assert.equal(image, `registry.example.com/credit-journey:${BUILD}`);
      for (const mount of volumeMounts)
        assert.ok(
          volumes.some((volume) => volume.name === mount.name),
          mount.name,
        );
    }
    for (const { secret } of volumes) if (secret) assert.equal(secret.defaultMode, 0o440, secret.secretName);
  }
});
