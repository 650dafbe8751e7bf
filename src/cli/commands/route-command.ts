/**
 * Prints routes that are no message to one run as commands: path, query and body give arguments and options, the answer's
 * schema gives the tables. Loaded for the command that was called.
 */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { LocalCall } from '../../api/local-call.ts';
import { PATH_PARAMETERS, type PathParameter, parametersIn, type Route } from '../../api/route.ts';
import type { ApiServices } from '../../api/services.ts';
import { omitUndefined } from '../../base/defined.ts';
import { InvalidInputError } from '../../model/problems.ts';
import { ID_NAMES, parseRunKey } from '../../model/run-key.ts';
import type { LedgerJourneys } from '../../operator/ledger-journeys.ts';
import { requireRunKey, withJourneys } from '../decisions/journey-action.ts';
import { type ServerOptions, withExamples, withOutputOptions, withServerOptions } from '../output/common-options.ts';
import { pauseNotice } from '../output/hold-lines.ts';
import { asTyped, type GivenOptions, type TypedProblem } from '../output/option-names.ts';
import { createOutput, documentLines, type Output, readDocument } from '../output/output.ts';
import { applyOptions, type Member, membersIn, namesByPath, optionFor } from '../output/schema-options.ts';
import { toClientError } from './client-error.ts';
import { withLedger } from './with-ledger.ts';

export interface RouteCommand {
  routes: () => Promise<readonly Route[]>;
  /** The first counts whose path parameters the arguments give. */
  operationIds: readonly string[];
  /** `<id>` names a run of any kind. Each other argument has the name of its path parameter. */
  arguments?: readonly (readonly [name: string, words?: string])[];
  /** Help for options by name, if the schema has none. */
  words?: Readonly<Record<string, string>>;
  examples: readonly string[];
  /** `ledger`: the command works while Temporal is away. `temporal`: it works without a ledger of its own. */
  needs: 'ledger' | 'temporal' | 'both';
  /** The person who reads or decides. If a reading names no person, the system's user counts as its reader. */
  by?: 'reader' | 'author';
  /** The answer for people. Default: every fact of it. */
  lines?(answer: never, output: Output): string[] | Promise<string[]>;
  exitCode?(answer: never): number;
  /** Whether its answer for people names the pauses in force. */
  namesPauses?: true;
}

type Options = ServerOptions & GivenOptions;

export async function fillRoute(command: Command, spec: RouteCommand): Promise<void> {
  const { operationIds, words = {}, examples, needs, by } = spec;
  const routes = await spec.routes();
  const own = operationIds.map((id) => {
    const found = routes.find(({ operationId }) => operationId === id);
    if (!found) throw new Error(`there is no operation ${id}`);
    return found;
  });
  const named = (spec.arguments ?? []).map(([name]) => name.slice(1, -1));
  for (const [name, help] of spec.arguments ?? []) {
    command.argument(name, help ?? PATH_PARAMETERS[name.slice(1, -1) as PathParameter].description);
  }
  const bodies = own.flatMap(({ query, body }) => [...(query ? [query] : []), ...(body ? [body] : [])]);
  const author: Member = { path: '/by', flag: '--by', kind: 'text', words: 'who decides it' };
  const reader: Member = { ...author, words: 'who reads it (default: the system’s user)' };
  const members = [...membersIn(bodies), ...(by === undefined ? [] : [by === 'reader' ? reader : author])];
  for (const member of members) command.addOption(optionFor(member, words[member.flag]));
  withExamples(needs === 'ledger' ? withOutputOptions(command) : withServerOptions(command), ...examples);
  command.action(async (...given: unknown[]) => {
    const options = given[named.length] as Options;
    const values = Object.fromEntries(named.map((name, index) => [name, given[index] as string | undefined]));
    await print(spec, own, { params: readParams(values), runKey: values.id, members, options });
  });
}

/** The parameters of paths that the arguments give: of `<id>` those of its kind. @throws InvalidInputError */
function readParams({ id, ...others }: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = omitUndefined(others) as Record<string, string>;
  if (id === undefined) return given;
  requireRunKey(id);
  const { kind, id: own, accountId } = parseRunKey(id);
  // A row of a review is not the review.
  return { ...given, runKey: id, ...(accountId === undefined ? { [ID_NAMES[kind]]: own } : {}) };
}

interface Given {
  params: Record<string, string>;
  runKey: string | undefined;
  members: readonly Member[];
  options: Options;
}

async function print(spec: RouteCommand, routes: readonly Route[], given: Given): Promise<void> {
  const { params, runKey, members, options } = given;
  const route = routes.find(({ path }) => parametersIn(path).every((name) => name in params));
  if (!route)
    throw new InvalidInputError([
      { path: '/runKey', rule: 'must name a run that has it', option: '<id>' } as TypedProblem,
    ]);
  // A decision without an id gets a new one.
  const isDecision = members.some(({ path }) => path === '/decisionId');
  const base = isDecision ? { decisionId: `D-${randomUUID()}` } : {};
  const { by, ...typed } = applyOptions(members, options, base) as { by?: string; [member: string]: unknown };
  const names = {
    ...namesByPath(members),
    ...Object.fromEntries(Object.keys(params).map((name) => [`/${name}`, name in ID_KINDS ? '<id>' : `<${name}>`])),
  };
  try {
    const { callLocally, checkCall, ledgerServices, localServices } = await import('../../api/local-call.ts');
    const call = toLocalCall(route, params, typed, by ?? (spec.by === 'reader' ? systemUser() : undefined));
    checkCall(route, call);
    const act = async (services: ApiServices, output: Output) => {
      const { body = {} } = await callLocally(services, route, call);
      const answer = readDocument(body) as never;
      const notice = spec.namesPauses ? await pauseNotice(output) : [];
      const lines = output.isJson ? [] : ((await spec.lines?.(answer, output)) ?? documentLines(answer, output.width));
      output.answer(body, () => [...lines, ...notice]);
      process.exitCode = spec.exitCode?.(answer) ?? process.exitCode;
    };
    if (spec.needs === 'ledger')
      return await withLedger((ledger) => act(ledgerServices(ledger), createOutput(options)));
    const acts = (journeys: LedgerJourneys, output: Output) => act(localServices(journeys, process.env), output);
    await withJourneys(options, acts, spec.needs === 'both' ? { besideLedger: true } : {});
  } catch (error) {
    const told = await toClientError(error, runKey);
    throw told instanceof InvalidInputError ? asTyped(told, names, options) : told;
  }
}

const ID_KINDS: Readonly<Record<string, true>> = {
  runKey: true,
  ...Object.fromEntries(Object.values(ID_NAMES).map((name) => [name, true as const])),
};

function toLocalCall(
  route: Route,
  params: Record<string, string>,
  typed: Record<string, unknown>,
  by?: string,
): LocalCall {
  const isOfQuery = (name: string) => route.query !== undefined && Object.hasOwn(route.query.shape, name);
  const [query, body] = [true, false].map((wanted) =>
    Object.fromEntries(
      Object.entries(typed).flatMap(([name, value]) =>
        isOfQuery(name) === wanted ? [[name, wanted && value === true ? 'true' : value]] : [],
      ),
    ),
  ) as [object, object];
  return { params, query, body, ...omitUndefined({ by }) };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that no user has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
