/**
 * Packs the client by itself as `credit-journey-client`: the import closure of `src/client.ts`, compiled, and its
 * declarations, and the types of the HTTP API. `npm run build` does it. Dependencies are those that the closure imports, in the versions of this project's package.json.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { pathTypes } from './api-types.ts';

const root = join(import.meta.dirname, '..');

const API_TYPES = 'src/api-types.d.ts';

/** Static and dynamic imports, and types that are imported in place. */
const IMPORT = /(?:\bfrom|^import|\bimport\()\s*['"]([\w@./-]+)['"]/gm;

const README = `# credit-journey-client

The typed client of credit-journey: starts journeys, pulls, shares and portfolio reviews, sends them messages, and reads what came of them. It holds
no ledger and no worker. Reports come by the HTTP API: \`credit-journey-client/api\` has its \`paths\` for \`openapi-fetch\`.

\`\`\`ts
import { CreditJourneys } from 'credit-journey-client';

await using journeys = await CreditJourneys.connect();
const status = await journeys.get('LOAN-1').status();
\`\`\`

Node 22.19 or later; \`import\` and \`require()\` both work. It reads \`TEMPORAL_ADDRESS\`, \`TEMPORAL_NAMESPACE\`, \`TASK_QUEUE\`, \`GATEWAY_ENVIRONMENT\`,
\`CODEC_SERVER_URL\` and \`CODEC_SERVER_TOKEN_FILE\`; each has an option of \`connect\` that overrides it. Every error is a \`CreditJourneyError\` with a \`code\`.

TypeScript needs \`@types/node\` and a \`target\` of \`es2022\` or later. From TypeScript 6 on, name \`"types": ["node"]\` in \`tsconfig.json\`. A CommonJS
file needs \`"module": "nodenext"\`: \`node16\` refuses to \`require()\` it.
`;

interface Manifest {
  version: string;
  license: string;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, object>;
}

/** What one file and all that it imports of the project are. */
interface Closure {
  /** By their paths in `dist`. */
  files: Set<string>;
  packages: Set<string>;
}

/**
 * Makes the package's folder and its tarball, and returns the tarball's path.
 *
 * @param dist where `tsconfig.build.json` has compiled to
 * @param into an empty folder, or one that is to be replaced
 */
export function packClient(dist: string, into: string): string {
  const code = closureOf(dist, 'src/client.js');
  const types = closureOf(dist, 'src/client.d.ts');
  const foreign = [...types.packages].filter((name) => name.startsWith('@temporalio/'));
  if (foreign.length > 0) throw new Error(`the client's declarations name ${foreign.join(', ')}`);
  writeFileSync(
    join(dist, API_TYPES),
    pathTypes(JSON.parse(readFileSync(join(root, 'schemas/api.openapi.json'), 'utf8'))),
  );
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  for (const file of [...code.files, ...types.files, API_TYPES]) {
    const target = join(into, 'lib', file.replace(/^src\//, ''));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(dist, file), target);
  }
  const manifest = manifestOf(new Set([...code.packages, ...types.packages]));
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(into, 'README.md'), README);
  return packed(into);
}

function manifestOf(packages: ReadonlySet<string>): object {
  const { version, license, dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Manifest;
  const needed = [...packages].filter((name) => !(name in peerDependencies)).sort();
  const unknown = needed.filter((name) => !(name in dependencies));
  if (unknown.length > 0) throw new Error(`the client imports what package.json does not list: ${unknown.join(', ')}`);
  return {
    name: 'credit-journey-client',
    version,
    description: 'The typed client of credit-journey: starts runs, sends messages, reads results',
    license,
    type: 'module',
    engines: { node: '>=22.19' },
    exports: {
      '.': { types: './lib/client.d.ts', default: './lib/client.js' },
      './api': { types: './lib/api-types.d.ts' },
    },
    files: ['lib'],
    dependencies: Object.fromEntries(needed.map((name) => [name, dependencies[name]])),
    peerDependencies,
    peerDependenciesMeta,
  };
}

function closureOf(dist: string, first: string): Closure {
  const closure: Closure = { files: new Set(), packages: new Set() };
  const visit = (file: string) => {
    if (closure.files.has(file)) return;
    closure.files.add(file);
    for (const [, name = ''] of readFileSync(join(dist, file), 'utf8').matchAll(IMPORT)) {
      if (name.startsWith('.')) visit(compiled(relative(dist, resolve(dist, dirname(file), name)), file));
      else if (!name.startsWith('node:') && !builtinModules.includes(name)) closure.packages.add(packageOf(name));
    }
  };
  visit(first);
  return closure;
}

/** Declarations name the declarations of others by the names of their code. */
function compiled(target: string, from: string): string {
  const module = target.replace(/\.ts$/, '.js');
  return from.endsWith('.d.ts') ? module.replace(/\.js$/, '.d.ts') : module;
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

function packed(folder: string): string {
  const result = spawnSync('npm', ['pack', '--json', '--pack-destination', dirname(folder)], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(`npm pack ended with ${result.status}: ${result.stderr}`);
  const [{ filename }] = JSON.parse(result.stdout) as [{ filename: string }];
  return join(dirname(folder), filename);
}
