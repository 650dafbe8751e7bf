/** Makes the content of the image in a directory, by the Dockerfile's own steps. */
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLine, runCommand } from '../run-command.ts';

const ROOT = join(import.meta.dirname, '../..');
const MANIFESTS = ['package.json', 'package-lock.json'];
const SOURCES = [
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/api-types.ts',
  'scripts/build.ts',
  'scripts/build-page.ts',
  'scripts/pack-client.ts',
  'schemas',
  'page',
  'src',
  'sandbox',
];
const FILES = ['bin', 'deploy/health-check.js', 'deploy/follow-key-ring.sh', 'package.json'];
const STEP_TIMEOUT_MS = 4 * 60_000;

/** The image's `/app`. */
export async function stageImage(directory: string): Promise<string> {
  const [build, app] = [join(directory, 'build'), join(directory, 'app')];
  await copy([...MANIFESTS, ...SOURCES], build);
  // The image installs the modules anew; ours come from the same lock file.
  await symlink(join(ROOT, 'node_modules'), join(build, 'node_modules'), 'dir');
  await copy([...MANIFESTS, ...FILES], app);
  await Promise.all([npm(['run', 'build'], build), npm(['ci', '--omit=dev', '--ignore-scripts'], app)]);
  await cp(join(build, 'dist'), join(app, 'dist'), { recursive: true });
  return app;
}

async function copy(paths: readonly string[], target: string): Promise<void> {
  for (const path of paths) {
    await mkdir(join(target, path, '..'), { recursive: true });
    await cp(join(ROOT, path), join(target, path), { recursive: true });
  }
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  const env = { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false' };
  const result = await runCommand('npm', args, { env, cwd, timeoutMs: STEP_TIMEOUT_MS });
  if (result.exitCode !== 0) {
    throw new Error(`npm ${args.join(' ')}: ${lastLine(result.stderr)} ${lastLine(result.stdout)}`);
  }
}
