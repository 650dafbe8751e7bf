// Runs before `npm run demo`, `npm test`, `npm run test:all` and `npm run check`: installs the packages if node_modules
// differs from package-lock.json, and does nothing otherwise. Plain JavaScript that any Node from 20 runs, because the
// project's own Node is one of the packages.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WAIT_MS = 200;

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
/** Holds the id of the process that installs. npm empties node_modules, so the file cannot lie there. */
const lockFile = join(root, '.npm-ci.lock');

if (findDifference() !== null) {
  takeLock();
  try {
    // Another process may have installed them in the meantime.
    const difference = findDifference();
    if (difference !== null) install(difference);
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** Returns what node_modules lacks of package-lock.json, or has beside it; `null` if the two agree. */
function findDifference() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  // npm writes this list at the end of an installation, and removes it at the start of the next one.
  const installed = readPackages(join(modules, '.package-lock.json'));
  if (installed === null) return 'there is no complete node_modules';
  for (const [path, entry] of Object.entries(wanted ?? {})) {
    if (path === '') continue;
    const found = installed[path];
    if (found === undefined) {
      if (entry.optional && isForAnotherPlatform(entry)) continue;
      return `${path} is missing`;
    }
    if (found.version !== entry.version || found.integrity !== entry.integrity) return `${path} has another version`;
    if (!existsSync(join(root, path, 'package.json'))) return `${path} is missing`;
  }
  const surplus = Object.keys(installed).find((path) => wanted?.[path] === undefined);
  if (surplus !== undefined) return `${surplus} is not in package-lock.json`;
  // A package's own script puts the project's Node there, unless npm was run with --ignore-scripts.
  return existsSync(join(modules, '.bin', 'node')) ? null : "the project's own Node is missing";
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

/** Which C library the machine has would take long to find out: such a package may be missing. */
function isForAnotherPlatform({ os, cpu, libc }) {
  return libc !== undefined || os?.includes(process.platform) === false || cpu?.includes(process.arch) === false;
}

/** Waits while another process installs. A lock whose process has ended counts for nothing. */
function takeLock() {
  for (let tries = 0; ; tries++) {
    try {
      // A symbolic link comes into being with its content, which a file does not.
      symlinkSync(String(process.pid), lockFile);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = readHolder();
    if (holder !== null && !isAlive(holder)) rmSync(lockFile, { force: true });
    else if (tries === 0) console.error(`Waiting: process ${holder} installs the packages (${lockFile}).`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
}

/** Returns `null` if the lock is gone by now. */
function readHolder() {
  try {
    return Number.parseInt(readlinkSync(lockFile), 10);
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function install(difference) {
  console.error(`Installing the packages of package-lock.json (npm ci), since ${difference}.`);
  // npm runs on the machine's Node: the project's own is deleted on the way.
  const own = join(modules, '.bin');
  const path = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== own);
  const env = { ...process.env, PATH: path.join(delimiter) };
  const { status, error } = spawnSync('npm ci --include=dev --include=optional', {
    cwd: root,
    env,
    shell: true,
    stdio: 'inherit',
  });
  if (status === 0) return;
  console.error(`The packages are not installed: ${error?.message ?? 'npm says why above'}.`);
  process.exitCode = 1;
}
