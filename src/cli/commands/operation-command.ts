/**
 * Makes commands from operations of the API: the route gives arguments and options, the message's own definition checks them
 * before the command connects, and the operation runs in this process. Loaded for the command that was called.
 */
import type { Command } from 'commander';
import { z } from 'zod';
import { PATH_PARAMETERS, parametersIn } from '../../api/parameters.ts';
import type { Reply, Route } from '../../api/route.ts';
import { defined } from '../../base/defined.ts';
import { MESSAGES } from '../../messages/all-messages.ts';
import { parseMessage } from '../../messages/inputs/parse-message.ts';
import type { Message } from '../../messages/message.ts';
import { ID_NAMES, ownerIdOf, ownerOf, type RunKind } from '../../model/owner-id.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { requireOwnerId, withJourneys } from '../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withServerOptions } from '../output/common-options.ts';
import { readObject } from '../output/json-input.ts';
import { asTyped, refusedAsTyped, type TypedProblem } from '../output/option-names.ts';
import type { Output } from '../output/output.ts';
import {
  applyOptions,
  type GivenOptions,
  kebabCase,
  type Member,
  membersIn,
  namesByPath,
  optionFor,
  readOption,
  requireOwnOptions,
} from '../output/schema-options.ts';
import { statusLines } from '../output/status-lines.ts';
import type { OperationCommand, RouteName } from './operation-table.ts';

type Options = ServerOptions & GivenOptions & { file?: string };

/** An operation that a command runs, with what its options give. */
interface Operation {
  route: Route;
  definition: Message;
  /** Path parameters beside the id of the run. */
  parameters: Member[];
  members: Member[];
}

/** Fills in what the table of operations gives: argument, options and action. */
export async function fillCommand(command: Command, spec: OperationCommand): Promise<void> {
  const { argument, operations, words, examples } = spec;
  const found = new Map<RunKind, Operation[]>();
  for (const [kind, names] of Object.entries(operations)) {
    found.set(kind as RunKind, await Promise.all(names.map((name) => findOperation(kind as RunKind, name))));
  }
  const all = [...found.values()].flat().flatMap(({ members }) => members);
  const members = [...new Map(all.map((member) => [member.flag, member])).values()];
  command.argument(...argument);
  for (const member of members) command.addOption(optionFor(member, words[member.flag]));
  command.option('--file <path>', 'JSON of the message; options stand above it; - is standard input');
  withExamples(withServerOptions(command), ...examples);
  command.action(async (given: string, options: Options) => {
    const run = readRun(given, argument[0], [...found.keys()]);
    const candidates = found.get(run.kind) ?? [];
    const isMeant = ({ parameters }: Operation) => parameters.every((one) => readOption(one, options) !== undefined);
    const operation = (candidates.find(isMeant) ?? candidates.at(-1)) as Operation;
    requireOwnOptions(members, operation.members, options, `for ${given}`);
    await send(operation, run, argument[0], options);
  });
}

async function findOperation(kind: RunKind, { routes, operationId, message }: RouteName): Promise<Operation> {
  const route = (await routes()).find((one) => one.operationId === operationId);
  if (!route) throw new Error(`there is no operation ${operationId}`);
  const definition: Message = MESSAGES[message];
  const further = parametersIn(route.path).filter((name) => name !== ID_NAMES[kind]);
  const parameters = further.map((name): Member => {
    const { description } = PATH_PARAMETERS[name];
    return { path: `/${name}`, flag: `--${kebabCase(name)}`, kind: 'text', words: description };
  });
  const body = membersIn(route.body ? [route.body] : []);
  // Over HTTP the token says who acts.
  const by = membersIn([definition.schema(z.unknown() as never)]).filter(({ path }) => path === '/by');
  return { route, definition, parameters, members: [...parameters, ...body, ...by] };
}

interface Run {
  ownerId: string;
  kind: RunKind;
  id: string;
}

/** @throws InvalidInputError */
function readRun(given: string, argument: string, kinds: readonly RunKind[]): Run {
  const [only] = kinds;
  const ownerId = argument === '<id>' || only === undefined ? given : ownerIdOf(only, given);
  requireOwnerId(ownerId, argument);
  const { kind, id, accountId } = ownerOf(ownerId);
  if (kinds.includes(kind) && accountId === undefined) return { ownerId, kind, id };
  const rule = `must name a ${kinds.join(' or a ')}`;
  throw new InvalidInputError([{ path: `/${ID_NAMES[kind]}`, rule, option: argument } as TypedProblem]);
}

async function send(operation: Operation, run: Run, argument: string, options: Options): Promise<void> {
  const { route, definition, members } = operation;
  const given = applyOptions(members, options, await readObject(options.file));
  const message = { ...given, [definition.address]: definition.address === 'journeyId' ? run.ownerId : run.id };
  const names = { ...namesByPath(members), [`/${definition.address}`]: argument };
  try {
    await checkMessage(definition, message);
    await withJourneys(options, async (journeys, output) => {
      const [{ callLocally }, { createServices }, { loadEnvironment }] = await Promise.all([
        import('../../api/local-call.ts'),
        import('../../api/services.ts'),
        import('../../config/config.ts'),
      ]);
      const { maxApplicants } = await loadLimits();
      const services = createServices({ journeys, environment: loadEnvironment(process.env), maxApplicants });
      const { by, ...content } = message as Record<string, unknown>;
      const parameters = parametersIn(route.path);
      const params = Object.fromEntries(parameters.map((name) => [name, String(content[name])]));
      for (const name of parameters) delete content[name];
      const reply = await callLocally(services, route, { params, body: content, ...defined({ by: by as string }) });
      const status = output.isJson
        ? undefined
        : await journeys
            .run(run.ownerId)
            .status()
            .catch(() => undefined);
      output.answer(reply.body as object, () => acceptedLines(reply, output, status));
    });
  } catch (error) {
    throw error instanceof InvalidInputError
      ? asTyped(error, names, message, options)
      : refusedAsTyped(error, names, options);
  }
}

/** An update's answer: accepted, not answered by the gateway. */
function acceptedLines(
  { body }: Reply,
  output: Output,
  status: Parameters<typeof statusLines>[0] | undefined,
): string[] {
  const { duplicate, recorded } = body as { duplicate: boolean; recorded?: boolean };
  const { colors } = output;
  return [
    colors.green(duplicate ? 'accepted before: nothing has changed' : 'accepted'),
    ...(recorded === false
      ? [colors.yellow('the ledger does not have it yet: the run goes on writing; run this again to ask')]
      : []),
    ...(status ? statusLines(status, output) : []),
  ];
}

/** So that wrong input fails at once, also while the server is down. @throws InvalidInputError */
async function checkMessage(definition: Message, message: object): Promise<void> {
  parseMessage(definition, message, await loadLimits());
}

async function loadLimits() {
  return (await import('../../config/config.ts')).loadMessageLimits(process.env);
}
