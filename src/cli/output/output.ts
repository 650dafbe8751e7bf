/** Output of a command: lines for people on a terminal, JSON for everything else. */
import pc from 'picocolors';
import { isRecord } from '../../base/is-record.ts';
import { dropMilliseconds, splitCamelCase } from '../../words/writer.ts';
import { adaptCommands } from './program-call.ts';

/** Wide enough to be read, narrow enough for the smallest terminal in use. */
const WIDTH = 80;

export interface OutputOptions {
  json?: boolean;
  debug?: boolean;
}

export type Output = ReturnType<typeof createOutput>;

export function createOutput(options: OutputOptions) {
  const { stdout: stream } = process;
  const isJson = options.json ?? !stream.isTTY;
  const colors = pc.createColors(!isJson && pc.isColorSupported);
  // A pseudo-terminal without a size says 0.
  const width = Math.min(stream.columns || WIDTH, WIDTH);
  const say = (lines: readonly string[]) => void stream.write(lines.map((line) => `${adaptCommands(line)}\n`).join(''));
  const answer = (document: object | string, lines: string[]) => {
    if (isJson) stream.write(`${typeof document === 'string' ? document : JSON.stringify(document, null, 2)}\n`);
    else say(lines);
  };
  let drawn = 0;
  return {
    /** Machines read this: JSON only. */
    isJson,
    width,
    colors,
    /** The command's one answer: a JSON document, or lines for people. A text is JSON already. */
    answer,
    /** Lines for people, also under JSON. */
    say,
    /** One of several answers: a JSON line, or lines of text. */
    event: (document: object, lines: string[]) => answer(JSON.stringify(document), lines),
    /** Replaces what the last call drew; terminals only, elsewhere it writes lines. */
    redraw: (lines: string[]) => {
      // Up over the last drawing, then clear to the end of the screen.
      if (stream.isTTY && drawn > 0) stream.write(`\u001b[${drawn}A\u001b[0J`);
      say(lines);
      drawn = lines.length;
    },
    /** A step of what takes long, on stderr; under JSON a JSON line. */
    progress: (step: string) =>
      void process.stderr.write(`${isJson ? JSON.stringify({ progress: step }) : adaptCommands(step)}\n`),
    /** For people only, on stderr; nothing under JSON. */
    note: (line: string) => {
      if (!isJson) process.stderr.write(`${adaptCommands(line)}\n`);
    },
  };
}

export function readDocument(document: object | string): object {
  return typeof document === 'string' ? JSON.parse(document) : document;
}

/** A page's rows are its whole answer; these members are for programs. */
const FOR_PROGRAMS = ['next', 'asOf'];

/** A row with more members is easier to read as a document of its own. */
const MOST_COLUMNS = 10;

const LONGEST_CELL = 36;

/** Members that have lines of their own below their row. */
const BELOW = ['detail', 'toDo', 'command'];

type Value = string | number | boolean | readonly unknown[];

/**
 * Prints any answer for people: its facts as lines, then each of its lists. A list is a table, or one document below the
 * other where its rows have lists of their own.
 */
export function formatDocument(document: object, width: number, indent = ''): string[] {
  const { hasMore, ...others } = document as { hasMore?: boolean };
  const members = flatten(others).filter(([name]) => !FOR_PROGRAMS.includes(name));
  const facts = members.filter(([, value]) => !Array.isArray(value));
  const rows = facts.map(([name, value]) => [splitCamelCase(name), toText(value)]);
  return [
    ...formatTable(rows, width, indent),
    ...members.flatMap(([name, value]) => (Array.isArray(value) ? listLines(name, value, width, indent) : [])),
    ...(hasMore ? ['There are more.'] : []),
  ];
}

/** Returns the facts and lists of a document. A member of an inner object has the names of both. */
function flatten(document: object, outer = ''): [name: string, value: Value][] {
  return Object.entries(document).flatMap(([inner, value]): [string, Value][] => {
    const name = `${outer}${inner}`;
    if (value === undefined || value === null) return [];
    return typeof value === 'object' && !Array.isArray(value) ? flatten(value, `${name} `) : [[name, value]];
  });
}

function listLines(name: string, rows: readonly unknown[], width: number, indent: string): string[] {
  const isPage = name === 'data';
  if (rows.length === 0) return [`${indent}${isPage ? 'none' : `${splitCamelCase(name)}  none`}`];
  const inner = isPage ? indent : `${indent}  `;
  const lines = rows.every(isRecord)
    ? formatRowLines(rows, width, inner)
    : rows.flatMap((row) => wrap(toText(row), width, inner));
  return isPage ? lines : [`${indent}${splitCamelCase(name)}`, ...lines];
}

function formatRowLines(rows: readonly object[], width: number, indent: string): string[] {
  const members = rows.flatMap((row) => flatten(row));
  const hasLists = members.some(([, value]) => Array.isArray(value) && value.some(isRecord));
  const isWide = new Set(members.map(([name]) => name)).size > MOST_COLUMNS;
  if (!hasLists && !isWide) return formatRowTable(rows, width, indent);
  return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...formatDocument(row, width, indent)]);
}

/**
 * Prints a column for each member that a row has. Members that a row lacks, or that are long, come later, and the run last,
 * since its id may be long and is copied.
 */
export function formatRowTable(rows: readonly object[], width: number, indent = ''): string[] {
  const flat = rows.map((row) => new Map(flatten(row)));
  const names = [...new Set(flat.flatMap((row) => [...row.keys()]))].filter((name) => !BELOW.includes(name));
  const isShort = (value: Value | undefined) => value !== undefined && String(value).length <= LONGEST_CELL;
  const rank = (name: string) => (name === 'runKey' ? 2 : flat.every((row) => isShort(row.get(name))) ? 0 : 1);
  const columns = names.toSorted((a, b) => rank(a) - rank(b));
  const cells = flat.map((row) => columns.map((name) => toText(row.get(name) ?? '')));
  const all = [columns.map((name) => splitCamelCase(name).toUpperCase()), ...cells];
  const [head = [], ...shown] = toTableRows(all, width, indent);
  return [
    ...head,
    ...flat.flatMap((row, index) => [
      ...(shown[index] ?? []),
      ...BELOW.flatMap((name) => (row.has(name) ? wrap(toText(row.get(name) ?? ''), width, `${indent}    `) : [])),
    ]),
  ];
}

/** Shows the age beside an instant. No character of a text may steer the terminal. */
export function toText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(toText).join('; ');
  if (isRecord(value))
    return flatten(value)
      .map(([name, inner]) => `${splitCamelCase(name)} ${toText(inner)}`)
      .join(', ');
  const text = String(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? withAge(text) : text.replaceAll(/\p{C}+/gu, ' ');
}

/** An option with its value, or any other word. Quotes keep words together. */
const COMMAND_WORDS = /(?:--[\w-]+ (?!-))?(?:"[^"]*"|'[^']*'|\S)+/g;

/** Wraps the command into lines that can be copied whole into a shell. */
export function wrapCommand(command: string, width: number, indent: string): string[] {
  const words = adaptCommands(command).match(COMMAND_WORDS) ?? [];
  const lines = fillLines(words, width - 2, [indent, `${indent}    `]);
  return lines.map((line, index) => (index === lines.length - 1 ? line : `${line} \\`));
}

/** Aligns cells in columns, two spaces apart. A row that is too wide continues below, so that no cell is cut. */
export function formatTable(rows: readonly (readonly string[])[], width: number, indent = ''): string[] {
  return toTableRows(rows, width, indent).flat();
}

function toTableRows(rows: readonly (readonly string[])[], width: number, indent: string): string[][] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  const below = `${indent}    `;
  return rows.map((row) => {
    const cells = row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)));
    // Breaks a cell that is longer than a line between words, and never an id.
    return fillLines(cells, width, [indent, below], '  ')
      .filter((line) => line.trim() !== '')
      .flatMap((line, index) => (line.length <= width ? line : wrap(line.trim(), width, index === 0 ? indent : below)));
  });
}

/** Formats an instant in seconds, and its age. */
export function withAge(instant: string, nowMs = Date.now()): string {
  const text = dropMilliseconds(instant);
  const seconds = (nowMs - Date.parse(instant)) / 1_000;
  if (Number.isNaN(seconds)) return text;
  // A clock may differ.
  if (seconds < 1) return `${text} (now)`;
  if (seconds < 120) return `${text} (${Math.floor(seconds)} s ago)`;
  if (seconds < 7_200) return `${text} (${Math.floor(seconds / 60)} min ago)`;
  const hours = seconds / 3_600;
  return `${text} (${hours < 48 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} d`} ago)`;
}

/** Breaks text between words into lines of at most `width` columns. A command can still be copied whole. */
export function wrap(text: string, width: number, indent = ''): string[] {
  if (/^(?:credit-journey|temporal|tcld) /.test(text)) return wrapCommand(text, width, indent);
  return fillLines(adaptCommands(text).split(' '), width, [indent, indent]);
}

/**
 * Puts as many pieces on a line as fit, and the others on lines below. No piece is cut.
 *
 * @param indents of the first line, and of those below it
 */
function fillLines(
  [piece = '', ...others]: readonly string[],
  width: number,
  [first, below]: readonly [string, string],
  separator = ' ',
): string[] {
  const lines = [`${first}${piece}`];
  for (const other of others) {
    const longer = `${lines.at(-1)}${separator}${other}`;
    if (longer.trimEnd().length > width) lines.push(`${below}${other}`);
    else lines.splice(-1, 1, longer);
  }
  return lines.map((line) => line.trimEnd());
}
