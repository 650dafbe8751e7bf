/** Runs an operation of the table in this process, for its own user: what the command line does, without a token. */
import { z } from 'zod';
import type { JsonObject } from '../base/json-safety.ts';
import { MESSAGE_TIMEOUT_MS } from '../client/connection/calls.ts';
import { loadVariable } from '../config/environment.ts';
import { findSchemaProblems, parseWith } from '../fields/problems.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parseMessage } from '../messages/inputs/parse-message.ts';
import { InvalidInputError } from '../model/problems.ts';
import type { LedgerJourneys } from '../operator/ledger-journeys.ts';
import { actingName } from './caller.ts';
import { createPathSchema, type Operation } from './operation.ts';
import { SCOPES, type Scope } from './scopes.ts';
import { type ApiServices, createServices } from './services.ts';

export interface LocalCall {
  params: Readonly<Record<string, string>>;
  query: object;
  body: object;
  /** The person who acts. Required by operations that name one. */
  by?: string | undefined;
}

/** Services for the life of one command. Its user reaches every run: no run is asked whose it is. */
export function createLocalServices(journeys: LedgerJourneys, env: NodeJS.ProcessEnv): ApiServices {
  const services = createServices({ journeys, environment: loadVariable(env, 'GATEWAY_ENVIRONMENT') });
  return { ...services, findRequiredReach: async () => undefined };
}

/** Services of operations that need only the ledger: they also work while Temporal is away. */
export function createLedgerServices(ledger: Ledger): ApiServices {
  return { openLedger: async () => ledger } as ApiServices;
}

/**
 * Checks the operation's input before any connection is opened.
 *
 * @throws InvalidInputError, with each member's path
 */
export function checkCall(operation: Operation, { params = {}, query = {}, body = {}, by }: Partial<LocalCall>): void {
  const problems = operation.query ? findSchemaProblems(operation.query, query) : [];
  if (operation.findDefinition) {
    const message = { ...params, ...body, ...(by === undefined ? {} : { by }) };
    parseMessage(operation.findDefinition(message), message);
  } else {
    problems.push(
      ...findSchemaProblems(createPathSchema(operation.path), params),
      ...(operation.body ? findSchemaProblems(operation.body, body) : []),
      ...(operation.body || by !== undefined ? findSchemaProblems(z.object({ by: actingName }), { by }) : []),
    );
  }
  if (problems.length > 0) throw new InvalidInputError(problems);
}

const ALL_SCOPES = new Set(Object.keys(SCOPES) as Scope[]);

/** @throws InvalidInputError, with the member's path; what the handler throws */
export function callLocally(services: ApiServices, operation: Operation, { params, query, body, by }: LocalCall) {
  const { signal } = new AbortController();
  return operation.handle({
    services,
    // The user may run the program with the ledger's secrets, and so may do everything.
    caller: { subject: 'local', scopes: ALL_SCOPES, profiles: '*', endUsers: '*', by, isLocal: true },
    params,
    query: operation.query ? parseWith(operation.query, query) : {},
    body: body as JsonObject,
    by: () => {
      if (by === undefined) throw new InvalidInputError([{ path: '/by', rule: 'is required' }]);
      return by;
    },
    note: () => {},
    giveUpSlot: () => {},
    stopping: signal,
    sending: { signal, timeoutMs: MESSAGE_TIMEOUT_MS },
    headers: {},
  });
}
