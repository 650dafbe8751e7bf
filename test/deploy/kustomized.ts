/** The overlays of deploy/kubernetes, as `kubectl kustomize` makes them, and the schemas that their resources keep to. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { publishedChecks, ROOT } from './checks.ts';
import { type Manifest, manifestsIn } from './manifests.ts';

const run = promisify(execFile);

export const OVERLAYS = ['production', 'production-controller', 'sandbox'] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** By kind and name. @param buildId another than the one that is committed */
export async function kustomized(t: TestContext, overlay: Overlay, buildId?: string): Promise<Map<string, Manifest>> {
  return manifestsIn(await kustomizedText(t, overlay, buildId));
}

export async function kustomizedText(t: TestContext, overlay: Overlay, buildId?: string): Promise<string> {
  const { kustomize } = await publishedChecks();
  if (buildId === undefined) return kustomize(join(ROOT, 'deploy/kubernetes/overlays', overlay));
  const directory = await mkdtemp(join(tmpdir(), 'credit-journey-kubernetes-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  await cp(join(ROOT, 'deploy/kubernetes'), directory, { recursive: true });
  const file = join(directory, 'overlays', overlay, 'build.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/BUILD_ID: .*/, `BUILD_ID: "${buildId}"`));
  return kustomize(join(directory, 'overlays', overlay));
}

interface GoModule {
  path: string;
  version: string;
  /** The checksum in the form of go.sum. */
  sum: string;
}

const CONTROLLER: GoModule = {
  path: 'github.com/temporalio/temporal-worker-controller',
  version: 'v1.8.1',
  sum: 'h1:fyGqkeh8sQ0QIoCpko1iUgZ+TbKTyivgTBouiHMPaoM=',
};
const PROMETHEUS_OPERATOR: GoModule = {
  path: 'github.com/prometheus-operator/prometheus-operator',
  version: 'v0.85.0',
  sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
};

const CHART = 'helm/temporal-worker-controller-crds/templates/temporal.io';

/** The module and file that define each kind of another project's resources. */
const DEFINED_IN: Readonly<Record<string, [GoModule, string]>> = {
  Connection: [CONTROLLER, `${CHART}_connections.yaml`],
  WorkerDeployment: [CONTROLLER, `${CHART}_workerdeployments.yaml`],
  WorkerResourceTemplate: [CONTROLLER, `${CHART}_workerresourcetemplates.yaml`],
  ServiceMonitor: [PROMETHEUS_OPERATOR, 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'],
};

export function isDefinedElsewhere(kind: string): boolean {
  return kind in DEFINED_IN;
}

/** A JSON schema of the kind, which refuses fields that it does not name. */
export async function schemaOf(kind: string): Promise<object> {
  const [module, file] = DEFINED_IN[kind] ?? [];
  if (!module || !file) throw new Error(`nothing says where ${kind} is defined`);
  const definition = parse(await readFile(join(await sourceOf(module), file), 'utf8')) as {
    spec: { versions: { schema: { openAPIV3Schema: Schema } }[] };
  };
  const schema = definition.spec.versions[0]?.schema.openAPIV3Schema;
  if (!schema) throw new Error(`${file} has no schema`);
  return closed(schema);
}

async function sourceOf({ path, version, sum }: GoModule): Promise<string> {
  // In no module of its own: nothing here is built.
  const { stdout } = await run('go', ['mod', 'download', '-json', `${path}@${version}`], {
    cwd: tmpdir(),
    timeout: 200_000,
    maxBuffer: 1024 * 1024,
  });
  const found = JSON.parse(stdout) as { Dir: string; Sum: string };
  if (found.Sum !== sum) throw new Error(`${path}@${version} has another content than it had`);
  return found.Dir;
}

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
}

/** The API server drops what a schema does not name, without a word: a misspelt field has no effect. */
function closed(schema: Schema, isResource = true): object {
  const { properties, items, additionalProperties, ...rest } = schema;
  const isOpen = rest['x-kubernetes-preserve-unknown-fields'] === true;
  const known = Object.entries(properties ?? {}).map(([name, of]) => [
    name,
    // Names, labels and the like: the API server's own.
    isResource && name === 'metadata' ? {} : closed(of, false),
  ]);
  return {
    ...rest,
    ...(properties ? { properties: Object.fromEntries(known) } : {}),
    ...(properties && !isOpen && additionalProperties === undefined ? { additionalProperties: false } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: closed(additionalProperties, false) } : {}),
    ...(items ? { items: closed(items, false) } : {}),
  };
}
