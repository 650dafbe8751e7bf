/** The imports of `src` and `sandbox` as a graph of the project's files, type imports included. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { SUBLAYERS, WINGS } from './layers.ts';

const root = join(import.meta.dirname, '..');

/** Files by their path from the root, each with the files that it imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+'(\.[^']+)'|import\('(\.[^']+)'\)|(?:^|\n)import\s+'(\.[^']+)'/g;

export function readImports(): ImportGraph {
  const files = globSync(['src/**/*.ts', 'sandbox/**/*.ts'], { cwd: root }).sort();
  return new Map(files.map((file) => [file, importsOf(file)]));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const targets = [...text.matchAll(IMPORT)].map(([, from, lazy, bare]) => from ?? lazy ?? bare ?? '');
  return [...new Set(targets.map((target) => relative(root, resolve(root, dirname(file), target))))];
}

/** Groups of files that import one another in a circle. */
export function circles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    stack.push(file);
    let low = index;
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    lowest.set(file, low);
    if (low === index) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) found.push(circle.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}

/** Layers and sublayers in one order, the top first. */
const ORDER = WINGS.flatMap(({ layers }) => layers.flatMap(({ folder }) => SUBLAYERS[folder] ?? [folder]));

/** The layer of a file in `src`: the longest that its path begins with. Undefined for a file outside all layers. */
export function layerOf(file: string): string | undefined {
  const path = file.replace(/^src\//, '');
  const holding = ORDER.filter((layer) => path === layer || path.startsWith(`${layer}/`));
  return holding.sort((a, b) => b.length - a.length)[0];
}

/** Imports of `src` from a lower layer to a higher one: `from → to`. */
export function upwardImports(graph: ImportGraph): string[] {
  const rank = (file: string) => ORDER.indexOf(layerOf(file) ?? '');
  return [...graph].flatMap(([file, targets]) =>
    targets
      .filter((target) => file.startsWith('src/') && target.startsWith('src/') && rank(target) < rank(file))
      .map((target) => `${file} → ${target}`),
  );
}

/** The picture in ARCHITECTURE.md: which wing imports which, without arrows that follow from others. */
export function picture(graph: ImportGraph): string {
  const wings = new Map<string, Set<string>>();
  for (const [file, targets] of graph) {
    const from = wingOf(file);
    const to = wings.get(from) ?? new Set();
    for (const target of targets) if (wingOf(target) !== from) to.add(wingOf(target));
    wings.set(from, to);
  }
  const reaches = (from: string, to: string): boolean =>
    [...(wings.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const arrows = [...wings].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${from} --> ${to}`),
  );
  return ['```mermaid', 'flowchart TD', ...arrows.sort(), '```'].join('\n');
}

/** The wing of a file, or the whole sandbox. */
function wingOf(file: string): string {
  const layer = layerOf(file);
  const wing = WINGS.find(({ layers }) =>
    layers.some(({ folder }) => layer === folder || layer?.startsWith(`${folder}/`)),
  );
  return wing?.name ?? (file.split('/')[0] as string);
}

/** The table of layers in ARCHITECTURE.md. */
export function layerTable(): string {
  const rows = WINGS.flatMap(({ name, layers }) =>
    layers.map(({ folder, what }, index) => `| ${index === 0 ? `**${name}**` : ''} | \`${folder}\` | ${what} |`),
  );
  return ['| wing | layer | what it is |', '| --- | --- | --- |', ...rows].join('\n');
}
