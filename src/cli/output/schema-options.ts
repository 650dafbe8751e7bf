/** Makes options from the schemas of an operation, and maps a member's path back to its option, so that an error names the typed words. */
import { Option } from 'commander';
import { z } from 'zod';
import { findDifferingPaths, toJsonPointer } from '../../base/differing-paths.ts';
import { isRecord } from '../../base/is-record.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { toCamelCase } from '../../words/writer.ts';
import { type TypedProblem, UsageError } from './errors.ts';

/** A member of a message that has a command-line option. */
export interface Member {
  /** A JSON pointer, such as `/secondaryUser/endUserCode`. */
  path: string;
  /** `--end-user-code` */
  flag: string;
  kind: 'text' | 'number' | 'boolean' | 'flag';
  /** The schema's description. */
  words: string;
  /** The value of a flag that is given: a query's is text. */
  yes?: true | 'true';
}

interface Leaf {
  path: readonly string[];
  schema: z.ZodType;
  /** The description of the schema, or of what wraps it. */
  words: string;
}

/** Lists every member that is no object. Members of lists have no option, since `--file` gives them, but a column. */
export function listLeaves(
  schema: z.ZodType,
  { inLists }: { inLists: boolean },
  path: readonly string[] = [],
  outer = '',
): Leaf[] {
  const { shape, innerType, options, element } = schema.def as {
    shape?: Record<string, z.ZodType>;
    innerType?: z.ZodType;
    options?: readonly z.ZodType[];
    element?: z.ZodType;
  };
  const words = outer || (z.globalRegistry.get(schema)?.description ?? '');
  const within = (inner: z.ZodType, at = path, outerWords = '') => listLeaves(inner, { inLists }, at, outerWords);
  if (element) return inLists ? within(element) : [];
  if (innerType) return within(innerType, path, words);
  if (options) return options.flatMap((form) => within(form));
  if (shape) return Object.entries(shape).flatMap(([name, member]) => within(member, [...path, name]));
  return [{ path, schema, words }];
}

/** Names a member by its own name, or by its whole path if two members share a name. */
export function listSchemaMembers(schemas: readonly z.ZodType[]): Member[] {
  const leaves = new Map(
    schemas.flatMap((schema) => listLeaves(schema, { inLists: false })).map((leaf) => [toJsonPointer(leaf.path), leaf]),
  );
  const all = [...leaves.values()];
  return all.map(({ path, schema, words }) => {
    const isAlone = all.every((other) => other.path === path || other.path.at(-1) !== path.at(-1));
    return {
      path: toJsonPointer(path),
      flag: `--${(isAlone ? path.slice(-1) : path).join('-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      ...describeValue(schema, words),
    };
  });
}

/** The kind of a member by its type in JSON Schema; any other is text. */
const KINDS: Readonly<Record<string, Member['kind']>> = { integer: 'number', number: 'number', boolean: 'boolean' };

function describeValue(schema: z.ZodType, description: string): Pick<Member, 'kind' | 'words' | 'yes'> {
  const { type, const: only, enum: values } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const words = description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, '');
  if (only === true || only === 'true' || values?.[0] === 'true') {
    return { kind: 'flag', words, yes: only === true ? true : 'true' };
  }
  const kind = KINDS[String(type)] ?? 'text';
  const known = kind === 'boolean' ? [...BOOLEANS.keys()] : values;
  return { kind, words: [words, known?.join(', ')].filter(Boolean).join(': ') };
}

/** `--end-user-code <code>` */
export function toOption({ flag, kind, words }: Member): Option {
  return new Option(kind === 'flag' ? flag : `${flag} <${flag.split('-').at(-1)}>`, words);
}

const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
]);

/** Returns the option's value as its schema has it; `undefined` if the option was not given. */
export function readOption({ flag, kind, yes }: Member, given: GivenOptions): unknown {
  const value = given[toOptionKey(flag)];
  if (value === undefined) return undefined;
  if (kind === 'boolean') return BOOLEANS.get(value) ?? value;
  return kind === 'number' ? Number(value) : (yes ?? value);
}

/** Applies the options to a copy of `base`. Options override it. */
export function applyOptions(members: readonly Member[], given: GivenOptions, base: object): Record<string, unknown> {
  const body = structuredClone(base) as Record<string, unknown>;
  for (const member of members) {
    const value = readOption(member, given);
    if (value !== undefined) setAt(body, member.path.split('/').slice(1), value);
  }
  return body;
}

function setAt(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0 && !isRecord(target[name])) target[name] = {};
  if (rest.length > 0) setAt(target[name] as Record<string, unknown>, rest, value);
  else target[name] = value;
}

/** @throws UsageError where an option was given that the operation has no member for */
export function requireOwnOptions(all: readonly Member[], own: readonly Member[], given: GivenOptions, of: string) {
  const flags = new Set(own.map(({ flag }) => flag));
  const foreign = all.find((member) => !flags.has(member.flag) && readOption(member, given) !== undefined);
  if (foreign) throw new UsageError(`${foreign.flag} is no option ${of}`);
}

/** @throws UsageError where a file, with the options that replace its members, differs from the arguments */
export function requireAgreement(given: object, content: object): void {
  const isGiven = (path: string) => {
    const names = path.split('/').slice(1);
    return names.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), given) !== undefined;
  };
  const [path] = findDifferingPaths(given, content).filter(isGiven);
  if (path !== undefined) throw new UsageError(`${path} of the file is not that of the arguments: leave it out`);
}

/** Maps each member's path to its option. An object maps to the options of its members. */
export function mapOptionsByPath(members: readonly Member[]): Readonly<Record<string, string>> {
  const names: Record<string, string> = {};
  for (const { path, flag } of members) {
    names[path] = flag;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const parent = path.slice(0, end);
      names[parent] = names[parent] === undefined ? flag : `${names[parent]}, ${flag}`;
    }
  }
  return names;
}

/** The given options, by the names that commander uses. */
export type GivenOptions = { readonly [option: string]: unknown };

/** Names the options that wrong fields come from. Fields of a file keep their paths. Returns every other error unchanged. */
export function toOptionError(error: unknown, options: Readonly<Record<string, string>>, given: GivenOptions): unknown {
  if (!(error instanceof InvalidInputError)) return error;
  const typed = error.problems.map((problem: TypedProblem): TypedProblem => {
    const option = problem.option ?? options[problem.path];
    if (option === undefined) return problem;
    // The option is on the command line, or belongs there since there is no file.
    const isTyped =
      given.file === undefined ||
      option.startsWith('<') ||
      option.split(/, | and | or /).some((name) => given[toOptionKey(name)] !== undefined);
    return isTyped ? { ...problem, option } : problem;
  });
  return new InvalidInputError(typed, error.refusalCause);
}

/** `--end-user-code` → `endUserCode`, as commander has it. */
export function toOptionKey(option: string): string {
  return toCamelCase(option.slice(2));
}
