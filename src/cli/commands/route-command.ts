/**
 * Prints routes of the API as commands: path, query and body give arguments and options, the answer's schema gives the
 * tables. The route runs in this process. Loaded for the command that was called.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { z } from 'zod';
import type { LocalCall } from '../../api/local-call.ts';
import { PATH_PARAMETERS, type PathParameter, parametersIn, type Route } from '../../api/route.ts';
import { ROUTES } from '../../api/route-table.ts';
import type { ApiServices } from '../../api/services.ts';
import { omitUndefined } from '../../base/defined.ts';
import type { Refusal } from '../../http/refusal.ts';
import { MESSAGES } from '../../messages/all-messages.ts';
import { INPUTS } from '../../messages/inputs/all-inputs.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import { choosePullInput } from '../../messages/inputs/pull.ts';
import type { Checked, Loose } from '../../messages/message.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { REFUSAL_CAUSES } from '../../model/refusals.ts';
import { ID_NAMES, parseRunKey, type RunKind, toRunKey } from '../../model/run-key.ts';
import { requireRunKey, showStarted, withJourneys } from '../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withOutputOptions, withServerOptions } from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import { pauseNotice } from '../output/hold-lines.ts';
import { readObject } from '../output/json-input.ts';
import { asTyped, type GivenOptions, refusedAsTyped, type TypedProblem } from '../output/option-names.ts';
import { createOutput, documentLines, type Output, readDocument } from '../output/output.ts';
import { readProof, requireProved } from '../output/proof-input.ts';
import {
  applyOptions,
  kebabCase,
  type Member,
  membersIn,
  namesByPath,
  optionFor,
  readOption,
  requireOwnOptions,
} from '../output/schema-options.ts';
import { callRemotely, type RemoteOptions } from './remote-call.ts';
import { withLedger } from './with-ledger.ts';

/** The message that a route sends, or the input of the run that it starts: its rules hold before the command connects. */
type Content = keyof typeof MESSAGES | 'lendingJourney' | 'pull' | 'portfolioReview' | 'shareReport';

export interface RouteCommand {
  /** `extend`, or `portfolio pause`. */
  name: string;
  description: string;
  /** The first counts whose path parameters are all given, by arguments or by options. */
  operations: readonly (string | readonly [operationId: string, content: Content])[];
  /** Whether the operation is the one that these options mean. */
  isMeant?(operationId: string, options: Options): boolean;
  /** `<id>` names a run of any kind. Each other argument has the name of its path parameter, or of the body's member. */
  arguments?: readonly (readonly [name: string, words?: string])[];
  /** The names of options by a member's path, where its own name is not the one. */
  flags?: Readonly<Record<string, string>>;
  /** Help for options by name, if the schema has none. `null`: the member has no option. */
  words?: Readonly<Record<string, string | null>>;
  /** Options that are no members. */
  options?: readonly (readonly [flags: string, words: string])[];
  examples: readonly string[];
  /** `ledger`: the command works while Temporal is away. Default: it works without a ledger of its own. */
  needs?: 'ledger' | 'both';
  /** A reading has a reader. Default: the system's user. */
  by?: 'reader';
  /** Reads the content that options add to. Default: the JSON of `--file`, if a message is sent. */
  readContent?(options: Options): Promise<Loose>;
  /** Adds members that follow from the given ones. */
  complete?(content: Loose, runKey: string | undefined, operationId: string): Loose;
  /** Present if `--proof` may prove the message. */
  proof?: ProofForm;
  /** The answer for people. Default: every fact of it. */
  lines?(answer: never, output: Output): string[] | Promise<string[]>;
  exitCode?(answer: never): number;
  /** Whether its answer for people names the pauses in force. */
  namesPauses?: true;
}

export interface ProofForm {
  /** The member of the payload that holds the proved content. */
  member: 'consent' | 'decision';
  /** Returns the fields of the proof's content that belong in the message. */
  readFields(content: Loose, runKey: string | undefined): Loose;
  /** Returns the part of the message that must equal the proof's content. */
  readProved(message: Loose, content: Loose): Promise<object>;
}

export type Options = ServerOptions &
  GivenOptions &
  RemoteOptions & { by?: string; file?: string; proof?: string; watch?: boolean };

interface Operation {
  route: Route;
  content: Content | undefined;
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

export function fillRoute(command: Command, spec: RouteCommand): void {
  const { words = {}, examples, needs, proof, readContent } = spec;
  const named = (spec.arguments ?? []).map(([name]) => name.slice(1, -1));
  const operations = spec.operations.map((name) => findOperation(name, spec, named));
  const all = operations.flatMap(({ members }) => members);
  const members = [...new Map(all.map((member) => [member.flag, member])).values()];
  for (const [name, help] of spec.arguments ?? []) {
    command.argument(name, help ?? PATH_PARAMETERS[name.slice(1, -1) as PathParameter].description);
  }
  for (const member of members) command.addOption(optionFor(member, words[member.flag] ?? undefined));
  for (const option of spec.options ?? []) command.option(...option);
  if (proof) command.option('--proof <path>', 'a file with the compact JWS that proves it; - is standard input');
  if (operations.some(({ content }) => content) && !readContent && !named.includes('file')) {
    command.option('--file <path>', 'JSON of the message; options override its members; - is standard input');
  }
  command.option('--api <url>', 'run it on this HTTP API, under a token, instead of in this process');
  command.option('--token-file <path>', 'with --api: where the token is (default: API_TOKEN_FILE, else in API_TOKEN)');
  withExamples(needs === 'ledger' ? withOutputOptions(command) : withServerOptions(command), ...examples);
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

function findOperation(
  name: RouteCommand['operations'][number],
  { flags = {}, words = {}, by, readContent }: RouteCommand,
  named: readonly string[],
): Operation {
  const [operationId, content] = typeof name === 'string' ? [name] : name;
  const route = ROUTES.find((candidate) => candidate.operationId === operationId);
  if (!route) throw new Error(`there is no operation ${operationId}`);
  const further = parametersIn(route.path).filter((parameter) => !named.includes(parameter));
  const parameters = (named.includes('id') ? further.slice(1) : further).map((parameter): Member => {
    const { description = '' } = PATH_PARAMETERS[parameter];
    return { path: `/${parameter}`, flag: `--${kebabCase(parameter)}`, kind: 'text', words: description };
  });
  const { query, body } = route;
  const ofBody = membersIn(readContent ? [] : [query, body].filter((schema) => schema !== undefined));
  const members = ofBody.map((member) => ({ ...member, flag: flags[member.path] ?? member.flag }));
  // Over HTTP the token says who acts.
  const author: Member = { path: '/by', flag: '--by', kind: 'text', words: 'who decides it' };
  const reader: Member = { ...author, words: 'who reads it (default: the system’s user)' };
  const actors = content ? membersIn([findDefinition(content, {}).schema(z.unknown() as never)]) : [];
  return {
    route,
    content,
    members: [
      ...parameters,
      ...members.filter(({ path, flag }) => words[flag] !== null && !named.includes(path.slice(1))),
      ...actors.filter(({ path }) => path === '/by'),
      ...(by === 'reader' ? [reader] : body && !content ? [author] : []),
    ],
  };
}

function findDefinition(content: Content, value: Loose): Checked {
  if (content === 'pull') return choosePullInput(value);
  return content in INPUTS ? INPUTS[content as keyof typeof INPUTS] : MESSAGES[content as keyof typeof MESSAGES];
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
    const runKey = kind && toRunKey(kind, given[ID_NAMES[kind]] ?? '');
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
  const names = parametersIn(route.path);
  const isGiven = (name: string) =>
    name in given || members.some((member) => member.path === `/${name}` && readOption(member, options) !== undefined);
  // An option may name a part of the run, and not the run.
  const isAddressed = names.length === 0 || names.some((name) => name in given);
  return isAddressed && names.every(isGiven) && (spec.isMeant?.(route.operationId, options) ?? true);
}

async function run(spec: RouteCommand, operation: Operation, address: Address, options: Options): Promise<void> {
  const { route, members } = operation;
  const names = { ...namesByPath(members), ...address.names, '/proof': '--proof' };
  try {
    const content = await buildContent(spec, operation, address, options);
    const call = toLocalCall(route, content);
    if (options.api !== undefined) {
      if (options.by !== undefined) throw new UsageError('--by is no option beside --api: the token says who acts');
      if (options.watch) throw new UsageError('--watch asks Temporal, so it is no option beside --api');
      return await print(spec, await callRemotely(route, call, options), createOutput(options));
    }
    if (spec.by === 'reader') call.by ??= systemUser();
    const { callLocally, checkCall, ledgerServices, localServices } = await import('../../api/local-call.ts');
    if (operation.content) {
      const message = { ...call.params, ...call.body, ...omitUndefined({ by: call.by }) };
      parseMessage(findDefinition(operation.content, message), message, await loadLimits());
    } else checkCall(route, call);
    const act = async (services: ApiServices, output: Output) => {
      const { body = {} } = await callLocally(services, route, call);
      await print(spec, body, output, true);
    };
    if (spec.needs === 'ledger')
      return await withLedger((ledger) => act(ledgerServices(ledger), createOutput(options)));
    await withJourneys(
      options,
      async (journeys, output) => {
        const services = localServices(journeys, process.env);
        if (!route.operationId.startsWith('start')) return act(services, output);
        const { body } = await callLocally(services, route, call);
        const { isNew, ...started } = body as Record<string, string> & { isNew: boolean };
        const kind = findKind(started) as RunKind;
        const id = started[ID_NAMES[kind]] as string;
        const handle = Object.assign(journeys.run(toRunKey(kind, id)), { isNew });
        const { runKey, workflowId } = handle;
        const ids = { [ID_NAMES[kind]]: id, ...(kind === 'journey' ? {} : { id: runKey }), workflowId };
        const shown = { ...ids, taskQueue: journeys.taskQueue };
        process.exitCode = await showStarted(handle, shown, output, options.watch);
      },
      spec.needs === 'both' ? { besideLedger: true } : {},
    );
  } catch (error) {
    const told = await toClientError(error, address.runKey);
    throw told instanceof InvalidInputError ? asTyped(told, names, options) : refusedAsTyped(told, names, options);
  }
}

function findKind(ids: object): RunKind | undefined {
  return (Object.keys(ID_NAMES) as RunKind[]).find((kind) => ID_NAMES[kind] in ids);
}

async function print(spec: RouteCommand, body: object | string, output: Output, isLocal = false): Promise<void> {
  const answer = readDocument(body) as never;
  const notice = spec.namesPauses && isLocal ? await pauseNotice(output) : [];
  const lines = output.isJson ? [] : ((await spec.lines?.(answer, output)) ?? documentLines(answer, output.width));
  output.answer(body, () => [...lines, ...notice]);
  process.exitCode = spec.exitCode?.(answer) ?? process.exitCode;
}

/** The content as its definition has it: what the proof holds, the file says, and the options say above both. */
async function buildContent(
  { complete, proof: form, readContent = readFile }: RouteCommand,
  { route, members }: Operation,
  { given, others, runKey }: Address,
  options: Options,
): Promise<Loose> {
  if (options.file === '-' && options.proof === '-') throw new UsageError('only one of the two can be standard input');
  const proof = form && options.proof !== undefined ? await readProof(options.proof, form.member) : undefined;
  // A decision without an id gets a new one.
  const isDecision = members.some(({ path }) => path === '/decisionId');
  const base = {
    ...(isDecision ? { decisionId: `D-${randomUUID()}` } : {}),
    ...(proof && form?.readFields(proof.content, runKey)),
    ...(await readContent(options)),
    ...others,
  };
  const ofPath = Object.entries(given).filter(([name]) => parametersIn(route.path).includes(name as PathParameter));
  const typed = { ...applyOptions(members, options, base), ...Object.fromEntries(ofPath) };
  const content = complete?.(typed, runKey, route.operationId) ?? typed;
  if (!proof || !form) return content;
  requireProved(proof.content, await form.readProved(content, proof.content));
  return { ...content, proof: proof.text };
}

function readFile({ file }: Options): Promise<Loose> {
  return readObject(file);
}

/** Splits the content into its HTTP parts: path, query, body, and the token, which says who acts. */
function toLocalCall(
  { path, query: form }: Route,
  { by, ...content }: Loose,
): Required<Pick<LocalCall, 'params' | 'query' | 'body'>> & { by?: string | undefined } {
  const parameters: readonly string[] = parametersIn(path);
  const params = Object.fromEntries(parameters.map((name) => [name, String(content[name])]));
  const entries = Object.entries(content).filter(([name]) => !Object.hasOwn(params, name));
  const isOfQuery = ([name]: [string, unknown]) => form !== undefined && Object.hasOwn(form.shape, name);
  const query = entries.filter(isOfQuery).map(([name, value]) => [name, value === true ? 'true' : value]);
  const body = Object.fromEntries(entries.filter((entry) => !isOfQuery(entry)));
  return { params, query: Object.fromEntries(query), body, by: by as string | undefined };
}

async function loadLimits() {
  const { loadVariable } = await import('../../config/environment.ts');
  return { maxApplicants: loadVariable(process.env, 'GATEWAY_MAX_APPLICANTS') };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that no user has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Converts a refusal of the API into the client's error. `runKey` is absent where the operation is about no run. */
async function toClientError(error: unknown, runKey: string | undefined): Promise<unknown> {
  if (!(error instanceof Error) || error.name !== 'Refusal') return error;
  const { JourneyNotFoundError, UpdateRefusedError } = await import('../../client/connection/errors.ts');
  const { reason, problems, message, status } = error as Refusal;
  if (reason === 'invalidInput') return new InvalidInputError(problems);
  if (runKey === undefined || status < 404 || status >= 429) return error;
  if (reason === 'notFound') return new JourneyNotFoundError(runKey);
  if (status === 404) return Object.assign(error, { runKey });
  const isOfRun = problems.length === 0 || message.startsWith('/');
  if (!isOfRun) return new InvalidInputError(problems);
  const cause = REFUSAL_CAUSES.find((candidate) => candidate === reason) ?? 'notNow';
  return new UpdateRefusedError(runKey, { cause, reason: message });
}
