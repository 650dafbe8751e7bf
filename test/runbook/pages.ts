/** Pages as they are written, above all the runbook's: their headings and their commands. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FailureType } from '../../src/model/failure-types.ts';
import { toRunbookPage } from '../../src/words/holds.ts';

export const RUNBOOK = new URL('../../docs/runbook/', import.meta.url).pathname;

/** The headings of every page, in this order. */
export const HEADINGS = ['What it means', 'What to check', 'What to do', 'What never to do'];

export interface Block {
  /** The heading above the block. `undefined` before the first. */
  section: string | undefined;
  script: string;
  /** The exit code that the page promises. */
  exits: number;
  /** It keeps its terminal, such as a server. */
  stays: boolean;
  /** Why the tests do not run it. */
  notRunBecause?: string;
}

export interface Page {
  /** The file's name without `.md`. */
  name: string;
  text: string;
  headings: string[];
  blocks: Block[];
}

export function readPages(): Page[] {
  return readdirSync(RUNBOOK)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => readPage(file.slice(0, -'.md'.length)));
}

function readPage(name: string): Page {
  return partsOf(name, readFileSync(join(RUNBOOK, `${name}.md`), 'utf8'));
}

/** Parses any page. Code that the page shows as part of a file is no command. */
export function partsOf(name: string, text: string): Page {
  const headings: string[] = [];
  const blocks: Block[] = [];
  for (const { groups = {} } of text.replaceAll(EXCERPTS, '').matchAll(PARTS)) {
    if (groups.heading !== undefined) headings.push(groups.heading);
    else blocks.push(blockOf(name, headings.at(-1), (groups.info ?? '').trim(), groups.script ?? ''));
  }
  return { name, text, headings, blocks };
}

const EXCERPTS = /^<!-- \S+ -->\n```\w+\n[\s\S]*?^```$/gm;

/** A script may hold what looks like a heading: it is taken first, whole. */
const PARTS = /^```sh(?<info>.*)\n(?<script>[\s\S]*?)^```$|^## (?<heading>.+)$/gm;

/** After `sh`: nothing, `exits=<code>`, `stays`, or `no-run: <why>`. */
function blockOf(page: string, section: string | undefined, info: string, script: string): Block {
  const [, code] = /^exits=(\d+)$/.exec(info) ?? [];
  const [, why] = /^no-run: (.+)$/.exec(info) ?? [];
  const stays = info === 'stays';
  if (info !== '' && code === undefined && why === undefined && !stays)
    throw new Error(`${page}: what is \`sh ${info}\`?`);
  return { section, script, exits: Number(code ?? 0), stays, ...(why === undefined ? {} : { notRunBecause: why }) };
}

/** Replaces each `<name>` in a script by its value. A name without a value is an error. */
export function filled(script: string, values: Readonly<Record<string, string>>): string {
  return script.replaceAll(/<([a-z][A-Za-z]*)>/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`nobody knows what <${name}> stands for`);
    return value;
  });
}

/** `OutcomeUnknown` → `outcome-unknown`: the page that a failure type has. */
export function pageOf(failureType: FailureType): string {
  return basename(toRunbookPage(failureType), '.md');
}
