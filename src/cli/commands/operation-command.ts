/**
 * Makes commands of operations: path, query and body give arguments and options, the answer's schema gives the
 * tables. The operation runs in this process, or on an HTTP API. Loaded for the command that was called.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { z } from 'zod';
import { getMessageFields } from '../../fields/fields.ts';
import type { Loose } from '../../messages/message.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { findRunKey, ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import {
  createPathSchema,
  listPathParameters,
  type Operation,
  PATH_PARAMETERS,
  type PathParameter,
} from '../../operations/operation.ts';
import { requireSandbox, SAMPLES, type SampleOptions } from '../demo/sample-runs.ts';
import { UsageError } from '../output/errors.ts';
import { readObject } from '../output/json-input.ts';
import { formatDocument, type Output, readDocument } from '../output/output.ts';
import {
  applyOptions,
  type GivenOptions,
  listSchemaMembers,
  readOption,
  requireAgreement,
  requireOwnOptions,
} from '../output/schema-options.ts';
import { type CallOptions, createOperations, findOperation, type Needs } from './call-operation.ts';
import { type Answer, type CommandRow, type Context, RUN_ID, type ServerOptions } from './command.ts';
import { showProgress } from './watch-command.ts';

export interface OperationCommand extends Pick<CommandRow, 'name' | 'options' | 'examples'> {
  /** Default: the summary of its operation. */
  description?: string;
  /** The ids of its operations. The first counts whose path parameters are all given, by arguments or by options. */
  operations: readonly string[];
  /** Returns whether these options select this operation. */
  isMeant?(operationId: string, options: GivenOptions): boolean;
  /**
   * `<id>` names a run of any kind. Each other argument has the name of its path parameter, or of the body's member.
   * Default: the path's parameters.
   */
  arguments?: CommandRow['arguments'];
  /** The members that have an option, by their paths. Default: all. */
  members?: readonly string[];
  /** The members that have no option, by their paths. The path of an object covers its members. */
  without?: readonly string[];
  /** The defaults of options here, by their names. The schema describes the rest. */
  defaults?: Readonly<Record<string, string>>;
  needs?: Needs;
  /** The kind of run that `--sample` makes up. */
  sample?: keyof typeof SAMPLES;
  /** Whether `--watch` shows the progress of the run that it starts. */
  canWatch?: true;
  /** Adds members that follow from the given ones. */
  complete?(content: Loose, runKey: string | undefined, operationId: string): Loose;
  /** How the answer is shown, and the exit code. Default: every fact of it, and 0. */
  present?(answer: never, output: Output): Answer | Promise<Answer>;
}

type OperationOptions = GivenOptions &
  CallOptions &
  ServerOptions &
  SampleOptions & { file?: string; sample?: true; watch?: boolean };

/** An operation, and the options for it. */
type CommandForm = ReturnType<typeof toForm>;

/** Ids of the run and of its parts, and members of the body: the arguments give them. */
type Address = Readonly<Record<string, string>>;

export function toCommandRow(spec: OperationCommand): CommandRow {
  const { name, options = [], needs, sample, canWatch, examples } = spec;
  const defaults: OperationCommand['defaults'] = { '--decision-id': 'a new one', ...spec.defaults };
  const operations = spec.operations.map(findOperation);
  const [{ summary }] = operations as [Operation];
  const taken = spec.arguments ?? findArguments(operations);
  const named = taken.map(([argument]) => argument.slice(1, -1));
  const forms = operations.map((operation) => toForm(operation, spec, named));
  const all = forms.flatMap(({ members }) => members);
  // An option of several operations is listed once.
  const members = all.filter(({ flag }, index) => all.findIndex((other) => other.flag === flag) === index);
  const takesFile = operations.some(({ findDefinition }) => findDefinition) && !named.includes('file');
  return {
    name,
    description: spec.description ?? summary.charAt(0).toLowerCase() + summary.slice(1),
    arguments: taken,
    members: members.map(({ words, ...member }) => ({
      ...member,
      words: member.flag in defaults ? `${words} (default: ${defaults[member.flag]})` : words,
    })),
    options: [
      ...options,
      ...when(sample, ['--sample', 'a made-up run instead of a file; only for the sandbox']),
      ...when(canWatch, ['--watch', 'show the progress of the run until it ends or needs a person']),
      ...when(takesFile, ['--file <path>', 'JSON of the message; options override its members; - is standard input']),
    ],
    common: ['api', ...(needs === 'ledger' ? [] : (['server'] as const)), 'output'],
    examples,
    run: (context) => runOperation(spec, forms, context),
  };
}

function when(isSo: unknown, option: [flags: string, words: string]): [flags: string, words: string][] {
  return isSo ? [option] : [];
}

/** Whether the ledger records who reads the answer. */
function isReading({ query }: Operation): boolean {
  return query !== undefined && Object.hasOwn(query.shape, 'reveal');
}

/** Returns the parameters of the path as arguments. `<id>` names a run of any kind. */
function findArguments(operations: readonly Operation[]): [name: string, words: string][] {
  const [parameters = [], ...others] = operations.map(({ path }) => listPathParameters(path));
  const [first, ...rest] = parameters;
  if (first === undefined) return [];
  const describe = (name: PathParameter): [string, string] => [`<${name}>`, PATH_PARAMETERS[name].description ?? ''];
  const isAnyRun = first === 'runKey' || others.length > 0;
  return [isAnyRun ? ['<id>', RUN_ID] : describe(first), ...(others.length > 0 ? [] : rest.map(describe))];
}

/** Over HTTP the token says who acts. Definitions of messages have `by` themselves. */
const AUTHORS = {
  reader: z.object({ by: z.string().describe('Who reads it (default: the system’s user).') }),
  signer: z.object({ by: getMessageFields().signature.by }),
};

/** No member of a list has an option. */
const APPLICANTS = z.array(z.unknown()) as never;

function toForm(operation: Operation, { members: wanted, without = [] }: OperationCommand, named: readonly string[]) {
  const { path, query, body, findDefinition } = operation;
  const [first] = named.includes('id') ? listPathParameters(path) : [];
  const author = isReading(operation) ? AUTHORS.reader : body && AUTHORS.signer;
  const message = findDefinition ? findDefinition({}).schema(APPLICANTS) : author;
  const schemas = [createPathSchema(path), query, message, body].filter((schema) => schema !== undefined);
  return {
    operation,
    members: listSchemaMembers(schemas)
      .filter(({ path: at }) => ![first, ...named].includes(at.slice(1)) && (wanted?.includes(at) ?? true))
      .filter(({ path: at }) => !without.some((other) => at === other || at.startsWith(`${other}/`))),
  };
}

/** A row of a review is not the review. */
function readAddress({ id, ...others }: Readonly<Record<string, string>>): Address {
  if (id === undefined) return others;
  const { kind, id: own, accountId } = parseRunKey(id);
  return { ...others, runKey: id, ...(accountId === undefined ? { [ID_NAMES[kind]]: own } : {}) };
}

function isMeant(
  spec: OperationCommand,
  { operation, members }: CommandForm,
  address: Address,
  options: GivenOptions,
): boolean {
  const names = listPathParameters(operation.path);
  const isGiven = (name: string) =>
    name in address ||
    members.some((member) => member.path === `/${name}` && readOption(member, options) !== undefined);
  // An option may name a part of the run, and not the run.
  const isAddressed = names.length === 0 || names.some((name) => name in address);
  return isAddressed && names.every(isGiven) && (spec.isMeant?.(operation.operationId, options) ?? true);
}

async function runOperation(spec: OperationCommand, forms: readonly CommandForm[], context: Context<OperationOptions>) {
  const { args, options, output } = context;
  const address = readAddress(args);
  const form = forms.find((candidate) => isMeant(spec, candidate, address, options));
  if (!form) throw new InvalidInputError([{ path: '/runKey', rule: 'must name a run that has it' }]);
  const { operation, members } = form;
  const { operationId } = operation;
  const runKey = findRunKey(address);
  const all = forms.flatMap((other) => other.members);
  requireOwnOptions(all, members, options, `of ${runKey ?? operationId}`);
  const content = await buildContent(spec, form, address, options);
  const call = createOperations(context, spec.needs);
  if (options.api === undefined && isReading(operation)) content.by ??= getSystemUser();
  if (options.api !== undefined && options.watch) {
    throw new UsageError('--watch asks Temporal, so it cannot be used with --api');
  }
  const body = await call(operationId, content, runKey);
  const answer = readDocument(body);
  const started = options.watch ? findRunKey(answer) : undefined;
  if (started === undefined) return { answer: body, ...(await spec.present?.(answer as never, output)) };
  output.event(answer, formatDocument(answer, output.width));
  const journeys = await context.connect();
  return { exitCode: await showProgress(journeys.run(started), output) };
}

/** The content as its definition has it: what the file says, and the options say above it. */
async function buildContent(
  { complete, sample }: OperationCommand,
  { operation, members }: CommandForm,
  address: Address,
  options: OperationOptions,
): Promise<Loose> {
  const { file } = options;
  const isSample = options.sample || options.auto || options.loseAnswer;
  if (sample && (file === undefined) === !isSample) throw new UsageError('give either --file or --sample');
  if (isSample) requireSandbox();
  // A decision without an id gets a new one.
  const isDecision = members.some(({ path }) => path === '/decisionId');
  const base = {
    ...(isDecision ? { decisionId: `D-${randomUUID()}` } : {}),
    ...(sample && isSample ? SAMPLES[sample](options) : await readObject(file)),
  };
  const parameters: readonly string[] = listPathParameters(operation.path);
  const named = Object.entries(address).filter(([name]) => parameters.includes(name) || !(name in PATH_PARAMETERS));
  const given = applyOptions(members, options, base);
  const addressed = { ...given, ...Object.fromEntries(named) };
  const content = complete?.(addressed, findRunKey(address), operation.operationId) ?? addressed;
  requireAgreement(given, content);
  return content;
}

function getSystemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that no user has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
