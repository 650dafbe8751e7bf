/** `env` in the data directory of a running `dev`: every variable that a program needs, for a shell to source. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export function envFile(dataDir: string): string {
  return join(dataDir, 'env');
}

/** Returns what removes it. It holds the path of the codec server, which is a secret: its owner alone may read it. */
export async function writeEnvFile(dataDir: string, variables: Record<string, string>): Promise<() => Promise<void>> {
  const path = envFile(dataDir);
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoteForShell(value)}\n`);
  // A file that is there would keep its mode.
  await rm(path, { force: true });
  await writeFile(
    path,
    `# Made by each start of \`credit-journey dev\`, and removed when it stops.\n${lines.join('')}`,
    {
      mode: 0o600,
    },
  );
  return () => rm(path, { force: true });
}

function quoteForShell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}
