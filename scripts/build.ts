/**
 * `npm run build`: makes an empty `dist/`, compiles the program with its declarations, and bundles the workflows. A
 * worker in production then needs neither the sources nor the seconds that bundling takes. Builds the work queue page
 * (`dist/page/`), and packs the client as a package for platforms: `dist-client/`.
 */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { buildPage } from './build-page.ts';
import { packClient } from './pack-client.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
compile();
// What a bundle is made with is told by the program that was compiled, of its own files.
const { BUNDLE_FILE, BUNDLE_OPTIONS }: typeof import('../src/worker/workflow-source.ts') = await import(
  pathToFileURL(join(dist, 'src/worker/workflow-source.js')).href
);
await bundle();
const { gzippedBytes } = await buildPage(join(dist, 'page'));
console.log(`dist/page: ${Math.round(gzippedBytes / 1000)} kB gzipped`);
const tarball = packClient(dist, join(root, 'dist-client', 'credit-journey-client'));
console.log(relative(root, tarball));

async function bundle(): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(dist, 'src/workflows/index.js'),
    // Part of the bundle: with a prebuilt bundle the SDK ignores the data converter's own, and other interceptors.
    failureConverterPath: join(dist, 'src/protection/payloads/failure-converter.js'),
    ...BUNDLE_OPTIONS,
    logger: new DefaultLogger('WARN'),
  });
  writeFileSync(join(dist, BUNDLE_FILE), code);
  console.log(`dist/${BUNDLE_FILE}: ${Math.round(Buffer.byteLength(code) / 1000)} kB`);
}

/** By TypeScript's own launcher, on this Node: the Node of a `tsc` on PATH is unknown. */
function compile(): void {
  const typescript = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(typescript), 'bin', 'tsc');
  const result = spawnSync(process.execPath, [tsc, '--project', join(root, 'tsconfig.build.json')], {
    cwd: root,
    stdio: 'inherit',
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}
