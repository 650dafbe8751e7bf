/** Reads the files of deploy/ as the programs that use them do. */
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { findVariables } from '../../src/config/variables.ts';
import { ROOT } from './checks.ts';

export interface ComposeService {
  image: string;
  build?: unknown;
  user?: string;
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  networks?: string[] | Record<string, object>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  stop_grace_period?: string;
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  profiles?: string[];
}

export interface Compose {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
  volumes: Record<string, unknown>;
}

export function compose(): Compose {
  return parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as Compose;
}

interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: { configMapKeyRef: { name: string; key: string } };
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: EnvironmentVariable[];
  envFrom?: { configMapRef: { name: string } }[];
  volumeMounts?: { name: string; mountPath: string }[];
  securityContext?: Record<string, unknown>;
}

export interface PodSpec {
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown>;
  initContainers?: Container[];
  containers: Container[];
  volumes: { name: string; secret?: { secretName: string; defaultMode?: number } }[];
}

export interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> };
    scaleTargetRef?: { name: string };
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  };
}

/** By kind and name. As YAML 1.1, as Kubernetes reads it: 0440 is octal. */
export function manifestsIn(text: string): Map<string, Manifest> {
  const all = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS() as Manifest);
  return new Map(all.map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, manifest]));
}

/** The environment of a container's process. An empty variable counts as absent. */
export function environmentOf(container: Container, settings: readonly Manifest[]): Record<string, string> {
  const named = (map: string) => settings.find(({ metadata }) => metadata.name === map)?.data ?? {};
  const all = Object.assign({}, ...(container.envFrom ?? []).map(({ configMapRef }) => named(configMapRef.name)));
  for (const { name, value, valueFrom } of container.env ?? []) {
    const given = value ?? (valueFrom && named(valueFrom.configMapKeyRef.name)[valueFrom.configMapKeyRef.key]);
    if (given === undefined) throw new Error(`nothing gives ${name} a value`);
    all[name] = given;
  }
  return all;
}

/** The container's files under a directory of the test's, and its environment with paths that lead there. */
export async function mounted(
  t: TestContext,
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const root = await mkdtemp(join(tmpdir(), 'credit-journey-mounts-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const here = (text: string) =>
    text
      .replaceAll(/\/run\/(secrets|keys)\//g, join(root, 'run', '$1', '/'))
      .replaceAll('/var/lib/portfolios', join(root, 'var/lib/portfolios'));
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, here(content), { mode: 0o600 });
    // A secret's volume has this mode. A key ring is for its owner only.
    if (!path.startsWith('/run/keys/')) await chmod(file, 0o440);
  }
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, here(value)]));
}

/** Every name that the programs look up, those of `@temporalio/envconfig` and of Node among them. */
export function configuredVariables(): Set<string> {
  const envconfig = readFileSync(join(ROOT, 'node_modules/@temporalio/envconfig/lib/envconfig-toml.js'), 'utf8');
  const ofTemporal = [...envconfig.matchAll(/['.\s](TEMPORAL(?:_[A-Z0-9]+)+)\b/g)].map(([, name = '']) => name);
  return new Set([...Object.keys(findVariables('sandbox')), ...ofTemporal, 'NODE_OPTIONS']);
}
