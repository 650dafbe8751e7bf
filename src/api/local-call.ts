/** Runs an operation of the table in this process, for its own user: what the command line does, without a token. */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { omitUndefined } from '../base/defined.ts';
import type { JsonObject } from '../base/json-safety.ts';
import { MESSAGE_TIMEOUT_MS } from '../client/connection/calls.ts';
import { loadVariable } from '../config/environment.ts';
import { text } from '../fields/fields.ts';
import { findSchemaProblems, parseWith } from '../fields/problems.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { InvalidInputError } from '../model/problems.ts';
import { SCOPES, type Scope } from '../operations/scopes.ts';
import type { LedgerJourneys } from '../operator/ledger-journeys.ts';
import { MAX_BY_CHARACTERS, type SignedInCaller } from './caller.ts';
import { createPathSchema, type Reply, type Route } from './route.ts';
import { type ApiServices, createServices } from './services.ts';

export interface LocalCall {
  params?: Readonly<Record<string, string>>;
  query?: object;
  body?: object;
  headers?: IncomingHttpHeaders;
  /** The person who acts. Required by operations that name one. */
  by?: string | undefined;
  signal?: AbortSignal;
  /** Default: as long as the client's messages take. */
  timeoutMs?: number;
}

/** Services for the life of one command. Its user reaches every run: no run is asked whose it is. */
export function createLocalServices(journeys: LedgerJourneys, env: NodeJS.ProcessEnv): ApiServices {
  const services = createServices({ journeys, environment: loadVariable(env, 'GATEWAY_ENVIRONMENT') });
  return { ...services, findRequiredReach: async () => undefined };
}

/** Services of operations that need only the ledger: they also work while Temporal is away. */
export function createLedgerServices(ledger: Ledger): ApiServices {
  const own: Pick<ApiServices, 'openLedger' | 'findRequiredReach'> = {
    openLedger: async () => ledger,
    findRequiredReach: async () => undefined,
  };
  return own as ApiServices;
}

/** Returns a caller that may do everything, since its user may run the program with the ledger's secrets. */
function createLocalCaller(by: string | undefined): SignedInCaller {
  return {
    subject: 'local',
    scopes: new Set(Object.keys(SCOPES) as Scope[]),
    profiles: '*',
    endUsers: '*',
    by,
    signedInBy: 'authorization',
    isLocal: true,
  };
}

/**
 * Checks the operation's input before any connection is opened.
 *
 * @throws InvalidInputError, with each member's path
 */
export function checkCall(route: Route, { params = {}, query = {}, body = {}, by }: LocalCall): void {
  const problems = route.query ? findSchemaProblems(route.query, query) : [];
  if (route.findDefinition) {
    const message = { ...params, ...body, ...omitUndefined({ by }) };
    parseMessage(route.findDefinition(message), message);
  } else {
    problems.push(
      ...findSchemaProblems(createPathSchema(route.path), params),
      ...(route.body ? findSchemaProblems(route.body, body) : []),
      ...(route.body || by !== undefined ? findSchemaProblems(AUTHOR, omitUndefined({ by })) : []),
    );
  }
  if (problems.length > 0) throw new InvalidInputError(problems);
}

const AUTHOR = z.object({ by: text(MAX_BY_CHARACTERS) });

/** @throws InvalidInputError, with the member's path; what the handler throws */
export async function callLocally(
  services: ApiServices,
  route: Route,
  { params = {}, query = {}, body = {}, headers = {}, by, signal, timeoutMs = MESSAGE_TIMEOUT_MS }: LocalCall,
): Promise<Reply> {
  const ending = signal ?? new AbortController().signal;
  return route.handle({
    services,
    caller: createLocalCaller(by),
    params,
    query: route.query ? parseWith(route.query, query) : {},
    body: body as JsonObject,
    by: () => {
      if (by === undefined) throw new InvalidInputError([{ path: '/by', rule: 'is required' }]);
      return by;
    },
    note: () => {},
    giveUpSlot: () => {},
    stopping: ending,
    sending: { signal: ending, timeoutMs },
    headers,
  });
}
