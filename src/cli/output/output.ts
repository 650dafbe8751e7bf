/** Output of a command: lines for people on a terminal, JSON for everything else. */
import pc from 'picocolors';
import { inSeconds } from '../../words/writer.ts';
import type { OutputOptions } from './common-options.ts';
import { asCalled } from './program-call.ts';

/** Wide enough to be read, narrow enough for the smallest terminal in use. */
const WIDTH = 80;

export type Colors = ReturnType<typeof pc.createColors>;

export interface Output {
  /** Machines read this: JSON only. */
  readonly isJson: boolean;
  readonly width: number;
  readonly colors: Colors;
  /** The command's one answer: a JSON document, or the lines that `human` makes. A text is JSON already. */
  answer(document: object | string, human: () => string[]): void;
  /** One of several answers: a JSON line, or lines of text. */
  event(document: object, human: () => string[]): void;
  /** Replaces what the last call drew; terminals only, elsewhere it writes lines. */
  redraw(lines: string[]): void;
  /** For people only, on stderr; nothing under JSON. */
  note(line: string): void;
  /** A step of what takes long, on stderr; under JSON a JSON line. */
  progress(step: string): void;
}

export function createOutput(options: OutputOptions, stream: NodeJS.WriteStream = process.stdout): Output {
  const isJson = options.json ?? !stream.isTTY;
  const colors = pc.createColors(!isJson && pc.isColorSupported);
  // A pseudo-terminal without a size says 0.
  const width = Math.min(stream.columns || WIDTH, WIDTH);
  const writeLines = (lines: string[]) => void stream.write(lines.map((line) => `${asCalled(line)}\n`).join(''));
  let drawn = 0;
  return {
    isJson,
    width,
    colors,
    answer: (document, human) => {
      if (isJson) stream.write(`${typeof document === 'string' ? document : JSON.stringify(document, null, 2)}\n`);
      else writeLines(human());
    },
    event: (document, human) => {
      if (isJson) stream.write(`${JSON.stringify(document)}\n`);
      else writeLines(human());
    },
    redraw: (lines) => {
      // Up over the last drawing, then clear to the end of the screen.
      if (stream.isTTY && drawn > 0) stream.write(`\u001b[${drawn}A\u001b[0J`);
      writeLines(lines);
      drawn = lines.length;
    },
    progress: (step) => void process.stderr.write(`${isJson ? JSON.stringify({ progress: step }) : asCalled(step)}\n`),
    note: (line) => {
      if (!isJson) process.stderr.write(`${asCalled(line)}\n`);
    },
  };
}

/** Aligns cells in columns, two spaces apart. A row that is too wide continues below, so that no cell is cut. */
export function table(rows: readonly (readonly string[])[], width: number, indent = ''): string[] {
  return tableRows(rows, width, indent).flat();
}

function tableRows(rows: readonly (readonly string[])[], width: number, indent: string): string[][] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) => {
    const cells = row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)));
    return cellLines(cells, width, indent);
  });
}

/** Puts as many cells on a line as fit, and the others below. Breaks longer cells between words. */
function cellLines(cells: readonly string[], width: number, indent: string): string[] {
  const whole = `${indent}${cells.join('  ')}`.trimEnd();
  if (whole.length <= width) return [whole];
  const lines: string[] = [];
  let line = '';
  for (const cell of cells) {
    const longer = line === '' ? `${indent}${cell}` : `${line}  ${cell}`;
    if (longer.trimEnd().length <= width || line === '') line = longer;
    else if (cell.trim() !== '') {
      lines.push(line.trimEnd());
      line = `${indent}    ${cell}`;
    }
  }
  const [first = '', ...rest] = [...lines, line.trimEnd()];
  return [first, ...rest].flatMap((text, index) =>
    text.length <= width ? [text] : wrapLong(text.trim(), width, index === 0 ? indent : `${indent}    `),
  );
}

/**
 * Returns the lines of each row, like `table`, but never breaks the last cell: an id to be copied. If the id does not
 * fit, it gets a line of its own.
 */
export function tableWithIds(rows: readonly (readonly string[])[], width: number): string[][] {
  const heads = tableRows(
    rows.map((row) => row.slice(0, -1)),
    width,
    '',
  );
  const single = heads.flatMap((lines) => (lines.length === 1 ? lines : []));
  const column = Math.max(0, ...single.map((head) => head.length)) + 2;
  return rows.map((row, index) => {
    const [lines = [], id = ''] = [heads[index], row.at(-1)];
    const [head = ''] = lines;
    if (lines.length === 1 && column + id.length <= width) return [`${head.padEnd(column)}${id}`.trimEnd()];
    return [...lines, `    ${id}`];
  });
}

/** Wraps text like `wrap`, and also breaks words that are longer than a line. */
export function wrapLong(text: string, width: number, indent = ''): string[] {
  const room = Math.max(1, width - indent.length);
  return wrap(text, width, indent).flatMap((line) => {
    const content = line.slice(indent.length);
    const parts = Math.max(1, Math.ceil(content.length / room));
    return Array.from({ length: parts }, (_, part) => indent + content.slice(part * room, (part + 1) * room));
  });
}

/** Formats an instant in seconds, and its age. */
export function withAge(instant: string, nowMs = Date.now()): string {
  const ms = Date.parse(instant);
  const text = inSeconds(instant);
  return Number.isNaN(ms) ? text : `${text} (${age(nowMs - ms)})`;
}

function age(ms: number): string {
  // A clock may differ.
  if (ms < 1_000) return 'now';
  const seconds = ms / 1_000;
  if (seconds < 120) return `${Math.floor(seconds)} s ago`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}

/** Breaks text between words into lines of at most `width` columns. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of asCalled(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && indent.length + longer.length > width) {
      lines.push(indent + line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, indent + line];
}
