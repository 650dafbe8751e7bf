#!/usr/bin/env node
// Plain JavaScript that any Node runs: it finds a Node that is new enough and then the program, built or from source.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST_NODE = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) {
  const { enableCompileCache } = await import('node:module');
  const { HOME, XDG_CACHE_HOME = '' } = process.env;
  const caches = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : HOME && join(HOME, '.cache');
  // A command is short: compiling its modules takes a third of it. NODE_DISABLE_COMPILE_CACHE turns it off. Node's own
  // choice of a directory, below /tmp, could be another user's, and what lies in it is run.
  if (caches) enableCompileCache(join(caches, 'credit-journey', 'compiled'));
  const built = join(root, 'dist', 'src', 'cli.js');
  await import(pathToFileURL(existsSync(built) ? built : join(root, 'src', 'cli.ts')).href);
} else {
  runOnNewerNode();
}

/** With the Node that npm installed beside the other packages, where it did. */
function runOnNewerNode() {
  const bundled = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(bundled)) {
    console.error(
      `credit-journey needs Node ${OLDEST_NODE} or newer; this is ${process.version}.\n` +
        'Install a newer Node, or run `npm ci` in the repository, which brings one.',
    );
    process.exit(2);
  }
  const child = spawn(bundled, process.argv.slice(1), { stdio: 'inherit' });
  // From a terminal both get Ctrl-C; a signal that was sent to this process alone is passed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
