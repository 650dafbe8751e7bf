/** The blocks of docs/deploy.md that readers copy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checks.ts';

export function deployPage(): string {
  return readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
}

/** Its Temporal configuration files: by API key, then by certificate. */
export function configurationBlocks(): string[] {
  const blocks = [...deployPage().matchAll(/(?:^ {4}.*\n(?:\n(?= {4}))?)+/gm)].map(([block]) => block);
  return blocks.filter((block) => block.includes('[profile.')).map((block) => block.replaceAll(/^ {4}/gm, ''));
}
