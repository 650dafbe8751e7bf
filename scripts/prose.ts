/**
 * `npm run prose`: counts what makes comments and documents hard to read: sentences of more than 25 words, and words
 * that hide the actor. `npm run prose -- <part of a path>` lists each place. It gates nothing.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MOST_WORDS = 25;
const HIDDEN_ACTORS = /\b(?:nobody|somebody|whoever|whatever|told|befall(?:s|en)?|befell)\b/gi;

const AREAS: Readonly<Record<string, string>> = {
  src: 'src/**/*.ts',
  sandbox: 'sandbox/**/*.ts',
  test: 'test/**/*.ts',
  'bench, scripts': '{bench,scripts}/**/*.ts',
  docs: '{docs/**/*.md,*.md}',
};

interface Finding {
  line: number;
  what: string;
}

const root = join(import.meta.dirname, '..');

/** The comments of a source, or a page without its code and tables; each line keeps its number. */
function proseOf(file: string): { line: number; text: string }[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  let isInside = false;
  const prose: { line: number; text: string }[] = [];
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    if (file.endsWith('.md')) {
      if (text.startsWith('```')) isInside = !isInside;
      else if (!isInside && !/^\s*(?:\||#|<!--| {4})/.test(text))
        prose.push({ line, text: text.replace(/^\s*[-*\d.]+ /, '. ') });
      continue;
    }
    if (/^\s*\/\*\*?/.test(text)) isInside = true;
    const comment = isInside ? text.replace(/^\s*\/?\*+\/?|\*\/\s*$/g, '') : /(?:^|\s)\/\/ (.*)$/.exec(text)?.[1];
    if (isInside && /\*\//.test(text)) isInside = false;
    prose.push({ line, text: comment === undefined ? '' : comment.replace(/^\s*@\w+/, '. ') });
  }
  return prose;
}

function findingsOf(file: string): { sentences: number; long: Finding[]; hidden: Finding[] } {
  const long: Finding[] = [];
  const hidden: Finding[] = [];
  let sentences = 0;
  let words: string[] = [];
  let begun = 1;
  const end = () => {
    if (words.length > 0) sentences++;
    if (words.length > MOST_WORDS) long.push({ line: begun, what: `${words.length} words` });
    words = [];
  };
  for (const { line, text } of proseOf(file)) {
    for (const [word] of text.matchAll(HIDDEN_ACTORS)) hidden.push({ line, what: word });
    if (text.trim() === '') end();
    // Code within a sentence is one word; a point within it ends nothing.
    for (const part of text.replaceAll(/`[^`]*`/g, 'code').split(/(?<=[.:;?!])\s+/)) {
      if (words.length === 0) begun = line;
      words.push(...part.split(/\s+/).filter((word) => /\w/.test(word)));
      if (/[.:;?!]["’)]?$/.test(part)) end();
    }
  }
  end();
  return { sentences, long, hidden };
}

const [filter] = process.argv.slice(2);
if (filter === undefined) {
  console.log('area             sentences  over 25 words  hidden actors');
  for (const [area, pattern] of Object.entries(AREAS)) {
    const found = globSync(pattern, { cwd: root }).map(findingsOf);
    const sum = (count: (finding: (typeof found)[number]) => number) => found.reduce((all, one) => all + count(one), 0);
    const columns = [sum((one) => one.sentences), sum((one) => one.long.length), sum((one) => one.hidden.length)];
    console.log(
      area.padEnd(16),
      columns.map((column, index) => String(column).padStart([9, 14, 14][index] ?? 0)).join(' '),
    );
  }
} else {
  for (const file of Object.values(AREAS).flatMap((pattern) => globSync(pattern, { cwd: root }))) {
    if (!file.includes(filter)) continue;
    const { long, hidden } = findingsOf(file);
    for (const { line, what } of [...long, ...hidden].sort((a, b) => a.line - b.line))
      console.log(`${file}:${line} ${what}`);
  }
}
