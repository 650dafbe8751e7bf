/**
 * Makes commands from operations of the API: the route gives arguments and options, the message's own definition checks them
 * before the command connects, and the operation runs in this process. Loaded for the command that was called.
 */
import type { Command } from 'commander';
import { z } from 'zod';
import type { LocalCall } from '../../api/local-call.ts';
import { PATH_PARAMETERS, parametersIn, type Route } from '../../api/route.ts';
import { omitUndefined } from '../../base/defined.ts';
import { MESSAGES } from '../../messages/all-messages.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import type { Loose, Message } from '../../messages/message.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { ID_NAMES, parseRunKey, type RunKind, toRunKey } from '../../model/run-key.ts';
import { requireRunKey, withJourneys } from '../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../output/common-options.ts';
import { UsageError } from '../output/errors.ts';
import { readObject } from '../output/json-input.ts';
import { asTyped, type GivenOptions, refusedAsTyped, type TypedProblem } from '../output/option-names.ts';
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
import { toClientError } from './client-error.ts';

interface RouteName {
  /** Loads its file, for the command that is called alone. */
  routes: () => Promise<readonly Route[]>;
  operationId: string;
  message: keyof typeof MESSAGES;
}

export interface OperationCommand {
  /** Names the run: `<id>` of any kind, or the id of the one kind that there is. */
  argument: readonly [name: string, words?: string];
  /** By the kind of the run. If there are several, the first with all of its path parameters given counts. */
  operations: Readonly<Partial<Record<RunKind, readonly RouteName[]>>>;
  /** Help for options by name, if the schema has none. `null`: the member has no option. */
  words: Readonly<Record<string, string | null>>;
  examples: readonly string[];
  /** Adds members that follow from the typed ones. */
  complete?(message: Loose, runKey: string): Loose;
  /** Present if `--proof` may prove the message. */
  proof?: ProofForm;
}

export interface ProofForm {
  /** The member of the payload that holds the proved content. */
  member: 'consent' | 'decision';
  /** Returns the fields of the proof's content that belong in the message. */
  readFields(content: Loose, runKey: string): Loose;
  /** Returns the part of the message that must equal the proof's content. */
  readProved(message: Loose, content: Loose): Promise<object>;
}

type Options = ServerOptions & GivenOptions & { file?: string; proof?: string };

/** An operation that a command runs, with what its options give. */
interface Operation {
  route: Route;
  definition: Message;
  /** Path parameters beside the id of the run. */
  parameters: Member[];
  members: Member[];
}

/** Fills in what the table of operations gives: argument, options and action, which it returns. */
export async function fillOperation(
  command: Command,
  spec: OperationCommand,
): Promise<{ members: Member[]; act(given: string, options: Options): Promise<void> }> {
  const { argument, operations, words, examples, proof } = spec;
  const found = new Map<RunKind, Operation[]>();
  for (const [kind, names] of Object.entries(operations)) {
    found.set(kind as RunKind, await Promise.all(names.map((name) => findOperation(kind as RunKind, name))));
  }
  const all = [...found.values()].flat().flatMap(({ members }) => members);
  const members = [...new Map(all.map((member) => [member.flag, member])).values()];
  command.argument(...argument);
  for (const member of members) {
    const own = words[member.flag];
    if (own !== null) command.addOption(optionFor(member, own));
  }
  if (proof) command.option('--proof <path>', 'a file with the compact JWS that proves it; - is standard input');
  command.option('--file <path>', 'JSON of the message; options override its members; - is standard input');
  withExamples(withServerOptions(command), ...examples);
  const act = async (given: string, options: Options) => {
    const run = readRun(given, argument[0], [...found.keys()]);
    const candidates = found.get(run.kind) ?? [];
    const isMeant = ({ parameters }: Operation) =>
      parameters.every((parameter) => readOption(parameter, options) !== undefined);
    const operation = (candidates.find(isMeant) ?? candidates.at(-1)) as Operation;
    requireOwnOptions(members, operation.members, options, `of ${given}`);
    await send(spec, operation, run, options);
  };
  command.action(act);
  return { members, act };
}

async function findOperation(kind: RunKind, { routes, operationId, message }: RouteName): Promise<Operation> {
  const route = (await routes()).find((candidate) => candidate.operationId === operationId);
  if (!route) throw new Error(`there is no operation ${operationId}`);
  const definition: Message = MESSAGES[message];
  const further = parametersIn(route.path).filter((name) => name !== ID_NAMES[kind]);
  const parameters = further.map((name): Member => {
    const { description } = PATH_PARAMETERS[name];
    return { path: `/${name}`, flag: `--${kebabCase(name)}`, kind: 'text', words: description };
  });
  const given = ['/proof', `/${definition.address}`];
  const body = membersIn(route.body ? [route.body] : []).filter(({ path }) => !given.includes(path));
  // Over HTTP the token says who acts.
  const by = membersIn([definition.schema(z.unknown() as never)]).filter(({ path }) => path === '/by');
  return { route, definition, parameters, members: [...parameters, ...body, ...by] };
}

interface Run {
  runKey: string;
  kind: RunKind;
  id: string;
}

/** @throws InvalidInputError */
function readRun(given: string, argument: string, kinds: readonly RunKind[]): Run {
  const [only] = kinds;
  const runKey = /^.id.$/.test(argument) || only === undefined ? given : toRunKey(only, given);
  requireRunKey(runKey, argument);
  const { kind, id, accountId } = parseRunKey(runKey);
  if (kinds.includes(kind) && accountId === undefined) return { runKey, kind, id };
  const rule = `must name a ${kinds.join(' or a ')}`;
  throw new InvalidInputError([{ path: `/${ID_NAMES[kind]}`, rule, option: argument } as TypedProblem]);
}

async function send(spec: OperationCommand, operation: Operation, run: Run, options: Options): Promise<void> {
  const { definition, members } = operation;
  const message = await readMessage(spec, operation, run, options);
  const names = {
    ...namesByPath(members),
    [`/${definition.address}`]: `<${spec.argument[0].slice(1, -1)}>`,
    '/proof': '--proof',
  };
  try {
    parseMessage(definition, message, await loadLimits());
    await withJourneys(options, async (journeys, output) => {
      const { callLocally, localServices } = await import('../../api/local-call.ts');
      const reply = await callLocally(
        localServices(journeys, process.env),
        operation.route,
        toLocalCall(operation, message),
      );
      output.answer(reply.body as object);
    });
  } catch (error) {
    const told = await toClientError(error, run.runKey);
    throw told instanceof InvalidInputError ? asTyped(told, names, options) : refusedAsTyped(told, names, options);
  }
}

/** The message as its definition has it: what the proof holds, the file says, and the options say above both. */
async function readMessage(
  { complete, proof: form }: OperationCommand,
  { definition: { address }, members }: Operation,
  { runKey, id }: Run,
  options: Options,
): Promise<Loose> {
  if (options.file === '-' && options.proof === '-') throw new UsageError('only one of the two can be standard input');
  const proof = form && options.proof !== undefined ? await readProof(options.proof, form.member) : undefined;
  const base = { ...(proof && form?.readFields(proof.content, runKey)), ...(await readObject(options.file)) };
  const typed = applyOptions(members, options, base);
  const addressed = { ...typed, [address]: address === 'journeyId' ? runKey : id };
  const message = complete?.(addressed, runKey) ?? addressed;
  if (!proof || !form) return message;
  requireProved(proof.content, await form.readProved(message, proof.content));
  return { ...message, proof: proof.text };
}

/** Splits the message into its HTTP parts: path, token and body. */
function toLocalCall({ route }: Operation, { by, ...message }: Loose): LocalCall {
  const names = parametersIn(route.path);
  const params = Object.fromEntries(names.map((name) => [name, String(message[name])]));
  const body = Object.fromEntries(Object.entries(message).filter(([name]) => !Object.hasOwn(params, name)));
  return { params, body, ...omitUndefined({ by: by as string | undefined }) };
}

async function loadLimits() {
  const { loadVariable } = await import('../../config/environment.ts');
  return { maxApplicants: loadVariable(process.env, 'GATEWAY_MAX_APPLICANTS') };
}
