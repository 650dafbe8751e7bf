/** Where a command writes: lines for people on a terminal, JSON for everything else. */
import pc from 'picocolors';
import type { OutputOptions } from './common-options.ts';

/** Wide enough to be read, narrow enough for the smallest terminal in use. */
const WIDTH = 80;

export type Colors = ReturnType<typeof pc.createColors>;

export interface Output {
  /** Machines read this: JSON only. */
  readonly isJson: boolean;
  readonly width: number;
  readonly colors: Colors;
  /** The command's one answer: a JSON document, or the lines that `human` makes. */
  answer(document: object, human: () => string[]): void;
  /** One of several: a JSON line, or lines. */
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
  const writeLines = (lines: string[]) => void stream.write(lines.map((line) => `${line}\n`).join(''));
  let drawn = 0;
  return {
    isJson,
    width,
    colors,
    answer: (document, human) => {
      if (isJson) stream.write(`${JSON.stringify(document, null, 2)}\n`);
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
    progress: (step) => void process.stderr.write(`${isJson ? JSON.stringify({ progress: step }) : step}\n`),
    note: (line) => {
      if (!isJson) process.stderr.write(`${line}\n`);
    },
  };
}

/** Shortened to `width` columns. Colours are put on afterwards, so that they are not counted. */
export function fit(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** Rows with aligned columns, two spaces between. */
export function table(rows: readonly (readonly string[])[], width: number, indent = ''): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) => {
    const cells = row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)));
    return fit(`${indent}${cells.join('  ')}`.trimEnd(), width);
  });
}

/**
 * As `table`, but the last cell of a row, an id to be copied, is never cut: where it does not fit it gets a line of its
 * own. The lines of each row.
 */
export function tableWithIds(rows: readonly (readonly string[])[], width: number): string[][] {
  const heads = table(
    rows.map((row) => row.slice(0, -1)),
    width,
  );
  const column = Math.max(0, ...heads.map((head) => head.length)) + 2;
  return rows.map((row, index) => {
    const [head = '', id = ''] = [heads[index], row.at(-1)];
    return column + id.length <= width ? [`${head.padEnd(column)}${id}`.trimEnd()] : [head, `    ${id}`];
  });
}

/** Broken between words into lines of at most `width` columns. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
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
