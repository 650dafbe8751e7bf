/**
 * Prints routes of the API as commands: path, query and body give arguments and options, the answer's schema gives the
 * tables. The route runs in this process, or on an HTTP API. Loaded for the command that was called.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { checkCall } from '../../api/local-call.ts';
import { listPathParameters, PATH_PARAMETERS, type PathParameter, type Route } from '../../api/route.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { Loose } from '../../messages/message.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { ID_NAMES, parseRunKey, type RunKind, toRunKey } from '../../model/run-key.ts';
import { requireSandbox, SAMPLES, type SampleOptions } from '../demo/sample-runs.ts';
import {
  RUN_ID,
  withApiOptions,
  withExamples,
  withOutputOptions,
  withServerOptions,
} from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import { readObject } from '../output/json-input.ts';
import { createOutput, formatDocument, type Output, readDocument } from '../output/output.ts';
import {
  applyOptions,
  type GivenOptions,
  listSchemaMembers,
  type Member,
  mapOptionsByPath,
  readOption,
  requireOwnOptions,
  type TypedProblem,
  toKebabCase,
  toOption,
  toOptionError,
} from '../output/schema-options.ts';
import { type CallOptions, findRoute, splitContent, withOperations } from './call-operation.ts';
import { requireRunKey, showProgress } from './connections.ts';

export interface RouteCommand {
  /** `extend`, or `portfolio pause`. */
  name: string;
  /** Default: the summary of its operation. */
  description?: string;
  /** The ids of its operations. The first counts whose path parameters are all given, by arguments or by options. */
  operations: readonly string[];
  /** Returns whether these options select this operation. */
  isMeant?(operationId: string, options: Options): boolean;
  /**
   * `<id>` names a run of any kind. Each other argument has the name of its path parameter, or of the body's member.
   * Default: the path's parameters.
   */
  arguments?: readonly (readonly [name: string, words: string])[];
  /** The members that have an option, by their paths. Default: all. */
  members?: readonly string[];
  /** Help for options by name, in place of the schema's. `null`: the member has no option. */
  words?: Readonly<Record<string, string | null>>;
  /** Options that are not members of the message. */
  options?: readonly (readonly [flags: string, words: string])[];
  examples: readonly string[];
  /** `ledger`: the command works while Temporal is away. Default: it works without a ledger of its own. */
  needs?: 'ledger' | 'both';
  /** The kind of run that `--sample` makes up. */
  sample?: keyof typeof SAMPLES;
  /** Whether `--watch` shows the progress of the run that it starts. */
  canWatch?: true;
  /** Adds members that follow from the given ones. */
  complete?(content: Loose, runKey: string | undefined, operationId: string): Loose;
  /** The answer for people. Default: every fact of it. */
  lines?(answer: never, output: Output): string[] | Promise<string[]>;
  exitCode?(answer: never): number;
}

export type Options = GivenOptions & CallOptions & SampleOptions & { file?: string; sample?: true; watch?: boolean };

interface Operation {
  route: Route;
  members: readonly Member[];
}

/** The run, and the members that the arguments give. */
interface Address {
  /** Path parameters. */
  given: Readonly<Record<string, string>>;
  /** Members of the body. */
  others: Readonly<Record<string, string>>;
  runKey: string | undefined;
  /** Each member's argument, by its path. */
  names: Readonly<Record<string, string>>;
}

/** Words of options that mean the same in every command. */
const WORDS: Readonly<Record<string, string>> = {
  '--reason': 'why; kept in the ledger, so nothing personal about the consumer',
  '--proof': 'the compact JWS that proves the message',
  '--decision-id': 'the decision’s own id (default: a new one)',
  '--consent-id': 'the consent’s own id',
  '--applicant-id': 'whose consent',
  '--share-id': 'the share’s own id',
  '--end-user-code': 'the secondary user, by code',
  '--permissible-purpose-code': 'the permissible purpose',
};

const GROUPS: Readonly<Record<string, string>> = {
  seen: 'take a flag off the list of holds once an operator has looked at it',
  portfolio: 'review a portfolio file: ACCTRVW for each of its rows',
  'legal-hold': 'keep the data of a run, or of a whole review, from disposal',
};

export function registerRoutes(program: Command, specs: readonly RouteCommand[]): void {
  for (const spec of specs) {
    const [last = '', group] = spec.name.split(' ').reverse();
    const parent =
      group === undefined
        ? program
        : (program.commands.find((command) => command.name() === group) ??
          program.command(group).description(GROUPS[group] ?? ''));
    registerRoute(parent.command(last), spec);
  }
}

function registerRoute(command: Command, spec: RouteCommand): void {
  const { words = {}, needs = 'none', sample } = spec;
  const routes = spec.operations.map(findRoute);
  const [{ summary }] = routes as [Route];
  command.description(spec.description ?? summary.charAt(0).toLowerCase() + summary.slice(1));
  const taken = spec.arguments ?? findArguments(routes);
  const named = taken.map(([name]) => name.slice(1, -1));
  const operations = routes.map((route) => toOperation(route, spec, named));
  const members = [
    ...new Map(operations.flatMap(({ members: own }) => own).map((member) => [member.flag, member])).values(),
  ];
  for (const argument of taken) command.argument(...argument);
  for (const member of members) command.addOption(toOption(member, words[member.flag] ?? WORDS[member.flag]));
  for (const option of spec.options ?? []) {
    command.addOption(new Option(...option).implies(sample ? { sample: true } : {}));
  }
  if (sample) command.option('--sample', 'a made-up run instead of a file; only for the sandbox');
  if (spec.canWatch) command.option('--watch', 'show the progress of the run until it ends or needs a person');
  if (routes.some(({ findDefinition }) => findDefinition) && !named.includes('file')) {
    command.option('--file <path>', 'JSON of the message; options override its members; - is standard input');
  }
  withApiOptions(command);
  withExamples(needs === 'ledger' ? withOutputOptions(command) : withServerOptions(command), ...spec.examples);
  command.action(async (...given: unknown[]) => {
    const options = given[named.length] as Options;
    const address = readAddress(
      Object.fromEntries(named.map((name, index) => [name, given[index] as string | undefined])),
    );
    const operation = operations.find((candidate) => isMeant(spec, candidate, address, options));
    if (!operation) {
      const rule = 'must name a run that has it';
      throw new InvalidInputError([{ path: '/runKey', rule, option: '<id>' } as TypedProblem]);
    }
    requireOwnOptions(members, operation.members, options, `of ${address.runKey ?? operation.route.operationId}`);
    await run(spec, operation, address, options);
  });
}

/** Whether the ledger records who reads the answer. */
function isReading({ query }: Route): boolean {
  return query !== undefined && Object.hasOwn(query.shape, 'reveal');
}

/** Returns the parameters of the path as arguments. `<id>` names a run of any kind. */
function findArguments(routes: readonly Route[]): [name: string, words: string][] {
  const [parameters = [], ...others] = routes.map(({ path }) => listPathParameters(path));
  const [first, ...rest] = parameters;
  if (first === undefined) return [];
  const describe = (name: PathParameter): [string, string] => [`<${name}>`, PATH_PARAMETERS[name].description ?? ''];
  const isAnyRun = first === 'runKey' || others.length > 0;
  return [isAnyRun ? ['<id>', RUN_ID] : describe(first), ...(others.length > 0 ? [] : rest.map(describe))];
}

function toOperation(
  route: Route,
  { members: wanted, words: given = {} }: RouteCommand,
  named: readonly string[],
): Operation {
  const { path, query, body, findDefinition } = route;
  const further = listPathParameters(path).filter((parameter) => !named.includes(parameter));
  const parameters = (named.includes('id') ? further.slice(1) : further).map((parameter): Member => {
    const { description = '' } = PATH_PARAMETERS[parameter];
    return { path: `/${parameter}`, flag: `--${toKebabCase(parameter)}`, kind: 'text', words: description };
  });
  const members = listSchemaMembers([query, body].filter((schema) => schema !== undefined));
  // Over HTTP the token says who acts.
  const words = isReading(route) ? 'who reads it (default: the system’s user)' : 'who decides it';
  const author: Member = { path: '/by', flag: '--by', kind: 'text', words };
  const isSigned = findDefinition
    ? listSchemaMembers([findDefinition({}).schema(z.unknown() as never)]).some((member) => member.path === author.path)
    : body !== undefined;
  return {
    route,
    members: [
      ...parameters,
      ...members.filter((member) => {
        if (given[member.flag] === null || named.includes(member.path.slice(1))) return false;
        return wanted === undefined || wanted.includes(member.path);
      }),
      ...(isSigned || isReading(route) ? [author] : []),
    ],
  };
}

/** Reads the arguments: `<id>` gives the parameters of its kind. @throws InvalidInputError */
function readAddress({ id, ...values }: Readonly<Record<string, string | undefined>>): Address {
  const texts = omitUndefined(values) as Record<string, string>;
  const isParameter = (name: string) => name in PATH_PARAMETERS;
  const [given, others] = [true, false].map((wanted) =>
    Object.fromEntries(Object.entries(texts).filter(([name]) => isParameter(name) === wanted)),
  ) as [Record<string, string>, Record<string, string>];
  const names = Object.fromEntries(Object.keys(texts).map((name) => [`/${name}`, `<${name}>`]));
  if (typeof id !== 'string') {
    const kind = findKind(given);
    const runKey = findRunKey(given);
    if (kind && runKey !== undefined) requireRunKey(runKey, `<${ID_NAMES[kind]}>`);
    return { given, others, names, runKey };
  }
  requireRunKey(id);
  const { kind, id: own, accountId } = parseRunKey(id);
  // A row of a review is not the review.
  const ofId = { runKey: id, ...(accountId === undefined ? { [ID_NAMES[kind]]: own } : {}) };
  const namesOfId = Object.fromEntries(Object.keys(ofId).map((name) => [`/${name}`, '<id>']));
  return { given: { ...given, ...ofId }, others, names: { ...names, ...namesOfId }, runKey: id };
}

function isMeant(spec: RouteCommand, { route, members }: Operation, { given }: Address, options: Options): boolean {
  const names = listPathParameters(route.path);
  const isGiven = (name: string) =>
    name in given || members.some((member) => member.path === `/${name}` && readOption(member, options) !== undefined);
  // An option may name a part of the run, and not the run.
  const isAddressed = names.length === 0 || names.some((name) => name in given);
  return isAddressed && names.every(isGiven) && (spec.isMeant?.(route.operationId, options) ?? true);
}

async function run(spec: RouteCommand, operation: Operation, address: Address, options: Options): Promise<void> {
  const { route, members } = operation;
  const names = { ...mapOptionsByPath(members), ...address.names };
  try {
    const content = await buildContent(spec, operation, address, options);
    if (options.api === undefined) {
      if (isReading(route)) content.by ??= getSystemUser();
      checkCall(route, splitContent(route, content));
    } else if (options.watch) {
      throw new UsageError('--watch asks Temporal, so it cannot be used with --api');
    }
    await withOperations(
      options,
      async (call, journeys) => {
        const [output, body] = [createOutput(options), await call(route.operationId, content, address.runKey)];
        await print(spec, body, output, options.watch);
        const runKey = findRunKey(readDocument(body));
        if (options.watch && journeys && runKey) process.exitCode = await showProgress(journeys.run(runKey), output);
      },
      spec.needs ?? 'none',
    );
  } catch (error) {
    throw error instanceof InvalidInputError ? toOptionError(error, names, options) : error;
  }
}

function findKind(ids: object): RunKind | undefined {
  return (Object.keys(ID_NAMES) as RunKind[]).find((kind) => ID_NAMES[kind] in ids);
}

function findRunKey(ids: object): string | undefined {
  const kind = findKind(ids);
  return kind && toRunKey(kind, (ids as Record<string, string>)[ID_NAMES[kind]] ?? '');
}

async function print(spec: RouteCommand, body: object | string, output: Output, isFirst = false): Promise<void> {
  const answer = readDocument(body) as never;
  const lines = output.isJson ? [] : ((await spec.lines?.(answer, output)) ?? formatDocument(answer, output.width));
  if (isFirst) output.event(answer, () => lines);
  else output.answer(body, () => lines);
  process.exitCode = spec.exitCode?.(answer) ?? process.exitCode;
}

/** The content as its definition has it: what the file says, and the options say above it. */
async function buildContent(
  { complete, sample }: RouteCommand,
  { route, members }: Operation,
  { given, others, runKey }: Address,
  options: Options,
): Promise<Loose> {
  const { file } = options;
  if (sample && (file === undefined) === !options.sample) throw new UsageError('give either --file or --sample');
  if (options.sample) requireSandbox(options);
  // A decision without an id gets a new one.
  const isDecision = members.some(({ path }) => path === '/decisionId');
  const base = {
    decisionId: isDecision ? `D-${randomUUID()}` : undefined,
    ...(sample && options.sample ? SAMPLES[sample](options) : await readObject(file)),
    ...others,
  };
  const ofPath = Object.entries(given).filter(([name]) =>
    listPathParameters(route.path).includes(name as PathParameter),
  );
  const typed = { ...applyOptions(members, options, base), ...Object.fromEntries(ofPath) };
  return complete?.(typed, runKey, route.operationId) ?? typed;
}

function getSystemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that no user has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
