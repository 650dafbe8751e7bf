/**
 * `node scripts/prune-platforms.ts <node_modules> [<largest size in MB>]`: takes away what other platforms' machines would
 * load, and fails where what this one needs is not there, or where what is left is larger. The SDK's core brings a library
 * for each of five platforms, 27 MB each.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { positionals } = parseArgs({ allowPositionals: true });
const [given = 'node_modules', largestMb = '250'] = positionals;
const packages = resolve(given);

const releases = join(packages, '@temporalio/core-bridge/releases');
// As the SDK itself chooses.
const { getPrebuiltTargetName } = createRequire(join(packages, 'x.js'))('@temporalio/core-bridge/common.js') as {
  getPrebuiltTargetName(): string;
};
const ours = getPrebuiltTargetName();
const all = readdirSync(releases);
if (!all.includes(ours)) fail(`@temporalio/core-bridge has nothing for ${ours}`);
for (const other of all) if (other !== ours) rmSync(join(releases, other), { recursive: true });

const left = sizeOf(packages);
const megabytes = Math.ceil(left / 1_000_000);
console.log(`${ours}: ${megabytes} MB`);
if (megabytes > Number(largestMb)) fail(`${megabytes} MB are left of packages: more than ${largestMb}`);

/** Bytes on disk. */
function sizeOf(path: string): number {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0);
}

function fail(why: string): never {
  console.error(why);
  process.exit(1);
}
