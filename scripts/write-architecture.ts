/** `npm run architecture`: draws the picture and the table of layers in ARCHITECTURE.md from the imports. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { layerTable, picture, readImports } from './import-graph.ts';

export const ARCHITECTURE = join(import.meta.dirname, '..', 'ARCHITECTURE.md');

/** The page with its generated parts drawn anew. */
export function drawn(page: string): string {
  const parts = { picture: picture(readImports()), layers: layerTable() };
  return Object.entries(parts).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(\\n<!-- /${name} -->)`),
        (_, begin: string, end: string) => `${begin}${part}${end}`,
      ),
    page,
  );
}

/** The files of the walk that the page takes its reader on, in order. */
export function walkOf(page: string): string[] {
  const rows = /<!-- walk -->\n([\s\S]*?)\n<!-- \/walk -->/.exec(page)?.[1] ?? '';
  return [...rows.matchAll(/^\| `(src\/\S+)` \|/gm)].map(([, file]) => String(file));
}

if (import.meta.main) writeFileSync(ARCHITECTURE, drawn(readFileSync(ARCHITECTURE, 'utf8')));
