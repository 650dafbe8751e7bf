/** Prints an answer of the API for people, by its schema: its facts as lines, each of its lists as a table. */
import { z } from 'zod';
import { inWords } from '../../words/writer.ts';
import { columnsFor } from './csv.ts';
import { type Output, table, tableWithIds, withAge, wrapLong } from './output.ts';

type Row = Readonly<Record<string, unknown>>;
type Width = Pick<Output, 'width'>;

/** A page's rows are its whole answer; `next` is for programs. */
const FOR_PROGRAMS = ['next', 'asOf'];

/** @param schema of an object */
export function answerLines(schema: z.ZodType, answer: Row, { width }: Width): string[] {
  const facts: string[][] = [];
  const lists: string[] = [];
  for (const [name, member] of Object.entries(listMembers(schema))) {
    const value = answer[name];
    if (value === undefined || value === null || FOR_PROGRAMS.includes(name)) continue;
    const element = readElement(member);
    if (element && Array.isArray(value)) lists.push(...listLines(name, element, value, { width }));
    else if (typeof value === 'object' && Object.keys(listMembers(member)).length === 0)
      lists.push(name, ...JSON.stringify(value, null, 2).split('\n'));
    else if (name === 'hasMore') lists.push(...(value === true ? ['There are more.'] : []));
    else facts.push(...listFacts(name, member, value));
  }
  return [...table(facts, width), ...lists].flatMap((line) => (line.length > width ? wrapLong(line, width) : [line]));
}

function listFacts(name: string, schema: z.ZodType, value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[inWords(name), toText(schema, value)]];
  return Object.entries(columnsFor(schema)).flatMap(([path, read]) => {
    const found = read(value);
    return found === undefined || found === ''
      ? []
      : [[inWords(`${name}.${path}`).replaceAll('.', ' '), String(found)]];
  });
}

function listLines(name: string, element: z.ZodType, rows: readonly unknown[], output: Width): string[] {
  const heading = inWords(name);
  const isPage = name === 'data';
  if (rows.length === 0) return isPage ? ['none'] : [];
  if (Object.keys(listMembers(element)).length === 0) return [heading, ...rows.map((row) => `  ${String(row)}`)];
  return [...(isPage ? [] : [heading]), ...rowTable(element, rows as readonly object[], output)];
}

/**
 * A table with a column for each member that a row has. Members that may be absent come later, and the run last, since
 * its id may be long and is copied.
 */
export function rowTable(element: z.ZodType, rows: readonly object[], { width }: Width): string[] {
  const paths = Object.entries(columnsFor(element));
  const used = paths.filter(([, read]) => rows.some((row) => (read(row) ?? '') !== ''));
  const schemas = listMembers(element);
  const isRun = ([path]: (typeof used)[number]) => path === 'runKey';
  const rank = (candidate: (typeof used)[number]) =>
    isRun(candidate) ? 2 : schemas[candidate[0]] instanceof z.ZodExactOptional ? 1 : 0;
  const columns = used.toSorted((a, b) => rank(a) - rank(b));
  const head = columns.map(([path]) => inWords(path).replaceAll('.', ' ').toUpperCase());
  const cells = rows.map((row) => columns.map(([path, read]) => toText(schemas[path], read(row) ?? '')));
  const [last] = columns.slice(-1);
  return last && isRun(last) ? tableWithIds([head, ...cells], width).flat() : table([head, ...cells], width);
}

/** No character of a text may steer the terminal. */
function toText(schema: z.ZodType | undefined, value: unknown): string {
  const isInstant = schema !== undefined && z.globalRegistry.get(unwrap(schema))?.format === 'date-time';
  const text = String(value);
  return isInstant && text !== '' ? withAge(text) : text.replaceAll(/\p{C}+/gu, ' ');
}

function unwrap(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType ? unwrap(innerType) : schema;
}

function listMembers(schema: z.ZodType): Readonly<Record<string, z.ZodType>> {
  return (unwrap(schema).def as { shape?: Record<string, z.ZodType> }).shape ?? {};
}

function readElement(schema: z.ZodType): z.ZodType | undefined {
  return (unwrap(schema).def as { element?: z.ZodType }).element;
}
