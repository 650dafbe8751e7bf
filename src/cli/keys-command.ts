import type { Command } from 'commander';
import { type OutputOptions, withExamples, withOutputOptions } from './common-options.ts';
import { createOutput } from './output.ts';

const DEFAULT_FILE = '.credit-journey/keys.json';

export function registerKeysCommand(program: Command): void {
  const keys = program.command('keys').description('the key ring that seals reports');
  const command = keys
    .command('new')
    .description('make a key ring file that its owner alone can read; an existing one is never overwritten')
    .option('--file <path>', `where (default: KEY_RING_FILE, else ${DEFAULT_FILE})`);
  withExamples(withOutputOptions(command), 'credit-journey keys new --file my-keys.json');
  command.action(async ({ file, ...options }: OutputOptions & { file?: string }) => {
    const path = file ?? (process.env.KEY_RING_FILE || DEFAULT_FILE);
    const { createKeyRing, KEY_USES } = await import('../protection/key-ring.ts');
    const ring = await createKeyRing(path);
    const made = KEY_USES.map((use) => ({ use, id: ring.current(use).id }));
    const output = createOutput(options);
    output.answer({ file: path, keys: made }, () => [
      output.colors.green(`made the key ring ${path}`),
      ...made.map(({ use, id }) => `  ${use}  ${id}`),
      'Keep a copy where the ledger’s backups are not: what it seals cannot be read without it.',
    ]);
  });
}
