/** The work queue page: `page/` as `dist/page`, one script, one style sheet and an icon, each named by its content. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const SOURCES = join(import.meta.dirname, '..', 'page');

/** Oldest browsers: docs/decisions/page.md. */
const TARGET = ['chrome123', 'firefox124', 'safari17.5'];

export interface BuiltPage {
  /** Of all that a browser loads, as it is sent. */
  gzippedBytes: number;
}

/** Writes `index.html` and `assets/` into the directory. esbuild's error where the sources do not compile. */
export async function buildPage(directory: string, { minify = true } = {}): Promise<BuiltPage> {
  const { outputFiles } = await build({
    entryPoints: { page: join(SOURCES, 'main.tsx'), style: join(SOURCES, 'style', 'page.css') },
    outdir: join(directory, 'assets'),
    entryNames: '[name]-[hash]',
    bundle: true,
    format: 'esm',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify,
    legalComments: 'none',
    sourcemap: false,
    write: false,
    logLevel: 'warning',
  });
  const icon = readFileSync(join(SOURCES, 'icon.svg'));
  const files = new Map<string, Uint8Array>(
    outputFiles.map(({ path, contents }) => [path.slice(directory.length + 1).replaceAll('\\', '/'), contents]),
  );
  const iconName = `assets/icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  files.set(iconName, icon);
  const nameOf = (ending: string) => {
    const name = [...files.keys()].find((one) => one.endsWith(ending));
    if (name === undefined) throw new Error(`the page has no ${ending}`);
    return `/${name}`;
  };
  const index = readFileSync(join(SOURCES, 'index.html'), 'utf8')
    .replace('%icon%', nameOf('.svg'))
    .replace('%style%', nameOf('.css'))
    .replace('%script%', nameOf('.js'));
  files.set('index.html', Buffer.from(index));
  mkdirSync(join(directory, 'assets'), { recursive: true });
  for (const [name, content] of files) writeFileSync(join(directory, name), content);
  return { gzippedBytes: [...files.values()].reduce((sum, content) => sum + gzipSync(content).length, 0) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = join(import.meta.dirname, '..', 'dist', 'page');
  const { gzippedBytes } = await buildPage(directory);
  console.log(`dist/page: ${Math.round(gzippedBytes / 1000)} kB gzipped`);
}
