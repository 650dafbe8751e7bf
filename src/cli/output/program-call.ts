/** How this program was called, so that every command that people read can be pasted. */
import { findPackageJSON } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';

const NAME = 'credit-journey';

/** Matches the word by itself, before a command or an option. Skips text that has the full call already. */
const COMMAND = /(?<![\w./-]|npx )credit-journey (?=[a-z<[-])/g;

type Process = Pick<NodeJS.Process, 'argv' | 'env' | 'cwd'>;

/** `credit-journey` where it is installed for every folder, `npx credit-journey` in a project, else the file. */
export function resolveProgramCall({ argv, env, cwd }: Process = process): string {
  const { npm_command: command, npm_lifecycle_event: script } = env;
  if (command === 'exec' || script !== undefined) return `npx ${NAME}`;
  const [, path = ''] = argv;
  if (basename(path) !== NAME) {
    // Any Node runs it, from source and built.
    const startFile = join(dirname(findPackageJSON(import.meta.url) ?? ''), 'bin', `${NAME}.js`);
    const inside = relative(cwd(), startFile);
    return `node ${quoteShellWord(inside.startsWith('..') ? startFile : inside)}`;
  }
  return dirname(path).endsWith(`node_modules${sep}.bin`) ? `npx ${NAME}` : NAME;
}

/** Replaces commands in the text by ones that work here. Commands that are complete already stay unchanged. */
export function adaptCommands(text: string, call = resolveProgramCall()): string {
  return call === NAME ? text : text.replaceAll(COMMAND, `${call} `);
}

/** A value as a shell takes it for one word. */
export function quoteShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
