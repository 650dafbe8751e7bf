/**
 * Prints how many lines of each file of `src` one request runs: a journey goes on from one gate to the next on a real
 * server while V8 counts. Lines of what the journey began with, as its handlers, are not among them. ARCHITECTURE.md
 * has the walk that a reader takes.
 */
import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';
import { ARCHITECTURE, walkOf } from './write-architecture.ts';

const root = join(import.meta.dirname, '..');
const QUIET_MS = 2_000;

/** A place in a script's text as a line of a file of ours. */
type LineOf = (offset: number) => string | undefined;
const known = new Map<string, { text: string; lineOf: LineOf }>();

// In debug mode workflow code runs in this thread, which the inspector sees.
const create = Worker.create.bind(Worker);
Worker.create = (options) => create({ ...options, ...(options.workflowBundle ? { debugMode: true } : {}) });

await globalSetup();
try {
  const { journeyInput, startHarness, untilStatus, update } = await import('../test/support/journey-harness.ts');
  const harness = await startHarness();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Debugger.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const handle = await harness.start(journeyInput({ stages: ['PREQUAL', 'PREAPP', 'PRECLOSE'] }));
  const { journeyId } = await untilStatus(handle, ({ state }) => state === 'waitingAtGate');
  const advance = async (to: string) => {
    await update(handle, 'advance', { journeyId, to });
    await untilQuiet(async () => (await handle.describe()).historyLength);
  };
  print(await linesOf(session, () => advance('PREAPP')));
  await harness.close();
} finally {
  await globalTeardown();
}
process.exit(0);

/** Until a number has not changed for a while. A query would run lines of its own. */
async function untilQuiet(read: () => Promise<number>): Promise<void> {
  for (let [before, now] = [-1, await read()]; before !== now; [before, now] = [now, await read()]) {
    await new Promise((done) => setTimeout(done, QUIET_MS));
  }
}

function print(lines: ReadonlySet<string>): void {
  const byFile = [...Map.groupBy(lines, (line) => line.split(':')[0] ?? '')]
    .map(([file, { length }]) => ({ file, length }))
    .sort((a, b) => b.length - a.length);
  let sum = 0;
  console.log('lines  so far  of all  file');
  for (const { file, length } of byFile) {
    sum += length;
    const all = readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    const columns = [String(length), `${Math.round((100 * sum) / lines.size)} %`, String(all)];
    console.log(`${columns.map((column, index) => column.padStart(index === 0 ? 5 : 7)).join(' ')}  ${file}`);
  }
  const walk = walkOf(readFileSync(ARCHITECTURE, 'utf8'));
  const onWalk = byFile.filter(({ file }) => walk.includes(file)).reduce((all, { length }) => all + length, 0);
  console.log(`${lines.size} lines of ${byFile.length} files; ${Math.round((100 * onWalk) / lines.size)} % of them`);
  console.log(`are in the ${walk.length} files of the walk`);
}

/** The lines, as `file:line`, that run while something is played. */
async function linesOf(session: Session, play: () => Promise<unknown>): Promise<Set<string>> {
  await session.post('Profiler.takePreciseCoverage');
  await play();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const lines = new Set<string>();
  for (const script of result) {
    const source = await sourceOf(session, script);
    if (!source) continue;
    // A module's own function has no name; a range within another one says better what ran.
    const ranges = script.functions.filter(({ functionName }) => functionName !== '').flatMap(({ ranges }) => ranges);
    const counts = new Int8Array(source.text.length);
    for (const { startOffset, endOffset, count } of ranges.sort((a, b) => size(b) - size(a))) {
      counts.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    }
    for (const { index } of source.text.matchAll(/(?<=^[ \t]*)\S/gm)) {
      const line = counts[index] ? source.lineOf(index) : undefined;
      if (line) lines.add(line);
    }
  }
  return lines;
}

function size({ startOffset, endOffset }: Profiler.CoverageRange): number {
  return endOffset - startOffset;
}

async function sourceOf(session: Session, { scriptId, url }: Profiler.ScriptCoverage) {
  const before = known.get(scriptId);
  if (before) return before;
  const file = url.startsWith('file://') ? fileURLToPath(url) : '';
  const isBundle = file.endsWith('workflow-bundle.js');
  if (!isBundle && !file.startsWith(join(root, 'src/'))) return undefined;
  const { scriptSource: text } = await session.post('Debugger.getScriptSource', { scriptId });
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineAt = (offset: number) => starts.findLastIndex((start) => start <= offset);
  const bundled = isBundle ? bundledLines(text) : undefined;
  const lineOf: LineOf = (offset) => {
    const line = lineAt(offset);
    return bundled ? bundled(line, offset - (starts[line] ?? 0)) : `${relative(root, file)}:${line + 1}`;
  };
  const source = { text, lineOf };
  known.set(scriptId, source);
  return source;
}

function bundledLines(text: string): (line: number, column: number) => string | undefined {
  const encoded = /sourceMappingURL=data:application\/json;[^,]*base64,([\w+/=]+)/.exec(text)?.[1];
  if (!encoded) throw new Error('the bundle has no source map');
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
  return (line, column) => {
    const entry = map.findEntry(line, column);
    if (!('originalSource' in entry) || entry.originalLine === undefined) return undefined;
    const file = relative(root, resolve(entry.originalSource.replace(/^.*?(?=\/(?:.*\/)?src\/)/, '')));
    return file.startsWith('src/') ? `${file}:${entry.originalLine + 1}` : undefined;
  };
}
